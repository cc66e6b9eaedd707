//! What preconditioning did.

use ssd::{Drive, DriveConfig, Pace};

/// What preconditioning did.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Preconditioned {
    /// Mapping units written in order before the measurement.
    pub units_filled: u64,
    /// Mapping units overwritten after that.
    pub units_overwritten: u64,
    /// What overwrote them: `own`, the workload's own writes and trims, or `uniform`, units at random; empty if
    /// nothing was filled.
    #[serde(default)]
    pub past: String,
    /// Why that is `uniform` though `run.past = "own"`: the workload's own writes cannot be known, or are as random;
    /// else empty.
    #[serde(default)]
    pub past_reason: String,
    /// Passes over the workload's own writes.
    #[serde(default)]
    pub passes: u64,
    /// Whether every lane has erased as many blocks as it has beyond its data.
    #[serde(default)]
    pub turned_over: bool,
    /// Write amplification of each window by which steadiness was judged, if the workload's own writes were used: a
    /// window is a pass, and at least a quarter of the over-provisioning.
    #[serde(default)]
    pub write_amplification_by_window: Vec<f64>,
    /// Over-provisioning at the first request.
    #[serde(default)]
    pub spare: Spare,
    /// The outcome in words: `steady`, `still moving by x %`, `not turned over`, `written once`, `overwritten`,
    /// `laid out as if overwritten`.
    #[serde(default)]
    pub state: String,
    /// The assumed pace of the host: `relaxed` (the thresholds of `ftl.gc_trigger` hold) or `saturated` (it takes
    /// every free block but the reserve).
    #[serde(default)]
    pub pace: String,
    /// How steady state was reached: `whole` or `one_die`; null if it was not asked for.
    #[serde(default)]
    pub steady_way: Option<String>,
    /// Bytes of all these units, not included in the measurement's `bytes_written`.
    #[serde(default)]
    pub bytes_written: u64,
    /// Bytes programmed to flash for them, garbage collection included; not included in `flash.bytes_programmed`.
    #[serde(default)]
    pub bytes_programmed: u64,
    /// Whether write amplification became steady; null if that was not asked for.
    pub steady: Option<bool>,
    /// Units programmed divided by units written, over the last pass of overwrites.
    pub write_amplification: Option<f64>,
    /// Steps by which the cells were aged after that, in order, as `--age` takes them.
    #[serde(default)]
    pub age_steps: Vec<String>,
    /// Processor time of preconditioning, ageing included.
    pub cpu_seconds: f64,
    /// Whether the drive was cached by an earlier run, which made it in the same way; `preconditioning.cpu_seconds`
    /// is that run's.
    #[serde(default)]
    pub kept: bool,
    /// Keys, with values, that the drive had while it was aged, where they differ from the run's (`age_with` of a
    /// sweep).
    #[serde(default)]
    pub aged_as: Vec<String>,
}

/// Over-provisioning: space beyond what the data takes, unwritten and trimmed space included, divided by the data;
/// null if there is no data.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Spare {
    /// Gross: all good blocks, minus what the valid data takes, divided by the data.
    pub gross: Option<f64>,
    /// Effective: the same without blocks that are open, in reserve, or kept free for garbage collection.
    pub net: Option<f64>,
}

impl Spare {
    /// Of a drive as it is, which is of this configuration.
    pub(crate) fn of(drive: &Drive, config: &DriveConfig) -> Self {
        let lanes = drive.blocks().lanes();
        let good = drive.health().wear.blocks.into();
        Spare::beyond(lanes.live_units, lanes.units, (good, lanes.blocks), config)
    }

    /// Of a drive of this configuration that is full, and none of whose blocks is bad.
    pub(crate) fn when_full(config: &DriveConfig) -> Self {
        let blocks = config.used_blocks_per_plane();
        let all = u64::from(blocks) * u64::from(config.lanes());
        Spare::beyond(config.logical_units(), config.data_units_per_block() as u32, (all, blocks), config)
    }

    /// Beyond so many units of data, in blocks of so many: how many are good, and how many each lane has.
    fn beyond(data: u64, block: u32, (good, per_lane): (u64, u32), config: &DriveConfig) -> Self {
        let (data, block) = (data as f64, f64::from(block));
        let kept = config.spare_blocks_to_work_per_lane(per_lane) as f64 * f64::from(config.lanes()) * block;
        let room = good as f64 * block - data;
        let share = |room: f64| (data > 0.0).then(|| room.max(0.0) / data);
        Spare { gross: share(room), net: share(room - kept) }
    }
}

impl Preconditioned {
    /// By how much the last two windows differ; %.
    pub(super) fn change_percent(&self) -> Option<f64> {
        let [.., before, last] = self.write_amplification_by_window[..] else { return None };
        Some(100.0 * (last / before - 1.0).abs())
    }

    /// The word for what came of it.
    pub(super) fn say(&mut self) {
        let was_laid_out = self.steady_way.as_deref() == Some("one_die");
        self.state = match (self.steady, self.change_percent()) {
            _ if self.units_filled == 0 => String::new(),
            _ if was_laid_out && self.steady == Some(true) => "laid out as if overwritten".to_owned(),
            _ if self.units_overwritten == 0 => "written once".to_owned(),
            _ if !self.turned_over => "not turned over".to_owned(),
            (Some(true), _) => "steady".to_owned(),
            (Some(false), Some(moved)) => {
                format!("still moving by {}", crate::base::number::percent(moved / 100.0))
            }
            (Some(false), None) => "still moving".to_owned(),
            (None, _) => "overwritten".to_owned(),
        };
    }
}

/// How results call a pace.
pub(super) fn pace_name(pace: Pace) -> &'static str {
    if pace == Pace::Saturated { "saturated" } else { "relaxed" }
}
