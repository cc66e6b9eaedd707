//! Locks on their way: which page or block is next, and what became of it.

use super::exposed::{DEFERRED, EXPOSED, FAILED, HELD, ISSUED, LEAVING, UNLOCKABLE, is_due};
use super::{IN_FLIGHT_AT_MOST, Locks};
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::ftl::sanitize::{Answer, Deaths};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::facts::Death;
use crate::ftl::work::Work;
use crate::nand::Outcome;
use crate::units::{BlockId, LaneId, Ppn, Pun};

/// What is to be done about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Nothing, now or ever.
    Nothing,
    /// It waits for the end of a job or a write.
    Waits,
    /// Something else lives there or on its wordline, on this page, and must leave.
    Occupied(Ppn),
    /// Its wordline is not full yet.
    Unfinished,
    /// It is to be locked.
    Dead,
}

/// What is next about a block with something exposed.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) enum Step {
    /// What lives in a page moves out.
    MoveOut(Ppn),
    /// The wordline of a page is filled up.
    FillUp(Ppn),
    /// A lock is issued; none if the policy leaves the block to an erase.
    Lock(Option<Op>),
}

impl Locks {
    /// Whether a lane has as many locks on their way as it may.
    pub(in crate::ftl) fn is_full(&self, lane: LaneId) -> bool {
        self.lists.lanes[lane.index()].in_flight >= IN_FLIGHT_AT_MOST * self.manner.span
    }

    /// What is next about a block, if anything is.
    pub(in crate::ftl) fn next_step(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        flash: &Flash,
        block: BlockId,
    ) -> Option<Step> {
        loop {
            // What leaves a page may be the last of its block, which is then erased.
            let is_erased = tables.blocks.state(block) == BlockState::Free && !tables.blocks.is_stale(block);
            if is_erased || tables.blocks.is_erasing(block) {
                return None;
            }
            let one_by_one = !self.manner.scrubs();
            let at = self.lists.next(&self.exposed, &tables.layout, block, one_by_one)?;
            let page = Ppn(block.0 * tables.layout.pages_per_block + at);
            let is_left = !self.bound.is_on() || Self::is_left_to_job(tables, work, block, page);
            match self.look_at_page(tables, flash, (block, is_left), page) {
                Look::Nothing => {}
                Look::Waits => self.lists.defer(block, self.clocks.now),
                Look::Occupied(page) => return Some(Step::MoveOut(page)),
                Look::Unfinished => return Some(Step::FillUp(page)),
                Look::Dead => {
                    self.give_up_replicas(tables, work, page);
                    return Some(Step::Lock(self.lock(tables, work, flash, (block, at))));
                }
            }
        }
    }

    /// Whether what lives in a page of a block that is being emptied is left to that, where exposure has a bound: only
    /// if it has been read, for nothing waits for its turn in a job.
    #[cold]
    fn is_left_to_job(tables: &Tables, work: &Work, block: BlockId, page: Ppn) -> bool {
        let walk = work.lanes[tables.layout.lane_of(block).index()].walk_of(block);
        let unit = page.0 * tables.layout.units_per_page;
        walk.is_none_or(|walk| walk.pages.is_some() || unit < walk.cursor)
    }

    /// The next lock of a lane that is set again, one at a time on each plane.
    pub(in crate::ftl) fn next_renewal(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        lane: LaneId,
    ) -> Option<Op> {
        while self.lists.lanes[lane.index()].in_flight < tables.layout.span
            && let Some(block) = self.renewals.first(lane)
        {
            match self.renewals.next(&self.exposed, tables, lane, block) {
                Some(at) => return Some(self.lock_again(tables, work, (block, at))),
                None => self.renewals.end_first(lane),
            }
        }
        None
    }

    /// What is to be done about a page of a block.
    /// `is_left`: if the block is being emptied, what lives there is left to that.
    fn look_at_page(
        &self,
        tables: &Tables,
        flash: &Flash,
        (block, is_left): (BlockId, bool),
        page: Ppn,
    ) -> Look {
        if self.manner.scrubs() {
            return self.look_at_wordline(tables, flash, block, page);
        }
        let found = self.exposed.state(page);
        if found & EXPOSED == 0 || found & (ISSUED | UNLOCKABLE) != 0 {
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
            return if leaves && is_left || found & LEAVING != 0 {
                Look::Nothing
            } else {
                Look::Occupied(page)
            };
        }
        if self.manner.finishes()
            && let Some(waits) = self.unfinished(tables, flash, block, page)
        {
            return waits;
        }
        if self.manner.waits_for_copies && self.is_being_copied(tables, page) {
            // The end of the copy has the block looked at again.
            return Look::Nothing;
        }
        Look::Dead
    }

