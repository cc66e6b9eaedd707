//! Cleans a lane when its free blocks fall to a low mark, until they reach a high mark.

use super::{Limits, Member, millionths};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "watermark";
/// What it does.
pub const SUMMARY: &str = "below a low threshold of free blocks, up to a high one";
/// Where it comes from.
pub const SOURCE: &str = "common practice; redFTL's evaluation uses 4 % and 6 % (redFTL table 2)";
/// What it costs.
pub const MEMORY: &str = "one bit per lane";

section! {
    /// Parameters of `watermark`. Marks are rounded up to whole blocks, and held above the reserve and at or below
    /// half of the lane's spare blocks.
    pub struct Params {
        /// Garbage collection of a lane begins when this share of its blocks, or less, is free. No effect while the
        /// host outruns it: the host then takes every free block but the reserve.
        start_free_percent: f64 = 1.0, unit "%", range 0.0..=50.0;
        /// Garbage collection of a lane ends when this share of its blocks is free. No effect while the host outruns
        /// it.
        stop_free_percent: f64 = 1.0, unit "%", range 0.0..=50.0;
    }
    in_order start_free_percent <= stop_free_percent;
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    stop: u32,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { start: millionths(params.start_free_percent), stop: millionths(params.stop_free_percent) }
    }
}

impl Member for Policy {
    fn starts(&self, free: u32, limits: &Limits) -> bool {
        free <= limits.blocks_at(self.start)
    }

    fn goes_on(&self, free: u32, limits: &Limits) -> bool {
        free <= limits.blocks_at(self.start) || free < limits.blocks_at(self.stop)
    }
}
