//! Moving live data out of blocks: for cleaning, for wear levelling, because of reads, out of blocks that fail.
//!
//! Jobs of a lane are done in steps: a few pages of the block are read, their live units gathered and programmed
//! elsewhere, and every completion starts the next step, so that host operations run between them. A block is erased
//! only when every unit read from it is programmed and mapped at its new place. A lane has at most two jobs at a time:
//! one of routine, and one because of reads, which goes first (see `reclaim`).

use super::deal::Deal;
use super::issue::Issued;
use super::reclaim::{Reclaim, Wishes};
use crate::config::DriveConfig;
use crate::engine::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::gc_trigger::Limits;
use crate::ftl::stream::Streams;
use crate::ftl::tables::blocks::{BlockState, LaneView};
use crate::ftl::{Ftl, IdleWork};
use crate::nand::Layout;
use crate::units::{BlockId, LaneId, Pun};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Blocks of a lane that may be on their way to being free at once, by routine work.
const COMING_AT_MOST: u32 = 3;
/// The same with those that are emptied because of reads.
pub(in crate::ftl) const COMING_WITH_RECLAIM: u32 = COMING_AT_MOST + 2;

/// Which of a lane's jobs: the one because of reads, and all others.
pub(in crate::ftl) const RECLAIM: usize = 0;
pub(in crate::ftl) const ROUTINE: usize = 1;

/// What is being moved out of a block, and how far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Job {
    pub block: BlockId,
    /// Only these pages, if not the whole block is moved.
    pub part: Option<Part>,
    pub cursor: u32,
    pub end: u32,
    /// Up to here the mapping entries of live units are being loaded.
    pub ahead: u32,
}

/// Pages of one physical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ftl) struct Part {
    /// Member of the (firmware) block.
    pub member: u32,
    /// Page types, a bit for each.
    pub types: u8,
    /// Wordline; [`crate::units::NONE`] for all.
    pub wordline: u32,
}

/// Live units whose mapping entries are loaded ahead of the cursor.
const AHEAD: u32 = 16;

/// What goes on in one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct LaneWork {
    pub jobs: [Option<Job>; 2],
    /// Units read and waiting for a page to be programmed, by stream.
    pub gathered: Box<[VecDeque<UnitRef>]>,
    pub reads: u32,
    pub programs: u32,
    /// Cleaning has begun and not reached its end.
    pub wanted: bool,
    /// Blocks being emptied for cleaning or erased.
    pub coming: u32,
    pub erases: u64,
    /// Blocks that failed a program and are to be retired.
    pub retire: VecDeque<BlockId>,
    /// The block wear levelling wants moved.
    pub swap: BlockId,
    /// Blocks that must be looked at because of reads.
    pub wishes: Wishes,
    /// What moves because of reads could not wait until the host is silent.
    pub due: bool,
    /// Blocks being dealt because of reads.
    pub deal: Deal,
}

/// The state of all moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Mover {
    pub lanes: Vec<LaneWork>,
    pub in_flight_at_most: u32,
    pub copyback: bool,
    pub reserve: u32,
    spare: u32,
    span: u32,
    pub idle: bool,
    /// How fast the host is where no time passes.
    #[serde(skip)]
    pub pace: Pace,
    /// A block was emptied since the lane at work was looked at: it will be free as soon as this is carried out.
    #[serde(skip)]
    pub emptied: bool,
    /// The host has been silent long enough for blocks that wait for it to be looked at.
    pub quiet: bool,
}

impl Mover {
    pub fn new(cfg: &DriveConfig, layout: &Layout, streams: Streams, reclaim: &Reclaim) -> Self {
        let room = (2 * cfg.cleaning.copies_in_flight + 2) as usize * layout.units_per_page as usize;
        let gathered = || (0..streams.all()).map(|_| VecDeque::with_capacity(room)).collect();
        let lanes = (0..layout.lanes)
            .map(|_| LaneWork {
                jobs: [None; 2],
                gathered: gathered(),
                reads: 0,
                programs: 0,
                wanted: false,
                coming: 0,
                erases: 0,
                retire: VecDeque::with_capacity(8),
                swap: BlockId::NONE,
                wishes: Wishes::new(layout, reclaim.is_active()),
                due: false,
                deal: Deal::new(layout, cfg.cleaning.copies_in_flight, reclaim.deals()),
            })
            .collect();
        let share = cfg
            .logical_units()
            .div_ceil(u64::from(layout.lanes))
            .div_ceil(u64::from(layout.data_units_per_block()));
        Mover {
            lanes,
            in_flight_at_most: cfg.cleaning.copies_in_flight,
            copyback: cfg.cleaning.copyback,
            reserve: cfg.cleaning.reserve_blocks,
            // Each stream has a block open.
            spare: layout.blocks_per_lane.saturating_sub(share as u32 + u32::from(streams.count)),
            span: layout.span,
            idle: false,
            pace: Pace::Relaxed,
            emptied: false,
            quiet: false,
        }
    }

