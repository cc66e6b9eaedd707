//! Which page is written next: free blocks of each lane, open blocks of each stream, and the turn of the lanes.

use super::refusals::Refusals;
use crate::ftl::program_mode::{Opening, ProgramModes};
use crate::ftl::stream::{STREAMS_AT_MOST, StreamId, Streams};
use crate::ftl::tables::blocks::{BlockState, Blocks};
use crate::ftl::tables::layout::Layout;
use crate::ftl::tables::parity::Parity;
use crate::restore::{Verdict, alike, distinct, ensure};
use crate::units::{BlockId, LaneId, Ppn};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OpenBlock {
    pub block: BlockId,
    /// Pages of it that are taken.
    pub next: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct LaneBlocks {
    /// Free blocks, a ring: taken from the head, given back at the tail.
    free: Box<[u32]>,
    head: u32,
    len: u32,
    /// Of the free blocks, or of those that will be, one that, beside the reserve, only moves may open.
    claimed: u32,
    /// By stream.
    open: Box<[OpenBlock]>,
}

impl LaneBlocks {
    fn slot(&self, i: u32) -> usize {
        ((self.head + i) as usize) % self.free.len()
    }

    fn give(&mut self, block: BlockId) {
        let at = self.slot(self.len);
        self.free[at] = block.0;
        self.len += 1;
    }

    /// Takes the free block at position `i` of the ring.
    fn take(&mut self, i: u32) -> BlockId {
        let block = self.free[self.slot(i)];
        for k in (0..i).rev() {
            self.free[self.slot(k + 1)] = self.free[self.slot(k)];
        }
        self.head = self.slot(1) as u32;
        self.len -= 1;
        BlockId(block)
    }
}

/// Free and open blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Allocator {
    lanes: Vec<LaneBlocks>,
    pages_per_block: u32,
    /// Which pages of a block are filled, and which of them hold parity; what follows is kept for replicas.
    #[serde(skip)]
    parity: Parity,
    reserve: u32,
    streams: Streams,
    /// Class of each stream, and what decides in which mode its blocks are programmed.
    classes: [u8; STREAMS_AT_MOST],
    program_modes: ProgramModes,
    /// Of the free blocks the least erased is opened; otherwise the one that came free first.
    least_erased: bool,
    /// The most blocks that streams have had open in one lane.
    most_open: u32,
    /// A block may be claimed.
    claims: bool,
    /// Exposure has a bound: all free blocks are for moves, and the host opens one only if these can spare it.
    #[serde(skip)]
    is_bounded: bool,
    /// By stream: whose turn it is.
    turns: Box<[Turn]>,
    /// What the host need not ask for.
    #[serde(skip)]
    refusals: Refusals,
}

/// Position in the order of lanes, and pages left of that lane's turn.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Turn {
    pub lane: u32,
    pub left: u32,
}

impl Turn {
    /// What is left of it once that page is taken: a row that was begun is the turn, also where a failed program has
    /// left one in the middle.
    #[inline]
    pub fn after(self, layout: &Layout, page: Ppn) -> Turn {
        let left = if layout.pages_per_row > 1 { layout.left_of_row(page) } else { self.left - 1 };
        Turn { left, ..self }
    }

    /// That of the next lane in allocation order.
    #[inline]
    pub fn next(self, layout: &Layout) -> Turn {
        let lane = if self.lane + 1 == layout.lanes { 0 } else { self.lane + 1 };
        Turn { lane, left: layout.pages_per_turn }
    }
}

/// A page, and whether a new block was opened for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// The page.
    pub page: Ppn,
    /// Its block.
    pub block: BlockId,
    /// The lane it lies in.
    pub lane: LaneId,
    /// Whether a free block of that lane was used up.
    pub opened: bool,
    /// Pages behind it that take parity, and are taken with it.
    pub parity: u32,
}

