//! The result of a run: everything that `result.json` holds. `docs/results.md` explains each key, [`schema()`] states
//! them for programs.

mod schema;
mod shares;
mod work;

pub use schema::schema;
pub use shares::{JobResult, MemberResult, Share, ShareLatencies};
pub use work::{
    BufferWork, Busy, DriveSize, EraseCount, FlashWork, FtlWork, ReadReclaimWork, Utilisation, Victims,
};

use crate::block_table::BlockTable;
use crate::by::By;
use crate::columns::Table;
use crate::error::ReportError;
use crate::fio_tally::FioJob;
use crate::lifetime::Lifetime;
use crate::modes::{HostWork, WearingWeight};
use crate::policies::ExternalPolicy;
use crate::precondition::Preconditioned;
use crate::series::TimeSeries;
use crate::settings::Settings;
use crate::stalls::Stalls;
use crate::tail::TailTold;
use crate::time_spent::TimeSpent;
use crate::verdict::Verdict;
use crate::versions::Versions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::Status;
use ssd::counters::Count;
use ssd::flash::op::Cause;
use ssd::sections::ErrorModel;
use ssd::signals::Priority;
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the format of `result.json`: it changes when a key changes its meaning or goes away.
pub const FORMAT: u32 = 2;

/// The oldest that is read: up to 1, waits for the link, for room in the buffer and for locks were told with the link,
/// the buffer and the dies (`breakdown_ns`).
const OLDEST: u32 = 1;

/// Name of the file in a folder of results.
pub const FILE_NAME: &str = "result.json";

/// A value for all requests, and for reads and writes alone; null where it has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// Of all requests.
    pub all: Option<f64>,
    /// Of reads.
    pub read: Option<f64>,
    /// Of writes.
    pub write: Option<f64>,
}

/// How latencies are distributed; ns. Null if there are none. Percentiles are at most 0.1 % too high, all else exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Requests that completed in success.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Least.
    pub min: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 99 % take no longer.
    pub p99: Option<u64>,
    /// 99.9 of 100.
    pub p99_9: Option<u64>,
    /// 99.99 of 100.
    pub p99_99: Option<u64>,
    /// Greatest.
    pub max: Option<u64>,
    /// The whole distribution as steps: the share that takes no longer, in percent.
    pub percentiles: Vec<(f64, u64)>,
}

/// Distributions of latencies by kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// Of all requests.
    pub all: Distribution,
    /// Of reads.
    pub read: Distribution,
    /// Of reads by their priority; what says none is medium.
    #[serde(default)]
    pub read_by_priority: By<Priority, Distribution>,
    /// Of writes.
    pub write: Distribution,
    /// Of trims.
    pub trim: Distribution,
    /// Of flushes.
    pub flush: Distribution,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Version of the format: 2.
    pub format: u32,
    /// What tables call it.
    pub name: String,
    /// Version and commit of the simulator.
    pub version: String,
    /// `complete`, or why the run ended before its workload did, with a name before a colon.
    pub ended: String,
    /// Seed of the drive.
    pub seed: u64,
    /// Identifies the drive's configuration, in hexadecimal digits.
    pub config_hash: String,
    /// Identifies the workload.
    pub workload_hash: String,
    /// Identifies everything that happened in the drive, in order and with its time.
    pub event_hash: String,
    /// `timed` or `functional`.
    pub executor: String,
    /// Where bit errors come from (`nand.errors.model`): `none` or `cells`.
    #[serde(default = "no_errors")]
    pub error_model: String,
    /// `closed`, `open` or `jobs`.
    pub loop_mode: String,
    /// Closed loop: requests in flight on each queue.
    pub depth: Option<u32>,
    /// Requests of the whole workload, where they are known before its end or it was served to its end.
    #[serde(default)]
    pub requests_total: Option<u64>,
    /// Requests taken from the workload, the warm-up included.
    pub requests_generated: u64,
    /// Requests completed, the warm-up included.
    pub requests_served: u64,
    /// Requests completed before the measurement.
    pub requests_warm_up: u64,
    /// Requests completed in the measurement; all that follows is about them.
    pub requests_measured: u64,
    /// Those that completed with another status than `ok`.
    pub requests_failed: u64,
    /// Those by status.
    pub failed_by_status: BTreeMap<String, u64>,
    /// Those whose data had more errors than can be corrected.
    #[serde(default)]
    pub requests_uncorrectable: u64,
    /// Reads, failed ones included.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Simulated time from the start of the measurement to the last completion; ns.
    pub simulated_ns: u64,
    /// Requests per second of simulated time.
    pub iops: Rates,
    /// Megabytes (10^6) per second of simulated time.
    pub bandwidth_mb_s: Rates,
    /// Requests in the drive, on average over time.
    pub in_flight_mean: Option<f64>,
    /// What bounds the run.
    #[serde(default)]
    pub verdict: Verdict,
    /// Latencies, from arrival to completion.
    pub latency_ns: Latencies,
    /// Times in which requests waited and nothing completed; none where no time passes.
    #[serde(default)]
    pub stalls: Stalls,
    /// What each job got; empty if the workload has none.
    #[serde(default)]
    pub jobs: Vec<JobResult>,
    /// What each phase got, or each of several workloads together; empty if the workload is of one piece.
    #[serde(default)]
    pub members: Vec<MemberResult>,
    /// Where the time of reads and writes went.
    pub breakdown_ns: TimeSpent,
    /// Bytes programmed / bytes written by completed host writes; null without such writes.
    pub write_amplification: Option<f64>,
    /// The share of each cause in it: they add up to it.
    pub write_amplification_by_cause: By<Cause, Option<f64>>,
    /// Flash operations.
    pub flash: FlashWork,
    /// The translation layer.
    pub ftl: FtlWork,
    /// The DRAM buffer.
    pub buffer: BufferWork,
    /// The host interface.
    #[serde(default)]
    pub host: HostWork,
    /// What the wear of erased blocks weighs.
    #[serde(default)]
    pub wearing_weight: WearingWeight,
    /// Every counter of the drive, as it counted.
    #[serde(default)]
    #[schemars(schema_with = "schema::counters")]
    pub counters: BTreeMap<String, Count>,
    /// Wear.
    pub erase_count: EraseCount,
    /// How busy dies and channels were.
    pub utilisation: Utilisation,
    /// The drive's size.
    pub drive: DriveSize,
    /// Time series, in files of their own; not there unless they were asked for and time passes.
    #[serde(skip)]
    pub series: Option<TimeSeries>,
    /// Whom the slowest requests waited for; not there unless it was asked for and time passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailTold>,
    /// What fio would say of the run; not there unless it was asked for.
    #[serde(skip)]
    pub fio: Option<Box<FioJob>>,
    /// Each request, as in a request log; not there unless they were to be kept ([`crate::RunSpec::keeps_requests`]).
    #[serde(skip)]
    pub requests: Option<Table>,
    /// The drive's blocks at the end; not there unless whoever has the drive puts them in.
    #[serde(skip)]
    pub blocks: Option<BlockTable>,
    /// Versions of files in flash; not there unless they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
    /// What was done to the drive before.
    pub preconditioning: Preconditioned,
    /// Endurance, if the drive wore out.
    #[serde(default)]
    pub lifetime: Lifetime,
    /// Policies from outside: libraries, C addresses, scripts; not there without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_policies: Vec<ExternalPolicy>,
    /// The whole configuration by key; what was set in other words, such as the arguments of `lab::run`, is not there.
    #[serde(default)]
    pub config: Settings,
    /// Where keys of the drive and the run were set that have not their defaults: a preset, a file with its line, an
    /// argument.
    #[serde(default)]
    pub config_origins: BTreeMap<String, String>,
    /// Processor time of the run, without preconditioning.
    pub cpu_seconds: f64,
    /// Time on the wall for the same.
    pub wall_seconds: f64,
    /// Requests served per second of processor time.
    pub requests_per_cpu_second: Option<f64>,
    /// The most memory the process has had so far.
    pub peak_rss_bytes: Option<u64>,
    /// What was skipped, rounded or moved in the workload, and what must be known to read the numbers; for a person.
    pub remarks: Vec<String>,
}