    /// Whether anything of a page's wordline is being copied: what is lost meanwhile would go along unseen.
    pub(super) fn is_being_copied(&self, tables: &Tables, page: Ppn) -> bool {
        let units = |page| tables.layout.units_of_page(page);
        self.copying.len() > 0
            && self.manner.pages_of_wordline(tables, page).flat_map(units).any(|unit| self.copying.has(unit))
    }

    /// Whether a page must not be copied inside its plane: others of its wordline were reprogrammed, or are about to
    /// be, so that it may be lost.
    #[cold]
    pub(in crate::ftl) fn spoils(&self, tables: &Tables, page: Ppn) -> bool {
        self.manner.waits_for_copies
            && self.manner.pages_of_wordline(tables, page).any(|page| self.exposed.spoils(page))
    }

    /// What was copied of a page has left: what waited for that is looked at.
    #[cold]
    pub(in crate::ftl) fn end_copies(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        (to, units): (Ppn, &[UnitRef]),
    ) {
        self.copying.end(to);
        if let Some(unit) = units.first().filter(|_| self.manner.waits_for_copies) {
            self.list_wordlines(tables, work, tables.layout.block_of_unit(Pun(unit.source)));
        }
    }

    /// What is to be done about a page's wordline before it is full; nothing if it is, or becomes no fuller: a block
    /// that is retired, or was closed before it was full, takes no more.
    fn unfinished(&self, tables: &Tables, flash: &Flash, block: BlockId, page: Ppn) -> Option<Look> {
        let is_programmed = |page: Ppn| {
            let at = tables.layout.locate(page);
            at.page < flash.chip.programmed_pages(at.block)
        };
        match () {
            () if self.manner.pages_of_wordline(tables, page).all(is_programmed) => None,
            // Its program is on its way, and there is nothing to fill up beside it.
            () if tables.blocks.holds_one_bit(block) => Some(Look::Nothing),
            () if tables.blocks.state(block) == BlockState::Open => Some(Look::Unfinished),
            // It is looked at again when its last program has ended.
            () => (tables.blocks.programming(block) > 0).then_some(Look::Nothing),
        }
    }