impl Allocator {
    /// All good blocks free; the last `reserve` of a lane are kept for moves.
    pub(in crate::ftl) fn new(
        layout: &Layout,
        reserve: u32,
        (streams, classes): (Streams, [u8; STREAMS_AT_MOST]),
        program_modes: ProgramModes,
    ) -> Self {
        let none = OpenBlock { block: BlockId::NONE, next: 0 };
        let lanes = (0..layout.lanes)
            .map(|lane| LaneBlocks {
                free: (0..layout.blocks_per_lane).map(|i| layout.first_block(LaneId(lane)).0 + i).collect(),
                head: 0,
                len: layout.blocks_per_lane,
                claimed: 0,
                open: vec![none; streams.all()].into_boxed_slice(),
            })
            .collect();
        Allocator {
            lanes,
            pages_per_block: layout.pages_per_block,
            parity: layout.parity,
            reserve,
            streams,
            classes,
            program_modes,
            least_erased: false,
            most_open: 0,
            claims: false,
            is_bounded: false,
            turns: vec![Turn { lane: 0, left: layout.pages_per_turn }; usize::from(streams.count)]
                .into_boxed_slice(),
            refusals: Refusals::new(layout, usize::from(streams.count)),
        }
    }

    /// One that opens the least erased of the free blocks, or the one that came free first.
    pub(in crate::ftl) fn by_wear(self, least_erased: bool) -> Self {
        Allocator { least_erased, ..self }
    }

    /// One whose free blocks are all for moves, if exposure has a bound.
    pub(in crate::ftl) fn bounded(self, is_bounded: bool) -> Self {
        Allocator { is_bounded, ..self }
    }

    /// Whether exposure has a bound.
    #[inline]
    pub(in crate::ftl) fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub(in crate::ftl) fn restored(&mut self, fresh: Allocator, layout: &Layout, blocks: &Blocks) -> Verdict {
        alike("lanes", &self.lanes, &fresh.lanes)?;
        (self.pages_per_block, self.parity) = (fresh.pages_per_block, fresh.parity);
        (self.reserve, self.streams, self.classes) = (fresh.reserve, fresh.streams, fresh.classes);
        (self.least_erased, self.is_bounded) = (fresh.least_erased, fresh.is_bounded);
        self.refusals = fresh.refusals;
        self.program_modes.restored(fresh.program_modes)?;
        alike("streams", &self.turns, &fresh.turns)?;
        ensure(self.most_open as usize <= self.streams.all(), "blocks that were open at once")?;
        let is_turn = |turn: &Turn| turn.lane < layout.lanes && turn.left <= layout.pages_per_turn;
        ensure(self.turns.iter().all(is_turn), "whose turn it is")?;
        for (number, lane) in (0..).map(LaneId).zip(&self.lanes) {
            let first = layout.first_block(number).0;
            let own = first..first + layout.blocks_per_lane;
            ensure(lane.free.len() == own.len(), "room for free blocks")?;
            ensure(lane.head < own.len().max(1) as u32 && lane.len <= own.len() as u32, "free blocks")?;
            ensure(lane.claimed <= u32::from(self.claims), "blocks that are claimed")?;
            ensure(lane.open.len() == self.streams.all(), "open blocks")?;
            let free = (0..lane.len).map(|at| lane.free[lane.slot(at)]);
            distinct("free blocks", free.clone().map(|block| block.wrapping_sub(first)), own.len())?;
            let mut free = free.map(BlockId);
            let is_free = |block| blocks.state(block) == BlockState::Free && !blocks.is_one_bit(block);
            ensure(free.all(is_free), "a free block is not")?;
            for open in lane.open.iter().filter(|open| open.block.is_some()) {
                ensure(
                    own.contains(&open.block.0) && open.next < self.parity.filled(open.block),
                    "an open block",
                )?;
                ensure(blocks.state(open.block) == BlockState::Open, "an open block is not")?;
            }
        }
        Ok(())
    }

