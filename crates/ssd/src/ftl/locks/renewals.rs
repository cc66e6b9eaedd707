//! Locks that are set again when they are old (`ftl.sanitize.relock_months`; the project's own): flags lose their
//! charge over the years, and a pulse gives it back.
//!
//! The firmware keeps for each block when its oldest lock was set, and a bit for each page that is locked. Once one is
//! so old, all blocks are looked at: the locked pages of those that are due are locked again, one lock at a time on
//! each plane and behind all others, a block in which nothing lives by one lock if the policy would do so. It looks
//! when something else happens: a drive that no command comes to does nothing, as one without power.

use super::exposed::{DUE, EXPOSED, Exposed, FAILED, ISSUED, LOCKED, UNLOCKABLE, is_due};
use super::lists::Lists;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::restore::{Verdict, alike, ensure, keep_line};
use crate::snapshot::raw;
use crate::units::{BlockId, LaneId, Ppn, SimTime};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Nothing is locked.
const NEVER: u64 = u64::MAX;

/// Blocks of a lane whose locks are set again.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    blocks: VecDeque<BlockId>,
    /// The first page of the first of them that was not looked at.
    at: u32,
}

/// When locks were set, and what of them is set again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Renewals {
    /// How old they grow; ns. 0: as old as they will.
    after_ns: u64,
    /// By block: when the oldest of its locks was set; ns.
    #[serde(with = "raw")]
    since: Vec<u64>,
    /// No lock is too old before.
    due: u64,
    lines: Vec<Line>,
}

impl Renewals {
    /// Nothing is locked yet. Locks so old are set again; 0: none.
    pub fn new(after_ns: u64, layout: &Layout) -> Self {
        let of = |count: u32| if after_ns > 0 { count } else { 0 };
        let line = |_| Line { blocks: VecDeque::with_capacity(layout.blocks_per_lane as usize), at: 0 };
        Renewals {
            after_ns,
            since: vec![NEVER; of(layout.blocks()) as usize],
            due: NEVER,
            lines: (0..of(layout.lanes)).map(line).collect(),
        }
    }

    /// Whether any lock is ever set again.
    pub fn are_on(&self) -> bool {
        self.after_ns > 0
    }

    /// Bytes of memory of the controller.
    pub fn bytes(&self) -> usize {
        8 * self.since.len()
    }

    fn are_under_way(&self) -> bool {
        self.lines.iter().any(|line| !line.blocks.is_empty())
    }

    /// The block of a lane whose locks are set again now.
    pub fn first(&self, lane: LaneId) -> Option<BlockId> {
        self.lines[lane.index()].blocks.front().copied()
    }

    /// All its locks are.
    pub fn end_first(&mut self, lane: LaneId) {
        let line = &mut self.lines[lane.index()];
        line.blocks.pop_front();
        line.at = 0;
    }

    /// A block is erased: nothing there is locked.
    pub fn forget(&mut self, block: BlockId) {
        if let Some(since) = self.since.get_mut(block.index()) {
            *since = NEVER;
        }
    }

    /// Takes what follows from the configuration from fresh ones, and checks what is not checked with the rest.
    pub fn restored(&mut self, fresh: &Renewals, blocks_per_lane: u32, now: SimTime) -> Verdict {
        alike("blocks with locks to be set again", &self.since, &fresh.since)?;
        alike("lanes with locks to be set again", &self.lines, &fresh.lines)?;
        self.after_ns = fresh.after_ns;
        ensure(self.since.iter().all(|&at| at <= now.0 || at == NEVER), "when a block was locked")?;
        for (lane, (line, fresh)) in (0..).zip(self.lines.iter_mut().zip(&fresh.lines)) {
            let blocks = lane * blocks_per_lane..(lane + 1) * blocks_per_lane;
            ensure(
                line.blocks.iter().all(|block| blocks.contains(&block.0)),
                "another lane's block to be locked again",
            )?;
            ensure(line.blocks.len() <= blocks_per_lane as usize, "blocks to be locked again")?;
            keep_line(&mut line.blocks, &fresh.blocks);
        }
        Ok(())
    }

