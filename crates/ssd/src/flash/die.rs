//! A die: its queues, and the two places an operation can be in: on the interface, or in the array.

use crate::flash::op::{Op, OpPool, Turn};
use crate::sections::{ReclaimOrder, SchedulingOrder};
use crate::signals::{PRIORITIES, Priority};
use crate::units::{OpId, SimTime};
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

/// A first-in first-out list of operations, linked through the pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OpList {
    pub head: OpId,
    tail: OpId,
}

impl OpList {
    pub const EMPTY: OpList = OpList { head: OpId::NONE, tail: OpId::NONE };

    #[inline]
    pub fn push(&mut self, pool: &mut OpPool, id: OpId) {
        pool.get_mut(id).next = OpId::NONE;
        if self.tail.is_some() {
            pool.get_mut(self.tail).next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
    }

    /// Whether that is the last of it.
    pub fn ends_with(&self, last: Option<&OpId>) -> bool {
        self.tail == last.copied().unwrap_or(OpId::NONE)
    }

    /// Puts an operation back where the next is taken.
    pub fn push_front(&mut self, pool: &mut OpPool, id: OpId) {
        pool.get_mut(id).next = self.head;
        self.head = id;
        if !self.tail.is_some() {
            self.tail = id;
        }
    }

    /// Takes an operation out that stands behind another, or first if behind none.
    fn take_out(&mut self, pool: &mut OpPool, before: OpId, id: OpId) {
        let next = pool.get(id).next;
        if before.is_some() {
            pool.get_mut(before).next = next;
        } else {
            self.head = next;
        }
        if self.tail == id {
            self.tail = before;
        }
    }

    #[inline]
    pub fn pop(&mut self, pool: &OpPool) -> OpId {
        let id = self.head;
        self.head = pool.get(id).next;
        if !self.head.is_some() {
            self.tail = OpId::NONE;
        }
        id
    }
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
    /// Reads that go first, by priority, and behind them everything else.
    pub lines: [OpList; LINES],
    /// Operations in all of them.
    pub waiting: u32,
    /// Reads being decoded that will come back for another attempt: until then nothing may be erased.
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
}

/// How far the array has come with an operation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Array time of all of it.
    pub total_ns: u64,
    /// Array time of it before it was suspended last.
    pub done_ns: u64,
    /// Array time until which it is not stopped.
    pub floor_ns: u64,
    /// When the array began with it, or will go on with it.
    pub since: SimTime,
}

impl Progress {
    /// Array time of it until `now`.
    pub fn elapsed(&self, now: SimTime) -> u64 {
        (self.done_ns + now.since(self.since)).min(self.total_ns)
    }

    /// When it will have had so much array time.
    pub fn at(&self, elapsed_ns: u64) -> SimTime {
        SimTime(self.since.0 + elapsed_ns.saturating_sub(self.done_ns))
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
        work: Progress { total_ns: 0, done_ns: 0, floor_ns: 0, since: SimTime::ZERO },
        sensing: Progress { total_ns: 0, done_ns: 0, floor_ns: 0, since: SimTime::ZERO },
        stop: None,
        passed: 0,
        at_once: [0; PRIORITIES],
        count: 0,
        shares: [0; PRIORITIES],
        came: [0; PRIORITIES],
        gate: SimTime::ZERO,
        patience_ns: 0,
    };
}

/// Lines of a die: one for each priority of reads, one for all else.
pub(super) const LINES: usize = PRIORITIES + 1;
/// The line of what is no read of the host's.
pub(super) const OTHERS: usize = PRIORITIES;

/// How many of a higher priority go in a row before one of a lower (assumed).
pub(super) const IN_A_ROW: u32 = 16;

/// What decides between reads and others.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Precedence {
    /// Which goes first at all.
    pub order: SchedulingOrder,
    /// Reads that may pass an older other operation.
    pub bypass_limit: u32,
    /// What becomes of that while moves are due.
    pub reclaim: ReclaimOrder,
    /// Reads that may go between two operations then, older ones too.
    pub due_bypass_limit: u32,
    /// Whether reads are told apart by their priority.
    pub by_priority: bool,
    /// Whether moves are read as low reads are, and high reads go before what is due.
    pub is_priority_aware: bool,
}

