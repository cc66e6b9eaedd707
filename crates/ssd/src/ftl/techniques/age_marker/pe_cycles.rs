//! PeWear: the age of a block is its share of the program/erase cycles that the worst block is good for.

use super::{LIFE, Member, Seen};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "pe_cycles";
/// What it does.
pub const SUMMARY: &str = "cycles, as a share of one limit for all blocks";
/// Where it comes from.
pub const SOURCE: &str = "PeWear, the baseline of RealWear section 3.1: limits of 1K, 7K and 8K cycles";
/// What it costs.
pub const MEMORY: &str = "14 bytes per physical block, 2 per block of a lane";

section! {
    /// Parameters of `pe_cycles`.
    pub struct Params {
        /// Cycles after which a block is retired; 0: never, and blocks do not age.
        max_cycles: u32 = 8_000, unit "cycles", range 0..=1_000_000;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    max_cycles: u32,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { max_cycles: params.max_cycles }
    }
}

impl Member for Policy {
    fn acts(&self) -> bool {
        self.max_cycles > 0
    }

    fn is_fitted(&self) -> bool {
        false
    }

    fn age_q12(&self, seen: &Seen) -> u32 {
        let age = u64::from(seen.cycles) * u64::from(LIFE) / u64::from(self.max_cycles.max(1));
        age.min(u64::from(u16::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_dead_at_the_limit() {
        let policy = Policy::new(&Params { max_cycles: 7_000 });
        let age = |cycles| policy.age_q12(&Seen { cycles, ..Seen::default() });
        assert_eq!([0, 3_500, 6_999, 7_000].map(age), [0, LIFE / 2, LIFE - 1, LIFE]);
        assert!(!Policy::new(&Params { max_cycles: 0 }).acts());
    }
}
