//! Whether what moves in a lane has room, and what of it goes to the next page.

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::ftl::stream::StreamId;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::ROUTINE;
use crate::ftl::write::open::Allocator;
use crate::ftl::write::placement::Space;
use crate::signals::Priority;
use crate::units::{BlockId, LaneId, Ppn, Pun};

impl Allocator {
    /// Whether filling a block may stop, so that it can be emptied. The room in a block that takes moved data belongs
    /// to the moves under way, and without another block at hand cleaning could not go on: then it is filled first.
    pub(in crate::ftl) fn may_abandon(&self, work: &mut Work, lane: LaneId, block: BlockId) -> bool {
        let moves = &work.lanes[lane.index()];
        let busy = moves.has_job() || moves.has_own || moves.reads > 0 || moves.has_gathered();
        let spare = self.free(lane) > work.reserve;
        let may = self.is_open_for_host(lane, block, false) || (!busy && spare);
        work.lane_mut(lane).candidates.lacks_room |= !may && !spare;
        may
    }

    /// Whether a lane has no free block beside its reserve: what makes room there cannot wait.
    #[inline]
    pub(in crate::ftl) fn is_at_reserve(&self, work: &Work, lane: LaneId) -> bool {
        self.free(lane) <= work.reserve
    }

    /// Units for a page of a class: of its stream, and, should those not fill it, of others, as [`Allocator::fill_up`]
    /// says. How many there are.
    pub(in crate::ftl) fn take_sorted(
        &self,
        work: &mut Work,
        lane: LaneId,
        (stream, class): (StreamId, u8),
        page: &mut [UnitRef],
    ) -> usize {
        let streams = self.streams();
        let others = if stream == streams.cold() { 0 } else { streams.count };
        let from = core::iter::once(stream).chain((0..others).map(StreamId).filter(|&other| other != stream));
        let mut count = 0;
        for from in from {
            while count < page.len()
                && let Some((unit, is_own)) = work.lane_mut(lane).sorted.take(from, class)
            {
                page[count] = unit.in_stream(stream.0);
                count += 1;
                work.counts.note_class(is_own);
                work.counts.mixed_units += u64::from(from != stream);
            }
        }
        count
    }

    /// Units of a stream of a lane's moves that go to one page now, as [`LaneWork::page_of`] says.
    ///
    /// [`LaneWork::page_of`]: crate::ftl::work::lane::LaneWork::page_of
    #[inline(always)]
    pub(in crate::ftl) fn page_of(
        &self,
        layout: &Layout,
        work: &Work,
        (lane, stream): (LaneId, StreamId),
        rest: bool,
    ) -> usize {
        let left = || self.left_of_row(lane, stream, layout.pages_per_row);
        work.lanes[lane.index()].page_of(stream, layout.units_per_page as usize, rest, left)
    }

    /// Gathered units of other streams take the places that those of a stream would leave empty in a page; how many
    /// there are in it now.
    pub(in crate::ftl) fn fill_up(
        &self,
        work: &mut Work,
        lane: LaneId,
        stream: StreamId,
        had: usize,
        page: &mut [UnitRef],
    ) -> usize {
        let streams = self.streams();
        if stream == streams.cold() {
            return had;
        }
        let mut count = had;
        let moves = &mut work.lanes[lane.index()];
        for (at, others) in moves.gathered.iter_mut().enumerate().take(usize::from(streams.count)) {
            let some = others.len().min(page.len() - count);
            if at != stream.index() && some > 0 {
                others.take(some, &mut page[count..]);
                page[count..count + some].iter_mut().for_each(|unit| *unit = unit.in_stream(stream.0));
                count += some;
            }
        }
        work.counts.mixed_units += (count - had) as u64;
        count
    }

    /// Whether the lane has pages for the live units of a block and for what is already on its way.
    pub(in crate::ftl) fn fits(
        &self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        block: BlockId,
        cause: Cause,
    ) -> bool {
        self.has_room(tables, work, lane, tables.blocks.live(block), cause)
    }

    pub(in crate::ftl) fn has_room(
        &self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        units: u32,
        cause: Cause,
    ) -> bool {
        let waiting = Self::pages_waiting(tables, work, lane);
        let cold = self.streams().is_cold(cause);
        u64::from(units.div_ceil(tables.layout.units_per_page) + waiting) <= self.room(lane, cold)
    }

    /// Pages that what moves in a lane will still take.
    fn pages_waiting(tables: &Tables, work: &Work, lane: LaneId) -> u32 {
        let moves = &work.lanes[lane.index()];
        let per_page = tables.layout.units_per_page;
        // What the other job of the lane has still to move counts, too.
        let left = |job: &Job| job.left(tables.blocks.live(job.block()));
        let others: u32 = moves.jobs.iter().flatten().map(|job| left(job).div_ceil(per_page)).sum();
        moves.pages_gathered(per_page) + moves.reads + others + moves.owed
    }

