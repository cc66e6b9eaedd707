//! The event queue: a small heap ordered by time, then by the order in which events were scheduled.

use crate::restore::{MOST, ensure, keep_room};
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// What is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Data gathered for a page has waited long enough (id: 0).
    GatherTimeout,
    /// The drive may have been idle for long enough (id: for what, see `ftl::IdleWork`).
    IdleCheck,
    /// The controller has decoded a page, or has failed to (id: operation).
    Decoded,
}

const KINDS: [EventKind; 11] = [
    EventKind::Arrive,
    EventKind::Fetched,
    EventKind::DataIn,
    EventKind::Complete,
    EventKind::ArrayDone,
    EventKind::InDone,
    EventKind::OutDone,
    EventKind::ChannelFree,
    EventKind::GatherTimeout,
    EventKind::IdleCheck,
    EventKind::Decoded,
];

const ID_BITS: u32 = 20;
const KIND_BITS: u32 = 4;
const SEQUENCE_BITS: u32 = 40;
const FANOUT: usize = 4;

#[inline(always)]
fn lesser(a: (usize, u128), b: (usize, u128)) -> (usize, u128) {
    let second = b.1 < a.1;
    (if second { b.0 } else { a.0 }, if second { b.1 } else { a.1 })
}

/// A time-ordered queue of events. Equal times come out in the order they went in.
///
/// An event is one 128-bit key: time, sequence number, kind, id. The heap has four children per node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventQueue {
    heap: Vec<u128>,
    sequence: u64,
}

impl EventQueue {
    /// A queue that does not allocate until more than `capacity` events are pending.
    pub fn with_capacity(capacity: usize) -> Self {
        EventQueue { heap: Vec::with_capacity(capacity), sequence: 0 }
    }

    /// Schedules an event.
    #[inline]
    pub fn push(&mut self, at: SimTime, kind: EventKind, id: u32) {
        debug_assert!(id >> ID_BITS == 0);
        // The sequence number wraps after 10^12 events; only events of the same nanosecond are ordered by it.
        let sequence = self.sequence & ((1 << SEQUENCE_BITS) - 1);
        self.sequence += 1;
        let low = sequence << (ID_BITS + KIND_BITS) | u64::from(kind as u8) << ID_BITS | u64::from(id);
        let key = u128::from(at.0) << 64 | u128::from(low);
        self.heap.push(key);
        self.sift_up(self.heap.len() - 1, key);
    }

    /// When the next event is due.
    #[inline]
    pub fn next_at(&self) -> Option<SimTime> {
        self.heap.first().map(|key| SimTime((key >> 64) as u64))
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(SimTime, EventKind, u32)> {
        let top = *self.heap.first()?;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sift_down(last);
        }
        let low = top as u64;
        let kind = KINDS[(low >> ID_BITS & 0xf) as usize];
        Some((SimTime((top >> 64) as u64), kind, low as u32 & ((1 << ID_BITS) - 1)))
    }

    /// All events, if they can be: of known kinds, not before `now` and not too far away, in the order of a heap.
    pub(crate) fn restored(
        &mut self,
        fresh: &EventQueue,
        now: SimTime,
    ) -> Result<Vec<(SimTime, EventKind, u32)>, String> {
        keep_room(&mut self.heap, &fresh.heap);
        let is_heap = |at: usize| at == 0 || self.heap[(at - 1) / FANOUT] < self.heap[at];
        ensure((0..self.heap.len()).all(is_heap), "the order of events")?;
        let event = |key: &u128| {
            let low = *key as u64;
            let kind = KINDS.get((low >> ID_BITS & 0xf) as usize);
            let at = SimTime((key >> 64) as u64);
            let kind = kind.filter(|_| at >= now && at.0 < MOST).ok_or("an event")?;
            Ok((at, *kind, low as u32 & ((1 << ID_BITS) - 1)))
        };
        self.heap.iter().map(event).collect()
    }

    /// Pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    #[inline]
    fn sift_up(&mut self, mut at: usize, key: u128) {
        while at > 0 {
            let parent = (at - 1) / FANOUT;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    #[inline]
    fn sift_down(&mut self, key: u128) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        loop {
            let first = at * FANOUT + 1;
            if first >= heap.len() {
                break;
            }
            let (least, least_key) = match heap.get(first..first + FANOUT) {
                // Two rounds of two: no branch that depends on the keys.
                Some(&[a, b, c, d]) => {
                    lesser(lesser((first, a), (first + 1, b)), lesser((first + 2, c), (first + 3, d)))
                }
                _ => {
                    (first + 1..heap.len()).fold((first, heap[first]), |least, i| lesser(least, (i, heap[i])))
                }
            };
            if least_key >= key {
                break;
            }
            heap[at] = least_key;
            at = least;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn kinds_are_listed_in_order() {
        assert!(KINDS.iter().enumerate().all(|(i, &kind)| kind as usize == i));
    }

    #[test]
    fn comes_out_in_time_then_insertion_order() {
        let mut rng = Rng::stream(3, "events");
        let mut queue = EventQueue::with_capacity(16);
        let mut sorted = Vec::new();
        for i in 0..5000u32 {
            let at = SimTime(u64::from(rng.below(500)));
            queue.push(at, KINDS[(i % 10) as usize], i);
            sorted.push((at, i));
        }
        sorted.sort();
        for (at, i) in sorted {
            assert_eq!(queue.pop(), Some((at, KINDS[(i % 10) as usize], i)));
        }
        assert!(queue.is_empty() && queue.pop().is_none() && queue.next_at().is_none());
    }
}