/// The error model of results that do not name it: there was no other.
fn no_errors() -> String {
    ErrorModel::None.name().to_owned()
}

/// What every format has, to tell them apart.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

/// Version of this crate, with the commit if it was built in a checkout.
pub fn version() -> String {
    match env!("WORDLINE_COMMIT") {
        "" => env!("CARGO_PKG_VERSION").to_owned(),
        commit => format!("{}+{commit}", env!("CARGO_PKG_VERSION")),
    }
}

impl RunResult {
    /// Whether the whole workload was served.
    pub fn is_complete(&self) -> bool {
        self.ended == "complete"
    }

    /// A complaint if requests were not served, or not in success. Reads that could not be corrected are what the cells
    /// gave, and part of the result.
    pub fn unserved(&self) -> Option<String> {
        if self.requests_served != self.requests_generated {
            return Some(format!(
                "{} of {} requests were served",
                self.requests_served, self.requests_generated
            ));
        }
        let uncorrectable = Status::Uncorrectable.name();
        let others = self.failed_by_status.iter().filter(|(status, _)| *status != uncorrectable);
        let by_status: Vec<String> = others.map(|(status, count)| format!("{count} {status}")).collect();
        let failed = self.requests_failed - self.requests_uncorrectable;
        (!by_status.is_empty()).then(|| format!("{failed} requests failed: {}", by_status.join(", ")))
    }

    /// Whether time passes: a functional run only counts, so that it has no latencies to speak of.
    pub fn takes_time(&self) -> bool {
        self.executor == "timed"
    }

    /// Whether there is something to tell of errors: the drive's cells age, or errors were counted.
    pub fn has_errors(&self) -> bool {
        self.error_model != ErrorModel::None.name()
            || !self.flash.retries.histogram.is_empty()
            || self.flash.uncorrectable.sum() + self.ftl.lost_units + self.requests_uncorrectable > 0
    }

    /// The text of `result.json`.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.unwrap_or_else(|error| unreachable!("plain data with text keys becomes JSON: {error}")) + "\n"
    }

    /// Reads a result from its file, or from the folder the file is in.
    pub fn load(path: &Path) -> Result<Self, ReportError> {
        let file = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let text = std::fs::read_to_string(&file).map_err(|error| ReportError::new(&file, "read", error))?;
        let fail = |error: serde_json::Error| ReportError::new(&file, "understand", error);
        let Head { format } = serde_json::from_str(&text).map_err(fail)?;
        if !(OLDEST..=FORMAT).contains(&format) {
            let message = format!("it has format {format}, this program reads formats {OLDEST} to {FORMAT}");
            return Err(ReportError::new(&file, "understand", message));
        }
        serde_json::from_str(&text).map_err(fail)
    }
}
