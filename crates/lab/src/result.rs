//! The result of a run: everything that `result.json` holds. `docs/results.md` explains each key.

use crate::block_age::AgeWork;
use crate::block_table::BlockTable;
use crate::by::By;
use crate::error::ReportError;
use crate::fio_tally::FioJob;
use crate::lifetime::Lifetime;
use crate::migration::MigrationWork;
use crate::modes::{HostWork, ProgramModeWork, WearingWeight};
use crate::page_class::{HeatWork, PageClassWork};
use crate::precondition::Preconditioned;
use crate::retries::Retries;
use crate::sanitize::SanitizeWork;
use crate::separation::StreamWork;
use crate::series::TimeSeries;
use crate::settings::Settings;
use crate::slc::SlcWork;
use crate::stalls::Stalls;
use crate::suspends::DieWork;
use crate::tail::TailTold;
use crate::time_spent::TimeSpent;
use crate::verdict::Verdict;
use crate::versions::Versions;
use serde::{Deserialize, Serialize};
use ssd::counters::Count;
use ssd::flash::op::Cause;
use ssd::sections::ErrorModel;
use ssd::signals::Priority;
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the format of `result.json`: it changes when a key changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// Name of the file in a folder of results.
pub const FILE_NAME: &str = "result.json";

/// A value for all requests, and for reads and writes alone; null where it has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Of all requests.
    pub all: Option<f64>,
    /// Of reads.
    pub read: Option<f64>,
    /// Of writes.
    pub write: Option<f64>,
}

/// How latencies are distributed; ns. Null if there are none. Percentiles are at most 0.1 % too high, all else exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Requests that completed in success.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Least.
    pub min: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 99 of 100 are at most so long.
    pub p99: Option<u64>,
    /// 99.9 of 100.
    pub p99_9: Option<u64>,
    /// 99.99 of 100.
    pub p99_99: Option<u64>,
    /// Greatest.
    pub max: Option<u64>,
    /// The whole distribution as steps: so many percent are at most so long.
    pub percentiles: Vec<(f64, u64)>,
}

/// Distributions of latencies by kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Flash operations by kind and cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlashWork {
    /// Pages read to the controller.
    pub reads: By<Cause, u64>,
    /// Pages programmed from the controller.
    pub programs: By<Cause, u64>,
    /// Blocks erased.
    pub erases: By<Cause, u64>,
    /// Pages copied inside a plane.
    pub copybacks: By<Cause, u64>,
    /// Multi-plane operations (each counted above as the single operations in it).
    pub multi_plane_groups: u64,
    /// Programs that failed.
    pub program_fails: u64,
    /// Erases that failed.
    pub erase_fails: u64,
    /// Bytes programmed, counting whole pages.
    pub bytes_programmed: By<Cause, u64>,
    /// Attempts that page reads took.
    #[serde(default)]
    pub retries: Retries,
    /// Page reads that no attempt could correct.
    #[serde(default)]
    pub uncorrectable: By<Cause, u64>,
    /// Suspends of dies' work, and what became of priorities there.
    #[serde(flatten)]
    pub dies: DieWork,
}

/// Work of the translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FtlWork {
    /// Mapping units written to flash for the host.
    pub host_units: u64,
    /// Mapping units moved.
    pub moved_units: By<Cause, u64>,
    /// Places for mapping units left empty in programmed pages.
    pub padded_units: u64,
    /// Mapping units trimmed.
    pub trimmed_units: u64,
    /// Mapping units whose data was lost to errors.
    #[serde(default)]
    pub lost_units: u64,
    /// Blocks (superblocks count as one) erased and given back.
    pub reclaimed_blocks: u64,
    /// Blocks retired.
    pub retired_blocks: u64,
    /// What moved because of reads.
    #[serde(default)]
    pub read_reclaim: ReadReclaimWork,
    /// Which data shared blocks.
    #[serde(default)]
    pub stream: StreamWork,
    /// Which page types held which data.
    #[serde(default)]
    pub page_class: PageClassWork,
    /// What is known of how often data is read.
    #[serde(default)]
    pub heat: HeatWork,
    /// The cache of one bit a cell.
    #[serde(default)]
    pub slc: SlcWork,
    /// How worn blocks are, as a marker tells.
    #[serde(default)]
    pub age: AgeWork,
    /// Which data that moved went past the controller.
    #[serde(default)]
    pub migration: MigrationWork,
    /// What nobody may read any more.
    #[serde(default)]
    pub sanitize: SanitizeWork,
    /// Blocks that cleaning emptied.
    #[serde(default)]
    pub victims: Victims,
    /// In which program modes blocks were programmed.
    #[serde(default)]
    pub program_mode: ProgramModeWork,
    /// Time of flash operations for cleaning, one after the other: pages read x tR, pages programmed x tPROG, copied x
    /// (tR + tPROG), blocks erased x tBERS, each with the mean over page types; ns.
    #[serde(default)]
    pub gc_time_ns: u64,
}

