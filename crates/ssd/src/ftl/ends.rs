//! What follows from the end of an operation: the one place from which moves go on that waited for it.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind};
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::Shown;
use crate::ftl::{Ftl, Media, Moves};
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::units::{BlockId, LaneId, OpId};

impl Ftl {
    /// Told that an operation is done. Host reads are not the translation layer's; the caller keeps those.
    #[inline(always)]
    pub fn on_done(&mut self, flash: &mut Flash, id: OpId) {
        let &Op { kind, cause, at, ppn, outcome, .. } = flash.pool.get(id);
        if at.page == 0 && matches!(kind, OpKind::Program | OpKind::Copyback) {
            self.moves.media.first_programmed(flash, id);
        }
        match (kind, cause) {
            (OpKind::Program, Cause::Host | Cause::Promote) => self.on_host_program(flash, id, ppn, outcome),
            _ => self.moves.on_own_done(flash, id),
        }
    }
}

impl Moves {
    /// The same of an operation that is not the host's.
    pub(in crate::ftl) fn on_own_done(&mut self, flash: &mut Flash, id: OpId) {
        let op = *flash.pool.get(id);
        match (op.kind, op.cause) {
            (OpKind::Read, _) if op.is_look() => self.media.on_first_page(flash, id, &op),
            (OpKind::Erase, _) => self.on_erased(flash, id, &op),
            (OpKind::Read, Cause::Replication) => self.on_replica_read(flash, id, &op),
            (_, Cause::Replication) => self.on_replica_programmed(flash, id, &op),
            (OpKind::Read, _) => self.on_move_read(flash, id, &op),
            (OpKind::Program | OpKind::Copyback, _) => self.on_move_programmed(flash, id, &op),
            _ => self.media.on_locked(flash, id, &op),
        }
    }

    /// Units of a moving block are in the controller.
    pub(in crate::ftl) fn on_move_read(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        let block = self.media.tables.layout.block_of_page(op.ppn).0;
        if op.cause != Cause::Sanitize && self.media.work.is_dealt_from(lane, block) {
            return self.on_dealt_read(flash, id, op, lane);
        }
        let (units, count) = flash.pool.take(id);
        let emptied = self.take_read(lane, (op.cause, op.ppn, op.outcome), &units[..count]);
        self.media.work.lane_mut(lane).reads -= 1;
        if emptied {
            self.media.all_arrived(flash, block);
        }
        self.pump_lane(flash, lane);
    }

    /// A program of moved units is over.
    pub(in crate::ftl) fn on_move_programmed(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        let (units, count) = flash.pool.take(id);
        if self.media.locks.are_on() {
            self.media.locks.copying.end(op.ppn);
        }
        self.place_all(flash, lane, op, &units[..count]);
        self.media.work.lane_mut(lane).programs -= 1;
        self.media
            .after_program(self.media.tables.layout.block_of_page(op.ppn).0, op.outcome == Outcome::Fail);
        if self.media.locks.are_on()
            && self.media.locks.lists.next_crowded(&self.media.tables, &self.media.work, lane).is_some()
        {
            // What must leave pages is asked before others take the lane's operations; both are, one after the other,
            // once what was issued before is read from where it then was. Until then the host need not wait for moves.
            self.media.space.allocator.forget_refusals(lane);
            self.media.work.looks.soon(lane);
        } else {
            self.pump_lane(flash, lane);
        }
    }

    /// One member of a block is erased; with the last, the block is free or retired.
    pub(in crate::ftl) fn on_erased(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = BlockId(op.tag);
        if self.media.tables.blocks.state(block) != BlockState::Erasing {
            return self.media.on_late_erase(flash, block, op);
        }
        self.media.member_erased(flash, block, op.at.block);
        if self.media.locks.are_on() && self.media.tables.layout.span > 1 {
            self.media.locks.note_erased_member(&self.media.tables, &mut self.media.work, block, op.at.block);
        }
        if !self.media.tables.blocks.erase_done(block, op.outcome == Outcome::Fail) {
            return;
        }
        let lane = self.media.tables.layout.lane_of(block);
        self.media.reclaim.forget_reads(&self.media.tables, &mut self.media.work, block);
        if self.media.locks.are_on() {
            self.media.tables.forget_secured(block);
            self.media.locks.note_erased_locks(&self.media.tables, &mut self.media.work, block);
        }
        self.media.tables.replicas.reset(&self.media.tables.layout, block);
        self.media.techniques.wiped(block);
        let (first, units) =
            (self.media.tables.layout.first_unit(block), self.media.tables.layout.units_per_block());
        self.media.tables.map.note_erased(first, units);
        self.media.effects.push(Effect::Erase { first, units });
        let destaged = self.media.tables.blocks.cause(block) == Cause::Destage;
        if destaged {
            self.media.space.ring.lane_mut(lane).leaving -= 1;
        }
        let is_spent = self.media.techniques.is_spent(block, &self.media.tables, &mut self.media.work.counts);
        if self.media.tables.blocks.is_failing(block) || is_spent {
            self.media.retire(block);
        } else {
            if self.media.tables.blocks.is_one_bit(block) {
                self.media.space.ring_block_erased(&mut self.media.tables, &self.media.work, lane, block);
            } else {
                self.media.space.allocator.give_back(lane, block, &mut self.media.tables.blocks);
            }
            self.media.note_reclaimed(block);
        }
        let work = self.media.work.lane_mut(lane);
        work.coming -= u32::from(!destaged);
        work.erasing -= 1;
        self.media.count_erase(flash, lane);
        self.check_lane(flash, lane);
    }

    /// A page to be replicated is in the controller.
    pub(in crate::ftl) fn on_replica_read(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let (units, count) = flash.pool.take(id);
        let lane = self.media.tables.layout.lane_of(self.media.tables.layout.block_of_page(op.ppn).0);
        self.media.work.lane_mut(lane).reads -= 1;
        self.media.replica_read(flash, lane, op, &units[..count]);
        self.pump_lane(flash, lane);
    }

    /// A replica is at its place.
    pub(in crate::ftl) fn on_replica_programmed(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let (units, count) = flash.pool.take(id);
        let lane = LaneId(op.tag);
        if self.media.locks.are_on() {
            self.media.locks.copying.end(op.ppn);
        }
        self.media.work.lane_mut(lane).programs -= 1;
        self.media.replica_programmed(flash, op, &units[..count]);
        self.pump_lane(flash, lane);
        let other = self.media.tables.layout.lane_of(self.media.tables.layout.block_of_page(op.ppn).0);
        if other != lane {
            // What reads want of the block waited for this program.
            self.pump_lane(flash, other);
        }
    }

    /// A read of a deal is over.
    pub(in crate::ftl) fn on_dealt_read(&mut self, flash: &mut Flash, id: OpId, op: &Op, lane: LaneId) {
        let (units, count) = flash.pool.take(id);
        self.media.take_dealt(lane, op, &units[..count]);
        self.media.work.lane_mut(lane).reads -= 1;
        self.pump_lane(flash, lane);
    }
}

impl Media {
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