impl Die {
    pub fn new(channel: u32) -> Self {
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
            lines: [OpList::EMPTY; LINES],
            waiting: 0,
            returning: 0,
            bypassed: 0,
            had_bypassed: 0,
            in_a_row: 0,
            due: 0,
            above_lower: 0,
            ends: SimTime::ZERO,
            left: [SimTime::ZERO; PRIORITIES],
            stops: Stops::NONE,
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

    /// Whether so many operations that wait are due.
    pub fn due_is(&self, count: usize) -> bool {
        self.due as usize == count
    }

    /// Whether it has nothing to do: an operation given to it now need not wait in line.
    #[inline]
    pub fn is_idle(&self) -> bool {
        !self.is_busy() && self.waiting == 0 && self.returning == 0
    }

    /// Whether an operation is on its interface or in its array.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.interface != Interface::Idle || self.array.is_some()
    }

    /// The line that an operation stands in.
    #[inline]
    pub fn line_of(by: Precedence, op: &Op) -> usize {
        if !(by.order == SchedulingOrder::ReadFirst && op.kind.reads() && op.cause.is_for_host()) {
            let is_low = by.is_priority_aware && op.kind.reads() && !op.critical;
            return if is_low { Priority::Low as usize } else { OTHERS };
        }
        (if by.by_priority { op.priority } else { Priority::Medium }) as usize
    }

    /// The oldest of the reads of highest priority.
    #[inline]
    pub fn first_read(&self) -> OpId {
        let [low, medium, high, _] = self.lines.map(|line| line.head);
        if high.is_some() {
            high
        } else if medium.is_some() {
            medium
        } else {
            low
        }
    }

    /// The priority of reads that wait and go before one that comes back, if there are any.
    #[inline]
    pub fn more_urgent_than(&self, by: Precedence, op: &Op) -> Option<Priority> {
        let line = Self::line_of(by, op);
        let mut above = Priority::ALL.into_iter().rev().take(OTHERS.saturating_sub(line + 1));
        above.find(|&class| self.lines[class as usize].head.is_some())
    }

