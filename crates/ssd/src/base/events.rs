//! The event queue: a wheel of time slots, ordered by time, then by the order in which events were scheduled.
//!
//! Few events are pending, and nearly all are due within a millisecond: each goes into the slot of its quarter of a
//! microsecond, found and emptied again without a comparison in most cases. What is due later waits in a heap until
//! the wheel reaches it.

use crate::restore::{MOST, distinct, ensure};
use crate::timers::Timer;
use crate::units::{NONE, SimTime};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum EventKind {
    /// A command reaches the drive's submission queue (id: command).
    Arrive,
    /// The firmware has fetched a command (id: command).
    Fetched,
    /// A command's write data is in the drive (id: command).
    DataIn,
    /// The host sees a command complete (id: command).
    Complete,
    /// A die's array operation ends (id: die).
    ArrayDone,
    /// A die's command or data-in phase ends; only with cache operations (id: die).
    InDone,
    /// A die's data-out phase ends (id: die).
    OutDone,
    /// A busy channel becomes free while somebody waits (id: channel).
    ChannelFree,
    /// The controller has decoded a page, or has failed to (id: operation).
    Decoded,
    /// A timer rings (id: which, see [`Timer`]).
    Timer,
    /// A plane that reads on its own has its page ready (id: operation).
    Sensed,
}

/// By number; other places are never asked for.
const KINDS: [EventKind; 1 << KIND_BITS] = {
    let mut kinds = [EventKind::Timer; 1 << KIND_BITS];
    kinds[0] = EventKind::Arrive;
    kinds[1] = EventKind::Fetched;
    kinds[2] = EventKind::DataIn;
    kinds[3] = EventKind::Complete;
    kinds[4] = EventKind::ArrayDone;
    kinds[5] = EventKind::InDone;
    kinds[6] = EventKind::OutDone;
    kinds[7] = EventKind::ChannelFree;
    kinds[8] = EventKind::Decoded;
    kinds[10] = EventKind::Sensed;
    kinds
};

const KIND_BITS: u32 = 4;
/// Bits of an event's id.
pub const ID_BITS: u32 = 32 - KIND_BITS;

/// One event as it comes out of the queue.
pub type Event = (SimTime, EventKind, u32);

/// Slots of the wheel: 64 words of 64 bits, so that one more word says which of them are not zero.
const SLOTS: usize = 4_096;
const WORDS: usize = SLOTS / 64;
/// Nanoseconds of a slot, as a power of two: the wheel reaches a millisecond ahead.
const SLOT_BITS: u32 = 8;

/// An event in its slot.
#[derive(Clone, Copy, Debug)]
struct Node {
    at: SimTime,
    /// Its kind, and above it its id.
    what: u32,
    /// The next of its slot, or of the free nodes.
    next: u32,
}

const IDLE: Node = Node { at: SimTime::ZERO, what: 0, next: NONE };

/// A time-ordered queue of events. Equal times come out in the order they went in.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The slot that the wheel stands at, counted from time zero: that of the last event taken.
    base: u64,
    /// Words of the wheel that hold something.
    summary: u64,
    /// Slots that hold something.
    words: [u64; WORDS],
    /// First node of each slot; the nodes of a slot are in order.
    slots: Box<[u32; SLOTS]>,
    nodes: Vec<Node>,
    free: u32,
    /// Slot of the first event beyond the wheel, or the last there is.
    far_from: u64,
    /// Events beyond the wheel: time, order of their coming, kind, id.
    far: BinaryHeap<Reverse<(SimTime, u64, EventKind, u32)>>,
    sequence: u64,
    /// A bit for each timer that is set.
    timers: u8,
}

