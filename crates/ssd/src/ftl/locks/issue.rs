//! Locks on their way: which page or block is next, and what became of it.

use super::Locks;
use super::exposed::{DEFERRED, EXPOSED, FAILED, HELD, HOPELESS, ISSUED, LEAVING};
use crate::flash::Flash;
use crate::flash::op::Op;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::facts::Death;
use crate::ftl::work::Work;
use crate::nand::Outcome;
use crate::units::{BlockId, Lpn, Ppn, Pun};

/// What is to be done about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing, now or ever.
    Nothing,
    /// It waits for the end of a job or a write.
    Waits,
    /// Something else lives there or on its wordline, on this page, and must leave.
    Crowded(Ppn),
    /// Its wordline is not full yet.
    Unfinished,
    /// It is to be locked.
    Dead,
}

impl Locks {
    /// A block is to be erased or retired: its replicas no longer count.
    pub(in crate::ftl) fn drop_replicas(&mut self, tables: &mut Tables, work: &mut Work, block: BlockId) {
        if tables.replicas.count == 0 {
            return;
        }
        for unit in tables.replica_units(block) {
            let lpn = tables.map.stored(unit);
            if lpn.is_some() && tables.replicas.get(lpn) == unit {
                self.forget_replica(tables, work, lpn);
            }
        }
    }

    /// What is to be done about a page of a block.
    pub(super) fn look_at_page(&self, tables: &Tables, flash: &Flash, block: BlockId, page: Ppn) -> Look {
        if self.manner.scrubs() {
            return self.look_at_wordline(tables, flash, block, page);
        }
        let found = self.exposed.state(page);
        if found & EXPOSED == 0 || found & (ISSUED | HOPELESS) != 0 {
            return Look::Nothing;
        }
        if tables.blocks.programming(block) > 0 && {
            let at = tables.layout.locate(page);
            at.page >= flash.chip.programmed_pages(at.block)
        } {
            // Its program is on its way; its end comes in by the door again.
            return Look::Nothing;
        }
        if found & DEFERRED != 0 && self.generations.is_at_ease() && tables.blocks.leaves(block) {
            return Look::Waits;
        }
        let leaves = matches!(tables.blocks.state(block), BlockState::Moving | BlockState::Draining);
        if self.manner.erases {
            return if leaves { Look::Nothing } else { Look::Dead };
        }
        if found & HELD != 0
            && self.writes.hold_back(&self.generations, tables, found, (block, page.0 % tables.layout.span))
        {
            return Look::Waits;
        }
        let (first, units) = (page.0 * tables.layout.units_per_page, tables.layout.units_per_page);
        if tables.map.live_of(first, units) != 0 {
            return if leaves || found & LEAVING != 0 { Look::Nothing } else { Look::Crowded(page) };
        }
        if self.manner.finishes()
            && let Some(waits) = self.unfinished(tables, flash, block, page)
        {
            return waits;
        }
        Look::Dead
    }

    /// What is to be done about a page's wordline before it is full; nothing if it is, or becomes no fuller: a block
    /// that is retired, or was closed before it was full, takes no more.
    fn unfinished(&self, tables: &Tables, flash: &Flash, block: BlockId, page: Ppn) -> Option<Look> {
        let is_programmed = |page: Ppn| {
            let at = tables.layout.locate(page);
            at.page < flash.chip.programmed_pages(at.block)
        };
        match () {
            () if self.manner.pages_of_wordline(&tables.layout, page).all(is_programmed) => None,
            () if tables.blocks.state(block) == BlockState::Open => Some(Look::Unfinished),
            // It is looked at again when its last program has ended.
            () => (tables.blocks.programming(block) > 0).then_some(Look::Nothing),
        }
    }

    /// What is to be done about a wordline whose pages are scrubbed together, by one of them: nothing may
    /// live on any of them, and none may be programmed later.
    fn look_at_wordline(&self, tables: &Tables, flash: &Flash, block: BlockId, page: Ppn) -> Look {
        let pages = self.manner.pages_of_wordline(&tables.layout, page);
        let all = pages.clone().fold(0, |all, page| all | self.exposed.state(page));
        let to_do = |page: &Ppn| self.exposed.state(*page) & (EXPOSED | ISSUED | HOPELESS) == EXPOSED;
        if all & ISSUED != 0 || !pages.clone().any(|page| to_do(&page)) {
            return Look::Nothing;
        }
        let is_deferred = |page: Ppn| self.exposed.state(page) & (EXPOSED | DEFERRED) != EXPOSED;
        if self.generations.is_at_ease() && tables.blocks.leaves(block) && pages.clone().all(is_deferred) {
            return Look::Waits;
        }
        if let Some(waits) = self.unfinished(tables, flash, block, page) {
            return waits;
        }
        let units = tables.layout.units_per_page;
        let mut live = pages.clone().filter(|page| tables.map.live_of(page.0 * units, units) != 0);
        if let Some(page) = live.clone().find(|&page| self.exposed.state(page) & LEAVING == 0) {
            let leaves = matches!(tables.blocks.state(block), BlockState::Moving | BlockState::Draining);
            return if leaves { Look::Nothing } else { Look::Crowded(page) };
        }
        if live.next().is_some() {
            return Look::Nothing;
        }
        Look::Dead
    }

