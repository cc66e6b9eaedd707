//! Must data move because of reads, and which?
//!
//! Every read disturbs the cells around it. A policy counts reads as it can afford to, and says when a block is to be
//! looked at and what must leave it; `ftl::moves` carries that out, in steps, like cleaning. What the policy believes
//! is one thing, what the chips know another: whether data died is decided by the cells (`nand::aging`).

use crate::config::member::Misfit;
use crate::flash::Flash;
use crate::ftl::tables::blocks::Blocks;
use crate::ftl::tables::layout::Layout;
use crate::ftl::tables::map::Map;
use crate::ftl::tables::replicas::Replicas;
use crate::ftl::tables::wordlines::Wordlines;
use crate::nand::PageAddress;
use crate::nand::aging::tables::MOST_CYCLES;
use crate::nand::cell::{CellModel, Group};
use crate::sections::Geometry;
use crate::units::{BlockId, Lpn, Pun};
use serde::{Deserialize, Serialize};

techniques! { family! { {
    /// Must data move because of reads, and which?
    path "ftl/read_reclaim", default never;
    members {
        never: Never,
        block: Block,
        page_type: PageType,
        lazy_exact: LazyExact,
        straw: Straw,
    }
    renamed { "oracle" => lazy_exact }
    methods {
        /// Whether data ever moves because of reads: only then is the policy told anything, and the cells' constants
        /// are checked whether or not cells make errors.
        fn acts(&self) -> bool {
            true
        }
        /// Told of the drive once, when it is built.
        fn learn(&mut self, setup: &Setup<'_>) {}
        /// A wordline is read soon: starts loading its counters.
        fn prefetch(&self, physical: u32, wordline: u32) {}
        /// A page is read: counts it, and says whether its block must be looked at.
        fn on_read(&mut self, read: &PageRead) -> Urgency {
            Urgency::No
        }
        /// What must leave a block. Asked again, with what it named last and has left by now, until it names nothing;
        /// asked with `None` as often as the block is looked at, also if what it named could not leave yet.
        fn wants(&mut self, look: &Look<'_>, left: Option<Want>) -> Option<Want> {
            None
        }
        /// Whether it asks the chips what no drive can know. Such a policy can only say what knowing is worth.
        fn sees_chips(&self) -> bool {
            false
        }
        /// The question of `wants`, put to a policy that sees the chips.
        fn wants_seeing(&mut self, look: &Look<'_>, chips: &ChipLook<'_>, left: Option<Want>) -> Option<Want> {
            self.wants(look, left)
        }
        /// Whether it says in which order the wordlines of a block leave that is emptied for whatever reason; else they
        /// leave in the order of pages.
        fn orders_leaving(&self) -> bool {
            false
        }
        /// The wordline that leaves a physical block next, of those that live, and how much more it stands; `left` has
        /// just been read. The chips are shown to who [`Member::sees_chips`].
        fn leaves_next(
            &mut self, look: &Look<'_>, chips: Option<&ChipLook<'_>>, left: Option<u32>,
        ) -> Option<(i64, u32)> {
            None
        }
        /// A physical block is erased: its reads are forgotten.
        fn on_erase(&mut self, physical: u32) {}
        /// Bytes of its tables.
        fn memory_bytes(&self) -> usize {
            0
        }
        /// Bytes of its tables on a drive that is not built yet, about: what grows with the drive.
        fn memory_estimate(&self, size: &Size) -> u64 {
            0
        }
        /// Cycles up to which it tells apart what blocks stand: more are refused where cells age.
        fn cycles_told_apart(&self) -> u32 {
            TABLE_CYCLES
        }
        /// Pages at the end of each block that data leaves for replicas.
        fn replica_pages_per_block(&self) -> u32 {
            0
        }
        /// Why it cannot work on such chips, if it cannot.
        fn misfit(&self, geometry: &Geometry) -> Option<Misfit> {
            None
        }
        /// Whether it may want units spread over fresh blocks ([`Destination::Fresh`]), and hears of their reads.
        fn spreads(&self) -> bool {
            false
        }
        /// The host reads a logical unit from flash.
        fn on_unit_read(&mut self, lpn: Lpn) {}
        /// Whether the last read asks for a sample of its block.
        fn sample_due(&self) -> bool {
            false
        }
        /// Samples what it knows of a block's live units.
        fn sample(&mut self, look: &Look<'_>) {}
        /// Nanoseconds without host commands after which blocks are looked at that wait for it.
        fn idle_after_ns(&self) -> Option<u64> {
            None
        }
    }
} } }

/// How large a drive is that is not built yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Physical pages.
    pub pages: u64,
    /// Wordlines of all blocks.
    pub wordlines: u64,
    /// Logical units.
    pub logical_units: u64,
}

/// What a policy may know when it is built.
pub struct Setup<'a> {
    /// The cells' constants: limits are known to firmware from measurements of sample chips.
    pub cells: &'a CellModel,
    /// Physical blocks of the drive.
    pub physical_blocks: u32,
    /// Wordlines of a physical block.
    pub wordlines: u32,
    /// Page types of a wordline.
    pub page_types: u32,
    /// Lanes, on each of which one block at a time loses parts.
    pub lanes: u32,
    /// Logical units.
    pub logical_units: u32,
    /// How often one read senses its page at most, all its attempts together.
    pub readings_at_most: u32,
    /// Seed of the drive, for decisions by lot.
    pub seed: u64,
}

