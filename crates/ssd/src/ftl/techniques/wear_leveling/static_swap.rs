//! When erase counts of a lane drift apart, moves the data that keeps the youngest block young (it is cold, or the
//! block would have been erased) into the most worn free block, and lets the young one work.

use super::Member;
use crate::ftl::tables::blocks::{BlockState, LaneView};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "static_swap";
/// What it does.
pub const SUMMARY: &str = "cold data of the least erased block moves to the most worn free block";
/// Where it comes from.
pub const SOURCE: &str =
    "Chang (2007), dual-pool; redFTL's evaluation swaps at a difference of 40 (redFTL table 2)";
/// What it costs.
pub const MEMORY: &str = "4 bytes per block (erase count)";

section! {
    /// Parameters of `static_swap`.
    pub struct Params {
        /// Tolerated difference in erase counts within a lane; beyond it blocks are swapped.
        max_difference: u32 = 40, unit "erases", range 1..=1_000_000;
        /// Erases of a lane between two checks.
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
}

impl Member for Policy {
    /// The least erased closed block, if it lags behind the most worn block by more than is allowed.
    fn choose(&mut self, view: &LaneView<'_>, erases: u64) -> Option<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::ftl::tables::blocks::Blocks;
    use crate::ftl::tables::layout::Layout;
    use crate::nand::Chip;
    use crate::units::{BlockId, LaneId};

    #[test]
    fn acts_beyond_the_difference_and_not_at_it() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (4, 4, 1);
        let layout = Layout::new(&cfg, &Chip::new(1, 4, 4, &cfg.reliability, 1));
        let mut policy = Policy::new(&Params { max_difference: 10, check_interval: 3 });
        let mut chosen = |most, erases| {
            let mut blocks = Blocks::new(&layout, [most, 5, 4, 2].into_iter());
            // The free block 3 is younger, but holds no data.
            [1, 2].into_iter().for_each(|block| blocks.close(BlockId(block), 0));
            policy.choose(&blocks.lane_view(&layout, LaneId(0), 0), erases)
        };
        assert_eq!([13, 14, 15, 40].map(|most| chosen(most, 6)), [None, None, Some(2), Some(2)]);
        assert_eq!([4, 5, 6].map(|erases| chosen(40, erases)), [None, None, Some(2)]);
    }
}
