//! As many blocks in each lane as it says, however full the drive is: they are no room for data.

use super::{Destage, LEAST, LaneSpace, Member};

/// Name in configurations.
pub const NAME: &str = "fixed";
/// What it does.
pub const SUMMARY: &str = "a fixed number of blocks in every lane, however full the drive is";
/// Where it comes from.
pub const SOURCE: &str = "common practice: a static SLC cache";
/// What it costs.
pub const MEMORY: &str = "9 bytes per block";

section! {
    /// Parameters of `fixed`.
    pub struct Params {
        /// Blocks (or superblocks) of each lane that cache host writes; they come out of over-provisioning.
        blocks_per_lane: u32 = 4, unit "blocks", range 2..=4_194_304;
        /// Which block leaves the cache first.
        destage: Destage = Destage::Fifo;
    }
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn least(&self) -> u32 {
        self.blocks_per_lane
    }

    fn target(&self, lane: &LaneSpace) -> u32 {
        self.blocks_per_lane.min(lane.blocks.saturating_sub(lane.kept)).max(LEAST)
    }

    fn destage(&self) -> Destage {
        self.destage
    }
}
