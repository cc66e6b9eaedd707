//! Jobs that end when their rate no longer changes (`steadystate`), after fio 3.33's steadystate.c.

use super::settings::SteadyState;
use std::collections::VecDeque;

const SECOND: u64 = 1_000_000_000;

/// The rate of one job, or of those that are reported together, second by second.
pub(super) struct Steady {
    says: SteadyState,
    start: u64,
    /// End of the second that is counted.
    next: u64,
    /// Requests, or bytes, of this second.
    count: u64,
    window: VecDeque<u64>,
}

impl Steady {
    pub fn new(says: SteadyState) -> Self {
        Steady { says, start: u64::MAX, next: u64::MAX, count: 0, window: VecDeque::new() }
    }

    /// A job of it begins.
    pub fn begin(&mut self, now: u64) {
        if now < self.start {
            (self.start, self.next) = (now, now + SECOND);
        }
    }

    /// A request completed; whether the rate was steady before.
    pub fn completed(&mut self, bytes: u64, now: u64) -> bool {
        while now >= self.next {
            let count = std::mem::take(&mut self.count);
            let is_counted = self.says.ramp_ns == 0 || self.next - self.start >= self.says.ramp_ns + SECOND;
            self.next += SECOND;
            if is_counted && self.add(count) {
                return true;
            }
        }
        self.count += if self.says.is_bandwidth { bytes } else { 1 };
        false
    }

    /// Another second; whether those of the window are steady.
    fn add(&mut self, count: u64) -> bool {
        self.window.push_back(count);
        if (self.window.len() as u64) < self.says.seconds {
            return false;
        }
        let found = if self.says.is_slope { self.slope().abs() } else { self.deviation() };
        self.window.pop_front();
        found < self.says.limit
    }

    fn mean(&self) -> f64 {
        self.window.iter().map(|count| *count as f64).sum::<f64>() / self.window.len() as f64
    }

    /// In percent of the mean, if the limit is.
    fn of_mean(&self, found: f64) -> f64 {
        if self.says.is_percent { 100.0 * found / self.mean() } else { found }
    }

    /// The largest distance from the mean.
    fn deviation(&self) -> f64 {
        let mean = self.mean();
        self.of_mean(self.window.iter().map(|count| (*count as f64 - mean).abs()).fold(0.0, f64::max))
    }

    /// The slope of the line with the least squares.
    fn slope(&self) -> f64 {
        let (count, mean) = (self.window.len() as f64, self.mean());
        let middle = (count - 1.0) / 2.0;
        let (mut across, mut along) = (0.0, 0.0);
        for (second, value) in self.window.iter().enumerate() {
            let from_middle = second as f64 - middle;
            across += from_middle * (*value as f64 - mean);
            along += from_middle * from_middle;
        }
        self.of_mean(if along > 0.0 { across / along } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds until it is steady where second `n` has `rates[n]` requests; `None` if it never is.
    fn seconds(says: SteadyState, rates: &[u64]) -> Option<usize> {
        let mut steady = Steady::new(says);
        steady.begin(0);
        for (second, rate) in rates.iter().enumerate() {
            for number in 0..*rate {
                if steady.completed(4096, second as u64 * SECOND + number) {
                    return Some(second);
                }
            }
        }
        None
    }

    #[test]
    fn a_window_is_steady_by_its_largest_deviation_or_its_slope() {
        let says = |limit: f64, is_percent: bool, is_slope: bool, is_bandwidth: bool| SteadyState {
            is_bandwidth,
            is_slope,
            is_percent,
            limit,
            seconds: 4,
            ramp_ns: 0,
        };
        // Means of four: 90, 97.5, 100, 100; largest deviations 30, 7.5, 0.
        let rates = [60, 90, 100, 100, 100, 100, 100];
        assert_eq!(seconds(says(5.0, true, false, false), &rates), Some(6), "100 100 100 100");
        assert_eq!(seconds(says(8.0, true, false, false), &rates), Some(5), "90 100 100 100: 7.7 % off 97.5");
        assert_eq!(seconds(says(7.6, false, false, false), &rates), Some(5), "7.5 off");
        assert_eq!(seconds(says(7.4, false, false, false), &rates), Some(6));
        assert_eq!(seconds(says(7.6 * 4096.0, false, false, true), &rates), Some(5), "in bytes");
        // Slopes: of 60 90 100 100 it is (-1.5*60 - .5*90 + .5*100 + 1.5*100) / 5 = 13; of 90 100 100 100, 3.
        assert_eq!(seconds(says(13.1, false, true, false), &rates), Some(4));
        assert_eq!(seconds(says(12.9, false, true, false), &rates), Some(5));
        assert_eq!(seconds(says(3.05, true, true, false), &rates), Some(6), "3 of 97.5 is 3.08 %");
        assert_eq!(seconds(says(1.0, true, false, false), &[50, 60, 50, 60, 50, 60, 50, 60]), None);
        // A ramp of two seconds: the third second is the first that counts.
        let late = SteadyState { ramp_ns: 2 * SECOND, ..says(5.0, true, false, false) };
        assert_eq!(seconds(late, &[100; 9]), Some(6));
    }
}
