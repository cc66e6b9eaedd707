//! A die: its queues, and the two places an operation can be in: on the interface, or in the array.

use crate::config::SchedulingOrder;
use crate::flash::op::{Cause, OpKind, OpPool};
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

    /// Puts an operation back where the next is taken.
    pub fn push_front(&mut self, pool: &mut OpPool, id: OpId) {
        pool.get_mut(id).next = self.head;
        self.head = id;
        if !self.tail.is_some() {
            self.tail = id;
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

/// One die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Die {
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
    /// When the array became busy.
    pub busy_since: SimTime,
    /// Host reads (all operations, if first in first out).
    pub reads: OpList,
    /// Everything else.
    pub others: OpList,
    /// Reads being decoded that will come back for another attempt: until then nothing may be erased.
    pub returning: u32,
    /// Reads that have passed the head of `others`.
    bypassed: u32,
}

impl Die {
    pub fn new() -> Self {
        Die {
            io: OpId::NONE,
            interface: Interface::Idle,
            sending: OpId::NONE,
            array: OpId::NONE,
            array_done: false,
            busy_since: SimTime::ZERO,
            reads: OpList::EMPTY,
            others: OpList::EMPTY,
            returning: 0,
            bypassed: 0,
        }
    }

    /// The queue an operation belongs in.
    pub fn queue_for(&mut self, order: SchedulingOrder, kind: OpKind, cause: Cause) -> &mut OpList {
        let is_host_read = kind == OpKind::Read && matches!(cause, Cause::Host | Cause::Merge);
        if order == SchedulingOrder::ReadFirst && is_host_read { &mut self.reads } else { &mut self.others }
    }

    /// Takes the operation to do next: the oldest read, unless `limit` reads have already passed an older other
    /// operation; then that one.
    #[inline]
    pub fn take_next(&mut self, pool: &OpPool, limit: u32) -> OpId {
        let (read, mut other) = (self.reads.head, self.others.head);
        if self.returning > 0 && other.is_some() && pool.get(other).kind == OpKind::Erase {
            other = OpId::NONE;
        }
        if !other.is_some() {
            return if read.is_some() { self.reads.pop(pool) } else { OpId::NONE };
        }
        let read_is_older = read.is_some() && pool.get(read).sequence < pool.get(other).sequence;
        if read.is_some() && (read_is_older || self.bypassed < limit) {
            self.bypassed += u32::from(!read_is_older);
            return self.reads.pop(pool);
        }
        self.bypassed = 0;
        self.others.pop(pool)
    }

    /// The list the operation `id` would be followed from, given its kind: where group members may come from.
    #[inline]
    pub fn list_of(&mut self, from_reads: bool) -> &mut OpList {
        if from_reads { &mut self.reads } else { &mut self.others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::op::Op;
    use crate::nand::PageAddress;
    use crate::units::Ppn;

    #[test]
    fn reads_pass_a_bounded_number_of_times() {
        let mut pool = OpPool::new(16, 0, 1);
        let mut die = Die::new();
        let mut sequence = 0;
        let mut queue = |die: &mut Die, pool: &mut OpPool, kind, tag| {
            let at = PageAddress { die: 0, plane: 0, block: 0, page: 0 };
            let id = pool.add(Op { tag, ..Op::new(kind, Cause::Host, Ppn(0), at, 0) }, &[]);
            sequence += 1;
            pool.get_mut(id).sequence = sequence;
            let mut list = *die.queue_for(SchedulingOrder::ReadFirst, kind, Cause::Host);
            list.push(pool, id);
            *die.queue_for(SchedulingOrder::ReadFirst, kind, Cause::Host) = list;
        };
        queue(&mut die, &mut pool, OpKind::Read, 0);
        queue(&mut die, &mut pool, OpKind::Program, 1);
        for tag in 2..6 {
            queue(&mut die, &mut pool, OpKind::Read, tag);
        }
        let order: Vec<u32> = std::iter::from_fn(|| {
            let id = die.take_next(&pool, 2);
            id.is_some().then(|| pool.get(id).tag)
        })
        .collect();
        // The first read is older than the program; two more pass it; then it is its turn.
        assert_eq!(order, [0, 2, 3, 1, 4, 5]);
    }
}