    /// The streams there are.
    #[inline]
    pub fn streams(&self) -> Streams {
        self.streams
    }

    /// The most blocks that streams have had open in one lane.
    pub fn most_open(&self) -> u32 {
        self.most_open
    }

    /// Pages of a block that a stream has taken, if it is open for one.
    pub(in crate::ftl) fn filled(&self, lane: LaneId, block: BlockId) -> Option<u32> {
        let open = &self.lanes[lane.index()].open;
        open.iter().find(|open| open.block == block).map(|open| open.next)
    }

    /// The stream that fills a block, if one does.
    pub(in crate::ftl) fn stream_of(&self, lane: LaneId, block: BlockId) -> Option<StreamId> {
        let mut open = (0..).map(StreamId).zip(&self.lanes[lane.index()].open);
        open.find(|(_, open)| open.block == block).map(|(stream, _)| stream)
    }

    /// Free blocks of a lane.
    #[inline]
    pub fn free(&self, lane: LaneId) -> u32 {
        self.lanes[lane.index()].len
    }

    /// Pages that moved data can be sure of in a lane, whatever the host writes: in reserved blocks, and in the open
    /// blocks of streams that are not the host's; of the cold one for what wear levelling moves, of the others for all
    /// else. Open blocks that the host shares count for what the moves have opened of the reserve: until it is whole
    /// again the host may not write to them.
    pub fn room(&self, lane: LaneId, cold: bool) -> u64 {
        let lane = &self.lanes[lane.index()];
        let left = |open: &OpenBlock| self.left_in(open);
        let each = u64::from(self.parity.data());
        let open = match (cold, self.streams.cold().index()) {
            (true, at) => left(&lane.open[at]),
            (false, end) => {
                let own = (0..end).filter(|&at| !self.streams.is_of_host(StreamId(at as u8)));
                own.map(|at| left(&lane.open[at])).sum()
            }
        };
        let lacking = u64::from(self.reserve.saturating_sub(lane.len)) * each;
        let lacking = if self.is_bounded { u64::MAX } else { lacking };
        let shared = if lacking > 0 && !cold && self.streams.any_shared() {
            let all = (0..self.streams.count).map(StreamId).filter(|&at| self.streams.is_shared(at));
            all.map(|at| u64::from(left(&lane.open[at.index()]))).sum::<u64>().min(lacking)
        } else {
            0
        };
        let kept = if self.is_bounded { lane.len } else { self.reserve + lane.claimed };
        let reserved = u64::from(lane.len.min(kept)) * each;
        u64::from(open) + shared + reserved
    }

    /// Pages for data left in the block that a stream has open in a lane.
    pub fn left(&self, lane: LaneId, stream: StreamId) -> u32 {
        self.left_in(&self.lanes[lane.index()].open[stream.index()])
    }

    /// Pages for data left in a block, if there is one.
    #[inline]
    fn left_in(&self, open: &OpenBlock) -> u32 {
        if open.block.is_some() { self.parity.data_left(open.block, open.next) } else { 0 }
    }

    /// Whether the next page of the block that a stream has open in a lane begins with the first of so many planes.
    #[inline]
    pub fn is_at_first_of(&self, planes: u32, lane: LaneId, stream: StreamId) -> bool {
        let open = &self.lanes[lane.index()].open[stream.index()];
        !open.block.is_some() || open.next.is_multiple_of(planes)
    }

    /// Pages for data left of the row that a stream fills in a lane, of rows of so many.
    #[inline]
    pub fn left_of_row(&self, lane: LaneId, stream: StreamId, pages_per_row: u32) -> u32 {
        let open = &self.lanes[lane.index()].open[stream.index()];
        if !open.block.is_some() || pages_per_row == 1 {
            return pages_per_row;
        }
        let left = pages_per_row - open.next % pages_per_row;
        self.parity.data_of(open.block, open.next, left)
    }

