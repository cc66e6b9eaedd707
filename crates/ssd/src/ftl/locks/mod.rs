//! The lock manager: which copies in flash have died that nobody may read, and what is done about them.
//!
//! Every death comes in by one door (`Locks::note_death`): overwrites, trims, moves, copies that are dead on arrival,
//! replicas that are given up, programs that fail, data that is lost. A page with a dead copy of secured data is
//! *exposed* until it is locked or its block erased. Deaths of one event are taken together for each block, those of
//! one write too where it ends a block (`together.rs`), and the policy (`ftl/sanitize`) says how they are locked.
//! Copies that a move has killed wait for the end of its job, for a block that is erased needs no lock, but not for
//! long, and not while a command waits for them. A page in which something else lives is locked when that has moved
//! (`lists.rs`; assumed: the paper's pages are one unit each).
//!
//! Who waits for locks (trims, flushes, writes to the medium) waits for all that was exposed when it came. Exposed
//! pages are counted in two generations: one that is waited for, and one that grows. The first is over when its count
//! is zero.
//!
//! Each part owns its state: how this drive locks (`manner.rs`), the states of pages (`exposed.rs`), generations
//! (`generations.rs`), clocks (`exposure.rs`), what is left to erases (`late.rs`), the lists of blocks to be looked at
//! (`lists.rs`), writes under way (`together.rs`), copies under way (`copying.rs`) and locks that are set again
//! (`renewals.rs`). Whoever needs one part asks it; a part that needs another takes it as a parameter. `Locks` joins
//! them: where something dies or is erased or somebody waits (here), and where a page is looked at and its lock ends
//! (`issue.rs`).

mod check;
mod copying;
mod exposed;
pub mod exposure;
mod generations;
pub(in crate::ftl) mod issue;
mod late;
pub(in crate::ftl) mod lists;
mod manner;
pub mod recovery;
mod renewals;
mod together;

use self::renewals::Renewals;
use crate::flash::Flash;
use crate::flash::op::{Op, UnitRef};
use crate::ftl::sanitize;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::facts::Death;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::work::bound::{Bound, Terms};
use crate::ftl::write::waits::Waits;
use crate::sections::Sections;
use crate::signals::{Facts, Hints};
use crate::units::{BlockId, LaneId, Ppn, Pun, SimTime};
use copying::Copying;
use core::ops::Range;
use exposed::{DEFERRED, EXPOSED, Exposed, FAILED, ISSUED, UNLOCKABLE};
use exposure::{Clocks, IN_PROGRAM, OpenExposures};
use generations::Generations;
use late::Late;
use lists::{Lists, MOVES_FOR_LOCKS};
use manner::Manner;
use serde::{Deserialize, Serialize};
use together::Writes;

/// Locks that a lane may have on their way: enough for its dies never to wait for the next.
const IN_FLIGHT_AT_MOST: u32 = 4;

/// The state of all locks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Locks {
    on: bool,
    pub manner: Manner,
    pub exposed: Exposed,
    pub generations: Generations,
    pub clocks: Clocks,
    late: Late,
    pub lists: Lists,
    pub writes: Writes,
    /// Copies under way, where time passes.
    pub copying: Copying,
    /// Locks that are set again when they are old.
    pub renewals: Renewals,
    /// What is owed to the bound of exposure.
    pub bound: Bound,
}

impl Locks {
    /// Nothing is exposed on a drive of a checked configuration, whose dies' work may be stopped for reads, or not.
    pub fn new(
        cfg: &Sections,
        (policy, suspends): (&sanitize::Config, bool),
        layout: &Layout,
        (copies, slots): (usize, u32),
    ) -> Self {
        let (manner, on) = Manner::new(cfg, policy, layout);
        let bound = Bound::new(Terms::new(cfg, manner.rules.max_exposed_ns, suspends), layout, slots);
        let of = |count: u32| if on { count as usize } else { 0 };
        let late = |count: u32| if cfg.cleaning.lazy_erase { of(count) } else { 0 };
        let pages = layout.blocks() * layout.pages_per_block;
        Locks {
            on,
            exposed: Exposed::new(of(pages), of(layout.blocks())),
            generations: Generations::default(),
            clocks: Clocks::new(of(pages)),
            late: Late::new(late(layout.blocks()), late(pages)),
            lists: Lists::new(&manner, &bound, layout, (of(layout.blocks()), of(layout.lanes))),
            writes: Writes::with_capacity(of(cfg.queues.count * cfg.queues.depth)),
            copying: Copying::with_capacity(if on { copies * layout.units_per_page as usize } else { 0 }),
            renewals: Renewals::new(manner.rules.relock_ns, layout),
            bound,
            manner,
        }
    }

