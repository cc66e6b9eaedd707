//! The command table: every accepted command from submission until its completion is taken.

use crate::flash::op::OpTimes;
use crate::restore::{MOST, Verdict, alike, distinct, ensure, keep_room, within};
use crate::signals::{Breakdown, Command, Completion, Part, Status};
use crate::units::{CommandId, SimTime};
use serde::{Deserialize, Serialize};

/// A command under way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub command: Command,
    pub queue: u16,
    pub status: Status,
    /// Next logical unit to work on, and the end.
    pub cursor: u32,
    pub end: u32,
    /// Flash operations or slots still awaited.
    pub outstanding: u32,
    /// The flush this command waits for.
    pub flush: u32,
    /// Data from DRAM is there from this time on.
    pub ready_at: SimTime,
    /// Time is booked up to here.
    pub mark: SimTime,
    pub submitted: SimTime,
    /// Its answer. Where its time goes is booked there as it passes; the rest is filled in at the end.
    pub answer: Completion,
    next: CommandId,
}

impl Entry {
    /// Books the time since the last mark.
    #[inline]
    pub fn book(&mut self, part: Part, until: SimTime) {
        self.answer.breakdown.add(part, until.since(self.mark));
        self.mark = self.mark.max(until);
    }

    /// Books the flash operation that ended last, at `now`.
    #[inline]
    pub fn book_operation(&mut self, queued: SimTime, times: &OpTimes, now: SimTime) {
        // An operation queued before the mark (a write that joined data already under way) waited at its die then.
        let before = self.mark.since(queued);
        self.book(Part::Dispatch, queued.max(self.mark));
        if before == 0 {
            self.book_times(times)
        } else {
            self.book_times(&later(*times, before))
        }
        self.mark = now;
    }

    #[inline]
    fn book_times(&mut self, times: &OpTimes) {
        let breakdown = &mut self.answer.breakdown;
        breakdown.add(Part::DieWait, times.die_wait);
        breakdown.add(Part::ChannelWait, times.channel_wait);
        breakdown.add(Part::Array, times.array);
        breakdown.add(Part::Transfer, times.transfer);
        breakdown.add(Part::Decode, times.decode);
        breakdown.add(Part::Suspended, times.suspended);
    }
}

/// Times of a program without the first `skip` nanoseconds of them: it waits, takes data in, and works, with its stops
/// at the end where it has any.
fn later(mut times: OpTimes, mut skip: u64) -> OpTimes {
    let OpTimes { die_wait, channel_wait, transfer, array, suspended, decode } = &mut times;
    for ns in [die_wait, channel_wait, transfer, array, suspended, decode] {
        let skipped = skip.min(*ns);
        (*ns, skip) = (*ns - skipped, skip - skipped);
    }
    times
}

/// A first-in first-out list of commands, linked through the table.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct CommandList {
    head: CommandId,
    tail: CommandId,
}

impl CommandList {
    pub const EMPTY: CommandList = CommandList { head: CommandId::NONE, tail: CommandId::NONE };

    pub fn is_empty(&self) -> bool {
        !self.head.is_some()
    }

    /// Whether that command is the last of it.
    pub fn ends_with(&self, last: Option<u32>) -> bool {
        self.tail == last.map_or(CommandId::NONE, CommandId)
    }

    /// The command that has waited longest.
    pub fn front(&self) -> Option<CommandId> {
        self.head.is_some().then_some(self.head)
    }

    #[inline]
    pub fn push(&mut self, table: &mut CommandTable, id: CommandId) {
        table.get_mut(id).next = CommandId::NONE;
        if self.tail.is_some() {
            table.get_mut(self.tail).next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
    }

    /// Puts all of `rest` behind this list.
    pub fn append(&mut self, table: &mut CommandTable, rest: CommandList) {
        if !rest.head.is_some() {
            return;
        }
        if self.tail.is_some() {
            table.get_mut(self.tail).next = rest.head;
        } else {
            self.head = rest.head;
        }
        self.tail = rest.tail;
    }

    #[inline]
    pub fn pop(&mut self, table: &CommandTable) -> Option<CommandId> {
        let id = self.front()?;
        self.head = table.get(id).next;
        if !self.head.is_some() {
            self.tail = CommandId::NONE;
        }
        Some(id)
    }
}

/// All commands of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommandTable {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

impl CommandTable {
    pub fn new(capacity: usize) -> Self {
        let entry = Entry {
            command: Command::default(),
            queue: 0,
            status: Status::Ok,
            cursor: 0,
            end: 0,
            outstanding: 0,
            flush: 0,
            ready_at: SimTime::ZERO,
            mark: SimTime::ZERO,
            submitted: SimTime::ZERO,
            answer: Completion::default(),
            next: CommandId::NONE,
        };
        CommandTable { entries: vec![entry; capacity], free: (0..capacity as u32).rev().collect() }
    }

