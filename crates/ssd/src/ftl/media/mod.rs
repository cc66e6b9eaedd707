//! What is where and what is under way: the tables, what goes on, and all that must know when that changes.
//!
//! Operations are issued, and a unit is mapped at a new place, is lost, or its replica takes its place (`units.rs`);
//! blocks end and begin again (`blocks.rs`); replicas are made of what a technique names, and jobs of techniques' own
//! go on (here). Where time passes the answer to what is issued comes later, with the operation's end; where none does
//! it is there at once. What follows from it is one function each, whichever way it comes. Nothing here decides what
//! moves: that is [`Moves`](super::Moves)' to say.

mod blocks;
mod parts;
mod restore;
mod units;

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::cleaning::Cleaning;
use crate::ftl::locks::Locks;
use crate::ftl::reclaim::{Reclaim, margins};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::{Ended, Reach, Seen, Techniques, is_replica};
use crate::ftl::work::Work;
use crate::ftl::work::migration::Migration;
use crate::ftl::write::placement::Space;
use crate::ftl::write::waits::Waits;
use crate::nand::Outcome;
use crate::observe::{Effect, Effects};
use crate::restore::{MOST, Verdict, ensure};
use crate::units::{BlockId, LaneId, Lpn, OpId, Ppn, Pun};
pub(in crate::ftl) use parts::Parts;
use serde::{Deserialize, Serialize};

/// What is where and what is under way; what becomes of units and blocks, and who is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Media {
    /// Which page holds what, and what is known of each block.
    pub tables: Tables,
    /// Pages of which parts are under way.
    pub(crate) parts: Parts,
    /// Operations issued and not yet taken by the executor.
    pub outbox: Vec<OpId>,
    /// What happens to data, for an observer.
    #[serde(skip)]
    pub effects: Effects,
    /// Who waits for room.
    pub waits: Waits,
    /// Where pages for data come from.
    pub(crate) space: Space,
    /// What is under way or asked for, and what was done.
    pub work: Work,
    /// Moves because of reads.
    pub(crate) reclaim: Reclaim,
    /// When a lane is cleaned, and which block.
    pub(crate) cleaning: Cleaning,
    /// What nobody may read any more.
    pub(crate) locks: Locks,
    pub(crate) techniques: Techniques,
}

impl Media {
    /// Takes what follows from the configuration from a fresh one, and checks the rest; the flash is checked already.
    pub(in crate::ftl) fn restored(&mut self, fresh: Media, flash: &Flash) -> Verdict {
        let tables = fresh.tables;
        (self.tables.layout, self.tables.order) = (tables.layout, tables.order);
        (self.tables.wordlines, self.space.placement) = (tables.wordlines, fresh.space.placement);
        self.cleaning.restored(fresh.cleaning)?;
        ensure(self.tables.clock < MOST, "the clock of blocks")?;
        self.tables.map.restored(&tables.map)?;
        // Blocks have modes where cells do not age, too; nobody looks at them there.
        let modes = flash.chip.aging().map_or(1 << u8::BITS, |aging| aging.modes());
        self.tables.blocks.restored(&tables.blocks, &self.tables.layout, (self.tables.clock, modes))?;
        self.tables.facts.restored(&tables.facts)?;
        self.space.allocator.restored(fresh.space.allocator, &self.tables.layout, &self.tables.blocks)?;
        self.space.ring.restored(fresh.space.ring, &self.tables.layout, &self.tables.blocks)?;
        self.reclaim.restored(fresh.reclaim, &self.tables.layout)?;
        self.tables.replicas.restored(tables.replicas, &self.tables.map)?;
        self.locks.restored(
            fresh.locks,
            (self.tables.layout.blocks_per_lane, self.tables.map.logical()),
            flash.now,
        )?;
        let seen = Seen { tables: &self.tables, chip: &flash.chip };
        self.techniques.restored(fresh.techniques, &seen)?;
        flash.pool.iter().try_for_each(|(id, op)| restore::check_op(self, flash, id, op))?;
        self.parts.restored(&fresh.parts, &self.tables.layout, flash)?;
        restore::check_promised(self, flash)?;
        for lane in 0..self.work.lanes.len().max(fresh.work.lanes.len()) {
            let (Some(work), Some(fresh)) = (self.work.lanes.get_mut(lane), fresh.work.lanes.get(lane))
            else {
                return Err("lanes that are not there".to_owned());
            };
            work.keep_room(fresh);
            work.sorted.restored(&fresh.sorted)?;
            let erasing = restore::check_lane_work(self, LaneId(lane as u32), fresh)?;
            self.work.lanes[lane].erasing = erasing;
            let has_own = self.work.lanes[lane].has_own;
            ensure(has_own == self.techniques.works_in(LaneId(lane as u32)), "a job of nobody's")?;
            let migration = self.work.lanes[lane].migration().copied();
            let can = migration
                .is_none_or(|it| Reclaim::can_migrate(&self.tables.wordlines, &it, flash.chip.blocks()));
            ensure(can, "what is to leave a block")?;
        }
        self.work.check_moves(&self.tables, flash, (&self.techniques.in_controller(), is_replica))?;
        self.work.restored(fresh.work)?;
        restore::check_pages(self, flash)
    }

