//! A direction's rate: when its next request is due.

use super::settings::{Job, RateProcess};
use crate::base::draw::unit_above_0;
use ssd::rng::Rng;

/// A direction's rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Rate {
    /// Bytes a second; 0 for none.
    bytes_per_s: u64,
    /// Bytes that a request counts for on average (`poisson`).
    block: u64,
    /// Bytes issued.
    bytes: u64,
    /// When the next request is due, from the lane's start.
    due_ns: u64,
    /// Parts of a nanosecond that were cut off (`poisson`).
    fraction: f64,
}

impl Rate {
    pub fn new(job: &Job, direction: usize) -> Self {
        let block = job.sizes[direction].min();
        let bytes_per_s = match job.rate_iops[direction] {
            0 => job.rate[direction],
            // Of several sizes the smallest counts, as in fio.
            requests => requests.saturating_mul(block),
        };
        Rate { bytes_per_s, block, ..Rate::default() }
    }

    /// Whether there is one.
    pub fn is_on(&self) -> bool {
        self.bytes_per_s > 0
    }

    /// When the next request is due, from the lane's start.
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// So many bytes were issued: when is the next request due?
    pub fn advance(&mut self, bytes: u64, arrivals: &mut Option<Rng>) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.due_ns = match arrivals {
            None => self.time_of(self.bytes),
            Some(rng) => {
                let gap = -libm::log(unit_above_0(rng)) * self.block as f64 * 1e9 / self.bytes_per_s as f64
                    + self.fraction;
                self.fraction = gap - libm::floor(gap);
                self.due_ns.saturating_add(gap as u64)
            }
        };
    }

    /// A pause that is not caught up on: what would have been issued in it counts as issued, but for one request where
    /// the pause is longer than one takes (`handle_thinktime` of fio 3.33).
    pub fn forgive(&mut self, pause_ns: u64, process: RateProcess) {
        match process {
            RateProcess::Poisson => self.due_ns = self.due_ns.saturating_add(pause_ns),
            RateProcess::Linear => {
                let missed = (u128::from(self.bytes_per_s) * u128::from(pause_ns) / 1_000_000_000) as u64;
                let one = if self.time_of(self.block) <= pause_ns { self.block } else { 0 };
                self.bytes = self.bytes.saturating_add(missed.saturating_sub(one));
            }
        }
    }

    /// How long so many bytes take.
    fn time_of(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_s)).min(u128::from(u64::MAX)) as u64
    }
}
