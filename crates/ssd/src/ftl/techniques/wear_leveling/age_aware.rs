//! When ages of a lane drift apart, moves the data that keeps the youngest block young into the oldest free block, and
//! lets the young one work: as `static_swap`, by age and not by erases, so that every block lives as long as it can.

use super::Member;
use crate::ftl::tables::blocks::{BlockState, LaneView};
use crate::ftl::tables::worn::LIFE;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "age_aware";
/// What it does.
pub const SUMMARY: &str = "cold data of the youngest block moves to the oldest free block";
/// Where it comes from.
pub const SOURCE: &str =
    "LongLive, RealWear section 3.5; the difference is assumed, above the marker's noise";
/// What it costs.
pub const MEMORY: &str = "2 bytes per block, and those of `ftl.age_marker`";

section! {
    /// Parameters of `age_aware`.
    pub struct Params {
        /// Tolerated difference in age within a lane, in lives; beyond it blocks are swapped.
        max_age_difference: f64 = 0.05, unit "lives", range 0.0..=10.0;
        /// Erases of a lane between two checks.
        check_interval: u32 = 16, unit "erases", range 1..=1_000_000;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// In 1/4096 of a life.
    max_difference: u32,
    check_interval: u64,
}

impl Policy {
    /// Builds it.
    // tidy: allow(float): called when a drive is built
    pub fn new(params: &Params) -> Self {
        Policy {
            max_difference: libm::round(params.max_age_difference * f64::from(LIFE)) as u32,
            check_interval: u64::from(params.check_interval),
        }
    }
}

impl Member for Policy {
    /// The youngest closed block, if it lags behind the oldest block by more than is allowed.
    fn choose(&mut self, view: &LaneView<'_>, erases: u64) -> Option<u32> {
        if !erases.is_multiple_of(self.check_interval) {
            return None;
        }
        let used = |&block: &u32| view.state(block) != BlockState::Bad;
        let oldest = (0..view.len()).filter(used).map(|block| view.wear_q12(block)).max()?;
        let coldest = (0..view.len())
            .filter(|&block| view.state(block) == BlockState::Closed)
            .min_by_key(|&block| view.wear_q12(block))?;
        (oldest - view.wear_q12(coldest).min(oldest) > self.max_difference).then_some(coldest)
    }

    fn needs_ages(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::ftl::tables::blocks::Blocks;
    use crate::ftl::tables::layout::Layout;
    use crate::nand::Chip;
    use crate::units::{BlockId, LaneId};

    /// The most erased block is not the oldest: .05 of a life are 205 parts.
    #[test]
    fn acts_by_age_and_not_by_erases() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (4, 4, 1);
        let layout = Layout::new(&cfg, &Chip::new(1, 4, 4, &cfg.reliability, 1));
        let mut policy = Policy::new(&Params { check_interval: 3, ..Params::default() });
        let mut chosen = |oldest: u16, erases| {
            let mut blocks = Blocks::new(&layout, [900, 5, 4, 2].into_iter());
            // The free block 3 is younger, but holds no data.
            [1, 2].into_iter().for_each(|block| blocks.close(BlockId(block), 0));
            (0..)
                .zip([oldest, 1_000, 1_100, 0])
                .for_each(|(block, age)| blocks.set_wear_q12(BlockId(block), age));
            policy.choose(&blocks.lane_view(&layout, LaneId(0), 0), erases)
        };
        assert_eq!([1_100, 1_205, 1_206, 4_000].map(|age| chosen(age, 6)), [None, None, Some(1), Some(1)]);
        assert_eq!([4, 5, 6].map(|erases| chosen(4_000, erases)), [None, None, Some(1)]);
    }
}
