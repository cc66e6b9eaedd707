//! What the firmware knows of each block: state, live units, erases, and when it was filled.

mod view;

pub use view::{BlockState, Columns, LaneView, NOT_ELIGIBLE};

use crate::flash::op::Cause;
use crate::ftl::tables::layout::Layout;
use crate::prefetch::prefetch;
use crate::restore::{Verdict, alike, ensure, within};
use crate::signals::Reason;
use crate::snapshot::raw;
use crate::units::{BlockId, LaneId, StreamId};
use serde::{Deserialize, Serialize};

/// The block table, by [`BlockId`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    state: Vec<BlockState>,
    live: Vec<u32>,
    /// Programs issued and not completed. The read of a first page for its errors counts as one, and so do erases of a
    /// block that is open already. While there are any, the block is neither chosen nor erased.
    programming: Vec<u32>,
    /// Units read away and not yet programmed elsewhere. While there are any, an emptied block is not erased.
    leaving: Vec<u32>,
    /// Members still to be erased.
    erasing: Vec<u32>,
    erase_count: Vec<u32>,
    /// Host units written when the block was filled: its age counts from here.
    closed_at: Vec<u64>,
    /// Host units written when the block was last changed: filled, or a unit of it died.
    changed_at: Vec<u64>,
    /// Host units written when the block was opened.
    opened_at: Vec<u64>,
    /// The stream that fills or has filled the block; none if it was dealt over.
    stream: Vec<StreamId>,
    /// Program mode that the block was opened in last, as the part numbers them.
    mode: Vec<u8>,
    /// Used with one bit a cell.
    one_bit: Vec<bool>,
    /// It was when it was opened last: what it holds since is of one bit a cell.
    holds_one_bit: Vec<bool>,
    /// Share of its life that a block has behind it, in 1/4096, as the firmware estimates it.
    #[serde(with = "raw")]
    wear_q12: Vec<u16>,
    /// Failed a program: to be retired.
    failing: Vec<bool>,
    /// Emptied and not erased since: it is when it is opened (`ftl.cleaning.lazy_erase`).
    stale: Vec<bool>,
    /// What waits for that erase, or is erased once the block is open, is of one bit a cell.
    stale_one_bit: Vec<bool>,
    /// Why the block was last emptied.
    cause: Vec<Cause>,
    units_per_block: u32,
    units_per_page: u32,
}

impl Blocks {
    /// All blocks free, with the erase counts given.
    pub fn new(layout: &Layout, erase_counts: impl Iterator<Item = u32>) -> Self {
        let n = layout.blocks() as usize;
        Blocks {
            state: vec![BlockState::Free; n],
            live: vec![NOT_ELIGIBLE; n],
            programming: vec![0; n],
            leaving: vec![0; n],
            erasing: vec![0; n],
            erase_count: erase_counts.collect(),
            closed_at: vec![0; n],
            changed_at: vec![0; n],
            opened_at: vec![0; n],
            stream: vec![StreamId::NONE; n],
            mode: vec![0; n],
            one_bit: vec![false; n],
            holds_one_bit: vec![false; n],
            wear_q12: vec![0; n],
            failing: vec![false; n],
            stale: vec![false; n],
            stale_one_bit: vec![false; n],
            cause: vec![Cause::Cleaning; n],
            units_per_block: layout.data_units_per_block(),
            units_per_page: layout.units_per_page,
        }
    }

