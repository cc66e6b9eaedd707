//! Pages in parts: a page of the firmware is several of the chips' ([`Layout::width`]), in planes side by side where
//! mapping units are larger than a page of the chips, or on one wordline where that is programmed at once.
//!
//! What the firmware programs of such a page is an operation for each part, issued together: they are of one row or one
//! wordline, go to the array at once and end at once. Planes side by side are read so, too; of a read, which may take
//! several attempts, each part ends on its own. The firmware hears of the last one, which stands for all: it has failed
//! if one of them has. The host reads only the parts that it asks for, each by itself; and so does the firmware along a
//! wordline, where each page has units of its own.

use crate::flash::Flash;
use crate::flash::op::{Op, OpKind, UnitRef};
use crate::ftl::Media;
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

    /// A part of a page is over. If it was the last: what became of all.
    fn end(&mut self, page: Ppn, outcome: Outcome) -> Option<Outcome> {
        let left = &mut self.left[page.index()];
        *left = left.saturating_sub(1) | if outcome == Outcome::Fail { FAILED } else { 0 };
        (*left & !FAILED == 0).then(|| match core::mem::take(left) {
            0 => Outcome::Pass,
            _ => Outcome::Fail,
        })
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

impl Media {
    /// Whether an operation is made of one for each part of its page.
    #[inline(always)]
    fn is_in_parts(&self, kind: OpKind) -> bool {
        self.parts.are_used() && (self.tables.layout.wide > 1 || !kind.reads())
    }

    /// Issues an operation on all of a page; of several the one that carries its units.
    #[inline(always)]
    pub(in crate::ftl) fn issue_whole(&mut self, flash: &mut Flash, op: Op, units: &[UnitRef]) -> OpId {
        if self.is_in_parts(op.kind) {
            return self.issue_parts(flash, op, units);
        }
        self.issue(flash, op, units)
    }

    /// Of a program, the part that carries the units is issued last: those that end together do so in that order. Which
    /// part of a read ends last nobody knows, so each carries them.
    #[cold]
    #[inline(never)]
    fn issue_parts(&mut self, flash: &mut Flash, op: Op, units: &[UnitRef]) -> OpId {
        let (width, bytes) = (self.tables.layout.width, self.tables.layout.part_bytes());
        self.parts.left[op.ppn.index()] = width as u8;
        let mut id = OpId::NONE;
        for part in 0..width {
            let at = self.tables.layout.locate_part(op.ppn, part);
            let bytes = op.bytes.saturating_sub(part * bytes).min(bytes);
            let carries = op.kind.reads() || part + 1 == width;
            let deep = self.tables.layout.deep > 1;
            let page_type = if deep { self.tables.order.page_type(at.page) } else { op.page_type };
            let of_part = Op { at, bytes, page_type, ..op };
            id = self.issue(flash, of_part, if carries { units } else { &[] });
        }
        id
    }

    /// A part of a page is over. Whether that was the last, which stands for all.
    #[inline(never)]
    pub(crate) fn end_part(&mut self, flash: &mut Flash, id: OpId) -> bool {
        let &Op { kind, ppn, outcome, .. } = flash.pool.get(id);
        if !matches!(kind, OpKind::Read | OpKind::Program) || !self.is_in_parts(kind) {
            return true;
        }
        match self.parts.end(ppn, outcome) {
            Some(outcome) => flash.pool.get_mut(id).outcome = outcome,
            None => flash.pool.remove(id),
        }
        self.parts.left[ppn.index()] == 0
    }

    /// Reads or programs all of a page at once, where no time passes.
    #[inline(always)]
    pub(in crate::ftl) fn do_whole_at_once(&mut self, flash: &mut Flash, op: &mut Op) {
        if self.is_in_parts(op.kind) { self.do_parts_at_once(flash, op) } else { flash.do_at_once(op) }
    }

    #[cold]
    #[inline(never)]
    fn do_parts_at_once(&self, flash: &mut Flash, op: &mut Op) {
        let (mut all, mut attempts) = (Outcome::Pass, 0);
        for at in self.tables.layout.parts(op.ppn) {
            let mut part = Op { at, ..*op };
            flash.do_at_once(&mut part);
            all = if part.outcome == Outcome::Fail { Outcome::Fail } else { all };
            attempts = attempts.max(part.attempts);
        }
        (op.outcome, op.attempts) = (all, attempts);
    }
}