    /// The same beside copies inside the chips, if there are any.
    pub fn beside_copies(mut self, copies: bool) -> Self {
        self.manner.waits_for_copies = copies && self.manner.reprograms();
        self
    }

    /// Whether anything is ever locked.
    #[inline(always)]
    pub fn are_on(&self) -> bool {
        self.on
    }

    /// Begins to set again what is too old, if anything is.
    #[cold]
    pub fn renew_locks(&mut self, tables: &Tables, work: &mut Work, now: SimTime) {
        self.renewals.begin(&mut self.exposed, &self.lists, tables, work, now);
    }

    /// Operations that there may be at once.
    pub fn operations_at_most(&self) -> usize {
        let filled_up = if self.manner.finishes() { 2 * self.manner.pages_filled_up() } else { 0 };
        self.lists.lanes.len()
            * (IN_FLIGHT_AT_MOST * self.manner.span + IN_FLIGHT_AT_MOST + MOVES_FOR_LOCKS + filled_up)
                as usize
    }

    /// Bytes of memory of the controller.
    pub fn bytes(&self) -> usize {
        self.exposed.bytes()
            + self.lists.bytes()
            + self.late.bytes()
            + self.renewals.bytes()
            + self.bound.bytes()
    }

    /// Bytes of the clocks.
    pub fn clock_bytes(&self) -> usize {
        self.clocks.bytes() + self.late.clock_bytes()
    }

    /// Why a page of a block is exposed for long, if it is.
    fn cause_of(&self, block: BlockId, state: u8) -> usize {
        match () {
            () if state & FAILED != 0 => 2,
            () if self.manner.erases => 3,
            () if self.lists.blocks[block.index()].lacks_room => 0,
            () => 1,
        }
    }

    /// Pages that can be read at this time, and should not. Takes a look at every page.
    pub fn open_exposures(&self, layout: &Layout, now: SimTime) -> OpenExposures {
        let mut open = OpenExposures::default();
        for (page, &state) in (0..).map(Ppn).zip(&self.exposed.pages) {
            let since = self.clocks.since(page);
            if state & EXPOSED != 0 && since != IN_PROGRAM {
                open.add(since, self.cause_of(layout.block_of_page(page).0, state), now);
            }
        }
        self.late.open().for_each(|(since, cause)| open.add(since, cause, now));
        open
    }

    /// A page is not exposed any more: it is erased, or else locked.
    fn forget_page(&mut self, layout: &Layout, work: &mut Work, (page, is_erased): (Ppn, bool)) {
        let state = self.exposed.take(&self.manner, page);
        if state & EXPOSED != 0 {
            let block = layout.block_of_page(page).0;
            self.bound.end(work, layout.lane_of(block), page);
            self.generations.end(state);
            self.clocks.end(&mut work.counts, page, self.cause_of(block, state), is_erased);
            if !self.exposed.end(block) {
                self.lists.end_occupied(block);
            }
        }
    }

    /// A unit of flash that counted does so no more, nor do copies of it that are being programmed.
    pub(in crate::ftl) fn note_end(&mut self, tables: &Tables, work: &mut Work, unit: Pun, by: Death) {
        self.note_death(tables, work, unit, by);
        self.note_copies(tables, work, unit);
    }

