//! What sorting data by page types (`ftl.page_class`) did in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{DriveConfig, Stats};

/// What sorting data by page type did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageClassWork {
    /// The policy that sorts data by page type (`ftl.page_class`).
    pub policy: String,
    /// Mapping units programmed to pages of their own class.
    pub matched: u64,
    /// Mapping units programmed to pages of another class, because no unit of that class was waiting.
    pub neighbour: u64,
    /// The most mapping units that waited in the queues of one stream, for host data or for a lane's moves.
    pub queued_max: u32,
}

/// How often data was read, as `ftl.page_class` counts; empty or zero if it does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatWork {
    /// Mapping units by heat, from 0 up, at the end of the run; empty if `ftl.page_class` counts no reads.
    pub levels: Vec<u64>,
    /// Number of times that a read raised the heat of a unit.
    pub raises: u64,
    /// Number of times that the heat of a unit was lowered.
    pub lowers: u64,
    /// Bytes of the heat tables.
    pub table_bytes: u64,
}

impl PageClassWork {
    pub(crate) fn of(stats: &Stats, config: &DriveConfig) -> Self {
        let counts = &stats.ftl;
        PageClassWork {
            policy: config.page_class.name().to_owned(),
            matched: counts.class_matched,
            neighbour: counts.class_neighbour,
            queued_max: counts.class_queued_max,
        }
    }
}

impl HeatWork {
    pub(crate) fn of(stats: &Stats, drive: &ssd::Drive) -> Self {
        let ssd::ftl::page_class::Report { levels, table_bytes } = drive.reports().page_classes();
        HeatWork { levels, raises: stats.ftl.heat_raises, lowers: stats.ftl.heat_lowers, table_bytes }
    }
}
