//! Replicas: second copies of pages that are read often, in blocks that are read seldom (redFTL).
//!
//! Data fills a block up to some pages at its end; those hold replicas later. A page is read and programmed there, in
//! steps like all moves, and a table of fixed size then sends reads of its units to the replica, while the mapping, and
//! cleaning with it, stay with the original. A replica ends when its unit is written, trimmed or lost, and when its
//! block is to be erased; or it becomes the page itself, and the original is dead. What cannot be corrected in one of
//! the two is read from the other.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::Media;
use crate::ftl::work::migration::Migration;
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::units::{BlockId, LaneId, Lpn, Pun};

impl Media {
    /// Makes a replica of a page of the block that a lane's partial migration is at, in physical block `to`: the units
    /// that have none are read and programmed there.
    pub(in crate::ftl) fn replicate(&mut self, flash: &mut Flash, lane: LaneId, place: u32, to: u32) {
        let Some(&mut Migration { candidate, .. }) = self.work.lane_mut(lane).migration() else { return };
        let page = self.reclaim.page_of(place);
        let first = self.tables.layout.first_unit_of(candidate.block, candidate.member, page);
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let mut count = 0;
        for at in first.0..first.0 + self.tables.layout.units_per_page {
            let lpn = self.tables.map.stored(Pun(at));
            if self.tables.map.is_live(Pun(at)) && !self.tables.replicas.get(lpn).is_some() {
                units[count] = self.tables.unit_at(at);
                count += 1;
            }
        }
        // Where no time passes, programs issued before may not be applied yet, and pages are programmed in order.
        let target = BlockId(self.tables.replicas.owner[to as usize] / self.tables.layout.span);
        if count == 0 || (flash.is_instant() && self.tables.blocks.programming(target) > 0) {
            return;
        }
        let page = self.tables.layout.page_of_unit(first).0;
        let mut read =
            Op { tag: to, ..self.space.ring.op(&self.tables, OpKind::Read, Cause::Replication, page) };
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
        let holds = self.tables.replicas.may_hold(&self.tables.blocks, &self.tables.layout, op.tag);
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
        let program =
            Op { tag: lane.0, ..self.space.ring.op(&self.tables, OpKind::Program, Cause::Replication, page) };
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
                self.work.counts.moved_units[Cause::Replication as usize] += 1;
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
