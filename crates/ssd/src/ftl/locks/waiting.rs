//! Who waits for locks: commands, until all is locked that was exposed when they came, and blocks, for the end of a job
//! or a write. Nothing waits for long: a command for no job and for no page to fill, a block for `batch_ms` at most.

use super::Locks;
use crate::ftl::tables::Tables;
use crate::ftl::work::Work;
use crate::ftl::write::waits::Waits;
use crate::units::SimTime;

impl Locks {
    /// Whether a wait is over.
    pub fn is_locked(&self, ticket: u32) -> bool {
        let near = self.generation as u32;
        // Nobody waits for half of all numbers.
        let back = near.wrapping_sub(ticket) as i32;
        self.is_over(self.generation.saturating_add_signed(-i64::from(back)))
    }

    /// Whether a block waits for the end of its job and nobody looks when it has waited long enough.
    #[inline]
    pub fn lack_timer(&self) -> bool {
        !self.timer && !self.deferred.is_empty()
    }

    /// When that is.
    pub fn next_at(&self) -> Option<SimTime> {
        let (_, since) = self.deferred.front().filter(|_| self.lack_timer())?;
        Some(SimTime(since.0 + self.manner.rules.batch_ns))
    }

    /// Whoever is given a number waits until all that is exposed now is locked; none if nothing is, or nobody waits.
    #[cold]
    pub fn wait_for_locks(&mut self, tables: &Tables, work: &mut Work, waits: &mut Waits) -> Option<u32> {
        let locks = &mut *self;
        if !locks.manner.rules.after_lock || locks.exposed() == 0 {
            return None;
        }
        waits.watch(true);
        let growing = locks.generation;
        if locks.waiting[(growing % 2) as usize] == 0 {
            // Nothing is exposed but what others wait for.
            return Some((growing - 1) as u32);
        }
        locks.wanted = growing + 1;
        locks.turn();
        self.hurry_deferred(tables, work);
        Some(growing as u32)
    }

    /// Nobody waits any more.
    pub fn end_wait_for_locks(&mut self, waits: &mut Waits) {
        self.wanted = 0;
        waits.watch(self.are_renewed());
    }

    /// Somebody waits for what is exposed now: none of that waits for the end of a job or a write.
    pub(in crate::ftl) fn hurry_deferred(&mut self, tables: &Tables, work: &mut Work) {
        while let Some((block, _)) = self.deferred.pop_front() {
            // In this order: since when it was exposed is not forgotten.
            self.list_all(tables, work, block);
            self.blocks[block.index()].deferred = false;
        }
    }

    /// Blocks that have waited long enough for the end of their job are looked at.
    pub fn on_locks_due(&mut self, tables: &Tables, work: &mut Work) {
        self.timer = false;
        while let Some(&(block, since)) = self.deferred.front()
            && since.0 + self.manner.rules.batch_ns <= self.now.0
        {
            self.deferred.pop_front();
            self.list_all(tables, work, block);
            self.blocks[block.index()].deferred = false;
        }
    }
}
