//! Pages in parts: a page of the firmware is several of the chips' ([`Layout::width`]), in planes side by side where
//! mapping units are larger than a page of the chips, or on one wordline where that is programmed at once.
//!
//! What the firmware programs of such a page is an operation for each part, issued together: they are of one row or one
//! wordline, go to the array at once and end at once. Planes side by side are read so, too; of a read, which may take
//! several attempts, each part ends on its own. The firmware hears of the last one, which stands for all: it has failed
//! if one of them has. The host reads only the parts that it asks for, each by itself; and so does the firmware along a
//! wordline, where each page has units of its own.

use crate::flash::Flash;
use crate::flash::op::{Op, OpKind};
use crate::ftl::tables::layout::Layout;
use crate::nand::Outcome;
use crate::restore::{Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::{OpId, Ppn};
use serde::{Deserialize, Serialize};

/// Of a page: a part has failed.
const FAILED: u8 = 1 << 7;

/// Parts of pages that are under way, but for what the host reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Parts {
    /// By page: how many, and whether one of those before has failed. Empty where pages have no parts.
    #[serde(with = "raw")]
    left: Vec<u8>,
}

impl Parts {
    pub(in crate::ftl) fn new(layout: &Layout) -> Self {
        let pages = if layout.width > 1 { layout.blocks() * layout.pages_per_block } else { 0 };
        Parts { left: vec![0; pages as usize] }
    }

    /// Whether pages have parts of their own.
    #[inline(always)]
    pub(crate) fn are_used(&self) -> bool {
        !self.left.is_empty()
    }

    /// So many of a page begin.
    pub(super) fn begin(&mut self, page: Ppn, parts: u32) {
        self.left[page.index()] = parts as u8;
    }

    /// Whether an operation is made of one for each part of its page.
    #[inline(always)]
    pub(super) fn take(&self, layout: &Layout, kind: OpKind) -> bool {
        self.are_used() && (layout.wide > 1 || !kind.reads())
    }

    /// A part of a page is over. Whether that was the last, which stands for all.
    #[inline(never)]
    pub(crate) fn end(&mut self, layout: &Layout, flash: &mut Flash, id: OpId) -> bool {
        let &Op { kind, ppn, outcome, .. } = flash.pool.get(id);
        if !matches!(kind, OpKind::Read | OpKind::Program) || !self.take(layout, kind) {
            return true;
        }
        let of_all = self.end_one(ppn, outcome);
        match of_all {
            Some(outcome) => flash.pool.get_mut(id).outcome = outcome,
            None => flash.pool.remove(id),
        }
        of_all.is_some()
    }

    /// A part of a page is over. If it was the last: what became of all.
    fn end_one(&mut self, page: Ppn, outcome: Outcome) -> Option<Outcome> {
        let left = &mut self.left[page.index()];
        *left = left.saturating_sub(1) | if outcome == Outcome::Fail { FAILED } else { 0 };
        (*left & !FAILED == 0).then(|| match core::mem::take(left) {
            0 => Outcome::Pass,
            _ => Outcome::Fail,
        })
    }

    /// Reads or programs all of a page at once, where no time passes.
    #[inline(always)]
    pub(in crate::ftl) fn do_at_once(&self, layout: &Layout, flash: &mut Flash, op: &mut Op) {
        if self.take(layout, op.kind) {
            (op.outcome, op.attempts) = do_each(layout, flash, *op);
        } else {
            flash.do_at_once(op);
        }
    }

    /// Checks that as many are under way as they say, of programs all.
    pub(super) fn restored(&self, fresh: &Parts, layout: &Layout, flash: &Flash) -> Verdict {
        alike("parts of pages under way", &self.left, &fresh.left)?;
        let mut left = vec![0_u32; self.left.len()];
        let is_counted = |op: &Op| op.kind == OpKind::Program || layout.wide > 1 && !op.cause.is_for_host();
        let ops = || flash.pool.iter().filter(|(_, op)| !op.kind.erases() && is_counted(op));
        ops().filter(|_| self.are_used()).for_each(|(_, op)| left[op.ppn.index()] += 1);
        let said = self.left.iter().map(|said| u32::from(said & !FAILED));
        ensure(said.eq(left.iter().copied()), "parts of pages under way")?;
        ensure(!self.left.contains(&FAILED), "a part that has failed of a page at rest")?;
        let is_whole = |op: &Op| op.kind != OpKind::Program || left[op.ppn.index()] == layout.width;
        ensure(!self.are_used() || ops().all(|(_, op)| is_whole(op)), "parts of a page being programmed")
    }
}

/// Reads or programs each part of a page, where no time passes: what became of all, and the most attempts.
#[cold]
#[inline(never)]
fn do_each(layout: &Layout, flash: &mut Flash, op: Op) -> (Outcome, u8) {
    let (mut all, mut attempts) = (Outcome::Pass, 0);
    for at in layout.parts(op.ppn) {
        let mut part = Op { at, ..op };
        flash.do_at_once(&mut part);
        all = if part.outcome == Outcome::Fail { Outcome::Fail } else { all };
        attempts = attempts.max(part.attempts);
    }
    (all, attempts)
}
