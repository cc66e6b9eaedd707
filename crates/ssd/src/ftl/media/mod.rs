//! What is where and what is under way: the tables, what goes on, and all that must know when that changes.
//!
//! Here a unit is mapped at a new place, is lost, or its second copy takes its place; second copies are made of what a
//! technique names; operations are issued; and blocks end and begin again (`blocks.rs`). Where time passes the answer to
//! what is issued comes later, with the operation's end; where none does it is there at once. What follows from it is
//! one function each, whichever way it comes. Nothing here decides what moves: that is [`Moves`](super::Moves)' to say.

mod blocks;
mod restore;

use crate::flash::Flash;
use crate::flash::op::{Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::cleaning::Cleaning;
use crate::ftl::locks::Locks;
use crate::ftl::reclaim::Reclaim;
use crate::ftl::stream::STREAMS_AT_MOST;
use crate::ftl::tables::Tables;
use crate::ftl::tables::facts::Death;
use crate::ftl::techniques::Techniques;
use crate::ftl::work::Work;
use crate::ftl::work::candidates::Candidate;
use crate::ftl::work::migration::Migration;
use crate::ftl::write::placement::Space;
use crate::ftl::write::waits::Waits;
use crate::nand::{Outcome, PageAddress};
use crate::observe::{Effect, Effects};
use crate::signals::Facts;
use crate::units::{BlockId, LaneId, Lpn, OpId, Pun};
use serde::{Deserialize, Serialize};

/// What is where and what is under way; what becomes of units and blocks, and who is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Media {
    /// Which page holds what, and what is known of each block.
    pub tables: Tables,
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
    /// Issues a read, program or copy of units for the moves of a lane. Returns whether it is done already: then the
    /// operation says how it ended.
    #[inline(always)]
    pub(in crate::ftl) fn issue_move(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        op: &mut Op,
        units: &[UnitRef],
    ) -> bool {
        if flash.is_instant() {
            if op.kind != OpKind::Read {
                self.apply_before(flash, op);
            }
            flash.do_at_once(op);
            self.effects.tell_at_once(&self.tables.layout, op, units);
            if op.kind == OpKind::Read {
                self.after_read(flash, op);
            }
            return true;
        }
        self.begin_move(flash, lane, *op, units);
        false
    }

    /// In a block that the host fills, too, its pages go before one that moves, where no time passes.
    #[inline(always)]
    pub(super) fn apply_before(&mut self, flash: &mut Flash, op: &Op) {
        if !self.outbox.is_empty() {
            let filled_by = self.tables.blocks.stream(self.tables.layout.block_of_page(op.ppn).0);
            if self.space.allocator.streams().is_shared(filled_by) {
                self.apply_outbox(flash);
            }
        }
    }

    /// What was issued is applied to the chips, where no time passes.
    pub(crate) fn apply_outbox(&mut self, flash: &mut Flash) {
        self.outbox.iter().for_each(|&id| flash.apply(id));
        self.outbox.clear();
        self.effects.tell_steps(&self.tables.layout, flash);
    }

    /// Issues it where time passes.
    #[inline(never)]
    pub(in crate::ftl) fn begin_move(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        mut op: Op,
        units: &[UnitRef],
    ) -> OpId {
        op.bytes = units.len() as u32 * self.tables.layout.unit_bytes;
        if self.locks.are_on() && op.kind != OpKind::Read {
            self.locks.copying.begin(op.ppn, units);
        }
        let work = self.work.lane_mut(lane);
        *if op.kind == OpKind::Read { &mut work.reads } else { &mut work.programs } += 1;
        self.issue(flash, op, units)
    }

    /// Issues an operation on a page.
    #[inline]
    pub(in crate::ftl) fn issue(&mut self, flash: &mut Flash, op: Op, units: &[UnitRef]) -> OpId {
        let id = flash.pool.add(op, units);
        self.outbox.push(id);
        id
    }

    /// A page was read, in one attempt or several, or it could not be.
    #[inline(always)]
    pub fn after_read(&mut self, flash: &Flash, op: &Op) {
        self.reclaim.note_retries(&self.tables, &mut self.work, flash, op, op.attempts);
        if op.outcome == Outcome::Fail {
            self.note_unreadable(flash, *op);
        }
    }

    /// A page could not be corrected: how much it had seen, and that it is so.
    #[cold]
    pub fn note_unreadable(&mut self, flash: &Flash, op: Op) {
        let units = self.tables.layout.units_per_page;
        self.effects.push(Effect::Unreadable { first: Pun(op.ppn.0 * units), units });
        let seen_q12 = flash.chip.disturb_q12(op.at.block, op.at.page).unwrap_or(0);
        self.work.counts.disturbed_q12_max = self.work.counts.disturbed_q12_max.max(seen_q12);
    }

    /// Points a logical unit at where it now is.
    #[inline(always)]
    pub(in crate::ftl) fn commit(&mut self, lpn: Lpn, to: Pun, facts: Facts, by: Death) {
        self.tables.facts.set(to, facts);
        self.work.counts.stream_units[facts.stream() as usize % STREAMS_AT_MOST] += 1;
        let old = self.tables.map.assign(lpn, to);
        if old.is_some() {
            self.locks.bury(&mut self.tables, &mut self.work, old, by);
        }
        self.tables.blocks.gain(self.tables.layout.block_of_unit(to));
    }

    /// The data of a unit of flash cannot be corrected. If it stands for a logical unit, that one's replica takes its
    /// place; without one it has no data any more until it is written again. Returns whether that is so.
    pub fn lose(&mut self, lpn: Lpn, from: Pun) -> bool {
        if self.tables.map.lookup(lpn) != from || self.adopt(lpn) {
            return false;
        }
        self.tables.map.lose(lpn);
        self.locks.bury(&mut self.tables, &mut self.work, from, Death::Ended);
        self.work.counts.lost_units += 1;
        self.effects.push(Effect::Lose { lpn });
        true
    }

    /// The replica of a logical unit, if it has one, becomes its page: the mapping points there, the original is dead.
    pub(in crate::ftl) fn adopt(&mut self, lpn: Lpn) -> bool {
        let to = self.tables.replicas.get(lpn);
        if !to.is_some() {
            return false;
        }
        self.tables.replicas.forget(lpn);
        let from = self.tables.map.assign(lpn, to);
        self.locks.bury(&mut self.tables, &mut self.work, from, Death::Moved);
        self.tables.blocks.adopt(self.tables.layout.block_of_unit(to));
        self.work.counts.replicas_adopted += 1;
        self.effects.push(Effect::Adopt { lpn, from, to });
        true
    }

    /// All replicas in one member of a block become pages.
    pub(in crate::ftl) fn adopt_all(&mut self, candidate: Candidate) {
        for unit in self.tables.replica_units(candidate.block) {
            let lpn = self.tables.map.stored(unit);
            let at = self.tables.layout.block_of_page(self.tables.layout.page_of_unit(unit).0).1;
            if at % self.tables.layout.span == candidate.member
                && lpn.is_some()
                && self.tables.replicas.get(lpn) == unit
            {
                self.adopt(lpn);
            }
        }
    }

    /// The data of a unit of flash that stands for a logical unit, or may have, cannot be corrected: a replica is given
    /// up, an original is replaced by its replica. Returns whether the logical unit has no data left.
    pub(in crate::ftl) fn read_failed(&mut self, lpn: Lpn, at: Pun) -> bool {
        if at.is_some() && self.tables.replicas.get(lpn) == at {
            self.locks.forget_replica(&mut self.tables, &mut self.work, lpn);
            self.work.counts.replicas_failed += 1;
            return false;
        }
        self.lose(lpn, at)
    }

    /// Issues a copy of a page. Returns whether it is done already: then the operation says how it ended.
    pub(super) fn issue_copy(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        op: &mut Op,
        from: PageAddress,
        unit: UnitRef,
    ) -> bool {
        if flash.is_instant() {
            self.apply_before(flash, op);
            flash.copy_at_once(op, from);
            self.effects.tell_at_once(&self.tables.layout, op, &[unit]);
            return true;
        }
        let id = self.begin_move(flash, lane, *op, &[unit]);
        flash.note_source(id, from);
        false
    }

    /// Makes a replica of a page of the block that a lane's partial migration is at, in physical block `to`: the units
    /// that have none are read and programmed there.
    pub(in crate::ftl) fn replicate(&mut self, flash: &mut Flash, lane: LaneId, place: u32, to: u32) {
        let Some(&mut Migration { candidate, .. }) = self.work.lane_mut(lane).migration() else { return };
        let Some(cause) = self.techniques.replicate() else { return };
        let first =
            self.tables.layout.first_unit_of(candidate.block, candidate.member, self.reclaim.page_of(place));
        let page = self.tables.layout.page_of_unit(first).0;
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let count = self.techniques.replicated(page, &self.tables, &mut units);
        // Where no time passes, programs issued before may not be applied yet, and pages are programmed in order.
        let target = BlockId(self.tables.replicas.owner[to as usize] / self.tables.layout.span);
        if count == 0 || (flash.is_instant() && self.tables.blocks.programming(target) > 0) {
            return;
        }
        let mut read = Op { tag: to, ..self.space.ring.op(&self.tables, OpKind::Read, cause, page) };
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
        let holds = self.techniques.take_replica(op.tag, &self.tables);
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
        self.work.counts.padded_units += u64::from(self.tables.layout.units_per_page) - count as u64;
        let program = Op { tag: lane.0, ..self.space.ring.op(&self.tables, OpKind::Program, op.cause, page) };
        let mut program = self.tables.bound_for(self.tables.layout.block_of_page(page).0, program);
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
                self.locks.note_stillborn(&mut self.tables, &mut self.work, to, unit.facts());
            }
            if counts {
                self.tables.map.note_copy(lpn, to);
                self.tables.facts.set(to, unit.facts());
                // An older one, made at the same time, no longer counts.
                self.locks.forget_replica(&mut self.tables, &mut self.work, lpn);
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
}