    /// Pages left in the blocks that streams of moves alone have open in a lane.
    pub fn left_for_moves(&self, lane: LaneId) -> u32 {
        let own = (0..self.streams.count).map(StreamId).filter(|&at| !self.streams.is_of_host(at));
        own.map(|at| self.left(lane, at)).sum()
    }

    /// Pages left in the blocks that streams of moves have open in a lane, those that the host fills, too, among them.
    pub fn left_for_all_moves(&self, lane: LaneId) -> u32 {
        let shared = (0..self.streams.count).map(StreamId).filter(|&at| self.streams.is_shared(at));
        self.left_for_moves(lane) + shared.map(|at| self.left(lane, at)).sum::<u32>()
    }

    /// Pages left in the fullest of the blocks that the host has open in a lane.
    pub fn least_left_for_host(&self, lane: LaneId) -> u32 {
        let host = (0..self.streams.count).map(StreamId).filter(|&at| self.streams.is_of_host(at));
        host.map(|at| self.left(lane, at)).filter(|&left| left > 0).min().unwrap_or(0)
    }

    /// Keeps a free block beyond the reserve for moves, until they open one, if there is one or one is coming; returns
    /// whether none was kept before.
    pub fn claim(&mut self, lane: LaneId, is_coming: bool) -> bool {
        let lane = &mut self.lanes[lane.index()];
        let is_new = lane.claimed == 0 && (is_coming || lane.len > self.reserve);
        lane.claimed |= u32::from(is_new);
        self.claims |= is_new;
        is_new
    }

    /// Whether a block of a lane is claimed.
    pub fn has_claim(&self, lane: LaneId) -> bool {
        self.lanes[lane.index()].claimed > 0
    }

    /// Whether a block of some lane is claimed.
    pub fn has_claims(&mut self) -> bool {
        let claims = self.claims && self.lanes.iter().any(|lane| lane.claimed > 0);
        self.claims = claims;
        claims
    }

    /// Gives up that claim; returns whether there was one.
    pub fn unclaim(&mut self, lane: LaneId) -> bool {
        self.forget_refusals(lane);
        core::mem::take(&mut self.lanes[lane.index()].claimed) > 0
    }

    /// Gives an erased block back to its lane.
    pub fn give_back(&mut self, lane: LaneId, block: BlockId, blocks: &mut Blocks) {
        blocks.set_state(block, BlockState::Free);
        self.forget_refusals(lane);
        self.lanes[lane.index()].give(block);
    }

    /// Takes a free block from its lane, to be used with one bit a cell.
    pub(in crate::ftl) fn take_back(&mut self, lane: LaneId) -> Option<BlockId> {
        let state = &mut self.lanes[lane.index()];
        (state.len > 0).then(|| state.take(0))
    }

    /// Takes this block from the free ones of its lane; false if it is none of them.
    pub(in crate::ftl) fn take_from_free(&mut self, lane: LaneId, block: BlockId) -> bool {
        let state = &mut self.lanes[lane.index()];
        let at = (0..state.len).find(|&i| state.free[state.slot(i)] == block.0);
        at.map(|i| state.take(i)).is_some()
    }

    /// The next page of a stream for host data, lane by lane in allocation order; lanes without room are passed over,
    /// and, where the host is paced, those of which `waits` says that they have to wait for their cleaning. What a lane
    /// has refused it is not asked again before something of it changes, and none is while all have.
    #[inline]
    pub fn next_host_page<const PACED: bool>(
        &mut self,
        layout: &Layout,
        stream: StreamId,
        (blocks, now): (&mut Blocks, u64),
        waits: impl Fn(&Allocator, &Blocks, LaneId) -> bool,
    ) -> Option<Allocated> {
        let first = self.turns[stream.index()];
        let after = |turn: Turn| turn.next(layout);
        let mut turn = if first.left > 0 { first } else { after(first) };
        while let Some(place) = self.refusals.next_from(turn.lane, stream) {
            if place != turn.lane {
                turn = Turn { lane: place, left: layout.pages_per_turn };
            }
            let lane = LaneId(layout.lane_order[place as usize]);
            if !(PACED && waits(self, blocks, lane))
                && let Some(found) = self.host_page_in(lane, stream, blocks, now)
            {
                self.turns[stream.index()] = turn.after(layout, found.page);
                return Some(found);
            }
            self.refusals.note(lane, stream);
        }
        // Turns move on, so that in time this is asked of every lane.
        debug_assert!({
            let lane = LaneId(layout.lane_order[first.lane as usize]);
            PACED && waits(self, blocks, lane) || !self.has_host_page(lane, stream)
        });
        // Where a round of all of them would end.
        self.turns[stream.index()] = after(first);
        None
    }

