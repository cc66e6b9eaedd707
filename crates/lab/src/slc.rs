//! What the SLC cache (`ftl.slc_cache`) did in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{DriveConfig, Stats};

/// What the cache of one bit a cell did; all zero without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlcWork {
    /// The policy.
    pub policy: String,
    /// Blocks (superblocks count as one) of one bit a cell, at the end.
    pub blocks: u32,
    /// How many there should have been.
    pub target: u32,
    /// Pages read for the host from them.
    pub hits: u64,
    /// Blocks whose live data was moved to full blocks.
    pub destaged: u64,
    /// Mapping units that the host wrote straight to full blocks, because the cache was full.
    pub bypassed: u64,
}

impl SlcWork {
    pub(crate) fn of(stats: &Stats, drive: &ssd::Drive, config: &DriveConfig) -> Self {
        let (counts, report) = (&stats.ftl, drive.reports().slc_cache());
        SlcWork {
            policy: config.slc_cache.name().to_owned(),
            blocks: report.blocks,
            target: report.target,
            hits: counts.slc_hits,
            destaged: counts.slc_destaged,
            bypassed: counts.slc_bypassed,
        }
    }
}