    /// Whether a read in line is older than an operation.
    pub fn has_older_read(&self, pool: &OpPool, sequence: u64) -> bool {
        self.lines[..OTHERS].iter().any(|line| {
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
    pub fn queue(&mut self, pool: &mut OpPool, by: Precedence, id: OpId, again: bool) {
        let op = pool.get(id);
        let line = Self::line_of(by, op);
        self.due += u32::from(op.due);
        self.waiting += 1;
        let line = &mut self.lines[line];
        if again { line.push_front(pool, id) } else { line.push(pool, id) }
    }

    /// Takes an operation out of a line in which it stands behind another, or first if behind none.
    pub fn take_out(&mut self, pool: &mut OpPool, line: usize, before: OpId, id: OpId) {
        self.due -= u32::from(pool.get(id).due);
        self.waiting -= 1;
        self.lines[line].take_out(pool, before, id);
    }

    /// Takes the head of a line.
    #[inline]
    pub fn pop(&mut self, pool: &OpPool, line: usize) -> OpId {
        let id = self.lines[line].pop(pool);
        self.waiting -= 1;
        self.due -= u32::from(pool.get(id).due);
        id
    }

    /// Takes the read to do next: the oldest of the highest priority, but now and then one of the lowest.
    #[inline]
    pub fn pop_read(&mut self, pool: &mut OpPool) -> OpId {
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
    #[cold]
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
    pub fn pass_by(&mut self, by: Precedence, op: &Op) {
        if Self::line_of(by, op) != OTHERS {
            self.in_a_row = self.in_a_row.saturating_add(1);
        } else {
            self.had_bypassed = self.bypassed;
            (self.bypassed, self.in_a_row) = (0, 0);
        }
    }

    /// Takes the operation to do next: a read, unless as many as the limit have already passed an older other
    /// operation; then that one. Programs keep their order, so what stands before a due operation is as urgent as it.
    #[inline]
    pub fn take_next(&mut self, pool: &mut OpPool, by: Precedence) -> OpId {
        if self.waiting == 0 {
            return OpId::NONE;
        }
        let (read, mut other) = (self.first_read(), self.lines[OTHERS].head);
        if self.returning > 0 && other.is_some() && pool.get(other).kind.erases() {
            other = OpId::NONE;
        }
        if !other.is_some() {
            if !read.is_some() {
                return OpId::NONE;
            }
            self.in_a_row = self.in_a_row.saturating_add(1);
            return self.pop_read(pool);
        }
        let op = pool.get(other);
        let read_is_older = read.is_some() && pool.get(read).sequence < op.sequence;
        let reads_go_first = match by.reclaim {
            // An erase waits for older reads, which may be of its block.
            _ if op.kind.erases() && self.has_older_read(pool, op.sequence) => true,
            ReclaimOrder::Urgent if self.due > 0 => {
                let may_pass = read_is_older || by.is_priority_aware && self.lines[OTHERS - 1].head == read;
                may_pass && self.in_a_row < by.due_bypass_limit
            }
            _ => read_is_older || self.bypassed < by.bypass_limit,
        };
        if read.is_some() && reads_go_first {
            self.bypassed += u32::from(!read_is_older);
            self.in_a_row = self.in_a_row.saturating_add(1);
            return self.pop_read(pool);
        }
        self.had_bypassed = self.bypassed;
        (self.bypassed, self.in_a_row) = (0, 0);
        self.pop(pool, OTHERS)
    }

    /// Puts the group that waits for the channel back, if reads have come since it was chosen that may pass it; one
    /// more has passed it then. Returns how many operations it was.
    #[cold]
    #[inline(never)]
    pub fn put_back(&mut self, pool: &mut OpPool, by: Precedence) -> u32 {
        let leader = self.io;
        let op = pool.get(leader);
        let may_pass = self.first_read().is_some()
            && Self::line_of(by, op) == OTHERS
            && !op.due
            && self.due == 0
            && self.had_bypassed < by.bypass_limit;
        if self.interface != Interface::WaitIn || self.array.is_some() || !may_pass {
            return 0;
        }
        let count = self.give_back(pool, by, leader);
        self.bypassed = self.had_bypassed + 1;
        (self.io, self.interface) = (OpId::NONE, Interface::Idle);
        count
    }

    /// Puts a group back at the head of its queue, one by one; returns how many operations it was.
    pub fn give_back(&mut self, pool: &mut OpPool, by: Precedence, leader: OpId) -> u32 {
        // The last of the group goes in front first.
        let (mut last, mut id, mut count) = (OpId::NONE, leader, 0);
        while id.is_some() {
            let follower = std::mem::replace(&mut pool.get_mut(id).follower, last);
            (last, id, count) = (id, follower, count + 1);
        }
        while last.is_some() {
            let before = std::mem::replace(&mut pool.get_mut(last).follower, OpId::NONE);
            self.queue(pool, by, last, true);
            last = before;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::op::{Cause, OpKind};
    use crate::nand::PageAddress;
    use crate::units::Ppn;

    /// The order in which a die takes operations: of the host if they are not due.
    fn order(reclaim: ReclaimOrder, due_bypass_limit: u32, queued: &[(OpKind, bool)]) -> Vec<u32> {
        let queued: Vec<_> = queued.iter().map(|&(kind, due)| (kind, due, Priority::Medium)).collect();
        order_by(true, reclaim, due_bypass_limit, &queued)
    }

    /// The same of reads of several priorities.
    fn order_by(
        by_priority: bool,
        reclaim: ReclaimOrder,
        due_bypass_limit: u32,
        queued: &[(OpKind, bool, Priority)],
    ) -> Vec<u32> {
        let order = SchedulingOrder::ReadFirst;
        let is_priority_aware = false;
        let by =
            Precedence { order, bypass_limit: 2, reclaim, due_bypass_limit, by_priority, is_priority_aware };
        let mut pool = OpPool::new(32, 16, 1);
        let mut die = Die::new(0);
        for (tag, &(kind, due, priority)) in (0..).zip(queued) {
            let at = PageAddress { die: 0, plane: 0, block: 0, page: 0 };
            let cause = if due { Cause::ReadReclaim } else { Cause::Host };
            let id = pool.add(Op { tag, due, priority, ..Op::new(kind, cause, Ppn(0), at, 0) }, &[]);
            pool.get_mut(id).sequence = u64::from(tag);
            die.queue(&mut pool, by, id, false);
        }
        let taken = std::iter::from_fn(|| {
            let id = die.take_next(&mut pool, by);
            id.is_some().then(|| pool.get(id).tag)
        });
        taken.collect()
    }

    const READ: (OpKind, bool) = (OpKind::Read, false);
    const PROGRAM: (OpKind, bool) = (OpKind::Program, false);
    const ERASE: (OpKind, bool) = (OpKind::Erase, false);
    const DUE_READ: (OpKind, bool) = (OpKind::Read, true);
    const DUE_PROGRAM: (OpKind, bool) = (OpKind::Program, true);

    #[test]
    fn reads_pass_a_bounded_number_of_times() {
        // The first read is older than the program; two more pass it; then it is its turn.
        for reclaim in [ReclaimOrder::Urgent, ReclaimOrder::Background] {
            let found = order(reclaim, 1, &[READ, PROGRAM, READ, READ, READ, READ]);
            assert_eq!(found, [0, 2, 3, 1, 4, 5], "{reclaim:?}");
        }
    }

    #[test]
    fn what_is_due_goes_between_reads() {
        let queued = [READ, READ, READ, PROGRAM, DUE_READ, DUE_PROGRAM, READ, READ];
        assert_eq!(order(ReclaimOrder::Background, 1, &queued), [0, 1, 2, 6, 7, 3, 4, 5]);
        assert_eq!(order(ReclaimOrder::Urgent, 3, &queued), [0, 1, 2, 3, 4, 5, 6, 7]);
        // The program, first in line, does not keep what is due waiting; nothing that is due waits for younger reads.
        assert_eq!(order(ReclaimOrder::Urgent, 2, &queued), [0, 1, 3, 2, 4, 5, 6, 7]);
        assert_eq!(order(ReclaimOrder::Urgent, 1, &queued), [0, 3, 1, 4, 2, 5, 6, 7]);
        // An erase still waits for older reads, which may be of its block.
        let queued = [READ, READ, ERASE, DUE_READ, READ];
        assert_eq!(order(ReclaimOrder::Urgent, 1, &queued), [0, 1, 2, 3, 4]);
    }

    fn reads(priorities: &[Priority]) -> Vec<(OpKind, bool, Priority)> {
        priorities.iter().map(|&priority| (OpKind::Read, false, priority)).collect()
    }

    #[test]
    fn reads_go_by_priority_and_none_waits_for_ever() {
        use Priority::{High, Low, Medium};
        let queued = reads(&[Low, Medium, High, Medium, High, Low]);
        assert_eq!(order_by(true, ReclaimOrder::Urgent, 1, &queued), [2, 4, 1, 3, 0, 5]);
        assert_eq!(order_by(false, ReclaimOrder::Urgent, 1, &queued), [0, 1, 2, 3, 4, 5]);
        // Sixteen high ones in a row, then a low one, then the rest of the high ones, then the medium one.
        let queued = [reads(&[Low, Medium]), reads(&[High; 20])].concat();
        let expected: Vec<u32> = (2..18).chain([0]).chain(18..22).chain([1]).collect();
        assert_eq!(order_by(true, ReclaimOrder::Urgent, 1, &queued), expected);
    }

    #[test]
    fn an_erase_waits_for_older_reads_of_every_priority() {
        use Priority::{High, Low, Medium};
        let others = |kind| (kind, false, Medium);
        // The low read may be of the block; the high one, which is younger, passes both.
        let queued = [reads(&[Low]), vec![others(OpKind::Erase)], reads(&[High])].concat();
        assert_eq!(order_by(true, ReclaimOrder::Urgent, 1, &queued), [2, 0, 1]);
    }
}