    /// Takes what follows from the configuration from fresh blocks, and checks the rest.
    pub(in crate::ftl) fn restored(
        &mut self,
        fresh: &Blocks,
        layout: &Layout,
        (clock, modes): (u64, usize),
    ) -> Verdict {
        alike("states of blocks", &self.state, &fresh.state)?;
        alike("live units of blocks", &self.live, &fresh.live)?;
        alike("programs of blocks", &self.programming, &fresh.programming)?;
        alike("units leaving blocks", &self.leaving, &fresh.leaving)?;
        alike("erases of blocks", &self.erasing, &fresh.erasing)?;
        alike("erase counts", &self.erase_count, &fresh.erase_count)?;
        alike("ages of blocks", &self.closed_at, &fresh.closed_at)?;
        alike("when blocks were changed", &self.changed_at, &fresh.changed_at)?;
        alike("when blocks were opened", &self.opened_at, &fresh.opened_at)?;
        alike("streams of blocks", &self.stream, &fresh.stream)?;
        alike("program modes of blocks", &self.mode, &fresh.mode)?;
        alike("bits a cell of blocks", &self.one_bit, &fresh.one_bit)?;
        alike("bits a cell of what blocks hold", &self.holds_one_bit, &fresh.holds_one_bit)?;
        alike("ages by wear", &self.wear_q12, &fresh.wear_q12)?;
        alike("failing blocks", &self.failing, &fresh.failing)?;
        alike("blocks that wait for their erase", &self.stale, &fresh.stale)?;
        alike("blocks that wait for their erase", &self.stale_one_bit, &fresh.stale_one_bit)?;
        let can_wait = |state: &BlockState| matches!(state, BlockState::Free | BlockState::Open);
        let mut stale = self.stale.iter().zip(&self.state).filter(|(stale, _)| **stale);
        ensure(stale.all(|(_, state)| can_wait(state)), "a block that waits for its erase")?;
        alike("causes of moves", &self.cause, &fresh.cause)?;
        (self.units_per_block, self.units_per_page) = (fresh.units_per_block, fresh.units_per_page);
        let live = self.live.iter().map(|live| live & !NOT_ELIGIBLE);
        within("live units of a block", live, layout.units_per_block() as usize + 1)?;
        within("program mode of a block", self.mode.iter().map(|&mode| u32::from(mode)), modes)?;
        within("erases of members", self.erasing.iter().copied(), layout.span as usize + 1)?;
        ensure(self.erase_count.iter().all(|&count| count >> 30 == 0), "erases of a block")?;
        ensure(self.closed_at.iter().all(|&at| at <= clock), "when a block was filled")?;
        ensure(self.changed_at.iter().all(|&at| at <= clock), "when a block was changed")?;
        ensure(self.opened_at.iter().all(|&at| at <= clock), "when a block was opened")
    }

