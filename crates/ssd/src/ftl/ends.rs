//! What follows from the end of an operation: the one place from which moves go on that waited for it.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind};
use crate::ftl::Ftl;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::Shown;
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::units::{BlockId, LaneId, OpId};

impl Ftl {
    /// Told that an operation is done. Host reads are not the translation layer's; the caller keeps those.
    #[inline(always)]
    pub fn on_done(&mut self, flash: &mut Flash, id: OpId) {
        let &Op { kind, cause, at, ppn, outcome, .. } = flash.pool.get(id);
        if at.page == 0 && matches!(kind, OpKind::Program | OpKind::Copyback) {
            self.first_programmed(flash, id);
        }
        match (kind, cause) {
            (OpKind::Program, Cause::Host | Cause::Promote) => self.on_host_program(flash, id, ppn, outcome),
            _ => self.on_own_done(flash, id),
        }
    }

    /// The same of an operation that is not the host's.
    pub(in crate::ftl) fn on_own_done(&mut self, flash: &mut Flash, id: OpId) {
        let op = *flash.pool.get(id);
        match (op.kind, op.cause) {
            (OpKind::Read, _) if op.is_look() => self.on_first_page(flash, id, &op),
            (OpKind::Erase, _) => self.on_erased(flash, id, &op),
            (OpKind::Read, Cause::Replication) => self.on_replica_read(flash, id, &op),
            (_, Cause::Replication) => self.on_replica_programmed(flash, id, &op),
            (OpKind::Read, _) => self.on_move_read(flash, id, &op),
            (OpKind::Program | OpKind::Copyback, _) => self.on_move_programmed(flash, id, &op),
            _ => self.on_locked(flash, id, &op),
        }
    }

    /// Units of a moving block are in the controller.
    pub(in crate::ftl) fn on_move_read(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        let block = self.tables.layout.block_of_page(op.ppn).0;
        if op.cause != Cause::Sanitize && self.work.is_dealt_from(lane, block) {
            return self.on_dealt_read(flash, id, op, lane);
        }
        let (units, count) = flash.pool.take(id);
        let emptied = self.take_read(lane, (op.cause, op.ppn, op.outcome), &units[..count]);
        self.work.lane_mut(lane).reads -= 1;
        if emptied {
            self.all_arrived(flash, block);
        }
        self.pump_lane(flash, lane);
    }

    /// A program of moved units is over.
    pub(in crate::ftl) fn on_move_programmed(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        let (units, count) = flash.pool.take(id);
        if self.locks.are_on() {
            self.locks.copying.end(op.ppn);
        }
        self.place_all(flash, lane, op, &units[..count]);
        self.work.lane_mut(lane).programs -= 1;
        self.after_program(self.tables.layout.block_of_page(op.ppn).0, op.outcome == Outcome::Fail);
        if self.locks.are_on() && self.locks.lists.next_crowded(&self.tables, &self.work, lane).is_some() {
            // What must leave pages is asked before others take the lane's operations; both are, one after the other,
            // once what was issued before is read from where it then was. Until then the host need not wait for moves.
            self.space.allocator.forget_refusals(lane);
            self.work.looks.soon(lane);
        } else {
            self.pump_lane(flash, lane);
        }
    }

