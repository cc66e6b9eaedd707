//! Copies inside a plane (copyback), where cells make errors: the page that is read goes past the controller, so that
//! its errors go with it.

use super::Flash;
use super::op::Op;
use crate::nand::{Outcome, PageAddress};
use crate::restore::{Verdict, alike, ensure};
use crate::units::OpId;

impl Flash {
    /// The page that an operation under way copies.
    pub(crate) fn note_source(&mut self, id: OpId, from: PageAddress) {
        if let Some(source) = self.sources.get_mut(id.index()) {
            *source = from.block * self.chip.pages_per_block() + from.page;
        }
    }

    /// Copies a page at once, with an operation that is in no queue.
    pub(crate) fn copy_at_once(&mut self, op: &mut Op, from: PageAddress) {
        op.outcome = match self.sources.is_empty() {
            true => self.change(op.kind, op.cause, op.mode, (op.at, op.ppn)),
            false => self.copy(op, (from.block, from.page)),
        };
    }

    /// What the chip says of a copy, once it is over.
    #[inline(never)]
    pub(super) fn copy_in_flight(&mut self, id: OpId) -> Outcome {
        let op = *self.pool.get(id);
        match self.sources.get(id.index()) {
            None => self.change(op.kind, op.cause, op.mode, (op.at, op.ppn)),
            Some(source) => {
                let pages = self.chip.pages_per_block();
                self.copy(&op, (source / pages, source % pages))
            }
        }
    }

    /// The source is read with the voltages that any read of it would begin with.
    fn copy(&mut self, op: &Op, from: (u32, u32)) -> Outcome {
        let sequence = self.sequence(from.0, from.1);
        let outcome = self.chip.copy(from, (op.at.block, op.at.page), op.mode, &sequence);
        self.counts.program_fails += u64::from(outcome == Outcome::Fail);
        self.record(op.kind, op.cause, op.ppn, false);
        outcome
    }

    /// Whether what is copied can be: a programmed page.
    pub(super) fn check_sources(&self, fresh: &[u32]) -> Verdict {
        alike("pages that are copied", &self.sources, fresh)?;
        let pages = self.chip.pages_per_block();
        let is_there = |id: OpId| {
            let Some(source) = self.sources.get(id.index()) else { return true };
            let (block, page) = (source / pages, source % pages);
            block < self.chip.blocks() && page < self.chip.programmed_pages(block)
        };
        let mut copies = self.pool.iter().filter(|(_, op)| op.kind.copies());
        ensure(copies.all(|(id, _)| is_there(id)), "a copy of an erased page")
    }
}