/// A read of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRead {
    /// Physical block, counted over the drive.
    pub physical: u32,
    /// Wordline.
    pub wordline: u32,
    /// Page type, from 0 (LSB).
    pub page_type: u8,
    /// Program mode of the block.
    pub mode: u8,
    /// Program/erase cycles of the block.
    pub cycles: u32,
    /// How often the page is sensed: once, or, told when that is known, so many times more because attempts failed.
    pub readings: u32,
    /// Whether the page is accessed: not so by the further attempts of a read told before, nor by the reads of an age
    /// step, of which it is not known what they asked for. These disturb, and make no page hotter.
    pub access: bool,
}

/// Whether a block must be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// No.
    No,
    /// When the host is silent.
    WhenIdle,
    /// Yes.
    Now,
}

/// What is to be done with a block because of reads: which part of it goes where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// The part.
    pub part: Part,
    /// Where it goes.
    pub to: Destination,
}

/// A part of a physical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// All of it; then it is erased.
    Block,
    /// The live pages of one wordline.
    Wordline(u32),
    /// The live pages of some types, a bit for each.
    Types(u8),
    /// A page: wordline times page types plus page type.
    Page(u32),
    /// The replicas that it holds.
    Replicas,
}

impl Part {
    /// Pages of it, at most.
    pub(super) fn pages(self, wordlines: &Wordlines) -> u32 {
        match self {
            Part::Wordline(_) => wordlines.types(),
            _ => wordlines.places(),
        }
    }
}

/// Where a part of a block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Destination {
    /// Where cleaning's data goes.
    Moves,
    /// Into freshly opened blocks in a program mode, if a technique carries that out (`ftl::techniques`).
    Fresh {
        /// Program mode, index into `cell.modes`; a higher one if the partner's data asks for it.
        mode: u8,
        /// With the block that the technique pairs it with, hottest units first on the page types that are read with
        /// least harm; otherwise alone and in order.
        paired: bool,
    },
    /// It stays, and this physical block takes a replica of it.
    Replica(u32),
    /// It stays: replicas become the pages they are replicas of.
    Here,
}

impl Want {
    /// All of a block, to where cleaning's data goes.
    pub const BLOCK: Want = Want { part: Part::Block, to: Destination::Moves };
    /// Replicas become pages.
    pub const ADOPT: Want = Want { part: Part::Replicas, to: Destination::Here };

    /// A wordline, to where cleaning's data goes.
    pub const fn wordline(wordline: u32) -> Want {
        Want { part: Part::Wordline(wordline), to: Destination::Moves }
    }

    /// Page types, to where cleaning's data goes.
    pub const fn types(types: u8) -> Want {
        Want { part: Part::Types(types), to: Destination::Moves }
    }

    /// A replica of a page in a physical block.
    pub const fn replica(place: u32, to: u32) -> Want {
        Want { part: Part::Page(place), to: Destination::Replica(to) }
    }

    /// All of a block, spread over fresh ones.
    pub const fn spread(mode: u8, paired: bool) -> Want {
        Want { part: Part::Block, to: Destination::Fresh { mode, paired } }
    }

    /// The wordline, if that is the part.
    pub const fn as_wordline(self) -> Option<u32> {
        match self.part {
            Part::Wordline(wordline) => Some(wordline),
            _ => None,
        }
    }
}

/// A physical block, as a policy looks at it.
pub struct Look<'a> {
    pub(super) map: &'a Map,
    pub(super) layout: &'a Layout,
    pub(super) blocks: &'a Blocks,
    pub(super) replicas: &'a Replicas,
    pub(super) wordlines: &'a Wordlines,
    /// In a block that is being filled, the first page that is not written.
    pub(super) unwritten: Option<u32>,
    pub(super) live_units: u32,
    pub(super) block: BlockId,
    pub(super) member: u32,
    /// Where it is on the chips.
    pub at: PageAddress,
    /// Its program/erase cycles.
    pub cycles: u32,
}

