//! A die: its queues, and the two places an operation can be in: on the interface, or in the array.

use super::list::OpList;
use super::planes::Planes;
use crate::flash::op::{Cause, LINES, OTHERS, Op, OpPool, Turn};
use crate::sections::{PriorityOrder, ReclaimOrder, Scheduling, SchedulingOrder};
use crate::signals::{PRIORITIES, Priority};
use crate::units::{OpId, SimTime};
use core::slice::from_ref;
use serde::{Deserialize, Serialize};

/// What the interface of a die is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Interface {
    /// Nothing.
    Idle,
    /// Waiting for the channel, to take command and data in.
    WaitIn,
    /// Taking command and data in.
    In,
    /// In, and waiting for the array (cache operations).
    Staged,
    /// Waiting for the channel, to send data out.
    WaitOut,
    /// Sending data out.
    Out,
}

/// Bits of a die's number in an event, below those of its generation.
const NUMBER_BITS: u32 = crate::events::ID_BITS - u8::BITS;

/// One die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Die {
    /// Its channel.
    pub channel: u32,
    /// Leader of the group on the interface, if any.
    pub io: OpId,
    /// What the interface does.
    pub interface: Interface,
    /// Member of the group whose data is going out.
    pub sending: OpId,
    /// Leader of the group in the array, if any.
    pub array: OpId,
    /// Whether the array is done and its data waits for the interface.
    pub array_done: bool,
    /// Counts what was taken out of the array before its end: an end that was announced before is void.
    pub generation: u8,
    /// When it began with what it has to do, and nanoseconds that it had something to do before.
    pub busy_since: SimTime,
    pub busy_ns: u64,
    /// When its array began to work, and nanoseconds that it worked before.
    pub array_since: SimTime,
    pub array_ns: u64,
    /// Reads that go first, by priority, and behind them everything else.
    pub lines: [OpList; LINES],
    /// Operations in all of them.
    pub waiting: u32,
    /// Of these, reads that are not medium.
    sorted: u32,
    /// Reads being decoded that will come back for another attempt: until then nothing may be erased or locked.
    pub returning: u32,
    /// Reads that have passed the head of `others`.
    bypassed: u32,
    /// Reads that had passed the last one taken from there.
    had_bypassed: u32,
    /// Reads since an operation of `others`, younger and older than its head.
    in_a_row: u32,
    /// Operations of `others` that are due.
    due: u32,
    /// Reads taken in a row while one of a lower priority waited.
    pub above_lower: u32,
    /// When what is in the array ends or has been stopped: an event at another time is void.
    pub ends: SimTime,
    /// When a host read of each priority left it last.
    pub left: [SimTime; PRIORITIES],
    /// What suspending needs.
    pub stops: Stops,
    /// Reads in planes that read on their own.
    pub planes: Planes,
    /// What is no read for the host goes before those that are.
    pub pressed: bool,
}

/// How far the array has come with an operation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Array time of all of it.
    pub total_ns: u64,
    /// Array time of it before it was suspended last that was not lost.
    pub done_ns: u64,
    /// Array time that it had then: the farthest that it has come.
    pub reached_ns: u64,
    /// Array time until which it is not stopped.
    pub floor_ns: u64,
    /// When the array began with it, or will go on with it.
    pub since: SimTime,
}

impl Progress {
    const NONE: Progress =
        Progress { total_ns: 0, done_ns: 0, reached_ns: 0, floor_ns: 0, since: SimTime::ZERO };

    /// Of an operation that the array begins with.
    pub fn begun(since: SimTime, total_ns: u64) -> Self {
        Progress { total_ns, since, ..Self::NONE }
    }

    /// Array time of it until `now`.
    pub fn elapsed(&self, now: SimTime) -> u64 {
        (self.done_ns + now.since(self.since)).min(self.total_ns)
    }

    /// When it will have had so much array time.
    pub fn at(&self, elapsed_ns: u64) -> SimTime {
        SimTime(self.since.0 + elapsed_ns.saturating_sub(self.done_ns))
    }

    /// It is suspended with so much array time, of which so much is not lost.
    pub fn suspend(&mut self, elapsed_ns: u64, kept_ns: u64) {
        (self.reached_ns, self.done_ns) = (elapsed_ns, kept_ns);
    }