    /// A page of a block is locked.
    pub(super) fn note_locked(&mut self, exposed: &mut Exposed, (block, page): (BlockId, Ppn), now: SimTime) {
        if self.are_on() {
            exposed.lock(page);
            let since = &mut self.since[block.index()];
            *since = now.0.min(*since);
            self.due = self.due.min(since.saturating_add(self.after_ns));
        }
    }

    /// Begins to set again what is too old, if anything is, and the last round is over.
    pub(super) fn begin(
        &mut self,
        exposed: &mut Exposed,
        lists: &Lists,
        tables: &Tables,
        work: &mut Work,
        now: SimTime,
    ) {
        if now.0 < self.due || self.are_under_way() {
            return;
        }
        let mut due = NEVER;
        for block in (0..tables.layout.blocks()).map(BlockId) {
            let since = &mut self.since[block.index()];
            if since.saturating_add(self.after_ns) <= now.0 {
                // None that is set from now on is older.
                *since = now.0;
                exposed.renew_all(&tables.layout, block);
                let lane = tables.layout.lane_of(block);
                self.lines[lane.index()].blocks.push_back(block);
                lists.look_soon(&mut work.looks, lane);
            }
            due = due.min(self.since[block.index()].saturating_add(self.after_ns));
        }
        self.due = due;
    }

    /// The next page of a block to be locked again. None if it is being erased, which ends all that is locked there.
    pub(super) fn next(
        &mut self,
        exposed: &Exposed,
        tables: &Tables,
        lane: LaneId,
        block: BlockId,
    ) -> Option<u32> {
        let is_erased = tables.blocks.state(block) == BlockState::Free && !tables.blocks.is_stale(block);
        if is_erased || tables.blocks.is_erasing(block) {
            return None;
        }
        let first = block.0 * tables.layout.pages_per_block;
        let line = &mut self.lines[lane.index()];
        let due = |at: &u32| is_due(exposed.state(Ppn(first + at)));
        let found = (line.at..tables.layout.pages_per_block).find(due);
        line.at = found.map_or(tables.layout.pages_per_block, |at| at + 1);
        found
    }

    /// A lock that was set again has failed; the first still stands. One more try, then the block is emptied and
    /// erased; one that cannot be keeps what it has until the next round.
    pub(super) fn note_failed(
        &mut self,
        exposed: &mut Exposed,
        lists: &mut Lists,
        tables: &Tables,
        work: &mut Work,
        (block, page): (BlockId, Ppn),
        can_leave: bool,
    ) {
        let state = &mut exposed.pages[page.index()];
        let has_failed = *state & FAILED != 0;
        *state &= !(ISSUED | FAILED);
        match (has_failed, can_leave) {
            (true, true) => {
                *state |= UNLOCKABLE;
                lists.give_up_block(tables, work, block);
            }
            (true, false) => {}
            (false, _) => {
                *state |= FAILED | DUE;
                let (lane, at) = (tables.layout.lane_of(block), page.0 % tables.layout.pages_per_block);
                let line = &mut self.lines[lane.index()];
                if line.blocks.front() == Some(&block) {
                    line.at = line.at.min(at);
                } else if !line.blocks.contains(&block) {
                    line.blocks.push_back(block);
                }
                lists.look_soon(&mut work.looks, lane);
            }
        }
    }

    /// Whether the locks of a block are those that are set again, and known to be there.
    pub(super) fn check(&self, exposed: &Exposed, tables: &Tables, block: BlockId) -> Verdict {
        if !self.are_on() {
            return Ok(());
        }
        let pages = exposed.states(&tables.layout, block);
        let is_locked = pages.iter().any(|state| state & (LOCKED | EXPOSED) == LOCKED);
        let since = self.since[block.index()];
        ensure(!is_locked || since != NEVER, "a page is locked in a block that was never locked")?;
        let is_late = since.saturating_add(self.after_ns) < self.due;
        ensure(!is_late, "locks grow too old before anybody looks")?;
        let line = &self.lines[tables.layout.lane_of(block).index()].blocks;
        let is_lined_up = line.contains(&block) || tables.blocks.is_erasing(block);
        ensure(is_lined_up || !pages.iter().any(|&state| is_due(state)), "a page that nobody locks again")
    }
}
