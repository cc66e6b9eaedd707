//! Zipf-distributed ranks: the one of rank k (from 1 to n) in proportion to k^-theta.
//!
//! Sums of powers come from the Euler-Maclaurin formula, so setting up a distribution over 10^9 ranks takes
//! milliseconds; a sample takes two random numbers and one lookup in a table of some 100 kB.

use crate::base::draw::{TWO_TO_64, below};
use ssd::memo::Memo;
use ssd::rng::Rng;
use std::sync::Arc;

/// Ranks summed one by one before the Euler-Maclaurin formula takes over.
const EXACT: u64 = 64;
/// A bucket holds ranks that differ by less than 1 part in this many; below it each rank has its own.
const RESOLUTION: u64 = 512;
/// Largest exponent that is solved for.
const THETA_MAX: f64 = 64.0;

/// The integral of x^-theta from a to b, also for exponents near 1.
fn integral(a: f64, b: f64, theta: f64) -> f64 {
    let log_ratio = libm::log(b / a);
    let t = (1.0 - theta) * log_ratio;
    // (e^t - 1) / t, which tends to 1.
    let growth = if t.abs() < 1e-8 { 1.0 + t / 2.0 } else { libm::expm1(t) / t };
    libm::pow(a, 1.0 - theta) * log_ratio * growth
}

/// The sum of k^-theta for a <= k < b, by Euler-Maclaurin with two derivative terms; a should not be small.
fn sum(a: f64, b: f64, theta: f64) -> f64 {
    let (fa, fb) = (libm::pow(a, -theta), libm::pow(b, -theta));
    let first = theta / 12.0 * (fa / a - fb / b);
    let third = theta * (theta + 1.0) * (theta + 2.0) / 720.0 * (fa / (a * a * a) - fb / (b * b * b));
    integral(a, b, theta) + (fa - fb) / 2.0 + first - third
}

/// The generalised harmonic number H(n, theta): the sum of k^-theta for k from 1 to n.
pub fn harmonic(n: u64, theta: f64) -> f64 {
    let exact: f64 = (1..=n.min(EXACT)).map(|k| libm::pow(k as f64, -theta)).sum();
    if n <= EXACT { exact } else { exact + sum((EXACT + 1) as f64, (n + 1) as f64, theta) }
}

/// The exponent with which `access` of the accesses go to the most popular `space` of `n` ranks (both as parts of 1):
/// x = H(y·n, theta) / H(n, theta). It depends on n. 0 if there is no skew to be had.
pub fn solve(n: u64, access: f64, space: f64) -> f64 {
    SOLVED.get((n, access, space), |_| solve_anew(n, access, space))
}

fn solve_anew(n: u64, access: f64, space: f64) -> f64 {
    let hot = (libm::round(space * n as f64) as u64).clamp(1, n);
    let share = |theta: f64| harmonic(hot, theta) / harmonic(n, theta);
    let (mut low, mut high) = (0.0, THETA_MAX);
    // The share grows with the exponent; 80 halvings reach the resolution of a double.
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if share(middle) < access {
            low = middle;
        } else {
            high = middle;
        }
    }
    if share(0.0) >= access { 0.0 } else { (low + high) / 2.0 }
}

/// One column of an alias table.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Below this 64-bit fraction the column itself is drawn, else its alias.
    threshold: u64,
    alias: u32,
}

/// Draws an index in proportion to given weights with one random number (Walker 1977, Vose 1991).
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    slots: Vec<Slot>,
}

impl Alias {
    /// A table for weights that are positive or 0, not all 0, and fewer than 2^32.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mut scaled: Vec<f64> = weights.iter().map(|w| w / total * weights.len() as f64).collect();
        let own = |i: usize| Slot { threshold: u64::MAX, alias: i as u32 };
        let mut slots: Vec<Slot> = (0..weights.len()).map(own).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&i| scaled[i] < 1.0);
        while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
            slots[taker] = Slot { threshold: (scaled[taker] * TWO_TO_64) as u64, alias: giver as u32 };
            scaled[giver] -= 1.0 - scaled[taker];
            if scaled[giver] < 1.0 {
                large.pop();
                small.push(giver);
            }
        }
        // What is left over is 1 up to rounding, and keeps its whole column.
        Alias { slots }
    }

    #[inline]
    pub(crate) fn sample(&self, rng: &mut Rng) -> usize {
        // The product's upper half is the column, its lower half where in the column.
        let product = u128::from(rng.next_u64()) * self.slots.len() as u128;
        let column = (product >> 64) as usize;
        let slot = self.slots[column];
        if (product as u64) < slot.threshold { column } else { slot.alias as usize }
    }
}

// A drive's past is many short passes, each with a generator of its own.
/// The distributions that were used last, some 100 kB each, by ranks and exponent.
static KEPT: Memo<(u64, f64), Arc<Zipf>> = Memo::new(16, |_| 1);
/// The exponents that were solved for last.
static SOLVED: Memo<(u64, f64, f64), f64> = Memo::new(16, |_| 1);

/// A Zipf distribution over ranks 0 (the most popular) to n - 1.
///
/// Ranks are grouped into buckets whose width is 1/512 of their rank; an alias table draws the bucket by its exact
/// weight, and the rank is uniform within it. The density of a single rank is off by at most theta/1024.
pub struct Zipf {
    buckets: Alias,
    /// First rank of each bucket, and n.
    starts: Vec<u64>,
}

impl Zipf {
    /// A distribution over `n` ranks (not 0) with an exponent from 0 on.
    pub fn new(n: u64, theta: f64) -> Self {
        let mut starts = vec![0];
        let mut weights = Vec::new();
        let mut rank = 1;
        while rank <= n {
            let width = (rank / RESOLUTION).max(1).min(n - rank + 1);
            weights.push(if width == 1 {
                libm::pow(rank as f64, -theta)
            } else {
                sum(rank as f64, (rank + width) as f64, theta)
            });
            rank += width;
            starts.push(rank - 1);
        }
        Zipf { buckets: Alias::new(&weights), starts }
    }

    /// The same; the last few are kept.
    pub fn shared(n: u64, theta: f64) -> Arc<Self> {
        KEPT.get((n, theta), |_| Arc::new(Zipf::new(n, theta)))
    }

    /// Draws a rank.
    #[inline]
    pub fn sample(&self, rng: &mut Rng) -> u64 {
        let bucket = self.buckets.sample(rng);
        let (first, next) = (self.starts[bucket], self.starts[bucket + 1]);
        first + below(rng, next - first)
    }
}

#[cfg(test)]
mod tests;
