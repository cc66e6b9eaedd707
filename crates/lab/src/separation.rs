//! What the separator of data (`ftl.stream`) did in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{Drive, DriveConfig, Stats};

/// What the separator of data did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamWork {
    /// The policy.
    pub policy: String,
    /// Mapping units programmed to blocks of each of its streams, host's and moved, the first one first; then those
    /// moved from the first where they have blocks of their own, then those that wear leveling moved.
    pub units: Vec<u64>,
    /// Groups of data that it expects to die together, at the end.
    pub groups: u32,
    /// Writers (program contexts, processes) that it knows, at the end.
    pub contexts: u32,
    /// Mapping units written by others, which its table had no room for.
    #[serde(default)]
    pub contexts_turned_away: u64,
    /// The most blocks that streams have had open in one lane since the drive was built.
    pub open_blocks_max: u32,
    /// Bytes of memory that it takes.
    pub memory_bytes: u64,
    /// Mapping units programmed in a page of another stream, to fill it.
    pub mixed_units: u64,
}

impl StreamWork {
    pub(crate) fn of(stats: &Stats, drive: &Drive, config: &DriveConfig) -> Self {
        let counts = &stats.ftl;
        let (report, open_blocks_max) = drive.reports().streams();
        let is_told = drive.ahead().key() == Some("ftl.stream.policy");
        let told = drive.ahead().told().filter(|_| is_told).map_or(0, |told| told.bytes());
        let last = counts.stream_units.iter().rposition(|&units| units > 0).map_or(0, |last| last + 1);
        StreamWork {
            policy: config.stream.name().to_owned(),
            units: counts.stream_units[..last].to_vec(),
            groups: report.groups,
            contexts: report.contexts,
            contexts_turned_away: report.turned_away,
            open_blocks_max,
            memory_bytes: config.stream_bytes() + told as u64,
            mixed_units: counts.mixed_units,
        }
    }
}