    /// It goes on from then on, and is not stopped before it has come farther than it had by so much.
    pub fn resume(&mut self, since: SimTime, min_run_ns: u64) {
        (self.since, self.floor_ns) = (since, self.reached_ns + min_run_ns);
    }

    /// How far cells show that it has come, and since when that grows.
    pub fn shown(&self) -> (u64, SimTime) {
        (self.reached_ns, self.at(self.reached_ns))
    }
}

/// That the array is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stop {
    /// When; it takes some time from then on.
    pub at: SimTime,
    /// For a read of this priority.
    pub by: Priority,
    /// Not at the end of a step.
    pub at_once: bool,
}

/// What suspending needs: nothing of it changes where nothing is suspended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Stops {
    /// Leader of the group that was taken out of the array and will go on.
    pub suspended: OpId,
    /// Progress of that group, or of what is in the array if it is no read.
    pub work: Progress,
    /// Progress of the read in the array.
    pub sensing: Progress,
    /// That it is to stop.
    pub stop: Option<Stop>,
    /// Reads since it was suspended.
    pub passed: u32,
    /// How often the erase in the array, or the suspended one, was stopped at once, and in all.
    pub at_once: [u32; PRIORITIES],
    pub count: u32,
    /// Host reads that came between the beginnings of the erase before and of that one; and since.
    pub shares: [u64; PRIORITIES],
    pub came: [u64; PRIORITIES],
    /// When the last transfer to or from it ended.
    pub gate: SimTime,
    /// When a read in its array was stopped last.
    pub read_stopped: SimTime,
    /// How long a high read that is alone may wait from then on, if what is there was not stopped before.
    pub patience_ns: u64,
}

impl Stops {
    /// Whether nothing of it was ever used but what is kept for all dies.
    pub fn is_idle(&self) -> bool {
        !self.suspended.is_some() && self.stop.is_none()
    }

    const NONE: Stops = Stops {
        suspended: OpId::NONE,
        work: Progress::NONE,
        sensing: Progress::NONE,
        stop: None,
        passed: 0,
        at_once: [0; PRIORITIES],
        count: 0,
        shares: [0; PRIORITIES],
        came: [0; PRIORITIES],
        gate: SimTime::ZERO,
        read_stopped: SimTime::ZERO,
        patience_ns: 0,
    };
}

/// Whether a line is of reads that are not medium.
#[inline(always)]
pub(super) fn is_sorted(line: usize) -> bool {
    line != OTHERS && line != Priority::Medium as usize
}

/// How many of a higher priority go in a row before one of a lower (assumed).
pub(super) const IN_A_ROW: u32 = 16;

/// What decides between reads and others.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Precedence {
    /// The lines of reads for the host, by their priority: one, or all, or that of everything else.
    pub host: [u8; PRIORITIES],
    /// The line of reads of moves that can wait.
    pub moves: u8,
    /// Reads that may pass an older other operation.
    pub bypass_limit: u32,
    /// What becomes of that while moves are due.
    pub reclaim: ReclaimOrder,
    /// Reads that may go between two operations then, older ones too.
    pub due_bypass_limit: u32,
    /// Whether moves are read as low reads are, and high reads go before what is due.
    pub is_priority_aware: bool,
}

impl Precedence {
    /// As configured; `is_priority_aware` is what becomes of work that is under way.
    pub fn new(by: &Scheduling, is_priority_aware: bool) -> Self {
        let moves = if is_priority_aware { Priority::Low as usize } else { OTHERS } as u8;
        let host = match (by.order, by.priorities) {
            (SchedulingOrder::ReadFirst, PriorityOrder::ByClass) => Priority::ALL.map(|class| class as u8),
            (SchedulingOrder::ReadFirst, _) => [Priority::Medium as u8; PRIORITIES],
            _ => [moves; PRIORITIES],
        };
        Precedence {
            host,
            moves,
            bypass_limit: by.read_bypass_limit,
            reclaim: by.reclaim,
            due_bypass_limit: by.due_bypass_limit,
            is_priority_aware,
        }
    }

