//! What follows from the list of techniques (`crate::techniques`): one struct of all of them, which calls each that is
//! on.

/// A module for each technique, and all that asks and tells them; see [`super::Technique`] and its facets for what.
macro_rules! list {
    (
        @techniques { $(
            $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal is [$($facet:ident)*]
            $(, cause $cause:ident($number:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $(
            $(#[$told:meta])* $technique:ident : $type:ident = $key:literal is [$($part:ident)*],
                member of $family:ident $member:ident : $variant:ident in $file:literal
                $(, cause $its:ident($at:literal) $says:literal)?;
        )* }
    ) => {
        list! { @all
            $($(#[$doc])* $folder: $name = $section is [$($facet)*] ($folder::Config) $(, cause $cause)?;)*
            $($(#[$told])* $technique: $type = $key is [$($part)*] (crate::ftl::$family::Config) $(, cause $its)?;)*
        }
    };
    (@all $(
        $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal is [$($facet:ident)*] ($config:ty)
            $(, cause $cause:ident)?;
    )*) => {
        $(pub mod $folder;)*

        /// Which technique.
        #[allow(non_camel_case_types, reason = "each is named as its folder is")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(in crate::ftl) enum Which { $($folder),* }

        /// What techniques count.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct TechniqueCounts {
            $($(#[$doc])* pub $folder: $folder::Counts,)*
        }

        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl TechniqueCounts {
            /// What they are, in the order of the list.
            pub fn counters() -> impl Iterator<Item = &'static Counter> {
                core::iter::empty()$(.chain($folder::Counts::COUNTERS))*
            }

            /// What they say, in the same order.
            pub fn counts(&self) -> Vec<Count> {
                let mut all = Vec::new();
                $(all.extend(self.$folder.counts());)*
                all
            }

            /// See [`crate::ftl::FtlCounts::each_total`].
            pub fn each_total(&self, tell: &mut impl FnMut(u64)) {
                $(self.$folder.each_total(tell);)*
            }
        }

        /// Causes of moves of cold data, a bit for each.
        pub(crate) const COLD_CAUSES: u32 = 0 $($(| ($folder::$name::COLD as u32) << Cause::$cause as u32)?)*;

        /// Sections of those whose policy a drive may change at any time.
        pub(crate) const CHANGEABLE: &[&str] = {
            const ALL: &[(&str, bool)] = &[$(($section, $folder::$name::IS_CHANGEABLE)),*];
            &chosen::<{ count(ALL) }>(ALL)
        };

        /// The configurations of all techniques.
        #[derive(Clone, Copy, Debug)]
        pub struct Configs<'a> {
            $($(#[$doc])* pub $folder: &'a $config,)*
            /// Of that configuration, whatever it has of them.
            pub of: PhantomData<&'a ()>,
        }

        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Configs<'_> {
            /// What of them cannot work on such a drive.
            pub(crate) fn misfits(&self, cfg: &Sections) -> Vec<Misfit> {
                let mut all = Vec::new();
                $(all.extend($folder::$name::misfit(self.$folder, cfg));)*
                all
            }

            /// Whether any moves cold data, to an open block of its own in each lane.
            pub(crate) fn move_cold_data(&self) -> bool {
                false $(|| $folder::$name::COLD && $folder::$name::acts(self.$folder))*
            }
        }

        /// All techniques of a drive.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) struct Techniques {
            /// A bit for each that is on.
            on: u32,
            pub(crate) counts: TechniqueCounts,
            $(pub(crate) $folder: $folder::$name,)*
        }

        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// As the configuration has them.
            pub(in crate::ftl) fn new(configs: &Configs<'_>, cfg: &Sections, layout: &Layout) -> Self {
                $(let $folder = $folder::$name::new(configs.$folder, cfg, layout);)*
                let mut all = Techniques { on: 0, counts: TechniqueCounts::default(), $($folder),* };
                all.look_who_is_on();
                all
            }

            /// Finds out which do anything.
            pub(crate) fn look_who_is_on(&mut self) {
                self.on = 0;
                $(self.on |= u32::from(self.$folder.is_on()) << Which::$folder as u32;)*
            }

            /// See [`Offers::opens_least_erased`].
            pub(in crate::ftl) fn opens_least_erased(&self) -> bool {
                let mut does = false;
                $(if_is! { Offers [$($facet)*] { does |= self.$folder.opens_least_erased(); } {} })*
                does
            }

            /// Goes on by another configuration, where that may change at any time: those that differ begin cold.
            pub(crate) fn changed(&mut self, from: &Configs<'_>, to: &Configs<'_>, fresh: &Techniques) {
                $(if from.$folder != to.$folder {
                    self.$folder = fresh.$folder.clone();
                })*
                self.look_who_is_on();
            }

            /// Whether any is on that may have something to be emptied.
            #[inline]
            pub(in crate::ftl) fn are_on(&self) -> bool {
                const OFFERING: u32 =
                    0 $(| if_is! { Offers [$($facet)*] { 1 << Which::$folder as u32 } { 0 } })*;
                self.on & OFFERING != 0
            }

            #[inline]
            fn has(&self, which: Which) -> bool {
                self.on >> which as u32 & 1 == 1
            }

            /// See [`Offers::tick`].
            pub(in crate::ftl) fn tick(&mut self, seen: &Seen<'_>, looks: &mut Looks) {
                $(if_is! { Offers [$($facet)*] {
                    if self.has(Which::$folder) {
                        self.$folder.tick(seen, looks);
                    }
                } {} })*
            }

            /// See [`Offers::emptied`].
            pub(in crate::ftl) fn emptied(&mut self, lane: LaneId, erases: u64, seen: &Seen<'_>) {
                $(if_is! { Offers [$($facet)*] {
                    if self.has(Which::$folder) {
                        self.$folder.emptied(lane, erases, seen);
                    }
                } {} })*
            }

            /// The block that is emptied next in a lane, for which of them and why: the first that has one, of those
            /// `from` a place in the list on.
            pub(in crate::ftl) fn choose(
                &self,
                from: u32,
                lane: LaneId,
                seen: &Seen<'_>,
            ) -> Option<(Offer, Which, Cause)> {
                $(if_is! { Offers [$($facet)*] {
                    $(if Which::$folder as u32 >= from
                        && self.has(Which::$folder)
                        && let Some(offer) = self.$folder.offer(lane, seen)
                    {
                        return Some((offer, Which::$folder, Cause::$cause));
                    })?
                } {} })*
                None
            }

            /// See [`Offers::declined`].
            pub(in crate::ftl) fn declined(&mut self, by: Which, lane: LaneId) {
                $(if_is! { Offers [$($facet)*] {
                    if by == Which::$folder {
                        self.$folder.declined(lane);
                    }
                } {} })*
            }

            /// See [`Offers::taken`].
            pub(in crate::ftl) fn taken(&mut self, by: Which, lane: LaneId, block: BlockId, seen: &Seen<'_>) {
                $(if_is! { Offers [$($facet)*] {
                    if by == Which::$folder {
                        self.$folder.taken(lane, block, seen);
                    }
                } {} })*
            }

            /// See [`Technique::restored`].
            pub(in crate::ftl) fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict {
                self.on = fresh.on;
                $(self.$folder.restored(fresh.$folder, seen)?;)*
                Ok(())
            }

            /// See [`Technique::bytes`].
            pub(in crate::ftl) fn bytes(&self) -> usize {
                0 $(+ self.$folder.bytes())*
            }

            /// Bytes of the tables of those that a section configures.
            pub(in crate::ftl) fn bytes_of(&self, section: &str) -> usize {
                0 $(+ if section == $section { self.$folder.bytes() } else { 0 })*
            }
        }

        /// What of one another they need.
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Configs<'_> {
            /// What of them cannot work beside other policies.
            pub(crate) fn clashes(&self, beside: &Beside<'_>) -> Vec<Misfit> {
                let mut all = Vec::new();
                $(all.extend($folder::$name::clash(self.$folder, beside));)*
                all
            }

            /// What of ages any of them needs.
            pub(crate) fn needs(&self) -> Vec<Needs> {
                let mut all = Vec::new();
                $(if_is! { GoesByAges [$($facet)*] {
                    all.extend($folder::$name::needs_ages(self.$folder));
                } {} })*
                all
            }

            /// What is told of the ages of blocks; nothing if none of them is for that.
            pub(crate) fn tells(&self) -> Option<Tells> {
                $(if_is! { TellsAges [$($facet)*] {
                    return Some($folder::$name::tells_ages(self.$folder));
                } {} })*
                #[allow(unreachable_code)] // a technique of the list may tell
                None
            }

            /// Bytes of memory that their tables take, about.
            pub(crate) fn memory_bytes(&self, cfg: &Sections) -> u64 {
                0_u64 $(.saturating_add($folder::$name::memory_bytes(self.$folder, cfg)))*
            }
        }

        /// What they are told and asked of blocks' wear.
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// Told of the chips when a drive is built.
            pub(in crate::ftl) fn learn(&mut self, chip: &mut Chip) {
                $(self.$folder.learn(chip);)*
                if self.tells_wear() {
                    (0..chip.blocks()).for_each(|block| self.shown(block, Shown::Made, chip));
                }
            }

            /// Whether any tells how worn blocks are.
            #[inline]
            pub(in crate::ftl) fn tells_wear(&self) -> bool {
                const TELLING: u32 =
                    0 $(| if_is! { TellsAges [$($facet)*] { 1 << Which::$folder as u32 } { 0 } })*;
                self.on & TELLING != 0
            }

            /// A physical block is measured, if any tells wear; see [`TellsAges::shown`].
            pub(crate) fn shown(&mut self, block: u32, what: Shown, chip: &mut Chip) {
                if !self.tells_wear() {
                    return;
                }
                let seen = chip.telemetry(block);
                let measured = Measured { what, seen, chip };
                $(if_is! { TellsAges [$($facet)*] {
                    if self.has(Which::$folder) {
                        self.$folder.shown(block, &measured, &mut self.counts.$folder);
                    }
                } {} })*
            }

            /// What is known of the wear of a physical block of so many cycles.
            pub(in crate::ftl) fn worn(&self, block: u32, cycles: u32) -> Worn {
                $(if_is! { TellsAges [$($facet)*] {
                    if self.has(Which::$folder) {
                        return self.$folder.worn(block, cycles);
                    }
                } {} })*
                Worn { cycles, ..Worn::default() }
            }

            /// A block was erased: whether it is used no more.
            #[inline]
            pub(in crate::ftl) fn is_spent(&mut self, block: BlockId, tables: &Tables) -> bool {
                let mut is_spent = false;
                $(if_is! { TellsAges [$($facet)*] {
                    if self.has(Which::$folder) {
                        is_spent |= self.$folder.is_spent(block, tables, &mut self.counts.$folder);
                    }
                } {} })*
                is_spent
            }

            /// Why first pages are read once they are programmed, if they are: for the first in the list that asks.
            /// What they show all are told.
            #[inline]
            pub(in crate::ftl) fn reads_first_pages(&self) -> Option<Cause> {
                $(if_is! { TellsAges [$($facet)*] {
                    $(if self.has(Which::$folder) && self.$folder.reads_first_pages() {
                        return Some(Cause::$cause);
                    })?
                } {} })*
                None
            }

            /// Operations of their own that are in flight at once, at most.
            pub(in crate::ftl) fn operations_at_most(&self) -> usize {
                0 $(+ if_is! { TellsAges [$($facet)*] { self.$folder.operations_at_most() } { 0 } })*
            }

            /// See [`TellsAges::off_bits`].
            // tidy: allow(float): called when a drive is built
            pub(crate) fn off_bits(&self, chip: &Chip) -> Option<[f64; 2]> {
                $(if_is! { TellsAges [$($facet)*] {
                    if let Some(off) = self.$folder.off_bits(chip) {
                        return Some(off);
                    }
                } {} })*
                None
            }
        }

        /// What they are asked and told of copies inside planes.
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// Whether pages that move are ever copied inside their planes.
            #[inline]
            pub(in crate::ftl) fn copies(&self) -> bool {
                const COPYING: u32 =
                    0 $(| if_is! { CopiesInside [$($facet)*] { 1 << Which::$folder as u32 } { 0 } })*;
                self.on & COPYING != 0
            }

            /// See [`CopiesInside::copies_by_wear`].
            pub(in crate::ftl) fn copies_by_wear(&self) -> bool {
                let mut does = false;
                $(if_is! { CopiesInside [$($facet)*] {
                    does |= self.has(Which::$folder) && self.$folder.copies_by_wear();
                } {} })*
                does
            }

            /// For which of them a page is copied inside its plane, if for one: the first in the list that would, and
            /// what that is told of the copy. See [`CopiesInside::copy`].
            pub(in crate::ftl) fn copy(&mut self, hop: &Hop, chip: &Chip) -> Option<(Which, u8)> {
                $(if_is! { CopiesInside [$($facet)*] {
                    if self.has(Which::$folder)
                        && let Some(note) = self.$folder.copy(hop, chip, &mut self.counts.$folder)
                    {
                        return Some((Which::$folder, note));
                    }
                } {} })*
                None
            }

            /// See [`CopiesInside::copied`].
            pub(in crate::ftl) fn copied(&mut self, (by, note): (Which, u8), to: Ppn) {
                $(if_is! { CopiesInside [$($facet)*] {
                    if by == Which::$folder {
                        self.$folder.copied(to, note, &mut self.counts.$folder);
                    }
                } {} })*
            }

            /// See [`CopiesInside::wiped`].
            #[inline]
            pub(in crate::ftl) fn wiped(&mut self, block: BlockId) {
                $(if_is! { CopiesInside [$($facet)*] {
                    if self.has(Which::$folder) {
                        self.$folder.wiped(block);
                    }
                } {} })*
            }
        }
    };
}
