//! What sorting data by page types (`ftl.page_class`) did in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{DriveConfig, Stats};

/// What sorting data by the class of pages did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageClassWork {
    /// The policy.
    pub policy: String,
    /// Mapping units programmed to pages of the class that they deserve.
    pub matched: u64,
    /// Mapping units programmed to pages of another class, because none waited for its own.
    pub neighbour: u64,
    /// Most mapping units that waited in the queues of a stream, of host data or of what a lane moved.
    pub queued_max: u32,
}

/// How often data was read, as `ftl.page_class` counts; all empty or zero if it does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatWork {
    /// Mapping units by their heat, from 0 on, at the end.
    pub levels: Vec<u64>,
    /// Times that a read has raised the heat of one.
    pub raises: u64,
    /// Times that one was lowered.
    pub lowers: u64,
    /// Bytes of the tables.
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