    /// Whose turn it is for host data of a stream.
    pub(super) fn turn_of(&self, layout: &Layout, stream: StreamId) -> Turn {
        let turn = self.turns[stream.index()];
        if turn.left > 0 { turn } else { turn.next(layout) }
    }

    /// A page was taken in somebody's turn.
    pub(super) fn take_turn(&mut self, layout: &Layout, stream: StreamId, turn: Turn, page: Ppn) {
        self.turns[stream.index()] = turn.after(layout, page);
    }

    /// Whether the host was refused a page of a stream in a lane of which nothing has changed since.
    #[inline]
    pub fn has_refused(&self, lane: LaneId, stream: StreamId) -> bool {
        self.refusals.has(lane, stream)
    }

    /// Whether a stream has a block open in a lane.
    #[inline]
    pub(in crate::ftl) fn is_open(&self, lane: LaneId, stream: StreamId) -> bool {
        self.lanes[lane.index()].open[stream.index()].block.is_some()
    }

    /// Something has changed of what the host waits for in a lane: it is asked again.
    #[inline]
    pub fn forget_refusals(&mut self, lane: LaneId) {
        self.refusals.forget(lane);
    }

    /// The next page of a stream for host data in a lane.
    #[inline]
    pub fn host_page_in(
        &mut self,
        lane: LaneId,
        stream: StreamId,
        blocks: &mut Blocks,
        now: u64,
    ) -> Option<Allocated> {
        self.page_in(lane, stream, self.reserve, blocks, now)
    }

    /// Whether a stream has a page for host data in a lane.
    pub fn has_host_page(&self, lane: LaneId, stream: StreamId) -> bool {
        let state = &self.lanes[lane.index()];
        match state.open[stream.index()].block.is_some() {
            true => !self.is_kept(state, stream),
            false => state.len > self.reserve + state.claimed,
        }
    }

    /// Whether what is left in an open block is kept for moves: it is shared, and moves have taken of the reserve.
    #[inline]
    fn is_kept(&self, lane: &LaneBlocks, stream: StreamId) -> bool {
        lane.len < self.reserve && self.streams.is_shared(stream)
    }

    /// The next page of `stream` in a lane; a new block is opened only if more than `keep` blocks are free, and one
    /// that is claimed only if `keep` is 0.
    #[inline]
    pub fn page_in(
        &mut self,
        lane: LaneId,
        stream: StreamId,
        keep: u32,
        blocks: &mut Blocks,
        now: u64,
    ) -> Option<Allocated> {
        let state = &self.lanes[lane.index()];
        let mut open = state.open[stream.index()];
        let mut opened = false;
        if open.block.is_some() && keep > 0 && self.is_kept(state, stream) {
            return None;
        }
        let state = &mut self.lanes[lane.index()];
        if !open.block.is_some() {
            if state.len <= keep + if keep > 0 { state.claimed } else { 0 } {
                return None;
            }
            if stream != self.streams.cold() && (keep == 0 || !self.streams.is_of_host(stream)) {
                state.claimed = 0;
            }
            let position = Self::next_free(state, blocks, stream == self.streams.cold(), self.least_erased);
            open = OpenBlock { block: state.take(position), next: 0 };
            let (class, cycles) = (self.classes[stream.index()], blocks.erase_count(open.block));
            let mode = self.program_modes.choose(&Opening { stream, class, cycles });
            blocks.open(open.block, (stream, mode), now);
            opened = true;
        }
        self.refusals.forget(lane);
        let block = open.block;
        let page = Ppn(block.0 * self.pages_per_block + open.next);
        let parity = self.parity.from(open.block, open.next + 1);
        open.next += 1 + parity;
        for _ in 0..parity {
            // The block waits for it from now on.
            blocks.program_issued(open.block);
        }
        if open.next == self.parity.filled(open.block) {
            blocks.close(open.block, now);
            open.block = BlockId::NONE;
        }
        state.open[stream.index()] = open;
        if opened {
            let open = state.open.iter().filter(|open| open.block.is_some()).count() as u32;
            self.most_open = self.most_open.max(open);
        }
        Some(Allocated { page, block, lane, opened, parity })
    }

