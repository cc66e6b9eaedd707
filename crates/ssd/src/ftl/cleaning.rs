//! Moving live data out of blocks: for cleaning, for wear levelling, out of blocks that fail.
//!
//! One job at a time in each lane, done in steps: a few pages of the block are read, their live units gathered and
//! programmed elsewhere, and every completion starts the next step, so that host operations run between them. A
//! block is erased only when every unit read from it is programmed and mapped at its new place.

use super::Ftl;
use super::allocation::{Allocated, Stream};
use super::blocks::{BlockState, LaneView};
use super::gc_trigger::Limits;
use crate::config::DriveConfig;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::nand::{Layout, Outcome};
use crate::observe::Effect;
use crate::units::{BlockId, LaneId, Lpn, OpId, Pun};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// Blocks of a lane that may be on their way to being free at once.
const COMING_AT_MOST: u32 = 3;

/// The block being emptied, and how far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Job {
    block: BlockId,
    cursor: u32,
    end: u32,
    /// Up to here the mapping entries of live units are being loaded.
    ahead: u32,
}

/// Live units whose mapping entries are loaded ahead of the cursor.
const AHEAD: u32 = 16;

/// What goes on in one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LaneWork {
    job: Option<Job>,
    /// Units read and waiting for a page to be programmed, for each stream that takes moved data.
    gathered: [VecDeque<UnitRef>; 2],
    reads: u32,
    programs: u32,
    /// Cleaning has begun and not reached its end.
    wanted: bool,
    /// Blocks being emptied for cleaning or erased.
    coming: u32,
    erases: u64,
    /// Blocks that failed a program and are to be retired.
    retire: VecDeque<BlockId>,
    /// The block wear levelling wants moved.
    swap: BlockId,
}

/// The state of all moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mover {
    lanes: Vec<LaneWork>,
    in_flight_at_most: u32,
    copyback: bool,
    reserve: u32,
    spare: u32,
    span: u32,
    idle: bool,
}

impl Mover {
    pub fn new(cfg: &DriveConfig, layout: &Layout, logical_units: u64) -> Self {
        let room = (2 * cfg.cleaning.copies_in_flight + 2) as usize * layout.units_per_page as usize;
        let gathered = || VecDeque::with_capacity(room);
        let lanes = (0..layout.lanes)
            .map(|_| LaneWork {
                job: None,
                gathered: [gathered(), gathered()],
                reads: 0,
                programs: 0,
                wanted: false,
                coming: 0,
                erases: 0,
                retire: VecDeque::with_capacity(8),
                swap: BlockId::NONE,
            })
            .collect();
        let share =
            logical_units.div_ceil(u64::from(layout.lanes)).div_ceil(u64::from(layout.units_per_block()));
        Mover {
            lanes,
            in_flight_at_most: cfg.cleaning.copies_in_flight,
            copyback: cfg.cleaning.copyback,
            reserve: cfg.cleaning.reserve_blocks,
            // Two blocks are open: the host's and the moves'.
            spare: layout.blocks_per_lane.saturating_sub(share as u32 + 2),
            span: layout.span,
            idle: false,
        }
    }

    /// Operations that moves of all lanes can have in flight.
    pub fn operations_at_most(&self) -> usize {
        self.lanes.len() * (2 * self.in_flight_at_most + (COMING_AT_MOST + 2) * self.span + 4) as usize
    }
}

/// The stream that takes data moved for this cause.
fn stream_of(cause: Cause) -> Stream {
    if cause == Cause::WearLeveling { Stream::Cold } else { Stream::Cleaning }
}

impl Ftl {
    fn limits(&self) -> Limits {
        let mover = &self.mover;
        Limits {
            blocks: self.layout.blocks_per_lane,
            spare: mover.spare,
            reserve: mover.reserve,
            idle: mover.idle,
        }
    }

    fn work(&mut self, lane: LaneId) -> &mut LaneWork {
        &mut self.mover.lanes[lane.index()]
    }

