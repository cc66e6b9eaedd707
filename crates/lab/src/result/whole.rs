//! All that is told of a run.

use super::block_table::BlockTable;
use super::caution::Caution;
use super::distribution::{Latencies, Rates};
use super::keys;
use super::lifetime::Lifetime;
use super::modes::{HostWork, WearingWeight};
use super::problem::Problem;
use super::regimes::Change;
use super::shares::{JobResult, MemberResult};
use super::time_spent::TimeSpent;
use super::verdict::Verdict;
use super::work::{BufferWork, DriveSize, EraseCount, FlashWork, FtlWork, Utilisation};
use crate::base::by::By;
use crate::base::columns::Table;
use crate::base::error::ReportError;
use crate::measure::fio_tally::FioJob;
use crate::measure::series::TimeSeries;
use crate::measure::stalls::Stalls;
use crate::measure::tail::TailTold;
use crate::measure::versions::Versions;
use crate::past::precondition::Preconditioned;
use crate::plan::policies::ExternalPolicy;
use crate::plan::settings::Settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::Status;
use ssd::counters::Count;
use ssd::flash::op::Cause;
use ssd::sections::ErrorModel;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use workload::whole::{self, RESULT_BYTES_MAX};

/// Version of the format of `result.json`: it changes when a key changes its meaning or goes away.
pub const FORMAT: u32 = 2;

/// The oldest that is read: up to 1, waits for the link, for room in the buffer and for locks were told with the link,
/// the buffer and the dies (`breakdown_ns`).
const OLDEST: u32 = 1;

/// Name of the file in a folder of results.
pub const FILE_NAME: &str = "result.json";

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Version of this format: 2. Results of format 1 can still be read; they count waits for the link, for buffer
    /// space and for locks under `link`, `buffer` and `die_wait`.
    pub format: u32,
    /// The run's name in tables.
    pub name: String,
    /// Version and commit of the simulator.
    pub version: String,
    /// `complete`, or why the run ended early: a name, a colon and the reason (`read_only: ...`, `workload: ...`,
    /// `lost: ...`, `bound_broken: ...`, `nothing_measured: ...`, `request_log: ...`, `interrupted: ...`). The exit
    /// code of the program is then not 0.
    pub ended: String,
    /// Seed of the drive's random numbers (`drive.seed`).
    pub seed: u64,
    /// Hash of the drive's configuration: equal for equal configurations. 16 hexadecimal digits, like all hashes
    /// here.
    pub config_hash: String,
    /// Hash of the workload: equal if the requests on equal drives are.
    pub workload_hash: String,
    /// Hash of everything that happened in the drive: equal if the same things happened in the same order at the
    /// same times.
    pub event_hash: String,
    /// `timed`, or `functional`: no simulated time.
    pub executor: String,
    /// Where bit errors come from (`nand.errors.model`): `none`, or `cells` (cells that age).
    #[serde(default = "no_errors")]
    pub error_model: String,
    /// `closed` (a fixed number of requests in flight), `open` (by arrival times) or `jobs` (as each job says).
    pub loop_mode: String,
    /// Closed loop: requests in flight on each queue; otherwise null.
    pub depth: Option<u32>,
    /// Requests of the whole workload. If the run ended early: as many as the workload announced, or null if it
    /// could not say.
    #[serde(default)]
    pub requests_total: Option<u64>,
    /// Requests taken from the workload, the warm-up included.
    pub requests_generated: u64,
    /// Requests completed, successfully or not, the warm-up included. If this differs from `requests_generated`,
    /// the run failed.
    pub requests_served: u64,
    /// Of these, requests completed before the measurement began.
    pub requests_warm_up: u64,
    /// Requests completed in the measurement; everything below is about these.
    pub requests_measured: u64,
    /// Requests that completed with a status other than `ok`.
    pub requests_failed: u64,
    /// These requests by status, such as `lba_out_of_range`; only statuses that occurred.
    pub failed_by_status: BTreeMap<String, u64>,
    /// Requests whose data had more errors than can be corrected, or had been lost that way before: status
    /// `uncorrectable`.
    #[serde(default)]
    pub requests_uncorrectable: u64,
    /// Reads, failed ones included.
    pub reads: u64,
    /// Writes, failed ones included.
    pub writes: u64,
    /// Trims, failed ones included.
    pub trims: u64,
    /// Flushes, failed ones included.
    pub flushes: u64,
    /// Bytes read by requests that succeeded.
    pub bytes_read: u64,
    /// Bytes written by requests that succeeded.
    pub bytes_written: u64,
    /// Simulated time from the start of the measurement to the last completion, in ns.
    pub simulated_ns: u64,
    /// Successful requests per second of simulated time.
    pub iops: Rates,
    /// Megabytes (10^6 bytes) read and written per second of simulated time.
    pub bandwidth_mb_s: Rates,
    /// Requests submitted and not yet completed, averaged over time.
    pub in_flight_mean: Option<f64>,
    /// What bounds the run.
    #[serde(default)]
    pub verdict: Verdict,
    /// Where throughput, latency or write amplification changed for good, in the order of time: then their means over
    /// the run are those of several regimes. Empty if they did not.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Latency from arrival to completion.
    pub latency_ns: Latencies,
    /// Stalls: periods in which requests waited and nothing completed. None if no time is simulated.
    #[serde(default)]
    pub stalls: Stalls,
    /// Results of each job of a fio job file, in file order, clone by clone, also inside phases; empty for
    /// workloads without jobs.
    #[serde(default)]
    pub jobs: Vec<JobResult>,
    /// Results of each phase, in order, or of each of several workloads run together; empty for all other
    /// workloads.
    #[serde(default)]
    pub members: Vec<MemberResult>,
    /// Where reads and writes spent their time.
    pub breakdown_ns: TimeSpent,
    /// Bytes programmed, divided by the bytes of host writes that succeeded; null without such writes, and
    /// where nothing was programmed.
    pub write_amplification: Option<f64>,
    /// The contribution of each cause; they add up to `write_amplification`.
    pub write_amplification_by_cause: By<Cause, Option<f64>>,
    /// Flash operations.
    pub flash: FlashWork,
    /// The flash translation layer.
    pub ftl: FtlWork,
    /// The DRAM buffer.
    pub buffer: BufferWork,
    /// The host interface.
    #[serde(default)]
    pub host: HostWork,
    /// Wear caused by erases, relative to the nominal program mode.
    #[serde(default)]
    pub wearing_weight: WearingWeight,
    /// Every counter of the drive, as it counted since the measurement began.
    #[serde(default)]
    #[schemars(schema_with = "keys::counters")]
    pub counters: BTreeMap<String, Count>,
    /// Erase counts of blocks.
    pub erase_count: EraseCount,
    /// How busy dies and channels were.
    pub utilisation: Utilisation,
    /// Size of the drive.
    pub drive: DriveSize,
    /// Time series, in files of their own; not there unless they were asked for and time passes.
    #[serde(skip)]
    pub series: Option<TimeSeries>,
    /// What the slowest requests waited for; only with `run.explain_tail`, and if time is simulated.
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
    /// Versions of files in flash; only with `--versions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
    /// What was done to the drive before the run.
    pub preconditioning: Preconditioned,
    /// Endurance: of a drive that wore out in this run, and of one that is rated.
    #[serde(default)]
    pub lifetime: Lifetime,
    /// External policies (libraries, C addresses, Python functions); absent if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_policies: Vec<ExternalPolicy>,
    /// The whole configuration by key, as in `config.toml`: drive (`nand.geometry.channels`), run (`run.depth`) and
    /// workload (`workload.read_percent`). Arguments of `lab::run` are not included.
    #[serde(default)]
    pub config: Settings,
    /// Where keys of the drive and the run were set, if they were set at all: `preset drive/m64:12`, `my.toml:4`,
    /// `--set ...`.
    #[serde(default)]
    pub config_origins: BTreeMap<String, String>,
    /// Where keys of the workload were set, if they were set at all: `my.toml:4`, `--read-percent`,
    /// `preset workload/ads:9`; absent where that is not known, as in sweeps and in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_origins: Option<BTreeMap<String, String>>,
    /// Processor time of the run's thread, without preconditioning.
    pub cpu_seconds: f64,
    /// Wall-clock time of the run, without preconditioning.
    pub wall_seconds: f64,
    /// `requests_served` / `cpu_seconds`.
    pub requests_per_cpu_second: Option<f64>,
    /// Peak memory of the process so far.
    pub peak_rss_bytes: Option<u64>,
    /// Why the numbers cannot be taken as they stand, if there is a reason.
    #[serde(default)]
    pub problems: Vec<Problem>,
    /// What was skipped, rounded or moved in the workload, and what you must know to read the numbers, as
    /// sentences.
    pub remarks: Vec<String>,
    /// The remarks that change how the numbers are read, with what to do about them; absent from results of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cautions: Option<Vec<Caution>>,
}

