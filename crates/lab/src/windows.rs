//! Requests by the time at which they arrived, in a fixed number of windows: what tells bursts from overload.

use ssd::SimTime;

/// Windows. When a run outgrows them they become twice as long, two of them one.
pub(crate) const WINDOWS: usize = 256;
/// Length of the first windows: 2^18 ns, about a quarter of a millisecond.
const FIRST_LOG2: u32 = 18;

/// What arrived in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Requests.
    pub requests: u64,
    /// Their latencies together; ns, 584 years at most.
    pub latency: u64,
}

impl Window {
    fn add(&mut self, other: Window) {
        self.requests += other.requests;
        self.latency = self.latency.saturating_add(other.latency);
    }
}

/// All of them, from the start of the measurement.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    since: SimTime,
    log2: u32,
    windows: Box<[Window; WINDOWS]>,
}

impl Windows {
    pub fn new(since: SimTime) -> Self {
        Windows { since, log2: FIRST_LOG2, windows: Box::new([Window::default(); WINDOWS]) }
    }

    /// Forgets everything: the measurement begins at `since`.
    pub fn restart(&mut self, since: SimTime) {
        (self.since, self.log2) = (since, FIRST_LOG2);
        self.windows.fill(Window::default());
    }

    /// A request that arrived then took so long.
    #[inline]
    pub fn record(&mut self, arrival: SimTime, latency: u64) {
        // What arrived before the measurement counts with its beginning.
        let at = arrival.0.saturating_sub(self.since.0);
        if at >> self.log2 >= WINDOWS as u64 {
            self.lengthen(at);
        }
        let window = &mut self.windows[(at >> self.log2) as usize % WINDOWS];
        window.requests += 1;
        window.latency = window.latency.saturating_add(latency);
    }

    #[cold]
    fn lengthen(&mut self, at: u64) {
        while at >> self.log2 >= WINDOWS as u64 {
            for i in 0..WINDOWS / 2 {
                let mut pair = self.windows[2 * i];
                pair.add(self.windows[2 * i + 1]);
                self.windows[i] = pair;
            }
            self.windows[WINDOWS / 2..].fill(Window::default());
            self.log2 += 1;
        }
    }

    /// The length of a window; ns.
    #[cfg(test)]
    pub fn length_ns(&self) -> u64 {
        1 << self.log2
    }

    /// The windows up to the last in which something arrived.
    pub fn all(&self) -> &[Window] {
        let used = self.windows.iter().rposition(|window| window.requests > 0).map_or(0, |last| last + 1);
        &self.windows[..used]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_and_nothing_is_lost() {
        let mut windows = Windows::new(SimTime(1_000));
        for i in 0..10_000u64 {
            windows.record(SimTime(1_000 + i * i * 1_000), i);
        }
        let all = windows.all();
        assert!(all.len() <= WINDOWS && all.len() > WINDOWS / 2);
        assert_eq!(all.iter().map(|window| window.requests).sum::<u64>(), 10_000);
        assert_eq!(all.iter().map(|window| window.latency).sum::<u64>(), 9_999 * 5_000);
        let first = (windows.length_ns() as f64 / 1_000.0).sqrt() as u64;
        assert!(all[0].requests.abs_diff(first) <= 1, "{} and {first}", all[0].requests);
    }
}
