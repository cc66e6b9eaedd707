//! How a workload is run on a drive.

use crate::base::stop::Stop;
use crate::measure::timeline::TimelineSpec;
use crate::measure::versions::VersionsSpec;
use crate::past::age::AgeSteps;
use crate::past::cache::DriveCache;
use crate::past::precondition::Preconditioning;
use crate::plan::settings::Settings;
use ssd::{DriveConfig, Executor, ExternalPolicies};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// How requests reach the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopMode {
    /// So many are kept in flight; the workload's arrival times are not looked at.
    Closed {
        /// Requests in flight on each of the drive's queues; 0 for as many as a queue holds.
        depth: u32,
    },
    /// As the workload's jobs say: each keeps so many in flight, pauses, keeps a rate.
    Jobs,
    /// At the workload's arrival times. A request that finds all queues full waits, and its latency counts from its
    /// arrival all the same.
    Open,
}

impl LoopMode {
    /// Name in configurations and results.
    pub fn name(self) -> &'static str {
        match self {
            LoopMode::Closed { .. } => "closed",
            LoopMode::Jobs => "jobs",
            LoopMode::Open => "open",
        }
    }
}

/// How a workload is run on a drive.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// What tables call the result.
    pub name: String,
    /// What is done to the drive before.
    pub preconditioning: Preconditioning,
    /// How its cells are aged after that.
    pub age: AgeSteps,
    /// How requests reach the drive.
    pub loop_mode: LoopMode,
    /// The measurement begins when this many requests have completed.
    pub warm_up: u64,
    /// At most so many requests are taken from the workload, the warm-up included.
    pub requests: Option<u64>,
    /// Whether time passes.
    pub executor: Executor,
    /// File for one row per request: CSV, compressed if the name ends in `.zst`; Parquet if it ends in `.parquet`.
    pub request_log: Option<PathBuf>,
    /// Whether the same is kept in memory, as [`crate::RunResult::requests`]: some 200 bytes a request.
    pub keeps_requests: bool,
    /// Whether it is counted what fio would say of the run ([`crate::report::fio_json`]).
    pub tells_fio: bool,
    /// Intervals of the time series at most; 0 for none.
    pub samples: u32,
    /// Whom requests waited for is told of those from this percentile of latencies on; 0 for none.
    pub explain_tail: f64,
    /// What timeline is written, if one is.
    pub timeline: Option<TimelineSpec>,
    /// What is told of versions of files in flash.
    pub versions: VersionsSpec,
    /// What identifies the workload in the result ([`workload::Prepared::workload_hash`]).
    pub workload_hash: u64,
    /// What was set of the run and the workload, by key, for the result; those of the drive are added.
    pub settings: Settings,
    /// Where keys of the drive and the run were set that have not their defaults, for the result: a preset, a file with
    /// its line, an argument.
    pub origins: BTreeMap<String, String>,
    /// The same of the workload's keys, if that is known.
    pub workload_origins: Option<BTreeMap<String, String>>,
    /// Whether the drive had been written before, as one that comes from a snapshot.
    pub was_used: bool,
    /// What the drive is while it is aged, if that is another: it goes on as the one of the run, as far as an aged
    /// drive can ([`ssd::Drive::reconfigure`]).
    pub aged_as: Option<Arc<DriveConfig>>,
    /// Policies from outside, for the families of the drive whose policy is `external`: for drives that are built here.
    pub policies: ExternalPolicies,
    /// Where aged drives are kept: one that was made in the same way is taken from there, and what takes long is put
    /// there. Only for a drive that is new.
    pub cache: Option<Arc<DriveCache>>,
    /// Asked to end early, the run stops to take requests, and its result says so.
    pub stop: Stop,
}

impl RunSpec {
    /// Whether something is done to the drive before the measurement.
    pub(crate) fn ages(&self) -> bool {
        self.preconditioning != Preconditioning::default() || !self.age.0.is_empty()
    }

    /// Requests of the whole run, or at most, if the workload or this knows them before the end.
    pub(crate) fn total(&self, hint: Option<u64>) -> Option<u64> {
        match (hint, self.requests) {
            (Some(hint), Some(limit)) => Some(hint.min(limit)),
            (hint, limit) => hint.or(limit),
        }
    }
}

impl Default for RunSpec {
    fn default() -> Self {
        RunSpec {
            name: String::new(),
            preconditioning: Preconditioning::default(),
            age: AgeSteps::default(),
            loop_mode: LoopMode::Closed { depth: 32 },
            warm_up: 0,
            requests: None,
            executor: Executor::Timed,
            request_log: None,
            keeps_requests: false,
            tells_fio: false,
            samples: 0,
            explain_tail: 0.0,
            timeline: None,
            versions: VersionsSpec::default(),
            workload_hash: 0,
            settings: Settings::new(),
            origins: BTreeMap::new(),
            workload_origins: None,
            was_used: false,
            aged_as: None,
            policies: ExternalPolicies::default(),
            cache: None,
            stop: Stop::default(),
        }
    }
}
