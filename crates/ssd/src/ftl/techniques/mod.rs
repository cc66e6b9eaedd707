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
#[macro_use]
mod list;
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
    /// together are [`TechniqueCounts`], a part of [`crate::Stats`], whose counters results and documentation list.
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

    /// Why it cannot work on such a drive, if it cannot, going by sections that choose no policy: geometry, cells,
    /// mapping.
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

techniques! { list! {} }
