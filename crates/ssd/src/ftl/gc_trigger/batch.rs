//! Cleans a lane in rounds: rarely, and then much at once.

use super::{Limits, Member, millionths};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "batch";
/// What it does.
pub const SUMMARY: &str = "below a threshold of free blocks, until a share of all blocks has been erased";
/// Where it comes from.
pub const SOURCE: &str = "PDS section 5.4 (5 %, 15 %)";
/// What it costs.
pub const MEMORY: &str = "16 bytes per lane";

section! {
    /// Parameters of `batch`.
    pub struct Params {
        /// A round begins when less than this share of a lane's blocks is free, rounded up to whole blocks and at
        /// least one above the reserve. If that many can never be free, rounds follow each other, each for as long
        /// as any block is worth reclaiming.
        start_free_percent: f64 = 5.0, unit "%", range 0.0..=50.0;
        /// It ends when this share of the lane's blocks has been erased, or none is worth reclaiming.
        erased_percent: f64 = 15.0, unit "%", range 0.0..=100.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    erased: u32,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { start: millionths(params.start_free_percent), erased: millionths(params.erased_percent) }
    }
}

impl Member for Policy {
    fn starts(&self, free: u32, limits: &Limits) -> bool {
        let mark = (u64::from(limits.blocks) * u64::from(self.start)).div_ceil(1_000_000);
        u64::from(free) < mark || free <= limits.reserve + 1
    }

    fn goes_on(&self, free: u32, limits: &Limits) -> bool {
        let erased = u64::from(limits.cleaned) * 1_000_000;
        erased < u64::from(limits.blocks) * u64::from(self.erased) || free <= limits.reserve + 1
    }

    fn ends_without_victims(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's drive: 1,500 blocks, from less than 75 free until 225 are erased.
    #[test]
    fn a_round_of_the_paper() {
        let policy = Policy::new(&Params::default());
        let limits = |cleaned| Limits { blocks: 1_500, spare: 150, cleaned, reserve: 1, ..Limits::default() };
        assert_eq!([75, 74].map(|free| policy.starts(free, &limits(0))), [false, true]);
        assert_eq!([224, 225].map(|cleaned| policy.goes_on(290, &limits(cleaned))), [true, false]);
        // What is lacking to go on at all is made in any case.
        assert!(policy.goes_on(2, &limits(225)));
    }
}