    /// A copy does not count any more, or never has. If it is of secured data its page is exposed.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn note_death(&mut self, tables: &Tables, work: &mut Work, unit: Pun, by: Death) {
        let page = tables.layout.page_of_unit(unit).0;
        if tables.facts.is_secured(unit) || self.exposed.state(page) & EXPOSED != 0 {
            self.expose(tables, work, page, self.writes.death_of(tables, unit, by), self.clocks.now.0);
        } else if self.manner.scrubs() {
            // Others of its wordline may wait for it to leave.
            let (block, at) = tables.layout.block_of_page(page);
            if self.exposed.has(block) {
                self.lists.list(tables, work, block, at..at + 1);
            }
        }
    }

    /// Something was programmed that does not count: it was trimmed or written again in the meantime, or the program
    /// has failed.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn note_dead_on_arrival(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        unit: Pun,
        facts: Facts,
    ) {
        tables.facts.set(unit, facts);
        self.note_death(tables, work, unit, Death::Ended);
    }

    /// A program is on its way whose data died before it: its page is exposed as soon as it is there, and counts.
    #[cold]
    pub(in crate::ftl) fn note_dead_in_program(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        op: &Op,
        unit: &UnitRef,
    ) {
        if unit.facts().class() == Hints::SECURE.into() {
            self.expose(tables, work, op.ppn, Death::Ended, IN_PROGRAM);
        }
    }

    /// Copies of a unit that are being programmed come too late, for it does not count any more: each is exposed as
    /// soon as it is there.
    fn note_copies(&mut self, tables: &Tables, work: &mut Work, unit: Pun) {
        if tables.blocks.leaving(tables.layout.block_of_unit(unit)) == 0
            || !self.copying.has(unit)
            || !tables.facts.is_secured(unit)
        {
            return;
        }
        for at in 0..self.copying.len() {
            if let Some(page) = self.copying.target(at, unit) {
                self.expose(tables, work, page, Death::Ended, IN_PROGRAM);
            }
        }
    }

    /// A copy of secured data has died in a page, which can be read since then.
    pub(in crate::ftl) fn expose(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        page: Ppn,
        by: Death,
        since: u64,
    ) {
        let (block, at) = tables.layout.block_of_page(page);
        let (growing, scrubs) = (self.generations.growing(), self.manner.scrubs());
        if self.exposed.begin((block, page), by, growing, scrubs) {
            self.clocks.begin(page, since);
            self.generations.begin();
            work.counts.exposed_pages += 1;
            work.counts.exposed_pages_max = work.counts.exposed_pages_max.max(self.generations.exposed());
        } else {
            self.clocks.begin_again(page, since);
        }
        let state = self.exposed.state(page);
        self.settle_page(tables, work, page);
        if state & (ISSUED | UNLOCKABLE) != 0 {
            return;
        }
        if state & DEFERRED != 0 && !scrubs && self.generations.is_at_ease() && tables.blocks.leaves(block) {
            return self.lists.defer(block, self.clocks.now);
        }
        // Others of the block may wait for the same end.
        let waits = by == Death::Written && self.lists.blocks[block.index()].deferred;
        let pages = if waits { 0..tables.layout.pages_per_block } else { at..at + 1 };
        self.lists.list(tables, work, block, pages);
    }

    /// Whether a lane's moves wait, for the locks of its dies would be late; those that begin need time for an erase.
    #[inline(always)]
    pub(in crate::ftl) fn holds_moves(&self, work: &Work, flash: &Flash, lane: LaneId, begins: bool) -> bool {
        self.bound.is_on()
            && !flash.is_instant()
            && !self.lists.is_occupied(lane)
            && self.bound.would_be_late(work, lane, flash.now, begins)
    }

    /// What a page owes for its lock is known anew: something has died there, or come to live there.
    #[inline(always)]
    pub(in crate::ftl) fn settle_page(&mut self, tables: &Tables, work: &mut Work, page: Ppn) {
        if self.bound.is_on() {
            self.settle_owed(tables, work, page);
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_owed(&mut self, tables: &Tables, work: &mut Work, page: Ppn) {
        if exposed::is_owed(self.exposed.state(page)) {
            let units = tables.layout.units_per_page;
            let lives = tables.map.live_of(page.0 * units, units) != 0;
            let lane = tables.layout.lane_of(tables.layout.block_of_page(page).0);
            self.bound.update(work, lane, (page, lives), self.clocks.now);
        }
    }

    /// What waited in a block is to be looked at now: its job is over, and it stays.
    #[cold]
    pub(in crate::ftl) fn list_all(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        if self.exposed.has(block) {
            self.exposed.end_waits(&tables.layout, block);
            self.lists.list(tables, work, block, 0..tables.layout.pages_per_block);
        }
    }

    /// The last program of a block has ended: a wordline that is full now may be scrubbed or reprogrammed.
    #[cold]
    pub(in crate::ftl) fn list_wordlines(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        if self.manner.finishes() && self.exposed.has(block) {
            self.lists.list(tables, work, block, 0..tables.layout.pages_per_block);
        }
    }

    /// A member of a block is erased, and others are about to be.
    #[cold]
    pub(in crate::ftl) fn note_erased_member(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        block: BlockId,
        physical: u32,
    ) {
        let (first, pages) = (block.0 * tables.layout.pages_per_block, tables.layout.pages_per_block);
        for page in (first..first + pages).map(Ppn) {
            if self.exposed.state(page) & EXPOSED != 0 && tables.layout.locate(page).block == physical {
                self.forget_page(&tables.layout, work, (page, true));
            }
        }
    }

    /// A block is erased: nothing of it is exposed any more.
    #[cold]
    pub(in crate::ftl) fn note_erased_locks(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        let (first, pages) = (block.0 * tables.layout.pages_per_block, tables.layout.pages_per_block);
        for page in first..first + pages {
            if self.exposed.pages[page as usize] != 0 {
                self.forget_page(&tables.layout, work, (Ppn(page), true));
            }
        }
        self.lists.forget(block);
        self.renewals.forget(block);
        let lane = tables.layout.lane_of(block);
        self.lists.look_for_room(tables, work, lane);
    }

    /// A block is erased before it is programmed again: what is exposed in it ends with that.
    pub(in crate::ftl) fn leave_to_erase(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        let first = block.0 * tables.layout.pages_per_block;
        for page in (first..first + tables.layout.pages_per_block).map(Ppn) {
            let state = self.exposed.take(&self.manner, page);
            if state & EXPOSED != 0 {
                self.bound.end(work, tables.layout.lane_of(block), page);
                let why = (self.clocks.since(page), self.cause_of(block, state));
                self.late.leave((block, page), state, why);
            }
        }
        self.exposed.blocks[block.index()] = 0;
        self.lists.end_occupied(block);
        self.renewals.forget(block);
    }

    /// A member of the block is erased, and all that was read of it before is known: none of its units is secured any
    /// more. Those that come after are programmed later.
    pub(in crate::ftl) fn forget_erased(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        block: BlockId,
        physical: u32,
    ) {
        if !self.late.is_left(block) {
            return;
        }
        let first = block.0 * tables.layout.pages_per_block;
        for page in (first..first + tables.layout.pages_per_block).map(Ppn) {
            if tables.layout.locate(page).block != physical {
                continue;
            }
            let units = page.0 * tables.layout.units_per_page..(page.0 + 1) * tables.layout.units_per_page;
            units.for_each(|unit| tables.facts.set_secured(Pun(unit), false));
            self.late.end(&mut work.counts, page, self.clocks.now, true);
        }
    }

    /// That erase is over. What has died in the block since can be looked at now.
    pub(in crate::ftl) fn note_late_erase(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        self.generations.end_all(self.late.end_block(block));
        self.list_all(tables, work, block);
        let lane = tables.layout.lane_of(block);
        self.lists.look_for_room(tables, work, lane);
    }

    /// Whoever is given a number waits until all that is exposed now is locked; none if nothing is, or nobody waits.
    #[cold]
    pub fn wait_for_locks(&mut self, tables: &Tables, work: &mut Work, waits: &mut Waits) -> Option<u32> {
        if !self.manner.rules.after_lock || self.generations.exposed() == 0 {
            return None;
        }
        waits.watch(true);
        let (ticket, is_new) = self.generations.ask();
        if is_new {
            self.hurry_deferred(tables, work);
        }
        Some(ticket)
    }

    /// Nobody waits any more.
    pub fn end_wait_for_locks(&mut self, waits: &mut Waits) {
        self.generations.ask_no_more();
        waits.watch(self.renewals.are_on());
    }

    /// Somebody waits for what is exposed now: none of that waits for the end of a job or a write.
    pub(in crate::ftl) fn hurry_deferred(&mut self, tables: &Tables, work: &mut Work) {
        while let Some(block) = self.lists.end_wait() {
            self.list_all(tables, work, block);
        }
    }

    /// The data of a host write of these logical units is in flash, or will never be: what has waited for that is
    /// looked at.
    #[cold]
    pub fn end_write(&mut self, tables: &Tables, work: &mut Work, units: Range<u32>) {
        if !self.writes.end(units) {
            return;
        }
        for _ in 0..self.lists.deferred.len() {
            let Some((block, since)) = self.lists.deferred.pop_front() else { return };
            if tables.blocks.state(block) == BlockState::Closed && self.exposed.has(block) {
                self.lists.list(tables, work, block, 0..tables.layout.pages_per_block);
                self.lists.blocks[block.index()].deferred = false;
            } else {
                self.lists.deferred.push_back((block, since));
            }
        }
    }

    /// Blocks that have waited long enough for the end of their job are looked at.
    pub fn on_locks_due(&mut self, tables: &Tables, work: &mut Work) {
        while let Some(block) = self.lists.end_long_wait(self.clocks.now) {
            self.list_all(tables, work, block);
        }
    }
}

#[cfg(test)]
mod tests;
