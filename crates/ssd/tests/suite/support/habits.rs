//! MQSim's habits on any drive.

use ssd::DriveConfig;
use ssd::config::{Table, Value};
use ssd::sections::{ChannelOrder, MappingUnit, Placement, Superblock};

/// The drive with pages that have planes of their own, and channels that send read data before commands.
pub fn with_habits(mut cfg: DriveConfig) -> DriveConfig {
    (cfg.mapping.unit, cfg.allocation.superblock) = (MappingUnit::Page, Superblock::None);
    // Where pages are chosen by what they hold, none has a plane.
    let sorts = cfg.page_class.name() != "sequential";
    cfg.allocation.placement = if sorts { Placement::Dynamic } else { Placement::Static };
    cfg.scheduling.channel = ChannelOrder::DataFirst;
    // Replicas lie in other planes.
    if cfg.replica_pages_per_block() > 0 {
        cfg.read_reclaim.set("replica_limit", &Value::Integer(0)).unwrap();
    }
    cfg
}
