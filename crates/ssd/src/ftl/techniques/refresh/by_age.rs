//! What lives in a block is written anew once the block's first page is older than so many days.
//!
//! Flash Correct-and-Refresh moves all data of a block once in a period (its remapping-based form). Days here are of
//! the cells' reference temperature, which a firmware with a thermometer counts as charge leaks: a day at 55 degrees C
//! is more than one.

use super::Member;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "by_age";
/// What it does.
pub const SUMMARY: &str = "rewrites the valid data of a block once it reaches an age";
/// Where it comes from.
pub const SOURCE: &str = "Cai et al., Flash Correct-and-Refresh: Retention-Aware Error Management for Increased Flash \
                          Memory Lifetime, ICCD 2012; the period is assumed";
/// What it costs.
pub const MEMORY: &str = "8 bytes per lane; when a block was programmed, 4 bytes per block";

section! {
    /// Parameters of `by_age`.
    pub struct Params {
        /// Age of a block's first page at which its valid data moves, at the cells' reference temperature.
        max_age_days: f64 = 90.0, unit "days", range 0.01..=36500.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    due_minutes: u32,
}

impl Policy {
    /// Builds it.
    // tidy: allow(float): called when a drive is built
    pub fn new(params: &Params) -> Self {
        Policy { due_minutes: (params.max_age_days * 1_440.0) as u32 }
    }
}

impl Member for Policy {
    fn due_minutes(&self) -> Option<u32> {
        Some(self.due_minutes)
    }
}
