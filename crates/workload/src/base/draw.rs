//! Numbers drawn at random: below a bound, and in an interval.

use ssd::rng::Rng;

/// 2^64.
pub(crate) const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// A uniform number below `bound` (not 0), by one wide multiplication; the bias is below `bound` / 2^64.
#[inline]
pub(crate) fn below(rng: &mut Rng, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// A uniform number in (0, 1], whose logarithm is finite.
#[inline]
pub(crate) fn unit_above_0(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * (1.0 / 9_007_199_254_740_992.0)
}