impl EventQueue {
    /// A queue that does not allocate until more than `capacity` events are pending.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut queue = EventQueue {
            base: 0,
            summary: 0,
            words: [0; WORDS],
            slots: Box::new([NONE; SLOTS]),
            nodes: Vec::with_capacity(capacity),
            free: NONE,
            far_from: u64::MAX,
            far: BinaryHeap::with_capacity(capacity),
            sequence: 0,
            timers: 0,
        };
        (0..capacity).for_each(|_| queue.make_room());
        queue
    }

    /// Makes a node that is free.
    fn make_room(&mut self) {
        self.nodes.push(Node { next: self.free, ..IDLE });
        self.free = self.nodes.len() as u32 - 1;
    }

    /// Schedules an event, not before the last one taken.
    #[inline(always)]
    pub fn push(&mut self, at: SimTime, kind: EventKind, id: u32) {
        let slot = at.0 >> SLOT_BITS;
        debug_assert!(slot >= self.base, "an event before the last one taken");
        debug_assert!(id >> ID_BITS == 0);
        let node = self.free;
        let Some(free) = self.nodes.get_mut(node as usize).filter(|_| slot - self.base < SLOTS as u64) else {
            return self.push_far(at, kind, id);
        };
        let slot = slot as usize % SLOTS;
        let first = std::mem::replace(&mut self.slots[slot], node);
        self.free = free.next;
        *free = Node { at, what: id << KIND_BITS | kind as u32, next: first };
        self.words[slot / 64] |= 1 << (slot % 64);
        self.summary |= 1 << (slot / 64);
        if first != NONE {
            self.sort_in(slot, node, first, at);
        }
    }

    /// Whether a timer is set.
    #[inline]
    pub fn is_set(&self, timer: Timer) -> bool {
        self.timers >> timer as u8 & 1 == 1
    }

    /// Sets a timer, not before the last event taken; if it is set already, it stays as it is.
    pub fn set(&mut self, timer: Timer, at: SimTime) {
        if !self.is_set(timer) {
            self.timers |= 1 << timer as u8;
            self.push(at, EventKind::Timer, timer as u32);
        }
    }

    /// A timer has rung: which.
    pub fn ring(&mut self, id: u32) -> Timer {
        let timer = Timer::ALL[id as usize];
        self.timers &= !(1 << timer as u8);
        timer
    }

    /// Moves the first node of a slot behind all that are not later.
    #[inline(never)]
    fn sort_in(&mut self, slot: usize, node: u32, first: u32, at: SimTime) {
        if self.nodes[first as usize].at > at {
            return;
        }
        self.slots[slot] = first;
        let (mut before, mut next) = (NONE, first);
        while let Some(found) = self.nodes.get(next as usize)
            && found.at <= at
        {
            (before, next) = (next, found.next);
        }
        self.nodes[node as usize].next = next;
        self.nodes[before as usize].next = node;
    }

    /// Schedules an event that is beyond the wheel, or for which there is no room.
    #[cold]
    #[inline(never)]
    fn push_far(&mut self, at: SimTime, kind: EventKind, id: u32) {
        if (at.0 >> SLOT_BITS) - self.base < SLOTS as u64 {
            self.make_room();
            return self.push(at, kind, id);
        }
        self.sequence += 1;
        self.far.push(Reverse((at, self.sequence, kind, id)));
        self.far_from = self.far_from.min(at.0 >> SLOT_BITS);
    }

    /// The wheel has come so far that something beyond it is no longer so.
    #[cold]
    #[inline(never)]
    fn pull(&mut self) {
        while let Some(&Reverse((at, _, kind, id))) = self.far.peek()
            && (at.0 >> SLOT_BITS) - self.base < SLOTS as u64
        {
            self.far.pop();
            self.push(at, kind, id);
        }
        self.far_from = self.far.peek().map_or(u64::MAX, |Reverse((at, ..))| at.0 >> SLOT_BITS);
    }

    /// The first slot of the wheel that holds something, from where it stands.
    #[inline]
    fn first_slot(&self) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let here = self.base as usize % SLOTS;
        let word = here / 64;
        let rest = self.words[word] >> (here % 64);
        if rest != 0 {
            return Some(here + rest.trailing_zeros() as usize);
        }
        // The words after this one; at the end of the round, this one's slots before where the wheel stands.
        let ahead = self.summary.rotate_right(word as u32 + 1).trailing_zeros() as usize;
        let word = (word + 1 + ahead) % WORDS;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// When the next event is due.
    #[inline]
    pub fn next_at(&self) -> Option<SimTime> {
        match self.first_slot() {
            Some(slot) => Some(self.nodes[self.slots[slot % SLOTS] as usize].at),
            None => self.far.peek().map(|Reverse((at, ..))| *at),
        }
    }

    /// Takes the next event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Event> {
        let slot = match self.first_slot() {
            Some(slot) => slot % SLOTS,
            None => self.turn_to_far()?,
        };
        let first = self.slots[slot];
        let node = &mut self.nodes[first as usize];
        let Node { at, what, next } = *node;
        node.next = self.free;
        self.free = first;
        self.slots[slot] = next;
        if next == NONE {
            let word = &mut self.words[slot / 64];
            *word &= !(1 << (slot % 64));
            self.summary &= !(u64::from(*word == 0) << (slot / 64));
        }
        self.base = at.0 >> SLOT_BITS;
        if self.far_from.wrapping_sub(self.base) < SLOTS as u64 {
            self.pull();
        }
        Some((at, KINDS[what as usize % KINDS.len()], what >> KIND_BITS))
    }

    /// The wheel is empty: turns it to the first event beyond it, if there is one.
    #[cold]
    #[inline(never)]
    fn turn_to_far(&mut self) -> Option<usize> {
        let Reverse((at, ..)) = self.far.peek()?;
        self.base = at.0 >> SLOT_BITS;
        self.pull();
        Some(self.base as usize % SLOTS)
    }

    /// All events in order (slow).
    fn in_order(&self) -> Vec<Event> {
        let mut rest = self.clone();
        std::iter::from_fn(|| rest.pop()).collect()
    }

    /// Takes the room of a fresh queue. All events, if they can be: in order, not before `now` and not too far away.
    pub(crate) fn restored(&mut self, fresh: EventQueue, now: SimTime) -> Result<Vec<Event>, String> {
        // A queue that was read holds all of them beyond the wheel, in the order in which they came.
        let mut events = std::mem::replace(self, fresh).far.into_vec();
        events.sort_unstable_by_key(|Reverse((_, sequence, ..))| *sequence);
        let events: Vec<Event> = events.iter().map(|Reverse((at, _, kind, id))| (*at, *kind, *id)).collect();
        ensure(events.is_sorted_by_key(|event| event.0), "the order of events")?;
        let can_be = |event: &Event| event.0 >= now && event.0.0 < MOST && event.2 >> ID_BITS == 0;
        ensure(events.iter().all(can_be), "an event")?;
        let timers = events.iter().filter(|event| event.1 == EventKind::Timer).map(|event| event.2);
        let set = distinct("timers", timers, Timer::ALL.len())?;
        self.timers = Timer::ALL.iter().map(|&timer| u8::from(set[timer as usize]) << timer as u8).sum();
        self.base = now.0 >> SLOT_BITS;
        events.iter().for_each(|&(at, kind, id)| self.push(at, kind, id));
        Ok(events)
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.summary == 0 && self.far.is_empty()
    }
}