impl Look<'_> {
    /// Whether the block is still being filled: it would have to be closed before its turn.
    pub fn is_filling(&self) -> bool {
        self.unwritten.is_some()
    }

    /// No more pages than these hold live data, if the block is not being filled.
    pub fn live_pages_at_most(&self) -> u32 {
        self.live_units.min(self.wordlines.places())
    }

    fn units_of(&self, page: u32) -> core::ops::Range<u32> {
        let from = self.layout.first_unit_of(self.block, self.member, page).0;
        from..from + self.layout.units_per_page
    }

    fn units_at(&self, place: u32) -> core::ops::Range<u32> {
        self.units_of(self.wordlines.page_of(place))
    }

    /// Whether a page (wordline times page types plus page type) holds live data.
    #[inline]
    pub fn is_valid(&self, place: u32) -> bool {
        self.is_page_valid(self.wordlines.page_of(place))
    }

    fn is_page_valid(&self, page: u32) -> bool {
        let units = self.units_of(page);
        self.map.next_live(units.start, units.end).is_some()
    }

    /// Whether a wordline holds live data, or is going to: what is yet to be written in a block being filled is
    /// disturbed before it is there. (If that must leave, the block is closed.)
    #[inline]
    pub fn has_live(&self, wordline: u32) -> bool {
        let unwritten = self.unwritten.unwrap_or(u32::MAX);
        let mut pages = self.wordlines.pages(wordline).iter();
        pages.any(|&page| page >= unwritten || self.is_page_valid(page))
    }

    /// The first wordline of `from..end` that holds live data.
    #[inline]
    pub fn next_live(&self, from: u32, end: u32) -> Option<u32> {
        let mut at = from;
        while at < end {
            let types = self.wordlines.types();
            if self.wordlines.in_order && self.unwritten.is_none() {
                // Where nothing lives the map is passed over quickly.
                let unit = |wordline| self.layout.first_unit_of(self.block, 0, wordline * types).0;
                let found = self.map.next_live(unit(at), unit(end))?;
                let page = (found - unit(0)) / self.layout.units_per_page / self.layout.span;
                at = page / types;
            }
            if self.has_live(at) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// The lane that the block is of.
    pub fn lane(&self) -> usize {
        self.layout.lane_of(self.block).index()
    }

    /// Whether a page holds live data that has no replica.
    #[inline]
    pub fn lacks_replica(&self, place: u32) -> bool {
        let lacks = |unit: Pun| self.map.is_live(unit) && !self.replicas.get(self.map.stored(unit)).is_some();
        self.units_at(place).map(Pun).any(lacks)
    }

    /// Whether a physical block can take a replica now.
    #[inline]
    pub fn may_hold(&self, physical: u32) -> bool {
        self.replicas.may_hold(self.blocks, self.layout, physical)
    }

    /// Pages of a physical block that hold replicas, or held some since its erase.
    #[inline]
    pub fn replicas_in(&self, physical: u32) -> u32 {
        self.replicas.used(physical)
    }
}

/// The chips themselves, for a policy that sees them ([`Member::sees_chips`]).
pub struct ChipLook<'a>(pub(super) &'a Flash);

impl ChipLook<'_> {
    /// Effective reads, in units of the chips' counters, up to which the first attempt of all pages of a wordline, and
    /// of all others of its group, surely succeeds.
    pub fn plain_until(&self, look: &Look<'_>, wordline: u32) -> u64 {
        look.wordlines
            .pages(wordline)
            .iter()
            .map(|&page| self.0.plain_until(look.at.block, page))
            .min()
            .unwrap_or(u64::MAX)
    }
}

/// Cycles for which one entry of a table stands.
const CYCLES_PER_BIN: u32 = 64;
/// Entries of a table: the last holds for all more cycles, up to where the cells' own tables end.
const BINS: u32 = 512;
/// Cycles up to which tables tell ages apart.
const TABLE_CYCLES: u32 = BINS * CYCLES_PER_BIN;

#[inline]
fn bin(cycles: u32) -> usize {
    (cycles / CYCLES_PER_BIN).min(BINS - 1) as usize
}