    /// Opens a free block of a lane in a program mode, for pages that belong to no stream, if more than `keep` are
    /// free.
    pub fn take_block(
        &mut self,
        lane: LaneId,
        keep: u32,
        mode: u8,
        (blocks, now): (&mut Blocks, u64),
    ) -> Option<BlockId> {
        let state = &mut self.lanes[lane.index()];
        if state.len <= keep {
            return None;
        }
        let block = state.take(Self::next_free(state, blocks, false, self.least_erased));
        blocks.open(block, (StreamId::NONE, mode), now);
        Some(block)
    }

    /// The page `page_in` would return next, from the block open or the one it would open.
    pub fn peek(&self, lane: LaneId, stream: StreamId, blocks: &Blocks) -> Option<Ppn> {
        let state = &self.lanes[lane.index()];
        let open = state.open[stream.index()];
        if open.block.is_some() {
            return Some(Ppn(open.block.0 * self.pages_per_block + open.next));
        }
        let position = Self::next_free(state, blocks, stream == self.streams.cold(), self.least_erased);
        (state.len > 0).then(|| Ppn(state.free[state.slot(position)] * self.pages_per_block))
    }

    /// Place of the free block that is opened next: for cold data the oldest (where nothing tells ages, the most worn)
    /// one, for other data the least erased or the one that came free first. Of equals the one that did.
    fn next_free(lane: &LaneBlocks, blocks: &Blocks, cold: bool, least_erased: bool) -> u32 {
        if !cold && !least_erased {
            return 0;
        }
        let block = |i: u32| BlockId(lane.free[lane.slot(i)]);
        let erases = |i: u32| blocks.erase_count(block(i));
        let found = if cold {
            (0..lane.len).max_by_key(|&i| (blocks.wear_q12(block(i)), erases(i), core::cmp::Reverse(i)))
        } else {
            (0..lane.len).min_by_key(|&i| erases(i))
        };
        found.unwrap_or(0)
    }

    /// Whether a block is being filled with host data, and what is left of it is not kept for moves; with host data
    /// alone if it must be `only` that.
    pub fn is_open_for_host(&self, lane: LaneId, block: BlockId, only: bool) -> bool {
        let lane = &self.lanes[lane.index()];
        let open = (0..).map(StreamId).zip(&lane.open);
        let is_of_moves = |at| self.is_kept(lane, at) || only && self.streams.is_shared(at);
        let takes = |at| self.streams.is_of_host(at) && !is_of_moves(at);
        open.into_iter().any(|(stream, open)| open.block == block && takes(stream))
    }

    /// Stops filling a block, if it is open: a program to it failed.
    pub fn abandon(&mut self, lane: LaneId, block: BlockId, blocks: &mut Blocks, now: u64) {
        self.forget_refusals(lane);
        let lane = &mut self.lanes[lane.index()];
        for open in &mut lane.open {
            if open.block == block {
                open.block = BlockId::NONE;
                blocks.close(block, now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
