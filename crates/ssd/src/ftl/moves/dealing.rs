//! Deals carried out: blocks for them, the order of their units, and what becomes of their reads and programs.
//!
//! With too few free blocks a deal waits for cleaning, one that cannot wait not for long; then the disturbed block
//! moves alone into one target, and if there is none, to where cleaning's data goes, in the normal mode.

use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::flash::{Flash, PROGRAM_MODES};
use crate::ftl::read_reclaim::MAX_PAGE_TYPES as TYPES;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::work::COMING_BY_READS;
use crate::ftl::work::candidates::Candidate;
use crate::ftl::work::deal::{NO_TARGET, Target, Way};
use crate::ftl::work::lane::ROUTINE;
use crate::ftl::work::walk::Step;
use crate::ftl::{Media, Moves};
use crate::nand::Outcome;
use crate::units::{BlockId, LaneId, Lpn, Ppn, Pun};

/// Blocks that were to come free while a deal waited for room, after which it makes do with less.
const PATIENCE: u64 = 4;

/// A deal that is asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct DealRequest {
    pub candidate: Candidate,
    pub mode: u8,
    pub paired: bool,
    /// It cannot wait for long.
    pub forced: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ftl) enum Begun {
    /// It has begun, may be over, and is on the list no more.
    Yes,
    /// It waits for blocks to come free.
    Later,
    /// There are no free blocks to be had: the block may only move as cleaning moves it.
    NoBlocks,
}

impl Moves {
    /// Begins a deal if there is room. With less room than it needs it waits for cleaning, the forced one not for long,
    /// and then makes do with one target and no partner.
    pub(in crate::ftl) fn begin_deal(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        asked: DealRequest,
    ) -> Begun {
        let DealRequest { candidate, mode, paired, forced } = asked;
        let block = candidate.block;
        let to_spare = self.media.space.allocator.free(lane).saturating_sub(self.media.work.reserve);
        // Two blocks out of one: cleaning makes up for it.
        let spreads = paired && to_spare >= 2 && self.media.reclaim.policy.empty_partner();
        let partner = if paired && !spreads {
            self.media.reclaim.partner_of(&self.media.tables, lane, block)
        } else {
            BlockId::NONE
        };
        let sources = [block, partner];
        let mode = self.media.reclaim.mode_for(&self.media.tables, partner).max(mode);
        let needed = 1 + u32::from(partner.is_some());
        if self.media.work.lane_mut(lane).coming + needed > self.media.work.coming_at_most + COMING_BY_READS {
            return Begun::Later;
        }
        let fan = if spreads { 2 } else { self.media.targets_for(sources) };
        if to_spare >= fan {
            self.media.reclaim.drop_candidate(&self.media.tables, &mut self.media.work, lane, candidate);
            self.deal(flash, lane, sources, fan, mode, paired);
            return Begun::Yes;
        }
        let work = self.media.work.lane_mut(lane);
        let comes = work.coming > 0 || work.jobs[ROUTINE].is_some();
        if !work.candidates.lacks_room {
            (work.candidates.lacks_room, work.candidates.lacked_at) = (true, work.erases);
            return Begun::Later;
        }
        let waited = work.erases - work.candidates.lacked_at;
        let patient = !forced || waited < PATIENCE;
        if comes && patient {
            return Begun::Later;
        }
        if to_spare >= 1 {
            self.media.reclaim.drop_candidate(&self.media.tables, &mut self.media.work, lane, candidate);
            self.deal(flash, lane, [block, BlockId::NONE], 1, mode, paired);
            return Begun::Yes;
        }
        if forced { Begun::NoBlocks } else { Begun::Later }
    }

