//! Requests that do not stand in order of time, or whose times are whole seconds.

use super::format::{Order, Raw};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Requests that wait at a time: the earliest is handed out when so many are there. Assumed: some 20 s of a busy cloud
/// volume's trace, and 5 MB.
pub(crate) const WINDOW: usize = 1 << 16;
/// Bits of a slot's number.
const SLOT_BITS: u32 = 16;
const SECOND_NS: u64 = 1_000_000_000;

/// Requests that wait to be handed out in order of time; those of one time in the order they stand in.
pub(super) struct Window {
    /// Time, number of the request, slot: the least is next.
    heap: BinaryHeap<Reverse<u128>>,
    slots: Vec<Raw>,
    free: Vec<u16>,
    pushed: u64,
    /// Time of the latest request handed out, as it stood in the trace.
    floor: u64,
    latest: u64,
    /// Requests that came behind a later one.
    pub out_of_order: u64,
    spread: Option<Spread>,
}

/// How far a second's requests have been spread.
#[derive(Default)]
struct Spread {
    /// Requests that wait, by second.
    waiting: BTreeMap<u64, u64>,
    second: u64,
    offset: u64,
}

impl Window {
    pub(super) fn new(order: Order) -> Option<Self> {
        let spread = match order {
            Order::Recorded => return None,
            Order::Sorted => None,
            Order::Spread => Some(Spread::default()),
        };
        Some(Window {
            heap: BinaryHeap::with_capacity(WINDOW),
            slots: Vec::new(),
            free: Vec::new(),
            pushed: 0,
            floor: 0,
            latest: 0,
            out_of_order: 0,
            spread,
        })
    }

    /// By how much a time lies before what has been handed out.
    pub(super) fn too_late_by(&self, time_ns: u64) -> u64 {
        self.floor.saturating_sub(time_ns)
    }

    pub(super) fn is_full(&self) -> bool {
        self.heap.len() >= WINDOW
    }

    /// Takes a request in; there must be room for it.
    pub(super) fn push(&mut self, raw: &Raw) {
        let time = raw.time_ns.max(self.floor);
        self.out_of_order += u64::from(raw.time_ns < self.latest);
        self.latest = self.latest.max(time);
        let slot = self.free.pop().unwrap_or(self.slots.len() as u16);
        match self.slots.get_mut(usize::from(slot)) {
            Some(place) => *place = *raw,
            None => self.slots.push(*raw),
        }
        let key = u128::from(time) << 64 | u128::from(self.pushed) << SLOT_BITS | u128::from(slot);
        self.heap.push(Reverse(key));
        self.pushed += 1;
        if let Some(spread) = &mut self.spread {
            *spread.waiting.entry(time).or_default() += 1;
        }
    }

    /// The earliest request that waits.
    pub(super) fn pop(&mut self) -> Option<Raw> {
        let Reverse(key) = self.heap.pop()?;
        let slot = key as u16;
        self.free.push(slot);
        self.floor = (key >> 64) as u64;
        let mut raw = self.slots[usize::from(slot)];
        raw.time_ns = self.spread.as_mut().map_or(self.floor, |spread| spread.next(self.floor));
        Some(raw)
    }
}

impl Spread {
    /// When the next request of a second arrives: what is left of the second, divided by those that wait. If all are
    /// there when the first is handed out, they are equally far apart.
    fn next(&mut self, second: u64) -> u64 {
        if second != self.second {
            (self.second, self.offset) = (second, 0);
        }
        let at = second.saturating_add(self.offset);
        if let Some(waiting) = self.waiting.get_mut(&second) {
            self.offset += SECOND_NS.saturating_sub(self.offset) / (*waiting).max(1);
            *waiting -= 1;
            if *waiting == 0 {
                self.waiting.remove(&second);
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::fields::Range;
    use ssd::OpCode;
    use ssd::rng::Rng;

    /// Runs times through a window; the second number says which one it was.
    fn run(order: Order, times: &[u64]) -> (Vec<(u64, u64)>, u64) {
        let mut window = Window::new(order).unwrap();
        let mut out = Vec::new();
        let mut take = |raw: Raw| out.push((raw.time_ns, raw.range.lba));
        for (number, &time) in times.iter().enumerate() {
            if window.is_full() {
                take(window.pop().unwrap());
            }
            let range = Range { lba: number as u64, sectors: 8, rounded: false };
            window.push(&Raw::new(time, OpCode::Read, 0, range));
        }
        while let Some(raw) = window.pop() {
            take(raw);
        }
        (out, window.out_of_order)
    }

    #[test]
    fn sorts_what_is_displaced_by_less_than_the_window() {
        let mut rng = Rng::named(1, "window");
        let times: Vec<u64> = (0..200_000u64).map(|i| i + u64::from(rng.below(60_000))).collect();
        let (out, out_of_order) = run(Order::Sorted, &times);
        let mut expected: Vec<(u64, u64)> =
            times.iter().zip(0..).map(|(&time, number)| (time, number)).collect();
        expected.sort();
        assert!(out == expected);
        let behind = times.iter().scan(0, |latest, &time| {
            let before = std::mem::replace(latest, (*latest).max(time));
            Some(u64::from(before > time))
        });
        assert_eq!(out_of_order, behind.sum::<u64>());
    }

    #[test]
    fn what_comes_too_late_is_moved_up() {
        let times: Vec<u64> = (1000..1000 + WINDOW as u64 + 10).chain([3]).collect();
        let (out, out_of_order) = run(Order::Sorted, &times);
        // Eleven had been handed out when it came: it gets the time of the last of them.
        assert_eq!(out[10..13], [(1010, 10), (1010, WINDOW as u64 + 10), (1011, 11)]);
        assert_eq!((out.len(), out_of_order), (times.len(), 1));
    }

    #[test]
    fn whole_seconds_are_spread_evenly() {
        let s = SECOND_NS;
        let (out, _) = run(Order::Spread, &[6 * s, 5 * s, 5 * s, 5 * s, 9 * s, 5 * s, 6 * s]);
        let times: Vec<u64> = out.iter().map(|(time, _)| time * 4 / s).collect();
        assert_eq!(times, [20, 21, 22, 23, 24, 26, 36]);
        assert_eq!(out.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [1, 2, 3, 5, 0, 6, 4]);
        // More in a second than wait at a time: in order, and all within it.
        let many = vec![7 * s; 3 * WINDOW];
        let (out, _) = run(Order::Spread, &many);
        assert!(out.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
        assert!(out[0].0 == 7 * s && out[out.len() - 1].0 < 8 * s);
    }
}
