//! How long moves because of reads took, in steps: the distribution of a counter.

use crate::counters::{Count, Counted};
use serde::{Deserialize, Serialize};

/// Steps for each doubling of a time.
const STEPS: usize = 16;
/// Times below are not told apart: 2^10 ns.
const LEAST_LOG2: u32 = 10;
/// Doublings that are told apart: up to 2^42 ns, more than an hour.
const DOUBLINGS: usize = 32;

/// How many reclaims took how long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceTimes {
    /// Reclaims.
    pub count: u64,
    /// Nanoseconds of all of them.
    pub sum_ns: u64,
    /// Nanoseconds of the shortest; 0 if there is none.
    pub min_ns: u64,
    /// Nanoseconds of the longest.
    pub max_ns: u64,
    steps: [[u64; STEPS]; DOUBLINGS],
}

/// All of them together, as a sum of times.
impl Counted for ServiceTimes {
    const DIMENSIONS: u8 = 0;

    fn count(&self) -> Count {
        Count::One(self.sum_ns)
    }

    fn total(&self) -> u64 {
        self.sum_ns
    }
}

impl ServiceTimes {
    /// Counts one.
    pub(super) fn record(&mut self, ns: u64) {
        self.min_ns = if self.count == 0 { ns } else { self.min_ns.min(ns) };
        self.max_ns = self.max_ns.max(ns);
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        let told = ns.max(1 << LEAST_LOG2);
        let log2 = told.ilog2();
        let doubling = ((log2 - LEAST_LOG2) as usize).min(DOUBLINGS - 1);
        let step = (told >> (log2 - STEPS.ilog2())) as usize % STEPS;
        self.steps[doubling][step] += 1;
    }

    /// The distribution: longest time of a step (at most 1/16 above what it holds), and reclaims in it.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let all = self.steps.iter().enumerate().flat_map(|(doubling, steps)| {
            let width = 1u64 << (doubling as u32 + LEAST_LOG2 - STEPS.ilog2());
            steps.iter().zip(STEPS as u64 + 1..).map(move |(&count, end)| (end * width - 1, count))
        });
        all.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_in_their_steps() {
        for ns in [1, 1_000, 1_024, 1_087, 1_088, 4_095, 332_000_000, (1 << 42) - 1] {
            let mut times = ServiceTimes::default();
            times.record(ns);
            let (end, count) = times.steps().next().expect("a step");
            assert_eq!((count, times.min_ns, times.max_ns, times.sum_ns), (1, ns, ns, ns));
            let least = ns.max(1 << LEAST_LOG2);
            assert!(end >= ns && end < least + least / STEPS as u64, "{ns} ns in the step up to {end}");
        }
    }

    #[test]
    fn the_longest_times_share_the_last_doubling() {
        let mut times = ServiceTimes::default();
        times.record(u64::MAX);
        times.record(1 << 42);
        assert_eq!(times.steps().map(|(_, count)| count).sum::<u64>(), 2);
        assert_eq!((times.min_ns, times.max_ns), (1 << 42, u64::MAX));
    }
}
