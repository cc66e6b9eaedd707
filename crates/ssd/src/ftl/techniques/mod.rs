//! Techniques: what remembers, looks ahead or moves data of its own accord, each in a folder of its own, listed in
//! `crate::techniques`.
//!
//! A technique sees the tables (`Seen`) and changes nothing but itself. When the cells' clock ticks it says which
//! lanes have something new to do; when such a lane has nothing more urgent it offers a block to be emptied. An offer
//! changes nothing, for it may not be taken: there may be no room, or programs on their way to the block.
//!
//! Mechanisms also ask on their way, and tell what has happened; what is said is in `terms`. A technique may have a job
//! of its own in a lane, too, whose steps it names (`jobs`); then it changes `work` as well, and the policy that wished
//! for it. No technique calls another: what one must know of another, the mechanism between them asks and hands on.

mod jobs;
mod terms;

use crate::config::member::Misfit;
use crate::counters::{Count, Counter};
use crate::flash::op::{Cause, UnitRef};
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::tables::worn::Worn;
use crate::ftl::work::looks::Looks;
use crate::ftl::work::walk::PageUnits;
use crate::nand::Chip;
use crate::restore::Verdict;
use crate::sections::Sections;
use crate::units::{BlockId, LaneId, Ppn, Pun};
use core::marker::PhantomData;
pub(in crate::ftl) use jobs::is_replica;
use serde::{Deserialize, Serialize};
pub(crate) use terms::{Beside, Needs, Shown, Tells};
#[allow(unused_imports)] // the list may be empty
pub(in crate::ftl) use terms::{Ended, Hop, Measured, Offer, OwnStep, Reach, Spread, TakenUp, Wish};

/// What techniques see.
#[derive(Clone, Copy)]
#[allow(dead_code)] // the list may be empty
pub(in crate::ftl) struct Seen<'a> {
    pub tables: &'a Tables,
    /// What a firmware with a thermometer knows of time: how old data is.
    pub chip: &'a Chip,
}

#[allow(dead_code)] // the list may be empty
impl Seen<'_> {
    /// Minutes at the reference temperature since the first page of a block was programmed; none where cells do not
    /// age, or nothing is programmed.
    pub fn data_minutes(&self, block: BlockId) -> Option<u32> {
        let first = self.tables.layout.member(block, 0).block;
        (self.chip.programmed_pages(first) > 0)
            .then(|| self.chip.aging().map(|aging| aging.data_minutes(first)))?
    }

    /// Minutes of the cells' clock, at their reference temperature; 0 where they do not age.
    pub fn minutes(&self) -> u32 {
        self.chip.aging().map_or(0, |aging| aging.minutes())
    }

    /// Blocks of a lane.
    pub fn lane(&self, lane: LaneId) -> impl Iterator<Item = BlockId> + use<> {
        let first = self.tables.layout.first_block(lane).0;
        (first..first + self.tables.layout.blocks_per_lane).map(BlockId)
    }
}

counters! {
    /// The counters of a technique that has none of its own.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct NoCounts of "ftl" {}
}

/// What a technique answers. By default it does nothing.
#[allow(unused_variables, dead_code)] // a default may need none of its arguments, and the list may be empty
pub(in crate::ftl) trait Technique: Sized {
    /// Its configuration: which of its policies, with their parameters.
    type Config;

    /// What is counted of it alone, declared by `counters!` in its folder: [`NoCounts`] if nothing is. All of them
    /// together are [`TechniqueCounts`], a part of `FtlCounts`, whose counters results and documentation list.
    type Counts;

    /// Whether what it moves has not been written for long: such data goes to an open block of its own in each lane.
    const COLD: bool = false;

    /// Whether a drive may change its policy at any time, for that leaves no marks on flash.
    const IS_CHANGEABLE: bool = false;

    /// Whether it ever has a block to be emptied.
    const OFFERS: bool = true;