/// Blocks that cleaning emptied, by the class of their stream (`ftl.stream`; without classes all are of the first).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Victims {
    /// How many, up to the last class that had any.
    pub count: Vec<u64>,
    /// Of these, how many held no live unit.
    pub dead: Vec<u64>,
    /// Units that lived in one, in the mean, by the same; null without victims.
    pub copied_mean: Vec<Option<f64>>,
    /// All of them by the share of their units that lived: none, then up to 1/16, 2/16 and so on to all.
    pub histogram: Vec<u64>,
}

impl Victims {
    /// How many there were.
    pub fn all(&self) -> u64 {
        self.count.iter().sum()
    }

    /// Of these, how many held no live unit.
    pub fn all_dead(&self) -> u64 {
        self.dead.iter().sum()
    }

    /// Units that lived in one, in the mean; none without victims.
    pub fn copied(&self) -> Option<f64> {
        let units =
            self.copied_mean.iter().zip(&self.count).map(|(mean, all)| mean.unwrap_or(0.0) * *all as f64);
        (self.all() > 0).then(|| units.sum::<f64>() / self.all() as f64)
    }
}

/// What the read-reclaim policy did, by the chips' counters. Pages it copied are in `flash.programs` under its cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadReclaimWork {
    /// The policy.
    pub policy: String,
    /// Pages moved: those whose data was read to be put elsewhere.
    pub pages: u64,
    /// Of these, pages that had seen less than half of the reads they stand.
    pub premature_pages: u64,
    /// Most that any of them had seen, over what it stands: above 1 it came too late.
    pub most_disturbed: Option<f64>,
    /// Bytes of the policy's tables.
    pub table_bytes: u64,
    /// How long moves because of reads took, each until the last of it was at its new place; ns. Percentiles are at
    /// most 1/16 above the true ones. Empty where no time passes.
    #[serde(default)]
    pub service_ns: Distribution,
    /// Mapping units read by the host from replicas.
    #[serde(default)]
    pub replica_reads: u64,
    /// Replicas of mapping units that became the page itself.
    #[serde(default)]
    pub replicas_adopted: u64,
    /// Replicas of mapping units that could not be corrected when read.
    #[serde(default)]
    pub replicas_failed: u64,
}

/// Work of the DRAM buffer, in mapping units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferWork {
    /// Read wholly from DRAM.
    pub hits: u64,
    /// Read at least in part from flash.
    pub misses: u64,
    /// Read although never written, or trimmed.
    pub unmapped_reads: u64,
    /// Their share of all that was read, 0 to 1; null if nothing was.
    #[serde(default)]
    pub unmapped_read_share: Option<f64>,
    /// Writes that had to wait for room.
    pub stalls: u64,
    /// Overwritten in DRAM before they went to flash.
    pub overwrites: u64,
}

impl BufferWork {
    /// Mapping units read by the host, wherever they were found.
    pub fn units_read(&self) -> u64 {
        self.hits + self.misses + self.unmapped_reads
    }
}

/// How often blocks (superblocks count as one) in use were erased, preconditioning included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EraseCount {
    /// Least.
    pub min: u32,
    /// Mean.
    pub mean: f64,
    /// Most.
    pub max: u32,
    /// Of all together.
    pub total: u64,
    /// Blocks in use.
    pub blocks: u32,
    /// Blocks retired since the drive was built.
    pub retired: u32,
}

