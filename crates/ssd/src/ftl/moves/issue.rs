//! The one door by which moves ask the flash for something. Where time passes the answer comes later, with the
//! operation's end; where none does it is there at once. What follows from it is one function each, whichever way it
//! comes.

use crate::flash::Flash;
use crate::flash::op::{Op, OpKind, UnitRef};
use crate::ftl::Media;
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::units::{LaneId, OpId, Pun};

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
}
