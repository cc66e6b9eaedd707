//! A channel: commands and data of its dies, one at a time; commands before data, otherwise first come first served.
//!
//! A command that waited behind the data of all other dies would leave its array idle meanwhile: the dies would fall
//! into step, all arrays at work and then all data in line. Commands are short, so data hardly waits for them.

use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// Dies that wait, in the order they asked; a ring.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    dies: Box<[u32]>,
    head: usize,
    len: usize,
}

impl Line {
    fn new(dies: u32) -> Self {
        Line { dies: vec![0; dies as usize].into_boxed_slice(), head: 0, len: 0 }
    }

    #[inline]
    fn push(&mut self, die: u32) {
        let mut at = self.head + self.len;
        if at >= self.dies.len() {
            at -= self.dies.len();
        }
        self.dies[at] = die;
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let die = self.dies[self.head];
        self.head = if self.head + 1 == self.dies.len() { 0 } else { self.head + 1 };
        self.len -= 1;
        Some(die)
    }
}

/// One channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Channel {
    /// When the transfer in progress ends.
    pub free_at: SimTime,
    /// Whether an event at `free_at` is scheduled.
    pub wake: bool,
    /// Commands without data towards the die, and all else.
    commands: Line,
    data: Line,
}

impl Channel {
    /// A free channel of `dies` dies; a die asks for it at most once at a time.
    pub fn new(dies: u32) -> Self {
        Channel { free_at: SimTime::ZERO, wake: false, commands: Line::new(dies), data: Line::new(dies) }
    }

    /// Whether somebody waits.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.commands.len + self.data.len > 0
    }

    /// Puts a die at the end of the line for a command or for data.
    #[inline]
    pub fn wait(&mut self, die: u32, command: bool) {
        if command { self.commands.push(die) } else { self.data.push(die) }
    }

    /// Takes the die that goes next.
    #[inline]
    pub fn next(&mut self) -> Option<u32> {
        self.commands.pop().or_else(|| self.data.pop())
    }
}
