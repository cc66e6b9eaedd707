//! Cleans ahead while the host is silent, so that bursts of writes find free blocks; under load it falls back to a
//! low mark.

use super::{Limits, Member, millionths};
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "background_idle";
/// What it does.
pub const SUMMARY: &str = "when idle, up to a high threshold of free blocks; under load, below a low \
                           threshold";
/// Where it comes from.
pub const SOURCE: &str =
    "common practice; idle detection of 10 ms as assumed for redFTL+ (calibration section 15)";
/// What it costs.
pub const MEMORY: &str = "one bit per lane";

section! {
    /// Parameters of `background_idle`; marks are rounded and held as those of `watermark`.
    pub struct Params {
        /// Under load, garbage collection of a lane begins when this share of its blocks, or less, is free. No effect
        /// while the host outruns it: the host then takes every free block but the reserve.
        start_free_percent: f64 = 1.0, unit "%", range 0.0..=50.0;
        /// When idle, garbage collection of a lane continues until this share of its blocks is free.
        idle_free_percent: f64 = 5.0, unit "%", range 0.0..=50.0;
        /// Time without host commands after which the drive counts as idle.
        idle_after_us: f64 = 10000.0, unit "us", range 1.0..=1e9;
    }
    in_order start_free_percent <= idle_free_percent;
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    start: u32,
    idle: u32,
    idle_after_ns: u64,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            start: millionths(params.start_free_percent),
            idle: millionths(params.idle_free_percent),
            idle_after_ns: SimDuration::from_us(params.idle_after_us).0,
        }
    }
}

impl Member for Policy {
    fn starts(&self, free: u32, limits: &Limits) -> bool {
        free <= limits.blocks_at(self.start) || limits.idle && free < limits.blocks_at(self.idle)
    }

    fn idle_after_ns(&self) -> Option<u64> {
        Some(self.idle_after_ns)
    }
}
