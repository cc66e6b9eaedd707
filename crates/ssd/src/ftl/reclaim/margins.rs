//! Margins: how much of what it stands a page has seen when it moves, when it cannot be corrected, or now. The chips
//! know it; policies do not.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op};
use crate::ftl::FtlCounts;
use crate::ftl::tables::Tables;
use crate::nand::Chip;

/// A page is about to move: how much of what it stands it has seen.
#[inline(always)]
pub(in crate::ftl) fn note(counts: &mut FtlCounts, chip: &Chip, op: &Op) {
    let is_reclaim = op.cause == Cause::ReadReclaim;
    counts.reclaimed_pages += u64::from(is_reclaim);
    let Some(seen_q12) = chip.disturb_q12(op.at.block, op.at.page) else { return };
    counts.disturbed_q12_max = counts.disturbed_q12_max.max(seen_q12);
    counts.premature_pages += u64::from(is_reclaim && seen_q12 < 2_048);
}

/// A page is read for a technique's own job. Of the block that it is all about it is known how near its end it was;
/// the other moves only to be mixed with it.
pub(in crate::ftl) fn note_page(
    counts: &mut FtlCounts,
    tables: &Tables,
    flash: &Flash,
    op: &Op,
    (unit, is_first): (u32, bool),
) {
    // Where units are mapped, a page may be read several times: its first unit counts.
    let page = op.ppn.0 * tables.layout.units_per_page;
    if tables.map.next_live(page, unit + 1) != Some(unit) {
        return;
    }
    if is_first {
        note(counts, &flash.chip, op);
    } else {
        counts.reclaimed_pages += 1;
    }
}
