//! Requests by the time at which they arrived, in a fixed number of windows: what tells bursts from overload.

use ssd::SimTime;

/// Windows. When a run outgrows them they become twice as long, two of them one.
pub(crate) const WINDOWS: usize = 256;
/// Length of the first windows: 2^18 ns, about a quarter of a millisecond.
const FIRST_LOG2: u32 = 18;
/// Steps of a latency: centuries of them fit in 64 bits.
const LATENCY_LOG2: u32 = 10;

/// What arrived in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Requests.
    pub requests: u64,
    /// Their latencies together, each in whole steps of 1,024 ns.
    pub latency: u64,
}

impl Window {
    /// Their latencies together, in ns, up to a step for each too short.
    pub fn latency_ns(&self) -> u64 {
        self.latency << LATENCY_LOG2
    }
}

/// All of them, from the start of the measurement.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    since: SimTime,
    log2: u32,
    requests: Box<[u64; WINDOWS]>,
    latencies: Box<[u64; WINDOWS]>,
}

impl Windows {
    pub fn new(since: SimTime) -> Self {
        let none = Box::new([0; WINDOWS]);
        Windows { since, log2: FIRST_LOG2, requests: none.clone(), latencies: none }
    }

    /// Forgets everything: the measurement begins at `since`.
    pub fn restart(&mut self, since: SimTime) {
        (self.since, self.log2) = (since, FIRST_LOG2);
        self.requests.fill(0);
        self.latencies.fill(0);
    }

    /// A request that arrived then took so long.
    #[inline]
    pub fn record(&mut self, arrival: SimTime, latency: u64) {
        let mut at = arrival.0.wrapping_sub(self.since.0) >> self.log2;
        if at >= WINDOWS as u64 {
            at = self.lengthen(arrival);
        }
        let at = at as usize % WINDOWS;
        self.requests[at] += 1;
        self.latencies[at] += latency >> LATENCY_LOG2;
    }

    /// Makes room for an arrival, and returns its window. What arrived before the measurement counts with its
    /// beginning.
    #[cold]
    fn lengthen(&mut self, arrival: SimTime) -> u64 {
        let at = arrival.0.saturating_sub(self.since.0);
        while at >> self.log2 >= WINDOWS as u64 {
            for sums in [&mut self.requests, &mut self.latencies] {
                for i in 0..WINDOWS / 2 {
                    sums[i] = sums[2 * i] + sums[2 * i + 1];
                }
                sums[WINDOWS / 2..].fill(0);
            }
            self.log2 += 1;
        }
        at >> self.log2
    }

    /// The length of a window; ns.
    pub fn length_ns(&self) -> u64 {
        1 << self.log2
    }

    /// The windows up to the last in which something arrived.
    pub fn all(&self) -> Vec<Window> {
        let used = self.requests.iter().rposition(|requests| *requests > 0).map_or(0, |last| last + 1);
        let window = |(&requests, &latency)| Window { requests, latency };
        self.requests[..used].iter().zip(&self.latencies[..used]).map(window).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_and_nothing_is_lost() {
        let mut windows = Windows::new(SimTime(1_000));
        for i in 0..10_000u64 {
            windows.record(SimTime(1_000 + i * i * 1_000), i << LATENCY_LOG2);
        }
        let all = windows.all();
        assert!(all.len() <= WINDOWS && all.len() > WINDOWS / 2);
        assert_eq!(all.iter().map(|window| window.requests).sum::<u64>(), 10_000);
        assert_eq!(all.iter().map(|window| window.latency).sum::<u64>(), 9_999 * 5_000);
        let first = (windows.length_ns() as f64 / 1_000.0).sqrt() as u64;
        assert!(all[0].requests.abs_diff(first) <= 1, "{} and {first}", all[0].requests);
        // What came before counts with the first.
        let before = all[0].requests;
        windows.record(SimTime(10), 1);
        assert_eq!(windows.all()[0].requests, before + 1);
    }
}
