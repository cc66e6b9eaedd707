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

#[macro_use]
mod facets;
mod jobs;
#[macro_use]
mod list;
mod terms;

use crate::config::member::Misfit;
use crate::counters::{Count, Counter};
use crate::flash::op::Cause;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::tables::worn::Worn;
use crate::ftl::work::looks::Looks;
use crate::nand::Chip;
use crate::restore::Verdict;
use crate::sections::Sections;
use crate::units::{BlockId, LaneId, Ppn};
use core::marker::PhantomData;
#[allow(unused_imports)] // no technique of the list may be so
use facets::{CopiesInside, GoesByAges, Offers, Replicates, TellsAges, Works};
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

/// What every technique is. What it may be for others beside that are its facets ([`facets`]). Snapshots hold all of
/// its struct but what serde skips; [`Technique::restored`] checks it.
#[allow(unused_variables, dead_code)] // a default may need none of its arguments, and the list may be empty
pub(in crate::ftl) trait Technique: Sized {
    /// Its configuration: which of its policies, with their parameters.
    type Config;

    /// What is counted of it alone, declared by `counters!` in its folder: [`NoCounts`] if nothing is. All of them
    /// together are [`TechniqueCounts`], a part of [`crate::Stats`], whose counters results and documentation list.
    type Counts;

    /// Whether what it moves has not been written for long: such data goes to an open block of its own in each lane.
    const COLD: bool = false;

    /// Whether a drive may change its policy at any time, for that leaves no marks on flash.
    const IS_CHANGEABLE: bool = false;

    /// Whether such a configuration makes it do anything.
    fn acts(config: &Self::Config) -> bool;

    /// In its initial state.
    fn new(config: &Self::Config, cfg: &Sections, layout: &Layout) -> Self;

    /// Why it cannot work on such a drive, if it cannot, going by sections that choose no policy: geometry, cells,
    /// mapping.
    fn misfit(config: &Self::Config, cfg: &Sections) -> Option<Misfit> {
        None
    }

    /// Why it cannot work beside policies that are no techniques, if it cannot. Techniques meet in what they tell and
    /// need of ages alone. `DriveConfig::validate` asks for all of these.
    fn clash(config: &Self::Config, beside: &Beside<'_>) -> Option<Misfit> {
        None
    }

    /// Bytes of memory that its tables take, about.
    fn memory_bytes(config: &Self::Config, cfg: &Sections) -> u64 {
        0
    }

    /// Whether it does anything at all. What does not is never asked.
    fn is_on(&self) -> bool;

    /// Told of the chips when the drive is built.
    fn learn(&mut self, chip: &Chip) {}

    /// It comes from a snapshot: takes what follows from the configuration from a fresh one, and checks the rest.
    fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict;

    /// Bytes of its tables.
    fn bytes(&self) -> usize {
        0
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

techniques! { list! {} }