/// Share of the measured time, 0 to 1, that units were busy; null if no time passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Of all units in the mean.
    pub mean: Option<f64>,
    /// Of the busiest unit.
    pub max: Option<f64>,
}

/// How busy the drive was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// Dies: at work, or waiting for the channel.
    pub die: Busy,
    /// Their arrays: at work, which suspending and resuming are.
    #[serde(default)]
    pub array: Busy,
    /// Dies that have something to do while their arrays rest: a command or data waits for the channel, or crosses it.
    #[serde(default)]
    pub waiting: Busy,
    /// Channels: commands or data on the wires.
    pub channel: Busy,
}

/// The drive's size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveSize {
    /// Bytes the host sees.
    pub logical_bytes: u64,
    /// Bytes of all chips.
    pub physical_bytes: u64,
    /// Channels.
    pub channels: u32,
    /// Dies.
    pub dies: u32,
    /// Bytes of the simulator's tables that grow with the drive.
    pub table_bytes: u64,
}

/// What a part of a run's requests came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Requests completed in its measurement.
    pub requests: u64,
    /// Those that completed with another status than `ok`.
    pub requests_failed: u64,
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
    /// Requests per second of its measurement.
    pub iops: Rates,
    /// Megabytes (10^6) per second of its measurement.
    pub bandwidth_mb_s: Rates,
    /// Latencies. Percentiles are at most 1 % above the true ones, and the whole distribution is not told.
    pub latency_ns: ShareLatencies,
    /// What fio would say of it, if that was asked for.
    #[serde(skip)]
    pub fio: Option<Box<FioJob>>,
}

/// Distributions of the latencies of a part of a run's requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShareLatencies {
    /// Of all requests.
    pub all: Distribution,
    /// Of reads.
    pub read: Distribution,
    /// Of writes.
    pub write: Distribution,
}

/// What one job of a workload of jobs got, in its own measurement: from the end of its warm-up to its last completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// The job; with the number of the clone behind a dot, if there are several.
    pub name: String,
    /// When it began, from the beginning of the run; ns. Null if it did not.
    pub start_ns: Option<u64>,
    /// When its measurement began; ns.
    pub measured_ns: Option<u64>,
    /// When its last request had completed; ns. Null if it was ended from outside.
    pub end_ns: Option<u64>,
    /// Requests that completed before its measurement.
    pub requests_warm_up: u64,
    /// Its requests, with latencies from when it sent them.
    #[serde(flatten)]
    pub share: Share,
    /// Latencies from when the request was due, of a job that keeps a rate; null for all others.
    pub latency_from_due_ns: Option<Distribution>,
}

/// What one phase of a workload of phases got, or one of several workloads together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemberResult {
    /// What it is called.
    pub name: String,
    /// When its first request was handed to the drive, from the beginning of the run; ns. Null if none was.
    pub start_ns: Option<u64>,
    /// When the last of its requests completed so far; ns.
    pub end_ns: Option<u64>,
    /// Requests that completed before the measurement of the run.
    pub requests_warm_up: u64,
    /// Its requests, with latencies from arrival. Its measurement begins with it, or with that of the run.
    #[serde(flatten)]
    pub share: Share,
    /// Of a phase: bytes programmed from its beginning to that of the next over bytes it wrote. Null without such
    /// writes, and for workloads together, which share the drive's work.
    pub write_amplification: Option<f64>,
    /// The share of each cause in it.
    pub write_amplification_by_cause: By<Cause, Option<f64>>,
    /// Of a phase: what the drive counted from its beginning to that of the next, but for maxima.
    pub counters: BTreeMap<String, Count>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`FORMAT`].
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
    /// Requests in the drive, in the mean over time.
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
    /// Every counter of the drive, as it counted ([`ssd::Stats::counters`]).
    #[serde(default)]
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
    /// The whole configuration by key; what was set in other words, such as the arguments of `lab::run`, is not there.
    #[serde(default)]
    pub config: Settings,
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
        if format != FORMAT {
            let message = format!("it has format {format}, this program reads format {FORMAT}");
            return Err(ReportError::new(&file, "understand", message));
        }
        serde_json::from_str(&text).map_err(fail)
    }
}