/// Thousands of cycles at the end of each bin: limits fall with wear, and the table is on the safe side.
// tidy: allow(float): called when a drive is built
fn bins() -> impl Iterator<Item = f64> {
    let ends = (1..BINS).map(|bin| bin * CYCLES_PER_BIN).chain([MOST_CYCLES]);
    ends.map(|cycles| f64::from(cycles) / 1000.0)
}

/// Reads of a block by the share of a limit: integer tables by cycles.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ReadLimits(Vec<u32>);

impl ReadLimits {
    /// `max_reads` at all ages, or, if that is 0, what the worst wordline stands when all reads are of its neighbour
    /// (Straw's BLOCK); times `share`.
    // tidy: allow(float): called when a drive is built
    fn new(cells: &CellModel, max_reads: u32, share: f64) -> Self {
        ReadLimits::of_cycles(cells, max_reads, (share, 1.0))
    }

    /// The same for cells of which so many cycles wear as much as one that is counted.
    // tidy: allow(float): called when a drive is built
    pub(super) fn of_cycles(cells: &CellModel, max_reads: u32, (share, cycles): (f64, f64)) -> Self {
        let reads = bins().map(|kcycles| match max_reads {
            0 => cells.block_reads_max(kcycles * cycles),
            reads => f64::from(reads),
        });
        ReadLimits(reads.map(|reads| libm::floor(reads * share).max(1.0) as u32).collect())
    }

    /// The same for reads that are counted by their harm, in 1/[`READ_ONE`]: no more than such counters hold.
    // tidy: allow(float): called when a drive is built
    fn of_harm(cells: &CellModel, max_reads: u32, share: f64) -> Self {
        let mut limits = ReadLimits::new(cells, max_reads, share);
        limits.0.iter_mut().for_each(|limit| *limit = (*limit).min(u32::MAX / READ_ONE));
        limits
    }

    #[inline]
    pub(super) fn at(&self, cycles: u32) -> u32 {
        self.0[bin(cycles)]
    }
}

/// One read of the worst kind on the scale of counters: the alphas 1, 2, 5 and betas 1/4, 1/2, 1 of redFTL+ are exact.
const READ_ONE: u32 = 320;

/// Page types at most: four bits in a cell.
pub(super) const MAX_PAGE_TYPES: usize = 4;

/// Harm of a read of each page type in each program mode, in 1/[`READ_ONE`], rounded up: beta over alpha of redFTL+.
/// Types that the part does not have (where cells do not age, it need not fit the drive) count as the worst.
// tidy: allow(float): called when a drive is built
fn read_weights(cells: &CellModel) -> Vec<Vec<u32>> {
    let weight = |page, mode| libm::ceil(cells.read_weight(page, mode) * f64::from(READ_ONE) - 1e-9) as u32;
    let of = |page, mode| if page < cells.page_types() { weight(page, mode) } else { READ_ONE };
    let modes = 0..cells.part().modes.read_endurance.len();
    modes.map(|mode| (0..MAX_PAGE_TYPES).map(|page| of(page, mode)).collect()).collect()
}

/// Group of each wordline: sorted by distance from the middle of the block, as the chips' own wordlines are.
fn groups(setup: &Setup<'_>) -> Vec<u8> {
    crate::nand::aging::build::groups(setup.cells, setup.wordlines)
}

/// What the wordlines of a group stand, by cycles: Straw's read-reclaim parameter table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ParameterTable {
    /// Effective reads endured: group, bin.
    erc_max: Vec<u32>,
    /// Harm of a neighbour's read, in 1/256: group, bin.
    adjacent_q8: Vec<u32>,
}

impl ParameterTable {
    /// The part's own table, its limits scaled: 1.0 is the truth.
    // tidy: allow(float): called when a drive is built
    fn new(cells: &CellModel, scale: f64) -> Self {
        let by_group = |value: &dyn Fn(Group, f64) -> f64| -> Vec<u32> {
            let row = |group| bins().map(move |kcycles| value(group, kcycles) as u32);
            Group::ALL.into_iter().flat_map(row).collect()
        };
        ParameterTable {
            erc_max: by_group(&|group, kcycles| libm::floor(cells.erc_max(group, kcycles) * scale)),
            adjacent_q8: by_group(&|group, kcycles| libm::ceil(cells.adjacent(group, kcycles) * 256.0)),
        }
    }

    /// Effective reads endured, and the harm of a neighbour's read in 1/256.
    #[inline]
    fn at(&self, group: u8, cycles: u32) -> (u64, u64) {
        let at = usize::from(group) * BINS as usize + bin(cycles);
        (u64::from(self.erc_max[at]), u64::from(self.adjacent_q8[at]))
    }
}
