//! Margins: how much of what it stands a page has seen when it moves, when it cannot be corrected, or now. The chips
//! know it; policies do not.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op};
use crate::ftl::{Ftl, FtlCounts};
use crate::nand::Chip;
use crate::observe::Effect;
use crate::units::Pun;

impl FtlCounts {
    /// A page is about to move: how much of what it stands it has seen.
    #[inline(always)]
    pub(in crate::ftl) fn note_margin(&mut self, chip: &Chip, op: &Op) {
        let is_reclaim = op.cause == Cause::ReadReclaim;
        self.reclaimed_pages += u64::from(is_reclaim);
        let Some(seen_q12) = chip.disturb_q12(op.at.block, op.at.page) else { return };
        self.disturbed_q12_max = self.disturbed_q12_max.max(seen_q12);
        self.premature_pages += u64::from(is_reclaim && seen_q12 < 2_048);
    }
}

impl Ftl {
    /// A page could not be corrected: how much it had seen, and that it is so.
    #[cold]
    pub fn note_unreadable(&mut self, flash: &Flash, op: Op) {
        let units = self.tables.layout.units_per_page;
        self.effects.push(Effect::Unreadable { first: Pun(op.ppn.0 * units), units });
        let seen_q12 = flash.chip.disturb_q12(op.at.block, op.at.page).unwrap_or(0);
        self.work.counts.disturbed_q12_max = self.work.counts.disturbed_q12_max.max(seen_q12);
    }
}
