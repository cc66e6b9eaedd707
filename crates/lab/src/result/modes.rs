//! Program modes in results: which blocks and reads had which, what the wear of erased blocks weighs, and what the
//! buffer said of data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::op::{Cause, OpKind};
use ssd::sections::ErrorModel;
use ssd::signals::Hotness;
use ssd::{DriveConfig, Stats};
use std::collections::BTreeMap;

/// Name of the mode of blocks of one bit a cell.
const ONE_BIT: &str = "one_bit";

/// What was programmed in which mode, by the names of `cell.modes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramModeWork {
    /// The policy that picks program modes.
    pub policy: String,
    /// Blocks erased and returned to the free list, by the mode they were programmed in: the names of `cell.modes`
    /// (only `nominal` where cells have no errors), and `one_bit` for blocks of the SLC cache.
    pub blocks: BTreeMap<String, u64>,
    /// Pages read for the host, by the mode of their block.
    pub reads: BTreeMap<String, u64>,
}

impl ProgramModeWork {
    pub(crate) fn of(stats: &Stats, config: &DriveConfig) -> Self {
        let ages = config.errors.model == ErrorModel::Cells;
        let mut names = config.cells.modes.names.clone();
        names.truncate(if ages { names.len() } else { 1 });
        if ages && config.slc_blocks_per_lane() > 0 {
            names.push(ONE_BIT.to_owned());
        }
        let by_name = |counts: &[u64]| names.iter().cloned().zip(counts.iter().copied()).collect();
        let all_reads = [stats.flash.ops[OpKind::Read as usize][Cause::Host as usize]];
        ProgramModeWork {
            policy: config.program_mode.name().to_owned(),
            blocks: by_name(&stats.ftl.erased_by_mode),
            reads: if ages { by_name(&stats.flash.host_reads_by_mode) } else { by_name(&all_reads) },
        }
    }

    fn share(counts: &BTreeMap<String, u64>, mode: &str) -> Option<f64> {
        let all: u64 = counts.values().sum();
        (all > 0).then(|| counts.get(mode).copied().unwrap_or(0) as f64 / all as f64)
    }

    /// Share of a mode in the pages read for the host, 0 to 1.
    pub fn share_of_reads(&self, mode: &str) -> Option<f64> {
        Self::share(&self.reads, mode)
    }

    /// Share of a mode in the blocks erased, 0 to 1.
    pub fn share_of_blocks(&self, mode: &str) -> Option<f64> {
        Self::share(&self.blocks, mode)
    }
}

/// Wear caused by erases (HIRE section 4.2): each counts as `cell.modes.wear` of the mode that the block was
/// programmed in, or `nand.slc.wear`; 1 where cells have no errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WearingWeight {
    /// Average wear of an erase, by the program mode of the block (`cell.modes.wear`, `nand.slc.wear`), 1 where
    /// cells have no errors; null without erases. HIRE's wearing weight relative to the baseline's.
    pub per_erase: Option<f64>,
    /// Wear of all erases per block's worth of data that the host wrote, so that erases by garbage collection count
    /// too; null without writes.
    pub per_write: Option<f64>,
}

impl WearingWeight {
    pub(crate) fn of(stats: &Stats, config: &DriveConfig) -> Self {
        let ages = config.errors.model == ErrorModel::Cells;
        let of_mode = |mode: usize| config.cells.modes.wear.get(mode).copied().unwrap_or(config.slc.wear);
        let wear = |mode: usize| if ages { of_mode(mode) } else { 1.0 };
        let erased = &stats.ftl.erased_by_mode;
        let weight: f64 = erased.iter().enumerate().map(|(mode, count)| *count as f64 * wear(mode)).sum();
        let all: u64 = erased.iter().sum();
        let block = f64::from(config.data_pages_per_block() * config.geometry.page_bytes)
            * f64::from(config.lane_span());
        let written = stats.host.written_bytes as f64 / block;
        WearingWeight {
            per_erase: (all > 0).then(|| weight / all as f64),
            per_write: (written > 0.0).then(|| weight / written),
        }
    }
}

/// Work of the host interface, apart from the buffer's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostWork {
    /// What the buffer said of data that left it.
    pub hotness: HotnessWork,
}

/// Mapping units that left the buffer, by what their accesses amounted to (`host.hotness`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotnessWork {
    /// The policy that classifies data as it leaves the buffer (`host.hotness`).
    pub policy: String,
    /// Units that left the buffer as read-hot.
    pub rh: u64,
    /// Units that left the buffer as write-hot.
    pub wh: u64,
    /// Units that left the buffer as mixed.
    pub mh: u64,
}

impl HostWork {
    pub(crate) fn of(stats: &Stats, config: &DriveConfig) -> Self {
        let left = |hotness: Hotness| stats.host.hotness[hotness as usize];
        let hotness = HotnessWork {
            policy: config.hotness.name().to_owned(),
            rh: left(Hotness::ReadHot),
            wh: left(Hotness::WriteHot),
            mh: left(Hotness::Mixed),
        };
        HostWork { hotness }
    }
}
