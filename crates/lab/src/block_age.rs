//! How worn blocks are, as the firmware's marker tells it (`ftl.age_marker`).

use serde::{Deserialize, Serialize};
use ssd::{Drive, DriveConfig, Stats};

/// Ages of blocks; all zero without a marker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgeWork {
    /// The policy.
    pub policy: String,
    /// Mean over all blocks at the end, as a part of their lives.
    pub mean: f64,
    /// The oldest block at the end.
    pub max: f64,
    /// First pages read for their errors.
    pub checks: u64,
    /// Blocks retired because their lives were over.
    pub retired: u64,
}

impl AgeWork {
    pub(crate) fn of(stats: &Stats, drive: &Drive, config: &DriveConfig) -> Self {
        let blocks = config.geometry.planes() * config.geometry.blocks_per_plane;
        let ages = || (0..blocks).map(|block| drive.block_age_q12(block));
        let sum: u64 = ages().map(u64::from).sum();
        AgeWork {
            policy: config.age_marker.name().to_owned(),
            mean: sum as f64 / 4096.0 / f64::from(blocks),
            max: f64::from(ages().max().unwrap_or(0)) / 4096.0,
            checks: stats.ftl.age_checks,
            retired: stats.ftl.age_retired,
        }
    }
}