    /// Whether its operations make replicas of units (`tables::replicas`), as `ftl.read_reclaim` wants them.
    const REPLICATES: bool = false;

    /// Whether it ever has a job of its own in a lane.
    const HAS_JOBS: bool = false;

    /// Whether such a configuration makes it do anything.
    fn acts(config: &Self::Config) -> bool;

    /// In its initial state.
    fn new(config: &Self::Config, cfg: &Sections, layout: &Layout) -> Self;

    /// Why it cannot work on such a drive, if it cannot, going by sections that choose no policy: geometry, cells, mapping.
    fn misfit(config: &Self::Config, cfg: &Sections) -> Option<Misfit> {
        None
    }

    /// Whether it does anything at all. What does not is never asked.
    fn is_on(&self) -> bool;

    /// Whether of the free blocks the least erased is opened, and not the one that came free first. Asked even if it
    /// does nothing else.
    fn opens_least_erased(&self) -> bool {
        false
    }

    /// The cells' clock has ticked: lanes for which it has a block to offer are to be looked at.
    fn tick(&mut self, seen: &Seen<'_>, looks: &mut Looks) {}

    /// A block of a lane was emptied, its `erases`th, and is, or will be, erased.
    fn emptied(&mut self, lane: LaneId, erases: u64, seen: &Seen<'_>) {}

    /// The block of a lane that it would have emptied next: all that lives in it moves, as from a victim of cleaning.
    fn offer(&self, lane: LaneId, seen: &Seen<'_>) -> Option<Offer> {
        None
    }

    /// Its offer could not be taken: the block is in use, or there is no room. By default it is made again.
    fn declined(&mut self, lane: LaneId) {}

    /// Its offer was taken: the block is being emptied.
    fn taken(&mut self, lane: LaneId, block: BlockId, seen: &Seen<'_>) {}

    /// It comes from a snapshot: takes what follows from the configuration from a fresh one, and checks the rest.
    fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict;

    /// Bytes of its tables.
    fn bytes(&self) -> usize {
        0
    }

    /// Why it cannot work beside policies that are no techniques, if it cannot. Techniques meet in what they tell and
    /// need of ages alone. `DriveConfig::validate` asks for all of these.
    fn clash(config: &Self::Config, beside: &Beside<'_>) -> Option<Misfit> {
        None
    }

    /// What it tells of the ages of blocks, if that is what it is for.
    fn tells_ages(config: &Self::Config) -> Option<Tells> {
        None
    }

    /// What it must be told of the ages of blocks, if it goes by them.
    fn needs_ages(config: &Self::Config) -> Option<Needs> {
        None
    }

    /// Bytes of memory that its tables take, about.
    fn memory_bytes(config: &Self::Config, cfg: &Sections) -> u64 {
        0
    }

    /// Told of the chips when the drive is built.
    fn learn(&mut self, chip: &Chip) {}

    /// Whether it tells how worn blocks are: what they show is measured then.
    fn tells_wear(&self) -> bool {
        false
    }

    /// Told what a physical block has shown.
    fn shown(&mut self, block: u32, measured: &Measured<'_>, counts: &mut Self::Counts) {}

    /// What is known of the wear of a physical block of so many cycles, if it tells that.
    fn worn(&self, block: u32, cycles: u32) -> Worn {
        Worn { cycles, ..Worn::default() }
    }

    /// A block was erased: whether it is used no more.
    fn is_spent(&self, block: BlockId, tables: &Tables, counts: &mut Self::Counts) -> bool {
        false
    }

    /// Whether the first page of a block is read, once it is programmed, for what it shows: an operation of its own.
    fn reads_first_pages(&self) -> bool {
        false
    }

    /// Operations of its own that are in flight at once, at most.
    fn operations_at_most(&self) -> usize {
        0
    }

    /// The least and the most that what it tells of wear is off, in bits, where that is known.
    // tidy: allow(float): called when a drive is built
    fn off_bits(&self, chip: &Chip) -> Option<[f64; 2]> {
        None
    }

    /// Whether pages that move are ever copied inside their planes: then chips remember what errors copies carry.
    fn copies(&self) -> bool {
        false
    }

    /// Whether that goes by the wear of blocks, and not by their cycles alone.
    fn copies_by_wear(&self) -> bool {
        false
    }

    /// Whether a page is copied inside its plane, and does not pass through the controller: what it is told of the copy
    /// then.
    fn copy(&self, hop: &Hop, chip: &Chip, counts: &mut Self::Counts) -> Option<u8> {
        None
    }

    /// The page was copied to that one.
    fn copied(&mut self, to: Ppn, note: u8, counts: &mut Self::Counts) {}

    /// What a block held is gone: it is erased, or will be before anything else is programmed there.
    fn wiped(&mut self, block: BlockId) {}

    /// Its policy of `ftl.read_reclaim` wants data spread over fresh blocks, in a lane with so many free ones to spare:
    /// what becomes of that.
    fn take_up(&mut self, lane: LaneId, wish: &Wish, to_spare: u32, reach: Reach<'_>) -> TakenUp {
        TakenUp::NoBlocks
    }

    /// Whether a job of its own is under way in a lane ([`crate::ftl::moves`] carries out its steps).
    fn works_in(&self, lane: LaneId) -> bool {
        false
    }

    /// A block was opened for its job in a lane, or there was none.
    fn opened(&mut self, lane: LaneId, block: BlockId, reach: Reach<'_>) {}

    /// What its job in a lane does next; `may_read` if the lane may have more operations under way, of `pages` in all.
    fn step(
        &mut self,
        lane: LaneId,
        tables: &Tables,
        (may_read, pages): (bool, u32),
        units: &mut PageUnits,
    ) -> OwnStep {
        OwnStep::Done
    }

    /// Whether its job in a lane reads what lives in a block.
    fn reads(&self, lane: LaneId, block: BlockId) -> bool {
        false
    }

    /// A unit that its job in a lane has read is in the controller, or has died.
    fn arrived(&mut self, lane: LaneId, unit: &UnitRef, lives: bool) {}

    /// A program to a block failed: whether its job in a lane fills that, and does so no more.
    fn gives_up(&mut self, lane: LaneId, block: BlockId) -> bool {
        false
    }

    /// Its job in a lane is over: what is left of it.
    fn end(&mut self, lane: LaneId, reach: Reach<'_>) -> Option<Ended> {
        None
    }

    /// Pages of an open block that its job in a lane has filled, if it fills that.
    fn filled(&self, lane: LaneId, block: BlockId) -> Option<u32> {
        None
    }

    /// Units of a page that get replicas, of those that live there, if it makes replicas: they are read for that. How
    /// many there are.
    fn replicated(&self, page: Ppn, tables: &Tables, units: &mut [UnitRef]) -> usize {
        0
    }

    /// Whether a physical block takes a replica that has been read for it.
    fn takes_replica(&self, physical: u32, tables: &Tables) -> bool {
        false
    }

    /// Units that its jobs hold in the controller.
    fn in_controller(&self) -> Vec<Pun> {
        Vec::new()
    }
}

/// How many of a list are chosen.
const fn count(all: &[(&str, bool)]) -> usize {
    let (mut at, mut found) = (0, 0);
    while at < all.len() {
        found += all[at].1 as usize;
        at += 1;
    }
    found
}

/// Those of a list that are chosen.
const fn chosen<const COUNT: usize>(all: &[(&'static str, bool)]) -> [&'static str; COUNT] {
    let (mut chosen, mut at, mut found) = ([""; COUNT], 0, 0);
    while at < all.len() {
        if all[at].1 {
            chosen[found] = all[at].0;
            found += 1;
        }
        at += 1;
    }
    chosen
}

macro_rules! list {
    (
        @techniques { $(
            $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal
            $(, cause $cause:ident($number:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $(
            $(#[$told:meta])* $technique:ident : $type:ident = $key:literal,
                member of $family:ident $member:ident : $variant:ident in $file:literal
                $(, cause $its:ident($at:literal) $says:literal)?;
        )* }
    ) => {
        list! { @all
            $($(#[$doc])* $folder: $name = $section ($folder::Config) $(, cause $cause)?;)*
            $($(#[$told])* $technique: $type = $key (crate::ftl::$family::Config) $(, cause $its)?;)*
        }
    };
    (@all $(
        $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal ($config:ty) $(, cause $cause:ident)?;
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
                core::iter::empty()$(.chain($folder::Counts::counters()))*
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
            $(pub(crate) $folder: $folder::$name,)*
        }

        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// As the configuration has them.
            pub(in crate::ftl) fn new(configs: &Configs<'_>, cfg: &Sections, layout: &Layout) -> Self {
                $(let $folder = $folder::$name::new(configs.$folder, cfg, layout);)*
                let mut all = Techniques { on: 0, $($folder),* };
                all.look_who_is_on();
                all
            }

            /// Finds out which do anything.
            pub(crate) fn look_who_is_on(&mut self) {
                self.on = 0;
                $(self.on |= u32::from(self.$folder.is_on()) << Which::$folder as u32;)*
            }

            /// See [`Technique::opens_least_erased`].
            pub(in crate::ftl) fn open_least_erased(&self) -> bool {
                false $(|| self.$folder.opens_least_erased())*
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
                const OFFERING: u32 = 0 $(| ($folder::$name::OFFERS as u32) << Which::$folder as u32)*;
                self.on & OFFERING != 0
            }

            #[inline]
            fn has(&self, which: Which) -> bool {
                self.on >> which as u32 & 1 == 1
            }

            /// See [`Technique::tick`].
            pub(in crate::ftl) fn tick(&mut self, seen: &Seen<'_>, looks: &mut Looks) {
                $(if self.has(Which::$folder) { self.$folder.tick(seen, looks); })*
            }

            /// See [`Technique::emptied`].
            pub(in crate::ftl) fn emptied(&mut self, lane: LaneId, erases: u64, seen: &Seen<'_>) {
                $(if self.has(Which::$folder) { self.$folder.emptied(lane, erases, seen); })*
            }

            /// The block that is emptied next in a lane, for which of them and why: the first that has one, of those
            /// `from` a place in the list on.
            pub(in crate::ftl) fn choose(
                &self,
                from: u32,
                lane: LaneId,
                seen: &Seen<'_>,
            ) -> Option<(Offer, Which, Cause)> {
                $($(if Which::$folder as u32 >= from
                    && self.has(Which::$folder)
                    && let Some(offer) = self.$folder.offer(lane, seen)
                {
                    return Some((offer, Which::$folder, Cause::$cause));
                })?)*
                None
            }

            /// See [`Technique::declined`].
            pub(in crate::ftl) fn declined(&mut self, by: Which, lane: LaneId) {
                $(if by == Which::$folder { self.$folder.declined(lane); })*
            }

            /// See [`Technique::taken`].
            pub(in crate::ftl) fn taken(&mut self, by: Which, lane: LaneId, block: BlockId, seen: &Seen<'_>) {
                $(if by == Which::$folder { self.$folder.taken(lane, block, seen); })*
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
                $(all.extend($folder::$name::needs_ages(self.$folder));)*
                all
            }

            /// What is told of the ages of blocks; nothing if none of them is for that.
            pub(crate) fn tells(&self) -> Option<Tells> {
                $(if let Some(tells) = $folder::$name::tells_ages(self.$folder) {
                    return Some(tells);
                })*
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
                if self.tell_wear() {
                    let mut made = TechniqueCounts::default();
                    (0..chip.blocks()).for_each(|block| self.shown(block, Shown::Made, chip, &mut made));
                }
            }

            /// Whether any tells how worn blocks are.
            #[inline]
            pub(in crate::ftl) fn tell_wear(&self) -> bool {
                false $(|| self.has(Which::$folder) && self.$folder.tells_wear())*
            }

            /// A physical block is measured, if any tells wear; see [`Technique::shown`].
            pub(crate) fn shown(&mut self, block: u32, what: Shown, chip: &mut Chip, counts: &mut TechniqueCounts) {
                if !self.tell_wear() {
                    return;
                }
                let seen = chip.telemetry(block);
                let measured = Measured { what, seen, chip };
                $(if self.has(Which::$folder) { self.$folder.shown(block, &measured, &mut counts.$folder); })*
            }

            /// What is known of the wear of a physical block of so many cycles.
            pub(in crate::ftl) fn worn(&self, block: u32, cycles: u32) -> Worn {
                $(if self.has(Which::$folder) && self.$folder.tells_wear() {
                    return self.$folder.worn(block, cycles);
                })*
                Worn { cycles, ..Worn::default() }
            }

            /// A block was erased: whether it is used no more.
            #[inline]
            pub(in crate::ftl) fn is_spent(&self, block: BlockId, tables: &Tables, counts: &mut TechniqueCounts) -> bool {
                let mut is_spent = false;
                $(if self.has(Which::$folder) { is_spent |= self.$folder.is_spent(block, tables, &mut counts.$folder); })*
                is_spent
            }

            /// Why first pages are read once they are programmed, if they are: for the first in the list that asks.
            /// What they show all are told.
            #[inline]
            pub(in crate::ftl) fn read_first_pages(&self) -> Option<Cause> {
                $($(if self.has(Which::$folder) && self.$folder.reads_first_pages() {
                    return Some(Cause::$cause);
                })?)*
                None
            }

            /// Operations of their own that are in flight at once, at most.
            pub(in crate::ftl) fn operations_at_most(&self) -> usize {
                0 $(+ self.$folder.operations_at_most())*
            }

            /// See [`Technique::off_bits`].
            // tidy: allow(float): called when a drive is built
            pub(crate) fn off_bits(&self, chip: &Chip) -> Option<[f64; 2]> {
                $(if let Some(off) = self.$folder.off_bits(chip) { return Some(off); })*
                None
            }
        }

        /// What they are asked and told of copies inside planes.
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// See [`Technique::copies`].
            #[inline]
            pub(in crate::ftl) fn copies(&self) -> bool {
                false $(|| self.has(Which::$folder) && self.$folder.copies())*
            }

            /// See [`Technique::copies_by_wear`].
            pub(in crate::ftl) fn copies_by_wear(&self) -> bool {
                false $(|| self.has(Which::$folder) && self.$folder.copies_by_wear())*
            }

            /// For which of them a page is copied inside its plane, if for one: the first in the list that would, and
            /// what that is told of the copy. See [`Technique::copy`].
            pub(in crate::ftl) fn copy(&self, hop: &Hop, chip: &Chip, counts: &mut TechniqueCounts) -> Option<(Which, u8)> {
                $(if self.has(Which::$folder) && let Some(note) = self.$folder.copy(hop, chip, &mut counts.$folder) {
                    return Some((Which::$folder, note));
                })*
                None
            }

            /// See [`Technique::copied`].
            pub(in crate::ftl) fn copied(&mut self, (by, note): (Which, u8), to: Ppn, counts: &mut TechniqueCounts) {
                $(if by == Which::$folder { self.$folder.copied(to, note, &mut counts.$folder); })*
            }

            /// See [`Technique::wiped`].
            #[inline]
            pub(in crate::ftl) fn wiped(&mut self, block: BlockId) {
                $(if self.has(Which::$folder) { self.$folder.wiped(block); })*
            }
        }
    };
}

techniques! { list! {} }
