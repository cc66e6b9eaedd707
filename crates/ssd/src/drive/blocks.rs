//! The drive's blocks one by one, as they are at a time.

use crate::drive::stats::Wear;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::tables::blocks::BlockState;
use crate::nand::Chip;
use crate::nand::torn::AtWork;
use crate::units::{BlockId, StreamId};
use serde::{Deserialize, Serialize};

/// A block of the firmware's: the unit of cleaning, which may be striped over several planes (superblocks count as
/// one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRow {
    /// The lane it belongs to.
    pub lane: u32,
    /// What it is used for.
    pub state: BlockState,
    /// Valid mapping units in it.
    pub live_units: u32,
    /// Mapping units in it that were programmed since its last erase, padding included: those that are not valid are
    /// invalid.
    pub programmed_units: u32,
    /// Erases.
    pub erases: u32,
    /// Share of its life that is behind it, in 1/4096, as the firmware estimates it; 0 where it does not.
    pub wear_q12: u16,
    /// Mapping units that the host has written since it was filled; none of a block that is not full.
    pub age_units: Option<u64>,
    /// The stream that fills or has filled it, by number; none if nothing has, or if it was dealt over.
    pub stream: Option<u8>,
    /// The program mode that it was opened in last, as the part numbers them.
    pub mode: u8,
    /// Whether it is used with one bit a cell.
    pub one_bit: bool,
    /// The most that reads since its erase have disturbed a page programmed in it, in 1/4096 of what that stands; none
    /// where cells do not age.
    pub disturbed_q12: Option<u32>,
}

/// Lanes, and what lies in all of them. Superblocks count as one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Blocks of each lane.
    pub blocks: u32,
    /// Mapping units that data fills in a block.
    pub units: u32,
    /// Mapping units that hold data in flash.
    pub live_units: u64,
    /// Erases of the blocks of each.
    pub erases: Vec<u64>,
}

/// The blocks of a drive ([`Drive::blocks`](crate::Drive::blocks)).
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    pub(crate) ftl: &'a Ftl,
    pub(crate) flash: &'a Flash,
}

impl Blocks<'_> {
    /// All of them, lane by lane. Takes a look at every block, and where cells age at every page.
    pub fn table(self) -> Vec<BlockRow> {
        (0..self.ftl.moves.media.tables.layout.blocks())
            .map(|block| row(self.ftl, &self.flash.chip, BlockId(block)))
            .collect()
    }

    /// What the arrays of the dies do to the chips now: the state that it leaves if power is lost meanwhile is known.
    pub fn at_work(self) -> Vec<AtWork> {
        self.flash.at_work()
    }

    /// The lanes and what is in them. Takes a look at every block.
    pub fn lanes(self) -> Lanes {
        let media = &self.ftl.moves.media;
        let (layout, blocks) = (&media.tables.layout, &media.tables.blocks);
        let mut lanes = Lanes {
            blocks: layout.blocks_per_lane,
            units: layout.data_units_per_block(),
            live_units: 0,
            erases: vec![0; layout.lanes as usize],
        };
        for block in (0..layout.blocks()).map(BlockId) {
            lanes.live_units += u64::from(blocks.live(block));
            lanes.erases[layout.lane_of(block).index()] += u64::from(blocks.erase_count(block));
        }
        lanes
    }

    /// Mapping units that consecutive writes put in one lane before they go on to the next.
    pub fn stripe_units(self) -> u32 {
        let media = &self.ftl.moves.media;
        media.tables.layout.pages_per_turn * media.tables.layout.units_per_page
    }

    /// Pages that can hold data; of a mapping unit that is larger than a page all that it takes count as one.
    pub fn pages(self) -> u64 {
        let layout = &self.ftl.moves.media.tables.layout;
        u64::from(layout.blocks()) * u64::from(layout.pages_per_block * layout.deep)
    }

    /// Erase counts of all that are in use.
    pub fn erase_counts(self) -> Vec<u32> {
        self.ftl.moves.media.tables.blocks.erase_counts().collect()
    }

    /// Erases of those in use, and how many were retired.
    pub fn wear(self) -> Wear {
        let blocks = &self.ftl.moves.media.tables.blocks;
        let mut wear = Wear { retired: blocks.retired(), min: u32::MAX, ..Wear::default() };
        for count in blocks.erase_counts() {
            wear.blocks += 1;
            wear.min = wear.min.min(count);
            wear.max = wear.max.max(count);
            wear.total += u64::from(count);
        }
        wear.min = wear.min.min(wear.max);
        wear
    }

    /// Of each that is full: the host units written since it was filled, and its live units. Lane by lane.
    pub fn full(self) -> Vec<(u64, u32)> {
        self.ftl.moves.media.tables.full_blocks().collect()
    }

    /// Age of a physical block as the firmware estimates it, in 1/4096 of its life; 0 where it does not.
    pub fn age_q12(self, block: u32) -> u32 {
        self.ftl.moves.media.age_q12(&self.flash.chip, block)
    }

    /// The most that any page with live data is disturbed now, in 1/4096 of what it stands; `None` where cells do not
    /// age. Takes a look at every wordline. With `FtlCounts::disturbed_q12_max` it is the smallest margin of a run.
    pub fn worst_disturb_q12(self) -> Option<u32> {
        self.ftl.moves.media.tables.worst_disturb_q12(self.flash)
    }
}

fn row(ftl: &Ftl, chip: &Chip, block: BlockId) -> BlockRow {
    let (layout, blocks) = (&ftl.moves.media.tables.layout, &ftl.moves.media.tables.blocks);
    let members = (0..layout.span).map(|k| layout.member(block, k).block);
    let programmed: u32 = members.clone().map(|member| chip.programmed_pages(member)).sum();
    let pages = members.flat_map(|member| (0..chip.programmed_pages(member)).map(move |page| (member, page)));
    let disturbed = pages.map(|(member, page)| chip.disturb_q12(member, page).unwrap_or(0)).max();
    let state = blocks.state(block);
    let is_full = state == BlockState::Closed || blocks.leaves(block);
    BlockRow {
        lane: layout.lane_of(block).0,
        state,
        live_units: blocks.live(block),
        programmed_units: programmed * layout.units_per_page / layout.width,
        erases: blocks.erase_count(block),
        wear_q12: blocks.wear_q12(block),
        age_units: is_full.then(|| ftl.moves.media.tables.age_of(block)),
        stream: Some(blocks.stream(block)).filter(|stream| *stream != StreamId::NONE).map(|stream| stream.0),
        mode: blocks.mode(block),
        one_bit: blocks.is_one_bit(block),
        disturbed_q12: chip.ages().then(|| disturbed.unwrap_or(0)),
    }
}