    /// Whether moves for locks may take so many more pages of a lane, also if the host opens so many of its blocks: all
    /// that moves finds a page, and then cleaning can go on out of its reserve, with the blocks that are coming.
    pub(in crate::ftl) fn has_room_to_owe(
        &self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        pages: u32,
        opened: u32,
    ) -> bool {
        let block = tables.layout.parity.data();
        let needed = Self::pages_waiting(tables, work, lane) + pages;
        let Some(free) = self.free(lane).checked_sub(opened) else { return false };
        let has = self.left_for_all_moves(lane) + free * block;
        needed <= has && needed + work.reserve * block <= has + work.lanes[lane.index()].coming * block
    }

    /// Whether routine work of a lane stands still, in the middle of a block: a host that is faster than cleaning takes
    /// what has become free before more does; and cleaning that catches up with it has.
    #[inline]
    pub(in crate::ftl) fn rests(&self, tables: &Tables, work: &Work, lane: LaneId, which: usize) -> bool {
        which == ROUTINE
            && !self.is_bounded()
            && !work.is_retiring(&tables.blocks, lane)
            && (work.pace == Pace::Saturated && (work.emptied || self.free(lane) > work.reserve)
                || work.catches_up && self.has_caught_up((&tables.layout, &tables.blocks), work, lane))
    }

    /// Erases that there may be at once of blocks that are open already, with so many operations in all: each lane can
    /// have one for each block that it opens, and more once all pages of those are on their way.
    pub(in crate::ftl) fn late_erases_at_most(
        &self,
        tables: &Tables,
        work: &Work,
        operations: usize,
    ) -> usize {
        if !work.lazy {
            return 0;
        }
        let each = (self.streams().all() as u32 + 4).min(tables.layout.blocks_per_lane);
        let filled = operations / tables.layout.parity.data() as usize;
        ((tables.layout.lanes * each) as usize + filled) * tables.layout.span as usize
    }
}

impl Space {
    /// Gives up the claim of a lane, unless what waits there for pages needs that block, and it `keeps` it: where data
    /// is sorted it waits for long. Returns whether there was one.
    pub(in crate::ftl) fn unclaim(
        &mut self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        keeps: bool,
    ) -> bool {
        if !self.allocator.unclaim(lane) {
            return false;
        }
        if keeps && !self.allocator.has_room(tables, work, lane, 0, Cause::ReadReclaim) {
            self.allocator.claim(lane, true);
            return false;
        }
        true
    }

    /// An operation of a lane's moves. Nobody has to yield to it where no time passes.
    #[inline(always)]
    pub(in crate::ftl) fn op_of_move(
        &self,
        tables: &Tables,
        work: &Work,
        flash: &Flash,
        (kind, cause): (OpKind, Cause),
        page: Ppn,
        lane: LaneId,
    ) -> Op {
        self.as_move(work, flash, lane, tables.op(kind, cause, page))
    }

    /// The read for a lane's moves of the page that holds a unit.
    #[inline(always)]
    pub(in crate::ftl) fn read_of_move(
        &self,
        tables: &Tables,
        work: &Work,
        flash: &Flash,
        (cause, unit): (Cause, Pun),
        lane: LaneId,
    ) -> Op {
        self.as_move(work, flash, lane, tables.read_of(cause, unit))
    }

    /// An operation, as one of a lane's moves.
    #[inline(always)]
    fn as_move(&self, work: &Work, flash: &Flash, lane: LaneId, op: Op) -> Op {
        let due = !flash.is_instant() && work.lanes[lane.index()].is_due(op.cause);
        let critical = due || !flash.is_instant() && self.allocator.is_at_reserve(work, lane);
        let priority = if op.kind.reads() { Priority::Low } else { Priority::Medium };
        Op { tag: lane.0, due, critical, priority, ..op }
    }

    /// A program of a lane's moves to a page, in the mode of its block, where it is issued now.
    #[inline(always)]
    pub(in crate::ftl) fn program_of_move(
        &self,
        tables: &mut Tables,
        work: &Work,
        flash: &Flash,
        (cause, block, page): (Cause, BlockId, Ppn),
        lane: LaneId,
    ) -> Op {
        let mut op = self.op_of_move(tables, work, flash, (OpKind::Program, cause), page, lane);
        tables.bind(block, &mut op);
        op
    }

    /// The erase of a member of a block. What has left the block is safe: only room is urgent.
    pub(in crate::ftl) fn erase_of(&self, tables: &Tables, work: &Work, block: BlockId, member: u32) -> Op {
        let lane = tables.layout.lane_of(block);
        let due = work.lanes[lane.index()].is_due(Cause::Cleaning);
        let critical = due || self.allocator.is_at_reserve(work, lane);
        let page_type = if tables.blocks.erases_one_bit(block) { tables.layout.one_bit_type } else { 0 };
        let (cause, at) = (tables.blocks.cause(block), tables.layout.member(block, member));
        let ppn = Ppn(block.0 * tables.layout.pages_per_block);
        Op { tag: block.0, due, critical, ..Op::new(OpKind::Erase, cause, ppn, at, page_type) }
    }

