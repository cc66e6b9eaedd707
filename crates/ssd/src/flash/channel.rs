//! A channel: commands and data of its dies, one at a time, first come first served.

use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// One channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Channel {
    /// When the transfer in progress ends.
    pub free_at: SimTime,
    /// Whether an event at `free_at` is scheduled.
    pub wake: bool,
    /// Dies that wait, in the order they asked; a ring.
    waiting: Box<[u32]>,
    head: usize,
    len: usize,
}

impl Channel {
    /// A free channel of `dies` dies; a die asks for it at most once at a time.
    pub fn new(dies: u32) -> Self {
        let waiting = vec![0; dies as usize].into_boxed_slice();
        Channel { free_at: SimTime::ZERO, wake: false, waiting, head: 0, len: 0 }
    }

    /// Whether somebody waits.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.len > 0
    }

    /// Puts a die at the end of the line.
    #[inline]
    pub fn wait(&mut self, die: u32) {
        let mut at = self.head + self.len;
        if at >= self.waiting.len() {
            at -= self.waiting.len();
        }
        self.waiting[at] = die;
        self.len += 1;
    }

    /// Takes the die that has waited longest.
    #[inline]
    pub fn next(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let die = self.waiting[self.head];
        self.head = if self.head + 1 == self.waiting.len() { 0 } else { self.head + 1 };
        self.len -= 1;
        Some(die)
    }
}
