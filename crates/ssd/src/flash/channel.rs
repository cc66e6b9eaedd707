//! A channel: commands and data of its dies, one at a time, in two lines of which one goes first; in each, first come
//! first served. As a rule commands without data go before data.
//!
//! A command that waited behind the data of all other dies would leave its array idle meanwhile: the dies would fall
//! into step, all arrays at work and then all data in line. Commands are short, so data hardly waits for them.
//!
//! MQSim does it the other way round (`data_first`): data that was read goes before commands, with data or without; and
//! what a die sends is decided when it gets the channel, not before.

use super::die::Interface;
use super::op::OpKind;
use super::rows::Data;
use crate::sections::ChannelOrder;
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

    /// All that wait, if the ring has room for `dies`.
    fn all(&self, dies: usize) -> Option<impl Iterator<Item = u32>> {
        let fits = self.dies.len() == dies && self.head < dies.max(1) && self.len <= dies;
        fits.then(|| (self.head..self.head + self.len).map(move |at| self.dies[at % dies]))
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
    /// Nanoseconds of all transfers, that one's included.
    pub busy_ns: u64,
    /// Whether an event at `free_at` is scheduled.
    pub wake: bool,
    /// What goes first: commands without data towards the die, or data that was read; and all else.
    first: Line,
    others: Line,
}

impl Channel {
    /// A free channel of `dies` dies; a die asks for it at most once at a time.
    pub fn new(dies: u32) -> Self {
        Channel {
            free_at: SimTime::ZERO,
            busy_ns: 0,
            wake: false,
            first: Line::new(dies),
            others: Line::new(dies),
        }
    }

    /// Whether somebody waits.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.first.len + self.others.len > 0
    }

    /// Carries something from `now` on for so long; returns when it ends.
    #[inline]
    pub fn carry(&mut self, now: SimTime, ns: u64) -> SimTime {
        self.busy_ns += ns;
        self.free_at = SimTime(now.0 + ns);
        self.free_at
    }

    /// Puts a die at the end of its line.
    #[inline]
    pub fn wait(&mut self, die: u32, goes_first: bool) {
        if goes_first { self.first.push(die) } else { self.others.push(die) }
    }

    /// The dies that wait, of so many.
    pub fn waiting(&self, dies: usize) -> Result<Vec<u32>, String> {
        match (self.first.all(dies), self.others.all(dies)) {
            (Some(first), Some(others)) => Ok(first.chain(others).collect()),
            _ => Err("the line before a channel".to_owned()),
        }
    }

    /// Takes the die that goes next.
    #[inline]
    pub fn next(&mut self) -> Option<u32> {
        self.first.pop().or_else(|| self.others.pop())
    }
}

/// Whether what a die waits to send (data, or a command of some kind) stands in the line that goes first.
#[inline]
pub(super) fn goes_first(order: ChannelOrder, waits: Interface, command: impl FnOnce() -> OpKind) -> bool {
    match order {
        ChannelOrder::CommandsFirst => waits == Interface::WaitIn && command().row().data != Data::In,
        ChannelOrder::DataFirst => waits == Interface::WaitOut,
    }
}