    /// Whether what lives in a block that is being filled finds room elsewhere: where moves fill it, its own is lost.
    pub(in crate::ftl) fn may_close_early(
        &self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        block: BlockId,
    ) -> bool {
        let streams = self.allocator.streams();
        let is_of_moves = |stream| !streams.is_of_host(stream) || streams.is_shared(stream);
        let filled = self.allocator.filled(lane, block).unwrap_or_default();
        let lost = match self.allocator.stream_of(lane, block) {
            Some(stream) if is_of_moves(stream) => {
                tables.layout.parity.data_left(block, filled) * tables.layout.units_per_page
            }
            _ => 0,
        };
        self.allocator.has_room(tables, work, lane, tables.blocks.live(block) + lost, Cause::Sanitize)
    }

    /// A block that is being filled is filled no further.
    pub(in crate::ftl) fn close_early(&mut self, tables: &mut Tables, block: BlockId) {
        let lane = tables.layout.lane_of(block);
        tables.replicas.close_off(&tables.layout, block);
        if tables.blocks.is_one_bit(block) {
            self.ring.abandon(lane, block, &mut tables.blocks, tables.clock);
        } else {
            self.allocator.abandon(lane, block, &mut tables.blocks, tables.clock);
        }
    }

    /// Whether so many units find room beside the reserve: cleaning must be able to go on after them. Blocks that are
    /// being emptied, and have room for what still lives there, will be of the reserve: those that it lacks, and one
    /// more, which is kept from the host.
    pub(in crate::ftl) fn has_room_beside(
        &mut self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        units: u32,
    ) -> bool {
        let (reserve, free) = (work.reserve, self.allocator.free(lane));
        let lacking = reserve.saturating_sub(free);
        let coming = work.lanes[lane.index()].coming.min(reserve);
        let block = tables.layout.data_units_per_block();
        let one_more = if coming > lacking && free <= reserve { block } else { 0 };
        self.has_room_or_claims(tables, work, lane, units + (reserve - coming.min(lacking)) * block, one_more)
    }

    /// Whether a block that failed may be emptied now. What that takes of the reserve nothing gives back: unless a
    /// block is coming, and not only others that failed, cleaning that could go on now must be able to go on after it.
    /// A free block may be claimed for it.
    pub(in crate::ftl) fn may_retire(
        &mut self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        (block, may_come): (BlockId, bool),
    ) -> bool {
        let (live, per_page) = (tables.blocks.live(block), tables.layout.units_per_page);
        // With replicas that have become pages more may live there than moves are always sure of.
        if live > work.reserve * tables.layout.data_units_per_block() {
            return self.has_room_or_claims(tables, work, lane, live, 0);
        }
        if !self.allocator.fits(tables, work, lane, block, Cause::BadBlock) {
            return false;
        }
        if live == 0 || may_come && work.lanes[lane.index()].coming > 0 {
            return true;
        }
        let first = tables.layout.first_block(lane);
        let Some(next) = tables.blocks.lane_view(&tables.layout, lane, tables.clock).least_live() else {
            return true;
        };
        let next = BlockId(first.0 + next);
        let needed = live.next_multiple_of(per_page) + tables.blocks.live(next);
        self.has_room_or_claims(tables, work, lane, needed, 0)
            || !self.allocator.fits(tables, work, lane, next, Cause::Cleaning)
    }

    /// Whether a lane has room for what lives in so many pages of a block, and besides a block's worth for cleaning,
    /// which must be able to go on. A free block that the host could have is kept for it.
    pub(in crate::ftl) fn has_room_for(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        lane: LaneId,
        (block, pages): (BlockId, u32),
    ) -> bool {
        let live = tables.blocks.live(block).min(pages * tables.layout.units_per_page);
        let needed = live + tables.layout.data_units_per_block();
        let has_room = self.has_room_or_claims(tables, work, lane, needed, 0);
        work.lane_mut(lane).candidates.lacks_room |= !has_room;
        has_room
    }

    /// Whether so many units find room, if need be in a free block that is kept from the host for them, or in one with
    /// room for so many of them that is coming.
    pub(in crate::ftl) fn has_room_or_claims(
        &mut self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
        units: u32,
        coming: u32,
    ) -> bool {
        if self.allocator.has_room(tables, work, lane, units, Cause::Sanitize) {
            return true;
        }
        let is_new = self.allocator.claim(lane, coming > 0);
        let has_room = self.allocator.has_room(tables, work, lane, units - coming, Cause::Sanitize);
        if !has_room && is_new {
            self.allocator.unclaim(lane);
        }
        has_room
    }
}