    fn deal(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        sources: [BlockId; 2],
        fan: u32,
        mode: u8,
        sorted: bool,
    ) {
        self.media.work.counts.reclaims += 1;
        let work = self.media.work.lane_mut(lane);
        work.candidates.lacks_room = false;
        let deal = &mut work.deal;
        (deal.active, deal.sources, deal.fan, deal.mode, deal.sorted) = (true, sources, fan, mode, sorted);
        (deal.pages, deal.filled, deal.over, deal.cut_short) = (0, 0, false, false);
        (deal.targets, deal.shares) = ([NO_TARGET; 2], [(0, 0); TYPES]);
        deal.units.clear();
        for (at, block) in sources.into_iter().enumerate().filter(|(_, block)| block.is_some()) {
            self.media.tables.blocks.start_moving(block, Cause::ReadReclaim);
            self.media.reclaim.begin_service(
                flash,
                block,
                Some(sources[1 - at]).filter(|other| other.is_some()),
            );
            self.media.work.lane_mut(lane).coming += 1;
            self.media.reclaim.list_units(&self.media.tables, &mut self.media.work, lane, block);
        }
        self.media.work.sort_units(&self.media.tables, lane);
        for at in 0..fan as usize {
            let block = self.media.open_target(lane, mode);
            self.media.work.lane_mut(lane).deal.targets[at].block = block;
        }
        self.media.update_wanted(lane);
        self.deal_on(flash, lane);
    }

    /// Goes on with a lane's deal: programs what is there, reads what is next, and ends it when nothing is left.
    pub(in crate::ftl) fn deal_on(&mut self, flash: &mut Flash, lane: LaneId) {
        if !self.media.work.lane_mut(lane).deal.active {
            return;
        }
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        while self.media.work.lane_mut(lane).deal.active {
            let at_most = self.media.work.in_flight_at_most;
            let work = &mut self.media.work.lanes[lane.index()];
            let may_read = flash.is_instant() || work.reads + work.programs < at_most;
            match work.deal.step(&self.media.tables, may_read, at_most, &mut units) {
                Step::Read { page, count } => self.media.read_dealt(flash, lane, page, &units[..count]),
                Step::Program { target, count } => {
                    self.program_dealt(flash, lane, target, &mut units[..count]);
                }
                Step::Wait => return,
                Step::Done => self.media.end_deal(flash, lane),
                Step::Ask | Step::Replicate { .. } => unreachable!("a deal was asked for as a whole"),
            }
        }
    }

    fn program_dealt(&mut self, flash: &mut Flash, lane: LaneId, target: u8, units: &mut [UnitRef]) {
        let Some(page) = self.media.next_of_target(lane, usize::from(target)) else {
            // What is in the controller goes where cleaning's data goes; the rest stays.
            for &mut unit in units {
                let unit = self.in_stream_of_move(Cause::ReadReclaim, unit);
                self.media.work.gather(&self.page_classes, lane, unit);
            }
            let deal = &mut self.media.work.lane_mut(lane).deal;
            (deal.over, deal.cut_short) = (true, true);
            return;
        };
        let Media { space, tables, work, .. } = &mut self.media;
        let mut op = space.program_of_move(tables, work, flash, (Cause::ReadReclaim, page), lane);
        if self.media.work.lazy {
            self.media.erase_if_stale(flash, page);
        }
        self.media.work.counts.padded_units +=
            u64::from(self.media.tables.layout.units_per_page) - units.len() as u64;
        self.media.work.counts.dealt_pages[usize::from(op.mode).min(PROGRAM_MODES - 1)] += 1;
        self.program_moved(flash, lane, &mut op, units);
    }
}

impl Media {
    /// Targets that the data of some blocks fills: one, if it fits.
    fn targets_for(&self, sources: [BlockId; 2]) -> u32 {
        let live: u32 =
            sources.iter().filter(|block| block.is_some()).map(|&block| self.tables.blocks.live(block)).sum();
        1 + u32::from(live > self.tables.layout.units_per_block())
    }

