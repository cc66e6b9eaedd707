//! Named random sequences: one per component, so that one policy's extra draw never disturbs another.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2019), seeded by SplitMix64 from the drive's seed and the
//! sequence's name. It is written out here so that its output never changes under a dependency's feet.

use serde::{Deserialize, Serialize};

/// A random sequence with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rng {
    s: [u64; 4],
}

/// An odd number with well spread bits (2^64 over the golden ratio): for hashes that multiply.
pub const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes a 64-bit value (the finaliser of SplitMix64).
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(SPREAD);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Rng {
    /// The sequence `name` of `seed`. Sequences of different names are independent.
    pub fn named(seed: u64, name: &str) -> Self {
        let mut state = mix(seed);
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        let mut s = [0; 4];
        for word in &mut s {
            state = mix(state);
            *word = state;
        }
        Rng { s }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `bound` (which must not be 0); the bias is below 2^-32.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((self.next_u64() >> 32).wrapping_mul(u64::from(bound)) >> 32) as u32
    }

    /// True with probability `p` given as a 64-bit fraction (see [`chance`]).
    #[inline]
    pub fn hits(&mut self, p: u64) -> bool {
        p != 0 && self.next_u64() < p
    }
}

/// A probability in parts per million as a 64-bit fraction for [`Rng::hits`].
pub fn chance(ppm: f64) -> u64 {
    let p = (ppm / 1e6).clamp(0.0, 1.0);
    if p >= 1.0 { u64::MAX } else { (p * 18_446_744_073_709_551_616.0) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_named_and_repeatable() {
        let draw = |seed, name| {
            let mut rng = Rng::named(seed, name);
            [rng.next_u64(), rng.next_u64()]
        };
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "ab"), draw(1, "ba"));
    }

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut rng = Rng::named(7, "test");
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        // Standard deviation of each count is 95; five of them bound the error.
        assert!(counts.iter().all(|&c| c.abs_diff(10_000) < 475), "{counts:?}");
    }

    #[test]
    fn chance_spans_never_to_always() {
        let mut rng = Rng::named(7, "chance");
        assert!((0..1000).all(|_| !rng.hits(chance(0.0))));
        assert!((0..1000).all(|_| rng.hits(chance(1e6))));
        let hits = (0..100_000).filter(|_| rng.hits(chance(250_000.0))).count();
        assert!(hits.abs_diff(25_000) < 700, "{hits}");
    }
}
