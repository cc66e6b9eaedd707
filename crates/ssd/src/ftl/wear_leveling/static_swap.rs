//! When erase counts of a lane drift apart, moves the data that keeps the youngest block young (it is cold, or the
//! block would have been erased) into the most worn free block, and lets the young one work.

use crate::ftl::blocks::{BlockState, LaneView};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "static_swap";
/// What it does.
pub const SUMMARY: &str = "cold data of the least erased block moves to the most worn free block";
/// Where it comes from.
pub const SOURCE: &str =
    "Chang (2007), dual-pool; redFTL's evaluation swaps at a difference of 40 (seed 000, table 2)";
/// What it costs.
pub const MEMORY: &str = "4 bytes per block (erase count)";

section! {
    /// Parameters of `static_swap`.
    pub struct Params {
        /// Difference of erase counts within a lane from which blocks trade places.
        max_difference: u32 = 40, unit "erases", range 1..=1_000_000;
        /// Erases of a lane between two looks.
        check_interval: u32 = 16, unit "erases", range 1..=1_000_000;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    max_difference: u32,
    check_interval: u64,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { max_difference: params.max_difference, check_interval: u64::from(params.check_interval) }
    }

    /// The least erased closed block, if it lags behind the most worn block by more than is allowed.
    pub fn choose(&mut self, view: &LaneView<'_>, erases: u64) -> Option<u32> {
        if !erases.is_multiple_of(self.check_interval) {
            return None;
        }
        let used = |&block: &u32| view.state(block) != BlockState::Bad;
        let most = (0..view.len()).filter(used).map(|block| view.erase_count(block)).max()?;
        let coldest = (0..view.len())
            .filter(|&block| view.state(block) == BlockState::Closed)
            .min_by_key(|&block| view.erase_count(block))?;
        (most - view.erase_count(coldest).min(most) > self.max_difference).then_some(coldest)
    }
}
