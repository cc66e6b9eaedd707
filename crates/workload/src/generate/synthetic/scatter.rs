//! A fixed random permutation of 0..n in constant memory: where the ranks of a skewed workload lie.

use ssd::rng::Rng;

const ROUNDS: usize = 3;

/// A bijection of `0..places` onto itself.
///
/// Rounds of multiply, add and xor-shift permute the next power of two; a value that falls outside `0..places` is
/// permuted again until it falls inside (cycle walking: Black and Rogaway, CT-RSA 2002), twice at most on average.
#[derive(Clone, Debug)]
pub struct Scatter {
    places: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); ROUNDS],
}

impl Scatter {
    /// The permutation of `places` (not 0) that belongs to a seed.
    pub fn new(places: u64, seed: u64) -> Self {
        let bits = (64 - (places - 1).leading_zeros()).clamp(1, 63);
        let mut rng = Rng::named(seed, "workload/scatter");
        let mut round = || (rng.next_u64() | 1, rng.next_u64());
        let rounds = [round(), round(), round()];
        Scatter { places, mask: (1 << bits) - 1, shift: bits.div_ceil(2), rounds }
    }

    /// Where `rank` (below `places`) lies.
    #[inline]
    pub fn place(&self, rank: u64) -> u64 {
        let mut x = rank;
        loop {
            for (multiplier, addend) in self.rounds {
                x = x.wrapping_mul(multiplier).wrapping_add(addend) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.places {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_bijection_for_any_number_of_places() {
        for places in (1..300).chain([1 << 16, (1 << 16) + 1, 99_999]) {
            for seed in [1, 2] {
                let scatter = Scatter::new(places, seed);
                let mut seen = vec![false; places as usize];
                for rank in 0..places {
                    let place = scatter.place(rank) as usize;
                    assert!(!std::mem::replace(&mut seen[place], true), "{places} places: {place} twice");
                }
            }
        }
    }

    #[test]
    fn neighbours_are_torn_apart() {
        let places = 1_000_000;
        let scatter = Scatter::new(places, 7);
        let near = (1..10_000).filter(|&r| scatter.place(r).abs_diff(scatter.place(r - 1)) < 1000).count();
        // 0.2 % of random pairs lie that near.
        assert!(near < 60, "{near}");
        let below_half = (0..10_000).filter(|&r| scatter.place(r) < places / 2).count();
        assert!(below_half.abs_diff(5000) < 400, "{below_half}");
    }
}