    /// The blocks of a lane, for a policy to choose from.
    pub fn lane_view(&self, layout: &Layout, lane: LaneId, now: u64) -> LaneView<'_> {
        let from = layout.first_block(lane).index();
        let range = from..from + layout.blocks_per_lane as usize;
        LaneView {
            live: &self.live[range.clone()],
            state: &self.state[range.clone()],
            erase_count: &self.erase_count[range.clone()],
            closed_at: &self.closed_at[range.clone()],
            changed_at: &self.changed_at[range.clone()],
            wear_q12: &self.wear_q12[range],
            lane: lane.0,
            units_per_block: self.units_per_block,
            now,
        }
    }

    /// Whether what lives in a block is leaving it, all or some of it.
    #[inline]
    pub fn leaves(&self, block: BlockId) -> bool {
        matches!(self.state(block), BlockState::Moving | BlockState::Draining | BlockState::Migrating)
    }

    /// State of a block.
    #[inline]
    pub fn state(&self, block: BlockId) -> BlockState {
        self.state[block.index()]
    }

    /// Live units of a block.
    #[inline]
    pub fn live(&self, block: BlockId) -> u32 {
        self.live[block.index()] & !NOT_ELIGIBLE
    }

    /// Erases of a block.
    #[inline]
    pub fn erase_count(&self, block: BlockId) -> u32 {
        self.erase_count[block.index()]
    }

    /// Host units written since a block was filled.
    pub fn age(&self, block: BlockId, now: u64) -> u64 {
        now - self.closed_at[block.index()]
    }

    /// Ages a block.
    pub fn set_erase_count(&mut self, block: BlockId, cycles: u32) {
        self.erase_count[block.index()] = cycles;
    }

    /// Share of its life that a block has behind it, in 1/4096; 0 where nothing tells it.
    #[inline]
    pub fn wear_q12(&self, block: BlockId) -> u16 {
        self.wear_q12[block.index()]
    }

    /// A block's age is told.
    pub fn set_wear_q12(&mut self, block: BlockId, age: u16) {
        self.wear_q12[block.index()] = age;
    }

    /// Changes a block's state.
    #[inline]
    pub fn set_state(&mut self, block: BlockId, state: BlockState) {
        self.state[block.index()] = state;
        self.update_eligible(block);
    }

    /// Opens a block for a stream, or for none, in a program mode.
    #[inline]
    pub fn open(&mut self, block: BlockId, (stream, mode): (StreamId, u8), now: u64) {
        self.stream[block.index()] = stream;
        self.mode[block.index()] = mode;
        self.opened_at[block.index()] = now;
        self.holds_one_bit[block.index()] = self.one_bit[block.index()];
        self.set_state(block, BlockState::Open);
    }

    /// The stream that fills or has filled a block; none if it was dealt over, or never filled.
    #[inline]
    pub fn stream(&self, block: BlockId) -> StreamId {
        self.stream[block.index()]
    }

    /// The program mode that a block was opened in last.
    #[inline]
    pub fn mode(&self, block: BlockId) -> u8 {
        self.mode[block.index()]
    }

    /// Whether a block is used with one bit a cell.
    #[inline]
    pub fn is_one_bit(&self, block: BlockId) -> bool {
        self.one_bit[block.index()]
    }

    /// Whether what a block holds is of one bit a cell, whatever it is used for next.
    pub fn holds_one_bit(&self, block: BlockId) -> bool {
        let b = block.index();
        let is_late = self.erasing[b] > 0 && self.state[b] != BlockState::Erasing;
        if is_late { self.stale_one_bit[b] } else { self.holds_one_bit[b] }
    }

    /// A block that holds nothing is used with one bit a cell from now on, or with all of them.
    pub(in crate::ftl) fn set_one_bit(&mut self, block: BlockId, one_bit: bool) {
        assert!(
            matches!(self.state(block), BlockState::Free | BlockState::Erasing | BlockState::Bad),
            "the bits a cell of a block that is {:?}",
            self.state(block)
        );
        self.one_bit[block.index()] = one_bit;
    }

    /// Whether a block of one bit a cell can be destaged: it is full, and nothing is under way to it.
    #[inline]
    pub(in crate::ftl) fn can_destage(&self, block: BlockId) -> bool {
        let b = block.index();
        self.one_bit[b] && self.state[b] == BlockState::Closed && self.programming[b] == 0 && !self.failing[b]
    }

    /// Whether a block of one bit a cell is to be emptied by nobody yet, and can be once nothing is under way to it.
    #[inline]
    pub(in crate::ftl) fn may_leave_cache(&self, block: BlockId) -> bool {
        let b = block.index();
        matches!(self.state[b], BlockState::Open | BlockState::Closed) && !self.failing[b]
    }

    /// Host units written when a block was opened.
    #[inline]
    pub fn opened_at(&self, block: BlockId) -> u64 {
        self.opened_at[block.index()]
    }

    /// The streams of a lane's blocks.
    pub fn lane_streams(&self, layout: &Layout, lane: LaneId) -> &[StreamId] {
        let from = layout.first_block(lane).index();
        &self.stream[from..from + layout.blocks_per_lane as usize]
    }

    /// Closes a block that is full.
    pub fn close(&mut self, block: BlockId, now: u64) {
        self.closed_at[block.index()] = now;
        self.changed_at[block.index()] = now;
        self.set_state(block, BlockState::Closed);
    }

    /// Starts loading a block's live count.
    #[inline]
    pub fn prefetch(&self, block: BlockId) {
        prefetch(&self.live, block.index());
    }

    /// A unit of the block became live.
    #[inline]
    pub fn gain(&mut self, block: BlockId) {
        self.live[block.index()] += 1;
    }

    /// A unit of a block that is not being filled became live: a replica is the page now.
    pub fn adopt(&mut self, block: BlockId) {
        self.gain(block);
        self.update_eligible(block);
    }

    /// A unit of the block died.
    #[inline]
    pub fn lose(&mut self, block: BlockId, now: u64) {
        self.changed_at[block.index()] = now;
        let live = &mut self.live[block.index()];
        debug_assert!(*live & !NOT_ELIGIBLE > 0);
        *live -= 1;
        // A closed block becomes eligible once moving it away frees at least a page.
        if *live == NOT_ELIGIBLE + self.units_per_block - self.units_per_page {
            self.update_eligible(block);
        }
    }

    /// Chosen by cleaning are full blocks that are closed, with no program under way, and free at least a page.
    #[inline]
    fn is_eligible(&self, block: BlockId) -> bool {
        let b = block.index();
        self.state[b] == BlockState::Closed
            && self.programming[b] == 0
            && self.live(block) <= self.units_per_block - self.units_per_page
            && !self.failing[b]
            && !self.one_bit[b]
    }

    fn update_eligible(&mut self, block: BlockId) {
        let live = self.live(block);
        self.live[block.index()] = if self.is_eligible(block) { live } else { live | NOT_ELIGIBLE };
    }

    /// Checks what is known of a block, to which so many programs and erases are under way.
    pub fn check(&self, block: BlockId, (programs, erases): (u32, u32)) -> Result<(), String> {
        let (b, state) = (block.index(), self.state(block));
        let marked = self.live[b] & NOT_ELIGIBLE == 0;
        if self.programming[b] != programs {
            let said = self.programming[b];
            return Err(format!("{programs} programs to block {b} are under way, its count says {said}"));
        }
        if marked != self.is_eligible(block) {
            return Err(format!("block {b} is {state:?} and marked as to be chosen: {marked}"));
        }
        let said = self.erasing[b];
        if said != erases || erases == 0 && state == BlockState::Erasing {
            return Err(format!(
                "{erases} erases of block {b} are under way, its count says {said}: {state:?}"
            ));
        }
        Ok(())
    }

    /// A program to the block was issued.
    #[inline]
    pub fn program_issued(&mut self, block: BlockId) {
        self.programming[block.index()] += 1;
        self.live[block.index()] |= NOT_ELIGIBLE;
    }

    /// A program to the block completed; returns whether it was the last under way.
    #[inline]
    pub fn program_done(&mut self, block: BlockId) -> bool {
        let programming = &mut self.programming[block.index()];
        *programming -= 1;
        let last = *programming == 0;
        if last && self.state[block.index()] == BlockState::Closed {
            self.update_eligible(block);
        }
        last
    }

    /// Programs under way.
    #[inline]
    pub fn programming(&self, block: BlockId) -> u32 {
        self.programming[block.index()]
    }

    /// A program failed: the block is to be retired.
    pub fn set_failing(&mut self, block: BlockId) {
        self.failing[block.index()] = true;
        self.update_eligible(block);
    }

    /// Whether a program to the block failed.
    #[inline]
    pub fn is_failing(&self, block: BlockId) -> bool {
        self.failing[block.index()]
    }

    /// The block's live units are moved away from now on.
    pub fn start_moving(&mut self, block: BlockId, cause: Cause) {
        self.cause[block.index()] = cause;
        self.set_state(block, BlockState::Moving);
    }

    /// Why what leaves the block does, until it is emptied.
    pub fn set_cause(&mut self, block: BlockId, cause: Cause) {
        self.cause[block.index()] = cause;
    }

    /// Why the block is or was last emptied.
    #[inline]
    pub fn cause(&self, block: BlockId) -> Cause {
        self.cause[block.index()]
    }

    /// Units were read away from the block.
    #[inline]
    pub fn leave(&mut self, block: BlockId, units: u32) {
        self.leaving[block.index()] += units;
    }

    /// A unit read away has arrived, or needs no new place; returns whether none is left and the block was only waiting
    /// for that.
    #[inline]
    pub fn arrive(&mut self, block: BlockId) -> bool {
        let leaving = &mut self.leaving[block.index()];
        *leaving -= 1;
        *leaving == 0 && matches!(self.state[block.index()], BlockState::Draining | BlockState::Migrating)
    }

    /// Units read away that have not arrived.
    pub fn leaving(&self, block: BlockId) -> u32 {
        self.leaving[block.index()]
    }

    /// Erases of `members` physical blocks are issued.
    pub fn erase_issued(&mut self, block: BlockId, members: u32) {
        self.erasing[block.index()] = members;
        self.set_state(block, BlockState::Erasing);
    }

    /// A block holds nothing and is not erased before it is opened; what it held was of one bit a cell, or not.
    pub(in crate::ftl) fn set_stale(&mut self, block: BlockId, one_bit: bool) {
        self.stale[block.index()] = true;
        self.stale_one_bit[block.index()] = one_bit;
    }

    /// Whether what an erase of a block erases is of one bit a cell: if it waited for that, what it held before.
    #[inline]
    pub(in crate::ftl) fn erases_one_bit(&self, block: BlockId) -> bool {
        let b = block.index();
        if self.state[b] == BlockState::Erasing { self.one_bit[b] } else { self.stale_one_bit[b] }
    }

    /// A block that waits for its erase is emptied anew, as one that was filled.
    pub(in crate::ftl) fn wait_no_more(&mut self, block: BlockId) {
        self.stale[block.index()] = false;
        self.set_state(block, BlockState::Closed);
    }

    /// Whether a block holds nothing and is not erased yet, nor being erased.
    #[inline]
    pub(in crate::ftl) fn is_stale(&self, block: BlockId) -> bool {
        self.stale[block.index()]
    }

    /// Erases of the members of a block that was opened first are issued: it is kept as by programs until they end.
    pub(in crate::ftl) fn late_erase_issued(&mut self, block: BlockId, members: u32) {
        let b = block.index();
        self.stale[b] = false;
        self.erasing[b] = members;
        self.programming[b] += members;
        self.live[b] |= NOT_ELIGIBLE;
    }

    /// Whether members of a block are still to be erased, whether it is open already or not.
    #[inline]
    pub(in crate::ftl) fn is_erasing(&self, block: BlockId) -> bool {
        self.erasing[block.index()] > 0
    }

    /// One of them is done; `failed` counts against the block. Returns whether it was the last.
    pub fn erase_done(&mut self, block: BlockId, failed: bool) -> bool {
        let b = block.index();
        self.failing[b] |= failed;
        self.erasing[b] -= 1;
        if self.erasing[b] == 0 {
            self.erase_count[b] += 1;
        }
        self.erasing[b] == 0
    }

    /// Whether any block failed, retired or not.
    pub fn has_failed(&self) -> bool {
        self.failing.contains(&true)
    }

    /// Why no room can be made.
    #[cold]
    pub fn why_no_room(&self) -> Reason {
        if self.has_failed() || self.retired() > 0 { Reason::WornOut } else { Reason::Full }
    }

    /// Number of blocks retired since the drive was built.
    pub fn retired(&self) -> u32 {
        self.state.iter().filter(|&&state| state == BlockState::Bad).count() as u32
    }

    /// Erase counts of all blocks that are not retired.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.state
            .iter()
            .zip(&self.erase_count)
            .filter(|(s, _)| **s != BlockState::Bad)
            .map(|(_, &count)| count)
    }
}

#[cfg(test)]
mod tests;