/// The error model of results that do not name it: there was no other.
fn no_errors() -> String {
    ErrorModel::None.name().to_owned()
}

/// What every format has, to tell them apart.
#[derive(Deserialize)]
struct Head {
    format: u32,
    /// Only where there are several.
    #[serde(default)]
    drives: Vec<Named>,
}

/// A drive of several.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Version of this crate, with the commit if the program was built in a checkout.
pub fn version() -> String {
    match crate::base::sources::commit() {
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

    /// The remarks that change how its numbers are read: of a result from before they were told apart, those that do by
    /// what they say.
    pub fn cautions(&self) -> Cow<'_, [Caution]> {
        match &self.cautions {
            Some(told) => Cow::Borrowed(told),
            None => self.remarks.iter().filter_map(|remark| Caution::of_older(remark)).collect(),
        }
    }

    /// All other remarks: how the workload was understood.
    pub fn notes(&self) -> Vec<&str> {
        let cautions: Vec<String> = self.cautions().iter().map(Caution::to_string).collect();
        self.remarks.iter().filter(|remark| !cautions.contains(remark)).map(String::as_str).collect()
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

    /// A result from the text of its file; what is wrong with that.
    pub fn of_json(text: &str) -> Result<Self, String> {
        let fail = |error: serde_json::Error| error.to_string();
        let Head { format, drives } = serde_json::from_str(text).map_err(fail)?;
        if !drives.is_empty() {
            let names: Vec<&str> = drives.iter().map(|drive| drive.name.as_str()).collect();
            let (count, names) = (names.len(), names.join(", "));
            return Err(format!("it is of {count} drives, each of which has a folder beside it: {names}"));
        }
        if !(OLDEST..=FORMAT).contains(&format) {
            return Err(format!("it has format {format}, this program reads formats {OLDEST} to {FORMAT}"));
        }
        serde_json::from_str(text).map_err(fail)
    }

    /// Reads a result from its file, or from the folder the file is in.
    pub fn load(path: &Path) -> Result<Self, ReportError> {
        let file = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let text = whole::read_text(&file, RESULT_BYTES_MAX)
            .map_err(|error| ReportError::new(&file, "read", error))?;
        RunResult::of_json(&text).map_err(|wrong| ReportError::new(&file, "understand", wrong))
    }
}
