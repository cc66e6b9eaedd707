//! What the SLC cache (`ftl.slc_cache`) did in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{DriveConfig, Stats};

/// What the SLC cache did; all zero without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlcWork {
    /// The policy that sizes the SLC cache (`ftl.slc_cache`).
    pub policy: String,
    /// SLC blocks (superblocks count as one) at the end of the run.
    pub blocks: u32,
    /// How many SLC blocks there should have been at the end.
    pub target: u32,
    /// Pages read for the host from SLC blocks.
    pub hits: u64,
    /// SLC blocks that left the cache. Units moved for that are in `ftl.moved_units.destage`, pages in
    /// `flash.programs.destage`.
    pub destaged: u64,
    /// Mapping units that the host wrote directly to full blocks, because the cache was full.
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