    /// Looks whether a lane should be cleaned, and starts or continues.
    pub(super) fn check_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        self.update_wanted(lane);
        self.pump_lane(flash, lane);
    }

    fn update_wanted(&mut self, lane: LaneId) {
        let (limits, free) = (self.limits(), self.allocator.free(lane));
        let work = &self.mover.lanes[lane.index()];
        let wanted = if work.wanted {
            self.gc_trigger.goes_on(free + work.coming, &limits)
        } else {
            self.gc_trigger.starts(free + work.coming, &limits)
        };
        self.work(lane).wanted = wanted;
    }

    /// Tells whether the host is silent; idle cleaning begins or ends.
    pub fn set_idle(&mut self, flash: &mut Flash, idle: bool) {
        self.mover.idle = idle;
        for lane in (0..self.layout.lanes).map(LaneId).filter(|_| idle) {
            self.check_lane(flash, lane);
        }
    }

    /// Tries again to start moves that found nothing to do; for when the host waits for room.
    pub fn retry(&mut self, flash: &mut Flash) {
        for lane in (0..self.layout.lanes).map(LaneId) {
            let work = self.work(lane);
            let waiting = work.job.is_some() || !work.gathered.iter().all(VecDeque::is_empty);
            if work.reads + work.programs == 0 && (waiting || work.wanted) {
                self.pump_lane(flash, lane);
                self.unblock(flash, lane);
            }
        }
    }

    /// A job that found no page for its stream may have what it lacks behind it: the block that the last job emptied
    /// can be erased when the rest of it, less than a page, is programmed.
    fn unblock(&mut self, flash: &mut Flash, lane: LaneId) {
        let work = self.work(lane);
        if work.reads + work.programs == 0 && work.job.is_some() {
            for stream in [Stream::Cleaning, Stream::Cold] {
                self.program_gathered(flash, lane, stream, true);
            }
        }
    }

    /// One step of a lane: start a job if there is none, read on, program what is gathered.
    fn pump_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        while self.work(lane).job.is_some() || self.start_job(lane) {
            if !self.read_on(flash, lane) {
                break;
            }
        }
        for stream in [Stream::Cleaning, Stream::Cold] {
            self.program_gathered(flash, lane, stream, false);
        }
    }

    /// Chooses the next block to empty: a failing one, one to clean, one to swap, in this order.
    fn start_job(&mut self, lane: LaneId) -> bool {
        let work = &self.mover.lanes[lane.index()];
        if let Some(&block) = work.retire.front()
            && self.blocks.programming(block) == 0
            && self.fits(lane, block, Stream::Cleaning)
        {
            self.work(lane).retire.pop_front();
            return self.begin(lane, block, Cause::BadBlock);
        }
        let work = &self.mover.lanes[lane.index()];
        if work.wanted && work.coming < COMING_AT_MOST {
            self.update_wanted(lane);
            if self.mover.lanes[lane.index()].wanted
                && let Some(block) = self.choose_victim(lane)
            {
                return self.begin(lane, block, Cause::Cleaning);
            }
        }
        let swap = std::mem::replace(&mut self.work(lane).swap, BlockId::NONE);
        let movable =
            |block| self.blocks.state(block) == BlockState::Closed && self.blocks.programming(block) == 0;
        if swap.is_some()
            && movable(swap)
            && !self.blocks.is_failing(swap)
            && self.fits(lane, swap, Stream::Cold)
        {
            return self.begin(lane, swap, Cause::WearLeveling);
        }
        false
    }

    fn begin(&mut self, lane: LaneId, block: BlockId, cause: Cause) -> bool {
        self.blocks.start_moving(block, cause);
        let cursor = self.layout.first_unit(block).0;
        let end = cursor + self.layout.units_per_block();
        let work = self.work(lane);
        work.coming += u32::from(cause != Cause::BadBlock);
        work.job = Some(Job { block, cursor, end, ahead: cursor });
        self.look_ahead(lane, AHEAD);
        true
    }

    /// Starts loading the mapping entries of the next `count` live units of the lane's job.
    #[inline]
    fn look_ahead(&mut self, lane: LaneId, count: u32) {
        let Some(job) = &mut self.mover.lanes[lane.index()].job else { return };
        for _ in 0..count {
            let Some(unit) = self.map.next_live(job.ahead, job.end) else { return };
            self.map.prefetch(self.map.stored(Pun(unit)).0);
            job.ahead = unit + 1;
        }
    }

    fn choose_victim(&mut self, lane: LaneId) -> Option<BlockId> {
        // Blocks on their way to being free will make room for any answer; only without them is a policy overruled.
        let coming = self.mover.lanes[lane.index()].coming > 0;
        if coming && !self.has_room(lane, self.layout.units_per_block(), Stream::Cleaning) {
            return None;
        }
        let first = self.layout.first_block(lane).0;
        let view: LaneView<'_> = self.blocks.lane_view(&self.layout, lane, self.clock);
        let chosen = BlockId(first + self.gc_victim.choose(&view, &mut self.victim_rng)?);
        if self.fits(lane, chosen, Stream::Cleaning) {
            return Some(chosen);
        }
        let least = BlockId(first + self.blocks.lane_view(&self.layout, lane, self.clock).least_live()?);
        self.fits(lane, least, Stream::Cleaning).then_some(least)
    }

    /// Whether the lane has pages for the live units of a block and for what is already on its way.
    fn fits(&self, lane: LaneId, block: BlockId, stream: Stream) -> bool {
        self.has_room(lane, self.blocks.live(block), stream)
    }

    fn has_room(&self, lane: LaneId, units: u32, stream: Stream) -> bool {
        let work = &self.mover.lanes[lane.index()];
        let per_page = self.layout.units_per_page;
        let pages = |units: &VecDeque<UnitRef>| (units.len() as u32).div_ceil(per_page);
        let waiting = work.gathered.iter().map(pages).sum::<u32>() + work.reads;
        u64::from(units.div_ceil(per_page) + waiting) <= self.allocator.room(lane, stream)
    }

    /// Reads pages of the job's block while the window is open; returns whether the job is finished.
    fn read_on(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        loop {
            let work = &self.mover.lanes[lane.index()];
            let Some(job) = work.job else { return false };
            // Full pages that found no room; what is gathered of a page not yet full must not hold reads back.
            let full = |units: &VecDeque<UnitRef>| units.len() as u32 / self.layout.units_per_page;
            let pages = work.gathered.iter().map(full).sum::<u32>();
            if work.reads + work.programs + pages >= self.mover.in_flight_at_most {
                return false;
            }
            let Some(first) = self.map.next_live(job.cursor, job.end) else {
                self.work(lane).job = None;
                self.blocks.set_state(job.block, BlockState::Draining);
                if self.blocks.leaving(job.block) == 0 {
                    self.empty(flash, job.block);
                }
                return true;
            };
            self.move_page(flash, lane, job, first);
        }
    }

    /// Reads the live units of the page that holds unit `first`, or copies the page inside its plane.
    fn move_page(&mut self, flash: &mut Flash, lane: LaneId, job: Job, first: u32) {
        let (page, _) = self.layout.page_of_unit(Pun(first));
        let page_end = (page.0 + 1) * self.layout.units_per_page;
        let cause = self.blocks.cause(job.block);
        self.work(lane).job = Some(Job { cursor: page_end, ..job });
        let unit =
            |map: &super::map::Map, at: u32| UnitRef { lpn: map.stored(Pun(at)).0, source: at, mask: 0 };
        if self.mover.copyback && self.copy_back(flash, lane, cause, unit(&self.map, first)) {
            return;
        }
        let op = Op { tag: lane.0, ..self.op(OpKind::Read, cause, page) };
        if flash.is_instant() {
            let outcome = flash.perform(op.kind, cause, page, op.at);
            self.gather_now(lane, job.block, outcome, first..page_end);
            return self.program_gathered(flash, lane, stream_of(cause), false);
        }
        let id = flash.pool.add(op, &[]);
        let (mut at, mut count) = (Some(first), 0);
        while let Some(live) = at {
            flash.pool.extend(id, unit(&self.map, live));
            count += 1;
            at = self.map.next_live(live + 1, page_end);
        }
        self.look_ahead(lane, count);
        self.blocks.leave(job.block, count);
        flash.pool.get_mut(id).bytes = count * self.layout.unit_bytes;
        self.work(lane).reads += 1;
        self.outbox.push(id);
    }

    /// The live units of a page were read at once; those of one that cannot be corrected are lost.
    #[inline]
    fn gather_now(&mut self, lane: LaneId, block: BlockId, outcome: Outcome, units: Range<u32>) {
        let which = stream_of(self.blocks.cause(block)) as usize - 1;
        let (mut at, mut count) = (Some(units.start), 0);
        while let Some(live) = at {
            let lpn = self.map.stored(Pun(live));
            if outcome == Outcome::Fail {
                self.lose(lpn, Pun(live));
            } else {
                let unit = UnitRef { lpn: lpn.0, source: live, mask: 0 };
                self.mover.lanes[lane.index()].gathered[which].push_back(unit);
                count += 1;
            }
            at = self.map.next_live(live + 1, units.end);
        }
        self.look_ahead(lane, count);
        self.blocks.leave(block, count);
    }

    /// Copies a page inside the chip if the next page of the stream lies in the same plane.
    fn copy_back(&mut self, flash: &mut Flash, lane: LaneId, cause: Cause, unit: UnitRef) -> bool {
        let stream = stream_of(cause);
        let from = self.layout.locate(self.layout.page_of_unit(Pun(unit.source)).0);
        let Some(next) = self.allocator.peek(lane, stream, &self.blocks) else { return false };
        let to = self.layout.locate(next);
        if (from.die, from.plane) != (to.die, to.plane) {
            return false;
        }
        let Some(found) = self.move_target(lane, stream) else { return false };
        self.blocks.program_issued(self.layout.block_of_page(found.page).0);
        let op = Op { tag: lane.0, ..self.op(OpKind::Copyback, cause, found.page) };
        self.blocks.leave(self.layout.block_of_unit(Pun(unit.source)), 1);
        if flash.is_instant() {
            self.place_now(flash, lane, op, &[unit]);
        } else {
            self.issue(flash, op, &[unit]);
            self.work(lane).programs += 1;
        }
        true
    }

    /// The next page for moved data: in the same lane; should that be full, in any lane with blocks to spare; if there
    /// is none, what the other stream of moves has left in its block. Streams kept apart must not keep each other
    /// waiting: the blocks that would make room may be those that the units come from.
    fn move_target(&mut self, lane: LaneId, stream: Stream) -> Option<Allocated> {
        let (blocks, clock, reserve) = (&mut self.blocks, self.clock, self.mover.reserve);
        let allocator = &mut self.allocator;
        if let Some(found) = allocator.page_in(lane, stream, 0, blocks, clock) {
            return Some(found);
        }
        let others = (0..self.layout.lanes).map(LaneId).filter(|&other| other != lane);
        for other in others {
            if let Some(found) = allocator.page_in(other, stream, reserve, blocks, clock) {
                return Some(found);
            }
        }
        let shared = if stream == Stream::Cold { Stream::Cleaning } else { Stream::Cold };
        allocator.page_in(lane, shared, 0, blocks, clock)
    }

    /// Programs full pages of gathered units; the rest too, if told so or nothing more will join them.
    fn program_gathered(&mut self, flash: &mut Flash, lane: LaneId, stream: Stream, rest: bool) {
        let which = stream as usize - 1;
        let per_page = self.layout.units_per_page as usize;
        loop {
            let work = &self.mover.lanes[lane.index()];
            let waiting = work.gathered[which].len();
            let last = rest || (work.job.is_none() && work.reads == 0);
            if waiting < per_page && !(last && waiting > 0) {
                return;
            }
            let Some(found) = self.move_target(lane, stream) else { return };
            let count = waiting.min(per_page);
            let source = Pun(self.mover.lanes[lane.index()].gathered[which][0].source);
            let cause = self.blocks.cause(self.layout.block_of_unit(source));
            self.blocks.program_issued(self.layout.block_of_page(found.page).0);
            let bytes = count as u32 * self.layout.unit_bytes;
            let op = Op { tag: lane.0, bytes, ..self.op(OpKind::Program, cause, found.page) };
            self.counts.padded_units += (per_page - count) as u64;
            let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
            for (unit, gathered) in units.iter_mut().zip(self.work(lane).gathered[which].drain(..count)) {
                *unit = gathered;
            }
            if flash.is_instant() {
                self.place_now(flash, lane, op, &units[..count]);
            } else {
                self.issue(flash, op, &units[..count]);
                self.work(lane).programs += 1;
            }
            if found.lane != lane {
                self.update_wanted(found.lane);
            }
        }
    }

    /// Units of a moving block are in the controller.
    pub(super) fn on_move_read(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        let which = stream_of(op.cause) as usize - 1;
        let block = self.layout.block_of_page(op.ppn).0;
        let mut emptied = false;
        for &unit in flash.pool.units(id) {
            let from = Pun(unit.source);
            if op.outcome == Outcome::Fail {
                self.lose(Lpn(unit.lpn), from);
                emptied |= self.blocks.settle(block);
            } else if self.map.lookup(Lpn(unit.lpn)) == from {
                self.mover.lanes[lane.index()].gathered[which].push_back(unit);
            } else {
                emptied |= self.blocks.settle(block);
            }
        }
        flash.pool.remove(id);
        self.work(lane).reads -= 1;
        if emptied {
            self.empty(flash, block);
        }
        self.pump_lane(flash, lane);
    }

    /// Programs moved units at once.
    fn place_now(&mut self, flash: &mut Flash, lane: LaneId, op: Op, units: &[UnitRef]) {
        let outcome = flash.perform(op.kind, op.cause, op.ppn, op.at);
        let op = Op { outcome, ..op };
        for (place, &unit) in (0..).zip(units) {
            self.place_moved(flash, lane, &op, place, unit);
        }
        self.after_program(flash, self.layout.block_of_page(op.ppn).0, outcome == Outcome::Fail);
    }

    /// Moved units are at their new place.
    pub(super) fn on_move_programmed(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        for place in 0..u32::from(op.units) {
            let unit = flash.pool.units(id)[place as usize];
            self.place_moved(flash, lane, op, place, unit);
        }
        flash.pool.remove(id);
        self.work(lane).programs -= 1;
        self.after_program(flash, self.layout.block_of_page(op.ppn).0, op.outcome == Outcome::Fail);
        self.pump_lane(flash, lane);
    }

    /// A moved unit is mapped at its new place, if it is still the newest; if its program failed it waits for another.
    #[inline]
    fn place_moved(&mut self, flash: &mut Flash, lane: LaneId, op: &Op, place: u32, unit: UnitRef) {
        if op.outcome == Outcome::Fail {
            return self.move_again(flash, lane, op, unit);
        }
        let (lpn, from) = (Lpn(unit.lpn), Pun(unit.source));
        let to = Pun(op.ppn.0 * self.layout.units_per_page + place);
        if self.map.lookup(lpn) == from {
            self.commit(lpn, to);
            self.counts.moved_units[op.cause as usize] += 1;
            self.effects.push(Effect::Copy { lpn, from, to });
        } else {
            self.effects.push(Effect::Dead { lpn, from, to });
        }
        let source = self.layout.block_of_unit(from);
        if self.blocks.settle(source) {
            self.empty(flash, source);
        }
    }

    /// The program of a moved unit failed: it waits for another page. What a copyback moved never was in the
    /// controller, and is read first.
    fn move_again(&mut self, flash: &mut Flash, lane: LaneId, op: &Op, unit: UnitRef) {
        if op.kind == OpKind::Copyback {
            let page = self.layout.page_of_unit(Pun(unit.source)).0;
            let bytes = self.layout.unit_bytes;
            let read = Op { tag: lane.0, bytes, ..self.op(OpKind::Read, op.cause, page) };
            if !flash.is_instant() {
                self.work(lane).reads += 1;
                self.issue(flash, read, &[unit]);
                return;
            }
            flash.perform(read.kind, read.cause, page, read.at);
        }
        self.work(lane).gathered[stream_of(op.cause) as usize - 1].push_back(unit);
    }

    /// A block holds nothing any more: erase it, or retire it if it failed.
    fn empty(&mut self, flash: &mut Flash, block: BlockId) {
        if self.blocks.cause(block) == Cause::BadBlock {
            self.blocks.set_state(block, BlockState::Bad);
            self.counts.retired_blocks += 1;
            return;
        }
        let cause = self.blocks.cause(block);
        self.blocks.erase_issued(block, self.layout.span);
        let ppn = crate::units::Ppn(block.0 * self.layout.pages_per_block);
        for k in 0..self.layout.span {
            let at = self.layout.member(block, k);
            let op = Op { tag: block.0, ..Op::new(OpKind::Erase, cause, ppn, at, 0) };
            self.issue(flash, op, &[]);
        }
    }

    /// One member of a block is erased; with the last, the block is free or retired.
    pub(super) fn on_erased(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = BlockId(op.tag);
        if !self.blocks.erase_done(block, op.outcome == Outcome::Fail) {
            return;
        }
        let lane = self.layout.lane_of(block);
        self.effects.push(Effect::Erase {
            first: self.layout.first_unit(block),
            units: self.layout.units_per_block(),
        });
        if self.blocks.is_failing(block) {
            self.blocks.set_state(block, BlockState::Bad);
            self.counts.retired_blocks += 1;
        } else {
            self.allocator.give_back(lane, block, &mut self.blocks);
            self.counts.reclaimed_blocks += 1;
            self.room_made = true;
        }
        let work = self.work(lane);
        work.coming -= 1;
        work.erases += 1;
        let erases = work.erases;
        let view = self.blocks.lane_view(&self.layout, lane, self.clock);
        if let Some(cold) = self.wear_leveling.choose(&view, erases) {
            self.work(lane).swap = BlockId(self.layout.first_block(lane).0 + cold);
        }
        self.check_lane(flash, lane);
    }

    /// A failing block is closed and quiet: queue it for retirement.
    pub(super) fn retire_when_closed(&mut self, flash: &mut Flash, block: BlockId) {
        if self.blocks.state(block) != BlockState::Closed {
            return;
        }
        let lane = self.layout.lane_of(block);
        let queue = &mut self.work(lane).retire;
        if !queue.contains(&block) {
            queue.push_back(block);
        }
        self.pump_lane(flash, lane);
    }
}