    /// One member of a block is erased; with the last, the block is free or retired.
    pub(in crate::ftl) fn on_erased(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = BlockId(op.tag);
        if self.tables.blocks.state(block) != BlockState::Erasing {
            return self.on_late_erase(flash, block, op);
        }
        self.member_erased(flash, block, op.at.block);
        if self.locks.are_on() && self.tables.layout.span > 1 {
            self.locks.note_erased_member(&self.tables, &mut self.work, block, op.at.block);
        }
        if !self.tables.blocks.erase_done(block, op.outcome == Outcome::Fail) {
            return;
        }
        let lane = self.tables.layout.lane_of(block);
        self.reclaim.forget_reads(&self.tables, &mut self.work, block);
        if self.locks.are_on() {
            self.tables.forget_secured(block);
            self.locks.note_erased_locks(&self.tables, &mut self.work, block);
        }
        self.tables.replicas.reset(&self.tables.layout, block);
        self.techniques.wiped(block);
        let (first, units) = (self.tables.layout.first_unit(block), self.tables.layout.units_per_block());
        self.tables.map.note_erased(first, units);
        self.effects.push(Effect::Erase { first, units });
        let destaged = self.tables.blocks.cause(block) == Cause::Destage;
        if destaged {
            self.space.ring.lane_mut(lane).leaving -= 1;
        }
        let is_spent = self.techniques.is_spent(block, &self.tables, &mut self.work.counts);
        if self.tables.blocks.is_failing(block) || is_spent {
            self.retire(block);
        } else {
            if self.tables.blocks.is_one_bit(block) {
                self.space.ring_block_erased(&mut self.tables, &self.work, lane, block);
            } else {
                self.space.allocator.give_back(lane, block, &mut self.tables.blocks);
            }
            self.note_reclaimed(block);
        }
        let work = self.work.lane_mut(lane);
        work.coming -= u32::from(!destaged);
        work.erasing -= 1;
        self.count_erase(flash, lane);
        self.check_lane(flash, lane);
    }

    /// A page to be replicated is in the controller.
    pub(in crate::ftl) fn on_replica_read(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let (units, count) = flash.pool.take(id);
        let lane = self.tables.layout.lane_of(self.tables.layout.block_of_page(op.ppn).0);
        self.work.lane_mut(lane).reads -= 1;
        self.replica_read(flash, lane, op, &units[..count]);
        self.pump_lane(flash, lane);
    }

    /// A replica is at its place.
    pub(in crate::ftl) fn on_replica_programmed(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let (units, count) = flash.pool.take(id);
        let lane = LaneId(op.tag);
        if self.locks.are_on() {
            self.locks.copying.end(op.ppn);
        }
        self.work.lane_mut(lane).programs -= 1;
        self.replica_programmed(flash, op, &units[..count]);
        self.pump_lane(flash, lane);
        let other = self.tables.layout.lane_of(self.tables.layout.block_of_page(op.ppn).0);
        if other != lane {
            // What reads want of the block waited for this program.
            self.pump_lane(flash, other);
        }
    }

    /// A read of a deal is over.
    pub(in crate::ftl) fn on_dealt_read(&mut self, flash: &mut Flash, id: OpId, op: &Op, lane: LaneId) {
        let (units, count) = flash.pool.take(id);
        self.take_dealt(lane, op, &units[..count]);
        self.work.lane_mut(lane).reads -= 1;
        self.pump_lane(flash, lane);
    }

    /// Told that a lock is over.
    #[cold]
    pub(in crate::ftl) fn on_locked(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = self.tables.layout.block_of_page(op.ppn).0;
        let lane = self.tables.layout.lane_of(block);
        self.locks.lists.end_operation(lane);
        self.locks.end_lock(&mut self.tables, &mut self.work, block, op);
        // What is next is looked at when all that has ended is known: a program may have.
        self.locks.lists.look_soon(&mut self.work.looks, lane);
    }

    /// The first page of a block is programmed: if what it shows is asked for, it is read. The block waits for that as
    /// for a program: nothing empties it before.
    #[inline(never)]
    pub(in crate::ftl) fn first_programmed(&mut self, flash: &mut Flash, id: OpId) {
        let Some(cause) = self.techniques.read_first_pages() else { return };
        let op = *flash.pool.get(id);
        if op.outcome == Outcome::Fail || flash.is_instant() {
            return;
        }
        self.tables.blocks.program_issued(self.tables.layout.block_of_page(op.ppn).0);
        let bytes = self.tables.layout.units_per_page * self.tables.layout.unit_bytes;
        let read = Op { bytes, ..self.space.ring.op(&self.tables, OpKind::Read, cause, op.ppn) };
        self.reclaim.note_read(&self.tables, &mut self.work, flash, &read);
        self.issue(flash, read, &[]);
    }

    /// The first page of a block was read.
    pub(in crate::ftl) fn on_first_page(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = self.tables.layout.block_of_page(op.ppn).0;
        self.shown(flash, block, op.at.block, Shown::FirstPage);
        self.after_program(block, false);
    }
}
