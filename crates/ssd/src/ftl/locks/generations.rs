//! Exposed pages are counted in two generations: one that is waited for, and one that grows. Who waits for locks is
//! given the number of the generation that grows when it comes, and waits until that one and all before it are over: a
//! command keeps its number in the host's table (`host/commands.rs`: `answer_when_locked`), which is asked again when
//! nothing is left to carry (`State::tend_locks`, `Commands::after_locks`).

use super::exposed::ODD;
use crate::restore::{MOST, Verdict, ensure};
use serde::{Deserialize, Serialize};

/// How many pages are exposed, and who waits for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Generations {
    /// The generation that grows; pages of each, the older one's included.
    pub(super) generation: u64,
    pub(super) waiting: [u64; 2],
    /// The youngest generation that somebody waits for, and one; 0 if nobody does.
    pub(super) wanted: u64,
}

impl Generations {
    /// Checks that they can be.
    pub(super) fn restored(&self) -> Verdict {
        ensure(self.generation < MOST && self.wanted <= self.generation + 1, "who waits for locks")
    }

    /// Pages that hold a copy that nobody may read any more, and can be read still.
    pub fn exposed(&self) -> u64 {
        self.waiting[0] + self.waiting[1]
    }

    /// The bit of the generation that grows.
    pub(super) fn growing(&self) -> u8 {
        if self.generation.is_multiple_of(2) { 0 } else { ODD }
    }

    /// A page is exposed with the generation that grows.
    pub(super) fn begin(&mut self) {
        self.waiting[(self.generation % 2) as usize] += 1;
    }

    /// A page that was in this state is exposed no more.
    pub(super) fn end(&mut self, state: u8) {
        self.waiting[usize::from(state & ODD > 0)] -= 1;
        self.turn();
    }

    /// So many pages of each are exposed no more.
    pub(super) fn end_all(&mut self, counts: [u32; 2]) {
        for (waiting, count) in self.waiting.iter_mut().zip(counts) {
            *waiting -= u64::from(count);
        }
        self.turn();
    }

    /// Lets the next generation grow, if somebody waits for this one and the one before is over.
    pub(super) fn turn(&mut self) {
        if self.wanted > self.generation && self.waiting[(self.generation as usize + 1) % 2] == 0 {
            self.generation += 1;
        }
    }

    /// Whether nobody waits for anything.
    pub(super) fn is_at_ease(&self) -> bool {
        self.wanted == 0
    }

    /// Whether somebody waits for what was exposed with a page of this state.
    pub(super) fn is_awaited(&self, state: u8) -> bool {
        let is_older = state & ODD != self.growing();
        self.generation < self.wanted + u64::from(is_older)
    }

    /// The number of whoever comes to wait for all that is exposed now, and whether any of that was waited for by
    /// nobody before.
    pub(super) fn ask(&mut self) -> (u32, bool) {
        let growing = self.generation;
        if self.waiting[(growing % 2) as usize] == 0 {
            // Nothing is exposed but what others wait for.
            return ((growing - 1) as u32, false);
        }
        self.wanted = growing + 1;
        self.turn();
        (growing as u32, true)
    }

    /// Nobody waits any more.
    pub(super) fn ask_no_more(&mut self) {
        self.wanted = 0;
    }

    /// Whether all that was exposed when somebody was given this number is locked.
    fn is_over(&self, ticket: u64) -> bool {
        self.generation > ticket + 1
            || self.generation == ticket + 1 && self.waiting[(ticket % 2) as usize] == 0
    }

    /// Whether a wait is over.
    pub fn is_locked(&self, ticket: u32) -> bool {
        let near = self.generation as u32;
        // Nobody waits for half of all numbers.
        let back = near.wrapping_sub(ticket) as i32;
        self.is_over(self.generation.saturating_add_signed(-i64::from(back)))
    }
}
