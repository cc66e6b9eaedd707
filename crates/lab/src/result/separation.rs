//! What the separator of data (`ftl.stream`) did in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{Drive, DriveConfig, Stats};

/// What the separator (`ftl.stream`) did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamWork {
    /// The separator (`ftl.stream`).
    pub policy: String,
    /// Mapping units programmed to the blocks of each stream, for the host and by moves: the separator's streams;
    /// then units moved from the first stream, if those have their own blocks (`ftl.allocation.moves = apart`);
    /// then units moved by wear levelling. Where `ftl.program_mode` tells hotness apart beside the separator: all but
    /// the last for mixed data, then for read-hot, then for write-hot data.
    pub units: Vec<u64>,
    /// Groups of data that the separator expects to die together, at the end of the run.
    pub groups: u32,
    /// Writers (program contexts, processes) that the separator knows, at the end of the run.
    pub contexts: u32,
    /// Mapping units from contexts that did not fit in the separator's table (4,096 rows, assumed): treated as
    /// unknown.
    #[serde(default)]
    pub contexts_turned_away: u64,
    /// The most blocks that streams had open in one lane since the drive was built.
    pub open_blocks_max: u32,
    /// Memory that the separator takes, in bytes.
    pub memory_bytes: u64,
    /// Mapping units programmed in a page of another stream to fill it, instead of padding.
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
