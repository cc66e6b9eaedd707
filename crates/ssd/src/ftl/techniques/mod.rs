//! Techniques: what remembers, looks ahead or moves data of its own accord, each in a folder of its own, listed in
//! `crate::techniques`.
//!
//! A technique sees the tables (`Seen`) and changes nothing but itself. When the cells' clock ticks it says which
//! lanes have something new to do; when such a lane has nothing more urgent it offers a block to be emptied. An offer
//! changes nothing, for it may not be taken: there may be no room, or programs on their way to the block.

use crate::config::member::Misfit;
use crate::flash::op::Cause;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::looks::Looks;
use crate::nand::Chip;
use crate::restore::Verdict;
use crate::sections::Sections;
use crate::units::{BlockId, LaneId};
use core::marker::PhantomData;
use serde::{Deserialize, Serialize};

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

/// What a technique answers. By default it does nothing.
#[allow(unused_variables, dead_code)] // a default may need none of its arguments, and the list may be empty
pub(in crate::ftl) trait Technique: Sized {
    /// Its configuration: which of its policies, with their parameters.
    type Config;

    /// In its initial state.
    fn new(config: &Self::Config, cfg: &Sections, layout: &Layout) -> Self;

    /// Why it cannot work on such a drive, if it cannot.
    fn misfit(config: &Self::Config, cfg: &Sections) -> Option<Misfit> {
        None
    }

    /// Whether it does anything at all. What does not is never asked.
    fn is_on(&self) -> bool;

    /// The cells' clock has ticked: lanes for which it has a block to offer are to be looked at.
    fn tick(&mut self, seen: &Seen<'_>, looks: &mut Looks) {}

    /// The block of a lane that it would have emptied next: all that lives in it moves, as from a victim of cleaning.
    fn offer(&self, lane: LaneId, seen: &Seen<'_>) -> Option<BlockId> {
        None
    }

    /// Its offer was taken: the block is being emptied.
    fn taken(&mut self, lane: LaneId, block: BlockId, seen: &Seen<'_>) {}

    /// It comes from a snapshot: takes what follows from the configuration from a fresh one, and checks the rest.
    fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict;

    /// Bytes of its tables.
    fn bytes(&self) -> usize {
        0
    }
}

macro_rules! list {
    (@techniques $(
        $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal
        $(, cause $cause:ident($number:literal) $called:literal)?;
    )*) => {
        $(pub mod $folder;)*

        /// Which technique.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(in crate::ftl) enum Which { $($folder),* }

        /// The configurations of all techniques.
        #[derive(Clone, Copy, Debug)]
        pub struct Configs<'a> {
            $($(#[$doc])* pub $folder: &'a $folder::Config,)*
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
        }

        /// All techniques of a drive.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(in crate::ftl) struct Techniques {
            /// A bit for each that is on.
            on: u32,
            $($folder: $folder::$name,)*
        }

        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// As the configuration has them.
            pub fn new(configs: &Configs<'_>, cfg: &Sections, layout: &Layout) -> Self {
                $(let $folder = $folder::$name::new(configs.$folder, cfg, layout);)*
                let mut on = 0;
                $(on |= u32::from($folder.is_on()) << Which::$folder as u32;)*
                Techniques { on, $($folder),* }
            }

            /// Whether any is on.
            #[inline]
            pub fn are_on(&self) -> bool {
                self.on != 0
            }

            /// See [`Technique::tick`].
            pub fn tick(&mut self, seen: &Seen<'_>, looks: &mut Looks) {
                $(if self.on >> Which::$folder as u32 & 1 == 1 { self.$folder.tick(seen, looks); })*
            }

            /// The block that is emptied next in a lane, for which of them and why: the first in the list that has one.
            pub fn choose(&self, lane: LaneId, seen: &Seen<'_>) -> Option<(BlockId, Which, Cause)> {
                $($(if self.on >> Which::$folder as u32 & 1 == 1
                    && let Some(block) = self.$folder.offer(lane, seen)
                {
                    return Some((block, Which::$folder, Cause::$cause));
                })?)*
                None
            }

            /// See [`Technique::taken`].
            pub fn taken(&mut self, by: Which, lane: LaneId, block: BlockId, seen: &Seen<'_>) {
                $(if by == Which::$folder { self.$folder.taken(lane, block, seen); })*
            }

            /// See [`Technique::restored`].
            pub fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict {
                self.on = fresh.on;
                $(self.$folder.restored(fresh.$folder, seen)?;)*
                Ok(())
            }

            /// See [`Technique::bytes`].
            pub fn bytes(&self) -> usize {
                0 $(+ self.$folder.bytes())*
            }
        }
    };
}

techniques! { list! {} }