    /// Gives the table the room of a fresh one; the numbers that are free.
    pub fn restored_room(&mut self, fresh: &CommandTable) -> Result<Vec<u32>, String> {
        alike("commands", &self.entries, &fresh.entries)?;
        keep_room(&mut self.free, &fresh.free);
        Ok(self.free.clone())
    }

    /// Whether each command is under way (slow).
    pub fn used(&self) -> Vec<bool> {
        let mut used = vec![true; self.entries.len()];
        self.free.iter().for_each(|&id| used[id as usize] = false);
        used
    }

    /// Commands under way of a queue (slow).
    pub fn of_queue(&self, queue: usize) -> usize {
        let entries = self.entries.iter().zip(self.used());
        entries.filter(|(entry, used)| *used && usize::from(entry.queue) == queue).count()
    }

    /// Whether all commands under way work on units below `units` (slow).
    pub fn reach(&self, units: u64) -> bool {
        let entries = self.entries.iter().zip(self.used());
        entries.filter(|(_, used)| *used).all(|(entry, _)| u64::from(entry.end) <= units)
    }

    /// The next on the list that a command is on.
    pub fn after(&self, id: CommandId) -> Option<CommandId> {
        Some(self.get(id).next).filter(|next| next.is_some())
    }

    /// Commands there is room for.
    pub fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// Commands under way.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    #[inline]
    pub fn get(&self, id: CommandId) -> &Entry {
        &self.entries[id.index()]
    }

    #[inline]
    pub fn get_mut(&mut self, id: CommandId) -> &mut Entry {
        &mut self.entries[id.index()]
    }

    /// Enters a command; the queues' depths see to it that there is room.
    #[inline]
    pub fn add(&mut self, command: &Command, queue: u16, now: SimTime) -> Option<CommandId> {
        let id = CommandId(self.free.pop()?);
        let entry = self.get_mut(id);
        (entry.command, entry.queue, entry.status) = (*command, queue, Status::Ok);
        (entry.outstanding, entry.ready_at, entry.submitted) = (0, now, now);
        (entry.mark, entry.answer.breakdown) = (command.arrival.min(now), Breakdown::default());
        entry.book(Part::HostQueue, now);
        Some(id)
    }

    /// Removes a command and says how it ended; that can be read until the next is added.
    #[inline]
    pub fn take(&mut self, id: CommandId) -> (u16, &Completion) {
        self.free.push(id.0);
        let entry = self.get_mut(id);
        let Command { tag, op, lba, sectors, arrival, hints, .. } = entry.command;
        let answer = &mut entry.answer;
        (answer.tag, answer.op, answer.status) = (tag, op, entry.status);
        answer.priority = hints.class();
        (answer.lba, answer.sectors) = (lba, sectors);
        answer.arrival = arrival.min(entry.submitted);
        (answer.submitted, answer.completed) = (entry.submitted, entry.mark);
        (entry.queue, answer)
    }
}

impl CommandTable {
    pub fn restored(&mut self, fresh: &CommandTable, queues: usize, now: SimTime) -> Verdict {
        let free = self.restored_room(fresh)?;
        distinct("free commands", free, self.capacity())?;
        let used = self.used();
        for number in (0..self.capacity()).filter(|&number| used[number]) {
            let entry = self.get(CommandId(number as u32));
            within("queue of a command", [u32::from(entry.queue)], queues)?;
            ensure(entry.cursor <= entry.end, "units that a command works on")?;
            let times = [entry.submitted.0, entry.command.arrival.0];
            ensure(times.iter().all(|&at| at <= now.0.max(MOST)), "times of a command")?;
            let later = [entry.ready_at.0, entry.mark.0].into_iter().chain(entry.answer.breakdown.ns);
            ensure(later.max() < Some(MOST), "times of a command")?;
        }
        Ok(())
    }

    /// Numbers of commands under way that are linked from a list's head on.
    pub fn walk(&self, list: &CommandList) -> Result<Vec<u32>, String> {
        let (mut ids, mut at) = (Vec::new(), list.front());
        while let Some(id) = at {
            within("commands that wait", [id.0], self.capacity())?;
            ensure(ids.len() < self.capacity(), "a list of commands without end")?;
            ids.push(id.0);
            at = self.after(id);
        }
        ensure(list.ends_with(ids.last().copied()), "the end of a list of commands")?;
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits 10 and 5, takes data in for 20, works for 100, of which it stood still for 30 more.
    #[test]
    fn what_came_first_is_cut_first() {
        let times =
            OpTimes { die_wait: 10, channel_wait: 5, transfer: 20, array: 100, suspended: 30, decode: 0 };
        for (skip, left) in [
            (0, times),
            (12, OpTimes { die_wait: 0, channel_wait: 3, ..times }),
            (30, OpTimes { die_wait: 0, channel_wait: 0, transfer: 5, ..times }),
            (36, OpTimes { die_wait: 0, channel_wait: 0, transfer: 0, array: 99, ..times }),
            (200, OpTimes::default()),
        ] {
            assert_eq!(later(times, skip), left, "without {skip}");
        }
    }
}