    /// Makes a replica of a page of the block that a lane's partial migration is at, in physical block `to`: the units
    /// that have none are read and programmed there.
    pub(in crate::ftl) fn replicate(&mut self, flash: &mut Flash, lane: LaneId, place: u32, to: u32) {
        let Some(&mut Migration { candidate, .. }) = self.work.lane_mut(lane).migration() else { return };
        let Some(cause) = self.techniques.replicate() else { return };
        let at = self.tables.wordlines.page_of(place);
        let first = self.tables.layout.first_unit_of(candidate.block, candidate.member, at);
        let page = self.tables.layout.page_of_unit(first).0;
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let count = self.techniques.replicated(page, &self.tables, &mut units);
        // Where no time passes, programs issued before may not be applied yet, and pages are programmed in order.
        let target = BlockId(self.tables.replicas.owner[to as usize] / self.tables.layout.span);
        if count == 0 || (flash.is_instant() && self.tables.blocks.programming(target) > 0) {
            return;
        }
        let mut read = Op { tag: to, ..self.tables.op(OpKind::Read, cause, page) };
        self.reclaim.note_read(&self.tables, &mut self.work, flash, &read);
        self.tables.blocks.leave(candidate.block, count as u32);
        self.tables.replicas.promised[to as usize] += 1;
        if self.issue_move(flash, lane, &mut read, &units[..count]) {
            self.replica_read(flash, lane, &read, &units[..count]);
        }
    }

    /// Programs what was read and is still current, if the block chosen can still take it.
    pub(in crate::ftl) fn replica_read(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        op: &Op,
        read: &[UnitRef],
    ) {
        let source = self.tables.layout.block_of_page(op.ppn).0;
        self.tables.replicas.promised[op.tag as usize] -= 1;
        let holds = self.techniques.takes_replica(op.tag, &self.tables);
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let mut count = 0;
        for &unit in read {
            let (lpn, from) = (Lpn(unit.lpn), Pun(unit.source));
            if op.outcome == Outcome::Fail {
                self.lose(lpn, from);
            } else if holds && self.tables.map.lookup(lpn) == from {
                (units[count], count) = (unit, count + 1);
                continue;
            }
            self.unit_arrived(flash, source);
        }
        if count == 0 {
            return;
        }
        let page = self.tables.replicas.take_page(&self.tables.layout, op.tag);
        self.work.note_padding(&self.tables.layout, op.cause, count);
        let mut program = Op { tag: lane.0, ..self.tables.op(OpKind::Program, op.cause, page) };
        self.tables.bind(self.tables.layout.block_of_page(page).0, &mut program);
        if self.issue_move(flash, lane, &mut program, &units[..count]) {
            self.replica_programmed(flash, &program, &units[..count]);
        }
    }