    /// Takes what follows from the configuration from a fresh one.
    pub fn restored(&mut self, fresh: Mover) {
        (self.in_flight_at_most, self.copyback) = (fresh.in_flight_at_most, fresh.copyback);
        (self.reserve, self.spare, self.span) = (fresh.reserve, fresh.spare, fresh.span);
    }

    /// Bytes of the lists that deals take.
    pub fn bytes_of_deals(&self) -> usize {
        self.lanes.iter().map(|work| work.deal.bytes()).sum()
    }

    /// Operations that moves of all lanes can have in flight.
    pub fn operations_at_most(&self) -> usize {
        self.lanes.len() * (2 * self.in_flight_at_most + (COMING_WITH_RECLAIM + 2) * self.span + 4) as usize
    }
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

    pub(in crate::ftl) fn work(&mut self, lane: LaneId) -> &mut LaneWork {
        &mut self.mover.lanes[lane.index()]
    }

    /// Looks whether a lane should be cleaned, and starts or continues.
    pub(in crate::ftl) fn check_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        self.update_wanted(lane);
        self.pump_lane(flash, lane);
    }

    pub(in crate::ftl) fn update_wanted(&mut self, lane: LaneId) {
        let (limits, free) = (self.limits(), self.allocator.free(lane));
        let work = &self.mover.lanes[lane.index()];
        let wanted = if self.mover.pace == Pace::Saturated {
            true
        } else if work.wanted {
            self.gc_trigger.goes_on(free + work.coming, &limits)
        } else {
            self.gc_trigger.starts(free + work.coming, &limits)
        };
        self.work(lane).wanted = wanted;
    }

    /// The same for all lanes: the host has no page left.
    pub fn check_lanes(&mut self, flash: &mut Flash) {
        (0..self.layout.lanes).map(LaneId).for_each(|lane| self.check_lane(flash, lane));
    }

    /// How fast the host is from now on, where no time passes.
    pub fn set_pace(&mut self, pace: Pace) {
        let changed = std::mem::replace(&mut self.mover.pace, pace) != pace;
        for lane in (0..self.layout.lanes).map(LaneId).filter(|_| changed) {
            // Not yet cleaned: that is for the executor that goes on.
            self.update_wanted(lane);
        }
    }

    /// Tells whether the host has been silent long enough for something to begin; it begins, or no more of it does.
    pub fn set_idle(&mut self, flash: &mut Flash, work: IdleWork, idle: bool) {
        match work {
            IdleWork::Cleaning => self.mover.idle = idle,
            IdleWork::Reclaim => self.mover.quiet = idle,
        }
        for lane in (0..self.layout.lanes).map(LaneId).filter(|_| idle) {
            self.check_lane(flash, lane);
        }
    }

    /// Tries again to start moves that found nothing to do; for when the host waits for room.
    pub fn retry(&mut self, flash: &mut Flash) {
        for lane in (0..self.layout.lanes).map(LaneId) {
            let work = self.work(lane);
            let waiting = work.has_job()
                || work.is_dealing()
                || work.wishes.some()
                || !work.gathered.iter().all(VecDeque::is_empty);
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
        if work.reads + work.programs == 0 && work.has_job() {
            self.program_all_gathered(flash, lane, true);
        }
    }

    /// One step of a lane: start jobs if there are none, read on, program what is gathered.
    pub(in crate::ftl) fn pump_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        self.mover.emptied = false;
        self.deal_on(flash, lane);
        while self.work(lane).jobs[RECLAIM].is_some() || self.start_reclaim(flash, lane) {
            if !self.read_on(flash, lane, RECLAIM) {
                break;
            }
        }
        while self.work(lane).jobs[ROUTINE].is_some() || self.start_job(lane) {
            if !self.read_on(flash, lane, ROUTINE) {
                break;
            }
        }
        self.program_all_gathered(flash, lane, false);
    }

    /// Chooses the next block to empty: a failing one, one to clean, one to swap, in this order.
    fn start_job(&mut self, lane: LaneId) -> bool {
        let work = &self.mover.lanes[lane.index()];
        if let Some(&block) = work.retire.front()
            && self.blocks.programming(block) == 0
            && self.fits(lane, block, Cause::BadBlock)
        {
            self.work(lane).retire.pop_front();
            return self.begin(lane, block, Cause::BadBlock);
        }
        let work = &self.mover.lanes[lane.index()];
        if (work.wanted || work.wishes.lacks_room) && work.coming < COMING_AT_MOST {
            self.update_wanted(lane);
            let work = &self.mover.lanes[lane.index()];
            if (work.wanted || work.wishes.lacks_room)
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
            && self.fits(lane, swap, Cause::WearLeveling)
        {
            return self.begin(lane, swap, Cause::WearLeveling);
        }
        false
    }

    pub(in crate::ftl) fn begin(&mut self, lane: LaneId, block: BlockId, cause: Cause) -> bool {
        self.drop_replicas(block);
        self.blocks.start_moving(block, cause);
        let cursor = self.layout.first_unit(block).0;
        let end = cursor + self.layout.units_per_block();
        let which = if cause == Cause::ReadReclaim { RECLAIM } else { ROUTINE };
        let work = self.work(lane);
        work.coming += u32::from(cause != Cause::BadBlock);
        work.jobs[which] = Some(Job { block, part: None, cursor, end, ahead: cursor });
        self.look_ahead(lane, which, AHEAD);
        true
    }

    /// Starts loading the mapping entries of the next `count` live units of a job.
    #[inline]
    fn look_ahead(&mut self, lane: LaneId, which: usize, count: u32) {
        let Some(job) = &mut self.mover.lanes[lane.index()].jobs[which] else { return };
        for _ in 0..count {
            let Some(unit) = self.map.next_live(job.ahead, job.end) else { return };
            self.map.prefetch(self.map.stored(Pun(unit)).0);
            job.ahead = unit + 1;
        }
    }

    fn choose_victim(&mut self, lane: LaneId) -> Option<BlockId> {
        // Blocks on their way to being free will make room for any answer; only without them is a policy overruled.
        let coming = self.mover.lanes[lane.index()].coming > 0;
        if coming && !self.has_room(lane, self.layout.data_units_per_block(), Cause::Cleaning) {
            return None;
        }
        let first = self.layout.first_block(lane).0;
        let view: LaneView<'_> = self.blocks.lane_view(&self.layout, lane, self.clock);
        let chosen = self.gc_victim.choose(&view, &mut self.victim_rng)?;
        assert!(
            view.eligible(chosen).is_some(),
            "ftl.gc_victim chose block {chosen}, which cannot be cleaned"
        );
        let chosen = BlockId(first + chosen);
        if self.fits(lane, chosen, Cause::Cleaning) {
            return Some(chosen);
        }
        let least = BlockId(first + self.blocks.lane_view(&self.layout, lane, self.clock).least_live()?);
        self.fits(lane, least, Cause::Cleaning).then_some(least)
    }

    /// Whether the lane has pages for the live units of a block and for what is already on its way.
    pub(in crate::ftl) fn fits(&self, lane: LaneId, block: BlockId, cause: Cause) -> bool {
        self.has_room(lane, self.blocks.live(block), cause)
    }

    pub(in crate::ftl) fn has_room(&self, lane: LaneId, units: u32, cause: Cause) -> bool {
        let work = &self.mover.lanes[lane.index()];
        let per_page = self.layout.units_per_page;
        let pages = |units: &VecDeque<UnitRef>| (units.len() as u32).div_ceil(per_page);
        // What the other job of the lane has still to move counts, too.
        let left = |job: &Job| self.blocks.live(job.block).min(job.end - job.cursor.min(job.end));
        let others: u32 = work.jobs.iter().flatten().map(|job| left(job).div_ceil(per_page)).sum();
        let waiting = work.gathered.iter().map(pages).sum::<u32>() + work.reads + others;
        // What is moved may go to several streams, and each may leave a page that is not full.
        let partial = self.streams_of_moves() - 1;
        let cold = cause == Cause::WearLeveling;
        u64::from(units.div_ceil(per_page) + waiting + partial) <= self.allocator.room(lane, cold)
    }

    /// Whether routine work of a lane stands still, in the middle of a block: a host that is faster than cleaning takes
    /// what has become free before more does.
    #[inline]
    fn rests(&self, lane: LaneId, which: usize) -> bool {
        self.mover.pace == Pace::Saturated
            && which == ROUTINE
            && (self.mover.emptied || self.allocator.free(lane) > self.mover.reserve)
    }

    /// Whether a lane has as many pages on their way as it may.
    #[inline]
    pub(in crate::ftl) fn is_busy(&self, lane: LaneId) -> bool {
        let work = &self.mover.lanes[lane.index()];
        // Full pages that found no room; what is gathered of a page not yet full must not hold reads back.
        let per_page = self.layout.units_per_page;
        let full = |units: &VecDeque<UnitRef>| match units.len() as u32 {
            few if few < per_page => 0,
            many => many / per_page,
        };
        let pages = work.gathered.iter().map(full).sum::<u32>();
        work.reads + work.programs + pages >= self.mover.in_flight_at_most
    }

    /// Reads pages of the job's block while the window is open; returns whether the job is finished.
    fn read_on(&mut self, flash: &mut Flash, lane: LaneId, which: usize) -> bool {
        loop {
            let Some(job) = self.mover.lanes[lane.index()].jobs[which] else { return false };
            if self.is_busy(lane) || self.rests(lane, which) {
                return false;
            }
            let Some(first) = self.map.next_live(job.cursor, job.end) else {
                self.work(lane).jobs[which] = None;
                if job.part.is_none() {
                    self.blocks.set_state(job.block, BlockState::Draining);
                    if self.blocks.leaving(job.block) == 0 {
                        self.empty(flash, job.block);
                    }
                }
                return true;
            };
            self.move_page(flash, lane, which, job, first);
        }
    }

    /// Reads the live units of the page that holds unit `first`, or copies the page inside its plane.
    fn move_page(&mut self, flash: &mut Flash, lane: LaneId, which: usize, job: Job, first: u32) {
        let (page, _) = self.layout.page_of_unit(Pun(first));
        let page_end = (page.0 + 1) * self.layout.units_per_page;
        let cause = self.blocks.cause(job.block);
        self.work(lane).jobs[which] = Some(Job { cursor: page_end, ..job });
        let op = self.op_of_move(OpKind::Read, cause, page, lane);
        if job.part.is_some_and(|part| !self.is_of(&part, page)) {
            return;
        }
        self.note_margin(flash, &op);
        self.note_read(flash, &op);
        if self.mover.copyback && self.copy_back(flash, lane, cause, self.unit_at(first)) {
            return;
        }
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let (mut at, mut count) = (Some(first), 0);
        while let Some(live) = at {
            units[count] = self.unit_at(live);
            count += 1;
            at = self.map.next_live(live + 1, page_end);
        }
        let units = &units[..count];
        self.look_ahead(lane, which, count as u32);
        self.blocks.leave(job.block, count as u32);
        if let Issued::Done(op) = self.issue_move(flash, lane, op, units) {
            self.take_read(lane, &op, units);
            self.program_moved_for(flash, lane, cause);
        }
    }
}

impl LaneWork {
    /// Whether operations of moves for this cause do not yield to host reads: those that reads have made due, and
    /// those that make the room that such moves wait for.
    #[inline]
    pub fn is_due(&self, cause: Cause) -> bool {
        match cause {
            Cause::ReadReclaim => self.due || !self.wishes.now.is_empty(),
            _ => self.wishes.lacks_room && !self.wishes.now.is_empty(),
        }
    }

    /// Whether something is being moved.
    #[inline]
    pub fn has_job(&self) -> bool {
        self.jobs.iter().any(Option::is_some)
    }
}
