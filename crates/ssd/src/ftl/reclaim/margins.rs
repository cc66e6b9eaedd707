//! Margins: how much of what it stands a page has seen when it moves, when it cannot be corrected, or now. The chips
//! know it; policies do not.

use crate::flash::op::{Cause, Op};
use crate::ftl::FtlCounts;
use crate::nand::Chip;

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