/// What is saved are the events, in order.
impl Serialize for EventQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.in_order().serialize(serializer)
    }
}

/// A queue that is read has yet to be checked (`EventQueue::restored`).
impl<'de> Deserialize<'de> for EventQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut queue = EventQueue::with_capacity(0);
        for (at, kind, id) in Vec::<Event>::deserialize(deserializer)? {
            queue.sequence += 1;
            queue.far.push(Reverse((at, queue.sequence, kind, id)));
        }
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn kinds_are_listed_in_order() {
        let listed = EventKind::Sensed as usize + 1;
        assert!(KINDS[..listed].iter().enumerate().all(|(i, &kind)| kind as usize == i));
        assert!(KINDS[listed..].iter().all(|&kind| kind == EventKind::Timer));
    }

    /// A timer is set once, until it rings; and a restored queue knows which are set from its events alone.
    #[test]
    fn a_restored_queue_knows_its_timers() {
        let mut queue = EventQueue::with_capacity(4);
        queue.set(Timer::Locks, SimTime(9));
        queue.set(Timer::Locks, SimTime(5));
        assert_eq!(queue.in_order(), [(SimTime(9), EventKind::Timer, Timer::Locks as u32)]);
        let read = |events: &[Event]| {
            let mut read = EventQueue::with_capacity(0);
            for (&(at, kind, id), sequence) in events.iter().zip(1..) {
                read.far.push(Reverse((at, sequence, kind, id)));
            }
            let events = read.restored(EventQueue::with_capacity(4), SimTime::ZERO);
            events.map(|_| Timer::ALL.map(|timer| read.is_set(timer)))
        };
        assert_eq!(read(&queue.in_order()), Ok([false, false, false, true, false, false]));
        let event = |id| (SimTime(9), EventKind::Timer, id);
        assert!(read(&[event(3), event(3)]).is_err(), "the same timer, twice");
        assert!(read(&[event(Timer::ALL.len() as u32)]).is_err(), "a timer that there is not");
        let (_, _, id) = queue.pop().unwrap();
        assert_eq!(queue.ring(id), Timer::Locks);
        assert!(!queue.is_set(Timer::Locks));
    }

    /// Events scheduled while others are taken, at distances of up to `reach` ns: as a list sorted by time and order.
    fn runs_like_a_sorted_list(seed: u64, reach: u32) {
        let mut rng = Rng::named(seed, "events");
        let mut queue = EventQueue::with_capacity(16);
        let mut expected: Vec<(u64, u32)> = Vec::new();
        let mut now = 0;
        for i in 0..5_000 {
            let most = 1 + rng.below(reach);
            let at = now + u64::from(rng.below(most));
            queue.push(SimTime(at), KINDS[i as usize % 9], i);
            let place = expected.partition_point(|&(other, _)| other <= at);
            expected.insert(place, (at, i));
            // More come than go in the first half.
            let takes = rng.below(if i < 2_500 { 2 } else { 4 });
            for _ in 0..takes.min(expected.len() as u32) {
                let (at, i) = expected.remove(0);
                assert_eq!(queue.next_at(), Some(SimTime(at)));
                assert_eq!(queue.pop(), Some((SimTime(at), KINDS[i as usize % 9], i)), "seed {seed}");
                now = at;
            }
        }
        for (at, i) in expected {
            assert_eq!(queue.pop(), Some((SimTime(at), KINDS[i as usize % 9], i)), "seed {seed}");
        }
        assert!(queue.is_empty() && queue.pop().is_none() && queue.next_at().is_none());
    }

    #[test]
    fn comes_out_in_time_then_insertion_order() {
        // Many in one slot, within the wheel, some beyond it, nearly all beyond it.
        for (seed, reach) in (0..).zip([1, 40, 500, 1_000_000, 1_100_000, 5_000_000, 2_000_000_000]) {
            runs_like_a_sorted_list(seed, reach);
        }
    }

    #[test]
    fn is_restored_in_order_and_only_if_it_is_one() {
        let mut queue = EventQueue::with_capacity(4);
        let events = [(700, 1), (700, 2), (900, 0), (9_000_000, 3)];
        events.iter().for_each(|&(at, id)| queue.push(SimTime(at), EventKind::Complete, id));
        let saved = postcard::to_allocvec(&queue).unwrap();
        let read = || postcard::from_bytes::<EventQueue>(&saved).unwrap();
        let mut again = read();
        again.restored(EventQueue::with_capacity(4), SimTime(700)).unwrap();
        assert_eq!(again.in_order(), queue.in_order());
        assert!(read().restored(EventQueue::with_capacity(4), SimTime(701)).is_err(), "in the past");
        let swapped = [(SimTime(2), EventKind::Complete, 0), (SimTime(1), EventKind::Complete, 1)];
        let saved = postcard::to_allocvec(&swapped.to_vec()).unwrap();
        let mut wrong = postcard::from_bytes::<EventQueue>(&saved).unwrap();
        assert!(wrong.restored(EventQueue::with_capacity(4), SimTime(0)).is_err(), "out of order");
    }
}