    /// Units that are still current are read from their replica from now on. A failed program makes none.
    pub(in crate::ftl) fn replica_programmed(&mut self, flash: &mut Flash, op: &Op, units: &[UnitRef]) {
        let first = op.ppn.0 * self.tables.layout.units_per_page;
        for (place, unit) in (first..).zip(units) {
            let (lpn, from, to) = (Lpn(unit.lpn), Pun(unit.source), Pun(place));
            let counts = op.outcome == Outcome::Pass && self.tables.map.lookup(lpn) == from;
            if self.locks.are_on() && !counts {
                self.locks.note_dead_on_arrival(&mut self.tables, &mut self.work, to, unit.facts());
            }
            if counts {
                self.tables.map.note_copy(lpn, to);
                self.tables.facts.set(to, unit.facts());
                // An older one, made at the same time, no longer counts.
                self.forget_replica(lpn);
                self.tables.replicas.set(lpn, to);
                self.work.counts.moved_units[op.cause as usize] += 1;
                self.effects.push(Effect::Replicate { lpn, from, to });
                continue;
            }
            // What the spare area says, though nobody will read it.
            self.tables.map.note_stray(lpn, to);
            if op.outcome == Outcome::Pass {
                self.effects.push(Effect::Dead { lpn, from, to });
            }
        }
        self.after_program(self.tables.layout.block_of_page(op.ppn).0, op.outcome == Outcome::Fail);
        for unit in units {
            self.unit_arrived(flash, self.tables.layout.block_of_unit(Pun(unit.source)));
        }
    }

    /// Opens a free block in a program mode, if one is left beside those kept for moves.
    pub(in crate::ftl) fn open_own(&mut self, lane: LaneId, mode: u8) {
        let Media { techniques, space, tables, work, reclaim, .. } = self;
        let (blocks, keep) = (&mut tables.blocks, work.reserve);
        let block = space.allocator.take_block(lane, keep, mode, (blocks, tables.clock));
        let reach = Reach { tables, work, policy: &mut reclaim.policy };
        techniques.opened(lane, block.unwrap_or(BlockId::NONE), reach);
    }

    pub(in crate::ftl) fn read_own(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        (page, is_first): (Ppn, bool),
        units: &[UnitRef],
    ) {
        let what = (OpKind::Read, Cause::ReadReclaim);
        let mut op = self.space.op_of_move(&self.tables, &self.work, flash, what, page, lane);
        self.reclaim.note_read(&self.tables, &mut self.work, flash, &op);
        margins::note_page(&mut self.work.counts, &self.tables, flash, &op, (units[0].source, is_first));
        self.tables.blocks.leave(self.tables.layout.block_of_page(page).0, units.len() as u32);
        if self.issue_move(flash, lane, &mut op, units) {
            self.take_own(lane, &op, units);
        }
    }

    /// Units that were read for a job of a technique's own are in the controller, or lost.
    #[inline(never)]
    pub(in crate::ftl) fn take_own(&mut self, lane: LaneId, op: &Op, units: &[UnitRef]) {
        let block = self.tables.layout.block_of_page(op.ppn).0;
        for unit in units {
            let (lpn, from) = (Lpn(unit.lpn), Pun(unit.source));
            if op.outcome == Outcome::Fail {
                self.lose(lpn, from);
            }
            let lives = self.tables.map.lookup(lpn) == from;
            if !lives {
                self.tables.blocks.arrive(block);
            }
            self.techniques.arrived(lane, unit, lives);
        }
    }

    /// All is read and on its way: the blocks that were opened are closed, and those that it came from wait to be
    /// erased.
    pub(in crate::ftl) fn end_own(&mut self, flash: &mut Flash, lane: LaneId) {
        self.work.lane_mut(lane).has_own = false;
        let Media { techniques, tables, work, reclaim, .. } = self;
        let reach = Reach { tables, work, policy: &mut reclaim.policy };
        let Some(Ended { sources, opened, cut_short }) = techniques.end(lane, reach) else { return };
        for (block, is_empty) in opened.into_iter().filter(|(block, _)| block.is_some()) {
            if is_empty {
                self.space.allocator.give_back(lane, block, &mut self.tables.blocks);
            } else {
                self.tables.blocks.close(block, self.tables.clock);
            }
        }
        for source in sources.into_iter().filter(|block| block.is_some()) {
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
