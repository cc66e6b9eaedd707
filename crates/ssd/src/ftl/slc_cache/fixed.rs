//! As many blocks in each lane as it says, however full the drive is: they are no room for data.

use super::{Destage, LEAST, LaneSpace, Member, WhenIdle};
use serde::{Deserialize, Serialize};

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
        /// Time without host commands after which data leaves the cache though there is room in it (assumed), until
        /// the next command; a block that is being emptied then is finished. 0: never.
        idle_after_us: f64 = 1e6, unit "us", range 0..=1e9;
        /// Share of the cache's blocks that may keep their data then.
        idle_keep_percent: f64 = 0.0, unit "%", range 0..=100;
    }
}

/// `fixed` at work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    blocks_per_lane: u32,
    destage: Destage,
    when_idle: WhenIdle,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            blocks_per_lane: params.blocks_per_lane,
            destage: params.destage,
            when_idle: WhenIdle::new(params.idle_after_us, params.idle_keep_percent),
        }
    }
}

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

    fn when_idle(&self) -> WhenIdle {
        self.when_idle
    }
}
