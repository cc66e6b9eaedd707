//! The drive's blocks one by one, as they are at a time.

use crate::drive::{Drive, State};
use crate::ftl::tables::blocks::BlockState;
use crate::units::{BlockId, StreamId};

/// A block of the firmware's: the unit of cleaning, which may be striped over several planes (superblocks count as
/// one).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRow {
    /// The lane it belongs to.
    pub lane: u32,
    /// What it is used for.
    pub state: BlockState,
    /// Mapping units in it that live.
    pub live_units: u32,
    /// Mapping units in it that were programmed since its last erase, padding included: those that do not live are
    /// dead.
    pub programmed_units: u32,
    /// Erases.
    pub erases: u32,
    /// Share of its life that is behind it, in 1/4096, as the firmware's marker tells (`ftl.age_marker`); 0 where none
    /// does.
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

impl Drive {
    /// All blocks, lane by lane. Takes a look at every block, and where cells age at every page.
    pub fn block_table(&self) -> Vec<BlockRow> {
        (0..self.state.ftl.tables.layout.blocks()).map(|block| row(&self.state, BlockId(block))).collect()
    }
}

fn row(state: &State, block: BlockId) -> BlockRow {
    let (ftl, chip) = (&state.ftl, &state.flash.chip);
    let (layout, blocks) = (&ftl.tables.layout, &ftl.tables.blocks);
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
        programmed_units: programmed * layout.units_per_page,
        erases: blocks.erase_count(block),
        wear_q12: blocks.wear_q12(block),
        age_units: is_full.then(|| ftl.age_of(block)),
        stream: Some(blocks.stream(block)).filter(|stream| *stream != StreamId::NONE).map(|stream| stream.0),
        mode: blocks.mode(block),
        one_bit: blocks.is_one_bit(block),
        disturbed_q12: chip.ages().then(|| disturbed.unwrap_or(0)),
    }
}