    /// What is to be done about a wordline whose pages are scrubbed together, by one of them: nothing may
    /// live on any of them, and none may be programmed later.
    fn look_at_wordline(&self, tables: &Tables, flash: &Flash, block: BlockId, page: Ppn) -> Look {
        let pages = self.manner.pages_of_wordline(tables, page);
        let all = pages.clone().fold(0, |all, page| all | self.exposed.state(page));
        let to_do = |page: &Ppn| self.exposed.state(*page) & (EXPOSED | ISSUED | UNLOCKABLE) == EXPOSED;
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
            return if leaves { Look::Nothing } else { Look::Occupied(page) };
        }
        if live.next().is_some() {
            return Look::Nothing;
        }
        Look::Dead
    }

    /// Replicas in a page that is to be locked, or on its wordline if that goes as a whole, are given up.
    fn give_up_replicas(&mut self, tables: &mut Tables, work: &mut Work, page: Ppn) {
        if tables.replicas.count == 0 || self.manner.erases {
            return;
        }
        let (units, scrubs) = (tables.layout.units_per_page, self.manner.scrubs());
        let wordline = self.manner.pages_of_wordline(tables, page);
        for other in wordline.filter(|&other| scrubs || other == page) {
            for unit in (other.0 * units..(other.0 + 1) * units).map(Pun) {
                if tables.forget_replica_at(unit) {
                    self.note_death(tables, work, unit, Death::Ended);
                }
            }
        }
    }

    /// Pages that are to be locked, of those of a physical block that have died since it was looked at: all from one
    /// on, or one where blocks are not locked.
    fn dead_pages(
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
            if self.look_at_page(tables, flash, (block, true), page) == Look::Dead {
                self.give_up_replicas(tables, work, page);
                count += 1;
            }
        }
        count
    }

    /// The operation that locks a page of a block, or its whole physical block; none if the policy leaves the block to
    /// an erase.
    fn lock(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        flash: &Flash,
        (block, at): (BlockId, u32),
    ) -> Option<Op> {
        let is_dead = tables.is_member_dead(block, at % tables.layout.span);
        // Where something lives nobody asks how many there are: counting them for each would cost most of all.
        let dead = if is_dead { Some(self.dead_pages(tables, work, flash, block, at)) } else { None };
        let mut page = Ppn(block.0 * tables.layout.pages_per_block + at);
        let op = match self.answer(tables, block, dead) {
            Answer::Erase => {
                self.exposed.give_up_page(page);
                self.bound.end(work, tables.layout.lane_of(block), page);
                self.lists.give_up_block(tables, work, block);
                return None;
            }
            Answer::Pages => {
                if self.manner.scrubs() {
                    // One of them stands for all.
                    for other in self.manner.pages_of_wordline(tables, page) {
                        if self.exposed.lock_issued(other) {
                            page = other;
                        }
                    }
                } else {
                    self.exposed.lock_issued(page);
                }
                let op = tables.op(self.manner.page_op, Cause::Sanitize, page);
                // The block may be none of the cache any more: what it holds is what it was.
                let page_type = match tables.blocks.holds_one_bit(block) {
                    true => tables.layout.one_bit_type,
                    false => tables.order.page_type(op.at.page),
                };
                Op { page_type, ..op }
            }
            Answer::Block => {
                let op = self.lock_block(tables, work, block, at);
                for page in tables.layout.pages_of_member(block, at % tables.layout.span) {
                    self.exposed.lock_issued(page);
                }
                op
            }
        };
        Some(self.begin(tables, block, op))
    }

    /// The operation that locks a page of a block again, or its physical block.
    fn lock_again(&mut self, tables: &mut Tables, work: &mut Work, (block, at): (BlockId, u32)) -> Op {
        let member = at % tables.layout.span;
        let due = |page: &Ppn| is_due(self.exposed.state(*page));
        let dead = tables
            .is_member_dead(block, member)
            .then(|| tables.layout.pages_of_member(block, member).filter(due).count() as u32);
        let op = if self.answer(tables, block, dead) == Answer::Block {
            let op = self.lock_block(tables, work, block, at);
            for page in tables.layout.pages_of_member(block, member) {
                self.exposed.renew(page);
            }
            op
        } else {
            let page = Ppn(block.0 * tables.layout.pages_per_block + at);
            self.exposed.renew(page);
            tables.op(OpKind::PageLock, Cause::Sanitize, page)
        };
        work.counts.sanitize_relocks += 1;
        self.begin(tables, block, op)
    }

    /// How the policy has a page locked; so many are `dead` of a physical block in which nothing lives.
    fn answer(&self, tables: &Tables, block: BlockId, dead: Option<u32>) -> Answer {
        self.manner.policy.answer(&Deaths {
            pages: dead.unwrap_or(1),
            is_dead: dead.is_some(),
            is_bad: tables.blocks.state(block) == BlockState::Bad,
            page_ns: self.manner.page_ns,
            block_ns: self.manner.block_ns,
        })
    }

    /// The operation that locks a physical block. Nothing that it holds is read, or programmed behind it.
    fn lock_block(&mut self, tables: &mut Tables, work: &mut Work, block: BlockId, at: u32) -> Op {
        tables.drop_replicas(block, |tables, unit| self.note_death(tables, work, unit, Death::Ended));
        tables.replicas.close_off(&tables.layout, block);
        let first = Ppn(block.0 * tables.layout.pages_per_block);
        let member = tables.layout.member(block, at % tables.layout.span);
        Op::new(OpKind::BlockLock, Cause::Sanitize, first, member, 0)
    }

    /// A lock of a block begins.
    fn begin(&mut self, tables: &Tables, block: BlockId, op: Op) -> Op {
        let lane = tables.layout.lane_of(block);
        self.lists.begin_operation(lane);
        Op { tag: lane.0, ..op }
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
            self.forget_page(&tables.layout, work, (page, false));
            if self.manner.waits_for_copies {
                self.exposed.lock(page);
            }
            return self.renewals.note_locked(&mut self.exposed, (block, page), self.clocks.now);
        }
        // One more try, then the block is emptied and erased. One that is out of use keeps what it holds.
        let is_bad = tables.blocks.state(block) == BlockState::Bad;
        if self.exposed.state(page) & EXPOSED == 0 {
            let (exposed, lists) = (&mut self.exposed, &mut self.lists);
            return self.renewals.note_failed(exposed, lists, tables, work, (block, page), !is_bad);
        }
        self.bound.end(work, tables.layout.lane_of(block), page);
        let state = &mut self.exposed.pages[page.index()];
        let (is_unlockable, was_unlockable) = (*state & FAILED != 0, *state & UNLOCKABLE != 0);
        *state = *state & !ISSUED | FAILED | if is_unlockable { UNLOCKABLE } else { 0 };
        if is_unlockable {
            work.counts.sanitize_given_up += u64::from(is_bad && !was_unlockable);
            if !is_bad {
                self.lists.give_up_block(tables, work, block);
            }
        } else {
            let at = page.0 % tables.layout.pages_per_block;
            self.lists.list(tables, work, block, at..at + 1);
        }
    }
}