    /// The line that an operation stands in.
    #[inline(always)]
    pub fn line_of(&self, op: &Op) -> u8 {
        if !op.kind.reads() {
            OTHERS as u8
        } else if op.cause.is_awaited() {
            self.host[op.priority as usize]
        } else if op.critical {
            OTHERS as u8
        } else {
            self.moves
        }
    }

    /// The line that a read stands in once what a pressed die owes has passed it.
    pub fn line_of_passed(&self, op: &Op) -> u8 {
        self.host[op.priority as usize]
    }

    /// Whether an operation stands in a line of its own.
    pub fn is_own_line(&self, op: &Op) -> bool {
        let was_passed = op.cause == Cause::ReadAhead && self.line_of_passed(op) == op.line;
        self.line_of(op) == op.line || was_passed
    }
}

impl Die {
    /// On a channel, with so many planes that read on their own (0: they work together).
    pub fn new(channel: u32, planes: u32) -> Self {
        Die {
            channel,
            io: OpId::NONE,
            interface: Interface::Idle,
            sending: OpId::NONE,
            array: OpId::NONE,
            array_done: false,
            generation: 0,
            busy_since: SimTime::ZERO,
            busy_ns: 0,
            array_since: SimTime::ZERO,
            array_ns: 0,
            lines: [OpList::EMPTY; LINES],
            waiting: 0,
            sorted: 0,
            returning: 0,
            bypassed: 0,
            had_bypassed: 0,
            in_a_row: 0,
            due: 0,
            above_lower: 0,
            ends: SimTime::ZERO,
            left: [SimTime::ZERO; PRIORITIES],
            stops: Stops::NONE,
            planes: Planes::new(planes),
            pressed: false,
        }
    }

    /// Id of the event that ends what is now in the array of the die of this number.
    #[inline]
    pub fn end_of_array(&self, number: u32) -> u32 {
        u32::from(self.generation) << NUMBER_BITS | number
    }

    /// Die and generation of such an event.
    #[inline]
    pub fn of_event(id: u32) -> (u32, u8) {
        (id & ((1 << NUMBER_BITS) - 1), (id >> NUMBER_BITS) as u8)
    }

    /// Whether something that waits is due.
    pub fn has_due(&self) -> bool {
        self.due > 0
    }

    /// Whether so many reads that wait are not medium.
    pub fn sorted_is(&self, count: usize) -> bool {
        self.sorted as usize == count
    }

    /// Whether so many operations that wait are due.
    pub fn due_is(&self, count: usize) -> bool {
        self.due as usize == count
    }

    /// Whether it has nothing to do: an operation given to it now need not wait in line.
    #[inline]
    pub fn is_idle(&self) -> bool {
        !self.is_busy() && self.waiting == 0 && self.returning == 0
    }

