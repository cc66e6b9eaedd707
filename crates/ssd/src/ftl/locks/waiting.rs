//! Who waits for locks: commands, until all is locked that was exposed when they came, and blocks, for the end of a job
//! or a write. Nothing waits for long: a command for no job and for no page to fill, a block for `batch_ms` at most.

use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::units::{LaneId, SimTime};

impl Ftl {
    /// Whoever is given a number waits until all that is exposed now is locked; none if nothing is, or nobody waits.
    #[cold]
    pub fn wait_for_locks(&mut self) -> Option<u32> {
        let locks = &mut self.locks;
        if !locks.rules.after_lock || locks.exposed() == 0 {
            return None;
        }
        self.waits.watch(true);
        let growing = locks.generation;
        if locks.waiting[(growing % 2) as usize] == 0 {
            // Nothing is exposed but what others wait for.
            return Some((growing - 1) as u32);
        }
        locks.wanted = growing + 1;
        locks.turn();
        self.hurry_deferred();
        Some(growing as u32)
    }

    /// Whether a wait is over.
    pub fn is_locked(&self, ticket: u32) -> bool {
        let near = self.locks.generation as u32;
        // Nobody waits for half of all numbers.
        let back = near.wrapping_sub(ticket) as i32;
        self.locks.is_over(self.locks.generation.saturating_add_signed(-i64::from(back)))
    }

    /// Nobody waits any more.
    pub fn end_wait_for_locks(&mut self) {
        self.locks.wanted = 0;
        self.waits.watch(self.renews_locks());
    }

    /// Somebody waits for what is exposed now: none of that waits for the end of a job or a write.
    pub(super) fn hurry_deferred(&mut self) {
        while let Some((block, _)) = self.locks.deferred.pop_front() {
            // In this order: since when it was exposed is not forgotten.
            self.list_all(block);
            self.locks.blocks[block.index()].deferred = false;
        }
    }

    /// Whether a block waits for the end of its job and nobody looks when it has waited long enough.
    #[inline]
    pub fn lacks_lock_timer(&self) -> bool {
        !self.locks.timer && !self.locks.deferred.is_empty()
    }

    /// When that is.
    pub fn next_lock_at(&self) -> Option<SimTime> {
        let (_, since) = self.locks.deferred.front().filter(|_| self.lacks_lock_timer())?;
        Some(SimTime(since.0 + self.locks.rules.batch_ns))
    }

    /// Whether a look at those that wait for the end of their job is scheduled.
    pub(crate) fn looks_at_locks(&self) -> bool {
        self.locks.timer
    }

    /// A look at those that wait for the end of their job is scheduled.
    pub fn note_lock_timer(&mut self) {
        self.locks.timer = true;
    }

    /// Blocks that have waited long enough for the end of their job are looked at.
    pub fn on_locks_due(&mut self, now: SimTime) {
        self.lock_clock(now);
        self.locks.timer = false;
        while let Some(&(block, since)) = self.locks.deferred.front()
            && since.0 + self.locks.rules.batch_ns <= now.0
        {
            self.locks.deferred.pop_front();
            self.list_all(block);
            self.locks.blocks[block.index()].deferred = false;
        }
    }

    /// Somebody waits for locks: what leaves pages waits no longer for more of its class to share a page with.
    /// Elsewhere a rest goes as soon as no more will join it. Returns whether anything goes.
    pub fn hurry_leaving(&mut self, flash: &mut Flash) -> bool {
        if self.locks.leaving == 0 || !self.page_classes.sorts() {
            return false;
        }
        for lane in (0..self.layout.lanes).map(LaneId) {
            if self.work(lane).reads == 0 {
                self.program_all_gathered(flash, lane, true);
            }
        }
        !self.outbox.is_empty()
    }
}