    /// Replicas in a page that is to be locked, or on its wordline if that goes as a whole, are given up.
    pub(super) fn give_up_replicas(&mut self, tables: &mut Tables, work: &mut Work, page: Ppn) {
        if tables.replicas.count == 0 || self.manner.erases {
            return;
        }
        let (units, bits) = (tables.layout.units_per_page, self.manner.pages_per_wordline);
        let first = if self.manner.scrubs() {
            self.manner.pages_of_wordline(&tables.layout, page).next()
        } else {
            Some(page)
        };
        let (count, span) = (if self.manner.scrubs() { bits } else { 1 }, tables.layout.span);
        let pages = first.into_iter().flat_map(|first| (0..count).map(move |nth| first.0 + nth * span));
        for unit in pages.flat_map(|page| page * units..(page + 1) * units).map(Pun) {
            let lpn = tables.map.stored(unit);
            if lpn.is_some() && tables.replicas.get(lpn) == unit {
                self.forget_replica(tables, work, lpn);
            }
        }
    }

    /// Pages that are to be locked, of those of a physical block that have died since it was looked at: all from one
    /// on, or one where blocks are not locked.
    pub(super) fn dead_pages(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        flash: &Flash,
        block: BlockId,
        from: u32,
    ) -> u32 {
        if !self.manner.policy.locks_blocks() {
            return 1;
        }
        let first = block.0 * tables.layout.pages_per_block;
        let pages = (from..self.lists.blocks[block.index()].end).step_by(tables.layout.span as usize);
        let mut count = 0;
        for page in pages.map(|page| Ppn(first + page)) {
            if self.look_at_page(tables, flash, block, page) == Look::Dead {
                self.give_up_replicas(tables, work, page);
                count += 1;
            }
        }
        count
    }

    /// What becomes of the pages that a lock was for. What it hides is not secured any more.
    pub(in crate::ftl) fn end_lock(&mut self, tables: &mut Tables, work: &mut Work, block: BlockId, op: &Op) {
        let (first, count) = self.manner.pages_of_lock(&tables.layout, block, op);
        let span = tables.layout.span;
        let pages = (0..count).map(move |nth| Ppn(first.0 + nth * span));
        self.late.end_locks(&mut work.counts, pages.clone(), op.outcome, self.clocks.now);
        for page in pages {
            // The block may have been opened since: then the page is another's, or free.
            if self.exposed.state(page) & ISSUED == 0 {
                continue;
            }
            if op.outcome == Outcome::Pass {
                tables.reveal_nothing(page);
            }
            self.end_lock_of(tables, work, (block, page), op.outcome);
        }
    }

    /// What becomes of one of them.
    fn end_lock_of(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        (block, page): (BlockId, Ppn),
        outcome: Outcome,
    ) {
        if outcome == Outcome::Pass {
            self.forget_page(&tables.layout, &mut work.counts, (page, false));
            return self.renewals.note_locked(&mut self.exposed, (block, page), self.clocks.now);
        }
        // One more try, then the block is emptied and erased. One that is out of use keeps what it holds.
        let is_bad = tables.blocks.state(block) == BlockState::Bad;
        if self.exposed.state(page) & EXPOSED == 0 {
            let (exposed, lists) = (&mut self.exposed, &mut self.lists);
            return self.renewals.note_failed(exposed, lists, tables, work, (block, page), !is_bad);
        }
        let state = &mut self.exposed.pages[page.index()];
        let (is_hopeless, was_hopeless) = (*state & FAILED != 0, *state & HOPELESS != 0);
        *state = *state & !ISSUED | FAILED | if is_hopeless { HOPELESS } else { 0 };
        if is_hopeless {
            work.counts.sanitize_given_up += u64::from(is_bad && !was_hopeless);
            if !is_bad {
                self.lists.give_up_block(tables, work, block);
            }
        } else {
            let at = page.0 % tables.layout.pages_per_block;
            self.lists.list(tables, work, block, at..at + 1);
        }
    }

    /// The replica of a logical unit, if it has one, does not count any more.
    #[inline(always)]
    pub(in crate::ftl) fn forget_replica(&mut self, tables: &mut Tables, work: &mut Work, lpn: Lpn) {
        if self.on && tables.replicas.get(lpn).is_some() {
            let unit = tables.replicas.get(lpn);
            self.note_death(tables, work, unit, Death::Ended);
        }
        tables.replicas.forget(lpn);
    }
}
