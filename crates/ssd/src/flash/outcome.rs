//! What operations do to the chips, once they are over: what the chips say of them is counted and added to the hash.

use super::Flash;
use super::op::{Cause, Op, OpKind, Spent};
use super::rows::Outcomes;
use crate::nand::{Outcome, PageAddress};
use crate::units::{OpId, Ppn};

impl Flash {
    /// Applies an operation at once: the functional executor.
    #[inline]
    pub fn apply(&mut self, id: OpId) {
        *self.pool.spent_mut(id) = Spent { queued: self.now, ..Spent::default() };
        self.steps.add(id, true);
        self.finish(id);
    }

    /// Applies an operation that is in no queue at once.
    #[inline(always)]
    pub fn do_at_once(&mut self, op: &mut Op) {
        (op.outcome, op.attempts) = self.perform(op);
    }

    /// Lets the chip do something, counts it and adds it to the hash: the end of every operation, and all of it where
    /// no time passes.
    #[inline(always)]
    fn perform(&mut self, op: &Op) -> (Outcome, u8) {
        if !op.kind.reads() {
            return (self.change(op.kind, op.cause, (op.mode, op.page_type), (op.at, op.ppn)), 0);
        }
        self.chip.read(op.at.block, op.at.page);
        let is_lost = self.chip.is_lost(op.at.block, op.at.page, self.now);
        let (attempts, outcome) = match self.chip.ages() {
            false if !is_lost => (0, Outcome::Pass),
            _ => self.sense(op.at, op.cause, is_lost),
        };
        self.record_read(op, outcome, attempts);
        (outcome, attempts)
    }

    /// Lets the chip do what changes what it holds.
    #[inline(always)]
    fn change(
        &mut self,
        kind: OpKind,
        cause: Cause,
        (mode, page_type): (u8, u8),
        (at, ppn): (PageAddress, Ppn),
    ) -> Outcome {
        if kind.ends_data() {
            return self.end_data((kind, page_type), cause, (at, ppn));
        }
        let outcome = self.chip.program_in(at.block, at.page, mode);
        self.record.counts.program_fails += u64::from(outcome == Outcome::Fail);
        self.record.add((kind, cause), ppn, false, self.now);
        outcome
    }

    /// What a page or a block holds is erased, or kept from being read.
    #[inline(never)]
    fn end_data(
        &mut self,
        (kind, page_type): (OpKind, u8),
        cause: Cause,
        (at, ppn): (PageAddress, Ppn),
    ) -> Outcome {
        let (outcome, fails) = match kind.row().effect {
            Outcomes::HidesBlock => {
                (self.chip.lock_block(at.block, self.now), &mut self.record.counts.lock_fails)
            }
            Outcomes::HidesPage => {
                let one_bit = usize::from(page_type) + 1 == self.dies.rules.timing.page_types();
                let outcome = self.chip.sanitize_page(at.block, at.page, one_bit, self.now);
                (outcome, &mut self.record.counts.lock_fails)
            }
            // The page type of an erase is that of one bit a cell, or the first.
            _ => (self.chip.erase_as(at.block, page_type > 0), &mut self.record.counts.erase_fails),
        };
        *fails += u64::from(outcome == Outcome::Fail);
        self.record.add((kind, cause), ppn, false, self.now);
        outcome
    }

    /// What reading a page comes to: attempts it takes, and whether the last succeeds. The page is lost, or not.
    #[inline(always)]
    pub(super) fn sense(&mut self, at: PageAddress, cause: Cause, is_lost: bool) -> (u8, Outcome) {
        if is_lost {
            self.record.sense_lost(&mut self.chip, at, cause)
        } else {
            self.voltages.sense(&mut self.chip, &mut self.record.counts, at)
        }
    }

    /// Counts a read that is over, and adds it to the hash.
    #[inline(always)]
    fn record_read(&mut self, op: &Op, outcome: Outcome, attempts: u8) {
        if self.chip.ages() {
            self.record.add_attempts(op, &self.chip, outcome, attempts);
        }
        self.record.add((op.kind, op.cause), op.ppn, outcome == Outcome::Fail, self.now);
    }

    /// What the chip says of an operation, once it is over.
    #[inline]
    pub(super) fn finish(&mut self, id: OpId) {
        let &Op { kind, cause, mode, page_type, at, ppn, .. } = self.pool.get(id);
        if kind.reads() {
            return self.finish_read(id);
        }
        let outcome = if kind.copies() {
            self.copy_in_flight(id)
        } else {
            self.change(kind, cause, (mode, page_type), (at, ppn))
        };
        self.steps.add(id, false);
        let op = self.pool.get_mut(id);
        (op.follower, op.outcome) = (OpId::NONE, outcome);
        self.done.push(id);
    }

    #[inline(always)]
    pub(super) fn finish_read(&mut self, id: OpId) {
        let op = self.pool.get_mut(id);
        op.follower = OpId::NONE;
        let &mut Op { kind, cause, at, ppn, .. } = op;
        self.chip.read(at.block, at.page);
        if self.chip.ages() {
            self.finish_attempts(id);
        } else {
            let is_lost = self.chip.is_lost(at.block, at.page, self.now);
            if is_lost {
                self.note_lost(id);
            }
            self.record.add((kind, cause), ppn, is_lost, self.now);
        }
        self.done.push(id);
    }

    /// A read of cells that do not age has found a page that is lost.
    #[cold]
    fn note_lost(&mut self, id: OpId) {
        let &Op { at, cause, .. } = self.pool.get(id);
        self.pool.get_mut(id).outcome = self.record.sense_lost(&mut self.chip, at, cause).1;
    }

    /// What became of a read of cells that age: where time passes the first attempt has told that.
    #[inline(always)]
    fn finish_attempts(&mut self, id: OpId) {
        let mut op = *self.pool.get(id);
        if op.attempts == 0 {
            let is_lost = self.chip.is_lost(op.at.block, op.at.page, self.now);
            (op.attempts, op.outcome) = self.sense(op.at, op.cause, is_lost);
            let in_pool = self.pool.get_mut(id);
            (in_pool.attempts, in_pool.outcome) = (op.attempts, op.outcome);
        }
        self.record_read(&op, op.outcome, op.attempts);
    }

    /// Copies a page at once, with an operation that is in no queue.
    pub(crate) fn copy_at_once(&mut self, op: &mut Op, from: PageAddress) {
        op.outcome = match self.sources.are_kept() {
            false => self.change(op.kind, op.cause, (op.mode, op.page_type), (op.at, op.ppn)),
            true => self.copy(op, (from.block, from.page)),
        };
    }

    /// What the chip says of a copy, once it is over.
    #[inline(never)]
    fn copy_in_flight(&mut self, id: OpId) -> Outcome {
        let op = *self.pool.get(id);
        match self.sources.of(id, &self.chip) {
            None => self.change(op.kind, op.cause, (op.mode, op.page_type), (op.at, op.ppn)),
            Some(from) => self.copy(&op, from),
        }
    }

    /// The source is read with the voltages that any read of it would begin with.
    fn copy(&mut self, op: &Op, from: (u32, u32)) -> Outcome {
        let sequence = self.voltages.sequence(&self.chip, from.0, from.1);
        let outcome = self.chip.copy(from, (op.at.block, op.at.page), op.mode, &sequence);
        self.record.counts.program_fails += u64::from(outcome == Outcome::Fail);
        self.record.add((op.kind, op.cause), op.ppn, false, self.now);
        outcome
    }
}
