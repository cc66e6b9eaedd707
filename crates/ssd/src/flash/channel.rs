//! A channel: commands and data of its dies, one at a time, in lines of which one goes before the next; in each, first
//! come first served. As a rule commands without data go before data, and data of urgent reads before other data.
//!
//! A command that waited behind the data of all other dies would leave its array idle meanwhile: the dies would fall
//! into step, all arrays at work and then all data in line. Commands are short, so data hardly waits for them.
//!
//! MQSim does it the other way round (`data_first`): data that was read goes before commands, with data or without; and
//! what a die sends is decided when it gets the channel, not before.

use super::die::{IN_A_ROW, Interface};
use super::op::{self, OpKind};
use super::rows::Data;
use crate::restore::ensure;
use crate::sections::ChannelOrder;
use crate::signals::PRIORITIES;
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
    /// Each goes before the next.
    lines: [Line; LINES],
    /// Dies in all of them.
    waits: u32,
    /// In a row that went before data of a lower priority.
    above_lower: u32,
}

/// Lines before a channel ([`line_of`]).
const LINES: usize = 4;

impl Channel {
    /// A free channel of `dies` dies; a die asks for it at most once at a time.
    pub fn new(dies: u32) -> Self {
        Channel {
            free_at: SimTime::ZERO,
            busy_ns: 0,
            wake: false,
            lines: std::array::from_fn(|_| Line::new(dies)),
            waits: 0,
            above_lower: 0,
        }
    }

    /// Nanoseconds until `now` that it carried something. A transfer was counted when it began.
    pub fn busy_until(&self, now: SimTime) -> u64 {
        self.busy_ns.saturating_sub(self.free_at.since(now))
    }

    /// Whether somebody waits.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.waits > 0
    }

    /// Carries something from `now` on for so long; returns when it ends.
    #[inline]
    pub fn carry(&mut self, now: SimTime, ns: u64) -> SimTime {
        self.busy_ns += ns;
        self.free_at = SimTime(now.0 + ns);
        self.free_at
    }

    /// Puts a die at the end of a line.
    #[inline]
    pub fn wait(&mut self, die: u32, line: usize) {
        self.lines[line % LINES].push(die);
        self.waits += 1;
    }

    /// The dies that wait, of so many.
    pub fn waiting(&self, dies: usize) -> Result<Vec<u32>, String> {
        let all = self.lines.iter().map(|line| line.all(dies).ok_or("the line before a channel"));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        ensure(self.above_lower <= IN_A_ROW, "data in a row before a channel")?;
        let all: Vec<u32> = all.into_iter().flatten().collect();
        ensure(all.len() == self.waits as usize, "dies before a channel")?;
        Ok(all)
    }

    /// Takes the die that goes next.
    #[inline]
    pub fn next(&mut self, order: ChannelOrder) -> Option<u32> {
        match order {
            ChannelOrder::CommandsFirst => self.next_of::<1>(),
            ChannelOrder::DataFirst => self.next_of::<0>(),
        }
    }

    /// Takes the die whose data goes next, where the line of data of high priority is that, and those of medium and low
    /// are behind it.
    #[inline(always)]
    fn next_of<const HIGH: usize>(&mut self) -> Option<u32> {
        self.waits = self.waits.checked_sub(1)?;
        if self.lines[HIGH].len + self.lines[HIGH + 2].len > 0 {
            return self.next_of_several([HIGH, HIGH + 1, HIGH + 2]);
        }
        // Every second is left.
        self.lines[1 - HIGH].pop().or_else(|| self.lines[3 - HIGH].pop())
    }

    /// Takes the die whose data goes next, where data of several priorities may wait: it bears to be passed so often,
    /// and no longer.
    #[cold]
    fn next_of_several(&mut self, data: [usize; PRIORITIES]) -> Option<u32> {
        let first = self.lines.iter().position(|line| line.len > 0)?;
        let is_passed = |line: usize| line > first && self.lines[line].len > 0;
        // Medium is passed by high only, low by all.
        let [high, medium, low] = data;
        let lowest = if is_passed(low) {
            Some(low)
        } else {
            Some(medium).filter(|&it| first == high && is_passed(it))
        };
        let Some(lowest) = lowest else {
            self.above_lower = 0;
            return self.lines[first].pop();
        };
        let is_its_turn = self.above_lower >= IN_A_ROW;
        self.above_lower = if is_its_turn { 0 } else { self.above_lower + 1 };
        self.lines[if is_its_turn { lowest } else { first }].pop()
    }
}

/// How far before the line of data that can wait other data goes, by its line at the die: as [`Channel::next`] has
/// them. What is no read of the host's is medium.
const BEFORE_LAST: [usize; op::LINES] = [0, 1, 2, 1];

/// The line in which a die waits to send something: data of a read that had some line at the die, or a command of some
/// kind. Commands without data go first and programs beside medium data, or all commands last.
#[inline]
pub(super) fn line_of(order: ChannelOrder, waits: Interface, kind: OpKind, at_die: usize) -> usize {
    if waits == Interface::WaitOut {
        let last = if order == ChannelOrder::CommandsFirst { 3 } else { 2 };
        return last - BEFORE_LAST[at_die];
    }
    match order {
        ChannelOrder::CommandsFirst if kind.row().data != Data::In => 0,
        ChannelOrder::CommandsFirst => 2,
        ChannelOrder::DataFirst => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::Priority;

    #[test]
    fn urgent_data_goes_first_and_none_waits_for_ever() {
        const ORDER: ChannelOrder = ChannelOrder::CommandsFirst;
        let out = |priority: Priority| line_of(ORDER, Interface::WaitOut, OpKind::Read, priority as usize);
        let command = |kind| line_of(ORDER, Interface::WaitIn, kind, op::OTHERS);
        let mut channel = Channel::new(40);
        let lines =
            [out(Priority::Low), command(OpKind::Program), out(Priority::Medium), out(Priority::High)];
        let all = lines.into_iter().chain([command(OpKind::Read)]);
        (0..).zip(all).for_each(|(die, line)| channel.wait(die, line));
        let order =
            |channel: &mut Channel| -> Vec<u32> { std::iter::from_fn(|| channel.next(ORDER)).collect() };
        assert_eq!(order(&mut channel), [4, 3, 1, 2, 0], "a command, high data, as they came, low data");
        channel.wait(0, lines[0]);
        (1..20).for_each(|die| channel.wait(die, lines[3]));
        let expected: Vec<u32> = (1..17).chain([0]).chain(17..20).collect();
        assert_eq!(order(&mut channel), expected);
    }
}
