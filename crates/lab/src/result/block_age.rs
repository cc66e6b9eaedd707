//! How worn blocks are, as the firmware's marker tells it (`ftl.age_marker`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{Drive, DriveConfig, Stats, ftl::techniques::age_marker};

/// A whole life, on the scale of ages.
const LIFE: f64 = age_marker::LIFE as f64;

/// Ages of blocks; all zero without a marker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgeWork {
    /// The marker that tells the firmware how worn blocks are (`ftl.age_marker`).
    pub policy: String,
    /// Mean age of all blocks at the end of the run, as a fraction of a life; 0 without a marker.
    pub mean: f64,
    /// Age of the oldest block at the end.
    pub max: f64,
    /// First pages read back after programming to count their errors.
    pub checks: u64,
    /// Blocks retired because the marker said their life was over; also counted in `ftl.retired_blocks`.
    pub retired: u64,
}

impl AgeWork {
    pub(crate) fn of(stats: &Stats, drive: &Drive, config: &DriveConfig) -> Self {
        let blocks = drive.chips().blocks();
        let ages: Vec<f64> =
            (0..blocks).map(|block| f64::from(drive.blocks().age_q12(block)) / LIFE).collect();
        AgeWork {
            policy: config.age_marker.name().to_owned(),
            mean: ages.iter().sum::<f64>() / f64::from(blocks),
            max: ages.iter().copied().fold(0.0, f64::max),
            checks: stats.techniques.age_marker.age_checks,
            retired: stats.techniques.age_marker.age_retired,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::config::Table;
    use ssd::nand::cell::CellPart;
    use ssd::sections::{ErrorModel, Errors};

    /// Cells of the default part live for about 12,000 cycles: after 6,000 blocks are about half as old, some older.
    #[test]
    fn ages_are_parts_of_a_life() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block) = (64, 16);
        cfg.drive.over_provisioning_percent = 60.0;
        cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
        cfg.errors = Errors { model: ErrorModel::Cells, variation: true, ..Errors::default() };
        let mut of = |marker: &str| {
            cfg.age_marker.select(marker).expect("a marker");
            let mut drive = Drive::new(&cfg).expect("a drive");
            drive.age(&"cycle to 6000".parse().expect("a step")).expect("room in the tables");
            AgeWork::of(&drive.stats(), &drive, &cfg)
        };
        let known = of("real_wear");
        assert!((0.3..0.7).contains(&known.mean) && known.max > known.mean && known.max < 1.5, "{known:?}");
        assert_eq!(known.policy, "real_wear");
        assert_eq!(of("none"), AgeWork { policy: "none".to_owned(), ..AgeWork::default() });
    }
}
