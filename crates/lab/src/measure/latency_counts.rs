//! Latencies as they are counted: in the steps of a histogram of three significant digits, which is made of them in the
//! end. To record in that costs several times as much.

use crate::measure::steps::{shortest_of, step};
use hdrhistogram::Histogram;

/// Significant decimal digits of a latency in a histogram: a percentile is at most 0.1 % above the true one.
const DIGITS: u8 = 3;
/// Longest latency told apart: 146 years.
const LONGEST_NS: u64 = 1 << 62;

/// Steps for each doubling from here on, as a power of two; below, each ns is a step. Those of a histogram of three
/// significant digits, so that it reads what is counted here to the digit.
const STEPS_LOG2: u32 = 10;

/// An empty histogram for latencies in nanoseconds.
fn histogram() -> Histogram<u64> {
    histogram_of(DIGITS)
}

/// One of so many significant decimal digits, 1 to 5.
pub(crate) fn histogram_of(digits: u8) -> Histogram<u64> {
    let bounded = Histogram::new_with_bounds(1, LONGEST_NS, digits);
    bounded.unwrap_or_else(|error| unreachable!("constant bounds are valid: {error}"))
}

/// Steps of all latencies.
const STEPS: usize = (64 - STEPS_LOG2 as usize + 1) << STEPS_LOG2;

/// How many latencies lie in each step. All have their place from the start: nothing grows while a drive is measured.
#[derive(Clone, Debug)]
pub(crate) struct LatencyCounts {
    counts: Box<[u64]>,
}

impl LatencyCounts {
    /// None yet.
    pub fn new() -> Self {
        LatencyCounts { counts: vec![0; STEPS].into() }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Counts one; ns.
    #[inline(always)]
    pub fn record(&mut self, ns: u64) {
        self.counts[step::<STEPS_LOG2>(ns)] += 1;
    }

    /// Counts those of others, too.
    pub fn add(&mut self, others: &LatencyCounts) {
        self.counts.iter_mut().zip(&others.counts).for_each(|(count, more)| *count += more);
    }

    /// The histogram of them.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut all = histogram();
        for (step, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            all.saturating_record_n(shortest_of::<STEPS_LOG2>(step), count);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside the histogram that each latency was recorded in, from 0 to centuries: equal in every step.
    #[test]
    fn what_is_counted_is_what_a_histogram_counts() {
        let mut rng = ssd::rng::Rng::named(1, "latencies");
        let (mut counted, mut expected) = (LatencyCounts::new(), histogram());
        let (mut other, mut both) = (LatencyCounts::new(), histogram());
        let bounds = (0..64).flat_map(|log2| [1u64 << log2, (1 << log2) - 1, (1 << log2) + 1]);
        let drawn = (0..20_000).map(|_| u64::from(rng.below(1 << 20)) << rng.below(44));
        for (nth, ns) in bounds.chain(drawn).chain([u64::MAX]).enumerate() {
            counted.record(ns);
            expected.saturating_record(ns);
            if nth % 3 == 0 {
                other.record(ns / 7);
                both.saturating_record(ns / 7);
            }
        }
        assert_eq!(counted.histogram(), expected);
        for percent in [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0] {
            assert_eq!(
                counted.histogram().value_at_percentile(percent),
                expected.value_at_percentile(percent)
            );
        }
        both.add(&expected).unwrap();
        other.add(&counted);
        assert_eq!(other.histogram(), both);
        counted.clear();
        assert_eq!(counted.histogram(), histogram());
        assert_eq!(LatencyCounts::new().histogram(), histogram());
    }

    #[test]
    fn steps_follow_each_other() {
        let (step_of, shortest) = (step::<STEPS_LOG2>, shortest_of::<STEPS_LOG2>);
        assert_eq!(step_of(u64::MAX), STEPS - 1);
        for at in 0..STEPS - 1 {
            assert_eq!((step_of(shortest(at)), step_of(shortest(at + 1) - 1)), (at, at));
        }
    }
}
