//! Margins: how much of what it stands a page has seen when it moves, when it cannot be corrected, or now. The chips
//! know it; policies do not.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op};
use crate::ftl::Ftl;
use crate::observe::Effect;
use crate::units::{BlockId, Ppn, Pun};

impl Ftl {
    /// A page is about to move: how much of what it stands it has seen.
    #[inline(always)]
    pub(in crate::ftl) fn note_margin(&mut self, flash: &Flash, op: &Op) {
        let is_reclaim = op.cause == Cause::ReadReclaim;
        self.work.counts.reclaimed_pages += u64::from(is_reclaim);
        let Some(seen_q12) = flash.chip.disturb_q12(op.at.block, op.at.page) else { return };
        self.work.counts.disturbed_q12_max = self.work.counts.disturbed_q12_max.max(seen_q12);
        self.work.counts.premature_pages += u64::from(is_reclaim && seen_q12 < 2_048);
    }

    /// A page could not be corrected: how much it had seen, and that it is so.
    #[cold]
    pub fn note_unreadable(&mut self, flash: &Flash, op: Op) {
        let units = self.tables.layout.units_per_page;
        self.effects.push(Effect::Unreadable { first: Pun(op.ppn.0 * units), units });
        let seen_q12 = flash.chip.disturb_q12(op.at.block, op.at.page).unwrap_or(0);
        self.work.counts.disturbed_q12_max = self.work.counts.disturbed_q12_max.max(seen_q12);
    }

    /// See [`crate::SanitizeReport::lost_pages`].
    pub fn lost_pages(&self, flash: &Flash) -> u64 {
        if !self.locks.reprograms() {
            return 0;
        }
        let units = self.tables.layout.units_per_page;
        let pages = 0..self.tables.layout.blocks() * self.tables.layout.pages_per_block;
        let is_lost = |page: &Ppn| {
            let at = self.tables.layout.locate(*page);
            self.tables.map.live_of(page.0 * units, units) != 0
                && at.page < flash.chip.programmed_pages(at.block)
                && flash.chip.is_lost(at.block, at.page, flash.now)
        };
        pages.map(Ppn).filter(is_lost).count() as u64
    }

    /// See [`crate::Drive::worst_disturb_q12`].
    pub fn worst_disturb_q12(&self, flash: &Flash) -> Option<u32> {
        let mut worst = flash.chip.ages().then_some(0)?;
        let units = self.tables.layout.units_per_page;
        for block in
            (0..self.tables.layout.blocks()).map(BlockId).filter(|&block| self.tables.blocks.live(block) > 0)
        {
            let first = self.tables.layout.first_unit(block).0 / units;
            for page in (first..first + self.tables.layout.pages_per_block).map(Ppn) {
                // One page of a wordline tells of all; where none is live there is nothing to tell.
                let at = self.tables.layout.locate(page);
                if self.tables.map.next_live(page.0 * units, (page.0 + 1) * units).is_some() {
                    worst = worst.max(flash.chip.disturb_q12(at.block, at.page)?);
                }
            }
        }
        Some(worst)
    }
}