    /// Whether an operation is on its interface, in its array or in one of its planes.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.interface != Interface::Idle || self.array.is_some() || self.planes.held != 0
    }

    /// Nanoseconds until `now` that it had something to do.
    pub fn busy_until(&self, now: SimTime) -> u64 {
        self.busy_ns + if self.is_busy() { now.since(self.busy_since) } else { 0 }
    }

    /// Nanoseconds of these that its array worked, which what is stopped does until it stands, and what goes on as soon
    /// as it is told to.
    pub fn worked_until(&self, now: SimTime) -> u64 {
        let works = self.array.is_some() && !self.array_done || self.planes.sensing != 0;
        self.array_ns + if works { now.since(self.array_since) } else { 0 }
    }

    /// The oldest of the reads of highest priority.
    #[inline]
    pub fn first_read(&self) -> OpId {
        if self.sorted == 0 { self.lines[Priority::Medium as usize].head } else { self.first_of_several() }
    }

    #[cold]
    fn first_of_several(&self) -> OpId {
        let reads = self.lines[..OTHERS].iter().rev().map(|line| line.head);
        reads.into_iter().find(|head| head.is_some()).unwrap_or(OpId::NONE)
    }

    /// The priority of reads that wait and go before one that comes back, if there are any.
    #[inline]
    pub fn more_urgent_than(&self, op: &Op) -> Option<Priority> {
        let line = op.line();
        let mut above = Priority::ALL.into_iter().rev().take(OTHERS.saturating_sub(line + 1));
        above.find(|&class| self.lines[class as usize].head.is_some())
    }

    /// Whether a read in line is older than an operation.
    #[inline]
    pub fn has_older_read(&self, pool: &OpPool, sequence: u64) -> bool {
        let reads = if self.sorted == 0 {
            from_ref(&self.lines[Priority::Medium as usize])
        } else {
            &self.lines[..OTHERS]
        };
        reads.iter().any(|line| {
            let mut at = line.head;
            while at.is_some() {
                let op = pool.get(at);
                if op.sequence < sequence {
                    return true;
                }
                at = op.next;
            }
            false
        })
    }

    /// Puts an operation in line; one that comes back goes before all others of its line.
    #[inline]
    pub fn queue(&mut self, pool: &mut OpPool, id: OpId, again: bool) {
        let op = pool.get(id);
        let line = op.line();
        self.due += u32::from(op.due);
        self.waiting += 1;
        self.sorted += u32::from(is_sorted(line));
        let line = &mut self.lines[line];
        if again { line.push_front(pool, id) } else { line.push(pool, id) }
    }

    /// Takes an operation out of a line in which it stands behind another, or first if behind none.
    pub fn take_out(&mut self, pool: &mut OpPool, line: usize, before: OpId, id: OpId) {
        self.due -= u32::from(pool.get(id).due);
        self.waiting -= 1;
        self.sorted -= u32::from(is_sorted(line));
        self.lines[line].take_out(pool, before, id);
    }

    /// Takes the head of a line.
    #[inline]
    pub fn pop(&mut self, pool: &OpPool, line: usize) -> OpId {
        let id = self.lines[line].pop(pool);
        self.waiting -= 1;
        self.sorted -= u32::from(is_sorted(line));
        self.due -= u32::from(pool.get(id).due);
        id
    }

    /// Takes the read to do next: the oldest of the highest priority, but now and then one of the lowest.
    #[inline]
    pub fn pop_read(&mut self, pool: &mut OpPool) -> OpId {
        if self.sorted > 0 {
            return self.pop_of_several(pool);
        }
        self.above_lower = 0;
        self.pop(pool, Priority::Medium as usize)
    }

    /// Takes the read to do next, where reads that are not medium may wait.
    #[cold]
    #[inline(never)]
    fn pop_of_several(&mut self, pool: &mut OpPool) -> OpId {
        let waits = |line: usize| self.lines[line].head.is_some();
        let highest = (0..OTHERS).rev().find(|&line| waits(line)).unwrap_or_default();
        let lowest = (0..highest).find(|&line| waits(line)).unwrap_or(highest);
        if lowest == highest {
            self.above_lower = 0;
            return self.pop(pool, highest);
        }
        let line = self.fair_line(lowest, highest);
        let id = self.pop(pool, line);
        if line == lowest {
            pool.get_mut(id).turn = Turn::Due;
        }
        id
    }

    /// Of two lines in which reads wait the one whose turn it is.
    fn fair_line(&mut self, lowest: usize, highest: usize) -> usize {
        if self.above_lower >= IN_A_ROW {
            self.above_lower = 0;
            return lowest;
        }
        self.above_lower += 1;
        highest
    }

    /// Counts an operation that goes to an idle die without waiting in line, as [`Die::take_next`] would.
    #[inline]
    pub fn pass_by(&mut self, op: &Op) {
        if op.line() != OTHERS {
            self.in_a_row = self.in_a_row.saturating_add(1);
        } else {
            self.had_bypassed = self.bypassed;
            (self.bypassed, self.in_a_row) = (0, 0);
        }
    }

    /// Takes the operation to do next: a read, unless as many as the limit have already passed an older other
    /// operation; then that one. Programs keep their order, so what stands before a due operation is as urgent as it.
    #[inline(always)]
    pub fn take_next(&mut self, pool: &mut OpPool, by: &Precedence) -> OpId {
        if self.waiting == 0 { OpId::NONE } else { self.choose(pool, by) }
    }

    /// Takes the operation to do next, where something waits.
    fn choose(&mut self, pool: &mut OpPool, by: &Precedence) -> OpId {
        let (read, other) = (self.first_read(), self.first_other(pool));
        if !other.is_some() {
            return if read.is_some() { self.pop_read_in_a_row(pool) } else { OpId::NONE };
        }
        if self.pressed {
            return self.choose_pressed(pool, by);
        }
        if !read.is_some() || !self.goes_first(pool, by, (read, other)) {
            return self.pop_other(pool);
        }
        self.note_passing(pool, (read, other));
        self.pop_read(pool)
    }

    /// The head of what is no read of the host's, unless it ends data that a read may come back to.
    #[inline(always)]
    pub fn first_other(&self, pool: &OpPool) -> OpId {
        let other = self.lines[OTHERS].head;
        let waits = self.returning > 0 && other.is_some() && pool.get(other).kind.ends_data();
        if waits { OpId::NONE } else { other }
    }

    /// Whether a read goes before the head of what is no read of the host's.
    #[inline(always)]
    pub fn goes_first(&self, pool: &OpPool, by: &Precedence, (read, other): (OpId, OpId)) -> bool {
        let op = pool.get(other);
        let read_is_older = pool.get(read).sequence < op.sequence;
        match by.reclaim {
            // An erase or a lock waits for older reads, which may be of its block or page.
            _ if op.kind.ends_data() && self.has_older_read(pool, op.sequence) => true,
            ReclaimOrder::Urgent if self.due > 0 => {
                let is_high = || pool.get(read).line() == OTHERS - 1;
                let may_pass = read_is_older || by.is_priority_aware && is_high();
                may_pass && self.in_a_row < by.due_bypass_limit
            }
            _ => read_is_older || self.bypassed < by.bypass_limit,
        }
    }

    /// Counts a read that goes before the head of what is no read of the host's, if there is one.
    #[inline(always)]
    pub fn note_passing(&mut self, pool: &OpPool, (read, other): (OpId, OpId)) {
        let is_younger = other.is_some() && pool.get(read).sequence >= pool.get(other).sequence;
        self.bypassed += u32::from(is_younger);
        self.in_a_row = self.in_a_row.saturating_add(1);
    }

    /// Takes the read to do next, where nothing else waits.
    #[inline(always)]
    fn pop_read_in_a_row(&mut self, pool: &mut OpPool) -> OpId {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.pop_read(pool)
    }

    /// Takes the head of what is no read of the host's: reads may pass the next one anew.
    #[inline(always)]
    pub fn pop_other(&mut self, pool: &OpPool) -> OpId {
        self.had_bypassed = self.bypassed;
        (self.bypassed, self.in_a_row) = (0, 0);
        self.pop(pool, OTHERS)
    }

    /// Puts the group that waits for the channel back, if reads have come since it was chosen that may pass it; one
    /// more has passed it then. Returns how many operations it was.
    #[cold]
    #[inline(never)]
    pub fn put_back(&mut self, pool: &mut OpPool, by: &Precedence) -> u32 {
        let leader = self.io;
        let op = pool.get(leader);
        let may_pass = self.first_read().is_some()
            && op.line() == OTHERS
            && !op.due
            && !self.pressed
            && self.due == 0
            && self.had_bypassed < by.bypass_limit;
        if self.interface != Interface::WaitIn || self.array.is_some() || !may_pass {
            return 0;
        }
        let count = self.give_back(pool, leader);
        self.bypassed = self.had_bypassed + 1;
        (self.io, self.interface) = (OpId::NONE, Interface::Idle);
        count
    }

    /// Puts a group back at the head of its queue, one by one; returns how many operations it was.
    pub fn give_back(&mut self, pool: &mut OpPool, leader: OpId) -> u32 {
        // The last of the group goes in front first.
        let (mut last, mut id, mut count) = (OpId::NONE, leader, 0);
        while id.is_some() {
            let follower = std::mem::replace(&mut pool.get_mut(id).follower, last);
            (last, id, count) = (id, follower, count + 1);
        }
        while last.is_some() {
            let before = std::mem::replace(&mut pool.get_mut(last).follower, OpId::NONE);
            self.queue(pool, last, true);
            last = before;
        }
        count
    }
}

pub(super) mod pressed;

#[cfg(test)]
mod tests;