    /// Opens a free block in a program mode, if one is left beside those kept for moves.
    fn open_target(&mut self, lane: LaneId, mode: u8) -> BlockId {
        let (blocks, keep) = (&mut self.tables.blocks, self.work.reserve);
        let Some(block) = self.space.allocator.take_block(lane, keep, mode, (blocks, self.tables.clock))
        else {
            return BlockId::NONE;
        };
        for k in 0..self.tables.layout.span {
            let physical = self.tables.layout.member(block, k).block;
            self.reclaim.policy.on_open(physical, mode);
        }
        block
    }

    fn read_dealt(&mut self, flash: &mut Flash, lane: LaneId, page: Ppn, units: &[UnitRef]) {
        let mut op = self.space.op_of_move(
            &self.tables,
            &self.work,
            flash,
            (OpKind::Read, Cause::ReadReclaim),
            page,
            lane,
        );
        self.reclaim.note_read(&self.tables, &mut self.work, flash, &op);
        self.work.note_dealt(&self.tables, flash, lane, &op, units[0].source);
        self.tables.blocks.leave(self.tables.layout.block_of_page(page).0, units.len() as u32);
        if self.issue_move(flash, lane, &mut op, units) {
            self.take_dealt(lane, &op, units);
        }
    }

    /// Units of a deal are in the controller, or lost.
    pub(in crate::ftl) fn take_dealt(&mut self, lane: LaneId, op: &Op, units: &[UnitRef]) {
        let block = self.tables.layout.block_of_page(op.ppn).0;
        for unit in units {
            let (lpn, from) = (Lpn(unit.lpn), Pun(unit.source));
            if op.outcome == Outcome::Fail {
                self.lose(lpn, from);
            }
            let way = if self.tables.map.lookup(lpn) == from { Way::InController } else { Way::Dead };
            if way == Way::Dead {
                self.tables.blocks.arrive(block);
            }
            self.work.lane_mut(lane).deal.arrive(unit, way);
        }
    }

    /// The next page of a target; if it is full or has failed, of the other, or of a fresh one.
    fn next_of_target(&mut self, lane: LaneId, planned: usize) -> Option<Ppn> {
        let targets = self.work.lane_mut(lane).deal.targets;
        let open = [planned, 1 - planned].into_iter().find(|&at| targets[at].block.is_some());
        let at = open.unwrap_or(planned);
        if open.is_none() {
            let mode = self.work.lane_mut(lane).deal.mode;
            let block = self.open_target(lane, mode);
            self.work.lane_mut(lane).deal.targets[at] = Target { block, next: 0 };
            if !block.is_some() {
                return None;
            }
        }
        let clock = self.tables.clock;
        let pages = self.tables.layout.pages_per_block;
        let target = &mut self.work.lanes[lane.index()].deal.targets[at];
        let page = Ppn(target.block.0 * pages + target.next);
        target.next += 1;
        if target.next == pages {
            self.tables.blocks.close(target.block, clock);
            *target = NO_TARGET;
        }
        Some(page)
    }

    /// All is read and on its way to the targets: they are closed, and the sources wait to be erased.
    fn end_deal(&mut self, flash: &mut Flash, lane: LaneId) {
        let deal = &mut self.work.lane_mut(lane).deal;
        deal.active = false;
        let (sources, cut_short) = (deal.sources(), deal.cut_short);
        for target in core::mem::replace(&mut deal.targets, [NO_TARGET; 2]) {
            if target.block.is_some() && target.next == 0 {
                self.reclaim.make_normal(&self.tables, target.block);
                self.space.allocator.give_back(lane, target.block, &mut self.tables.blocks);
            } else if target.block.is_some() {
                self.tables.blocks.close(target.block, self.tables.clock);
            }
        }
        for source in sources {
            if cut_short {
                self.work.lane_mut(lane).coming -= 1;
                self.tables.blocks.set_state(source, BlockState::Migrating);
                if self.tables.blocks.leaving(source) == 0 {
                    self.migrated(flash, source);
                }
            } else {
                self.tables.blocks.set_state(source, BlockState::Draining);
                if self.tables.blocks.leaving(source) == 0 {
                    self.empty(flash, source);
                }
            }
        }
    }
}
