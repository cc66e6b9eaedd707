//! The result of a run: everything that `result.json` holds. `docs/results.md` explains each key.

use crate::by::{Axis, By};
use crate::error::{Failure, ReportError};
use crate::experiment::{Cost, LoopMode, RunSpec};
use crate::loops::Served;
use crate::meter::{KINDS, Kind, Meter, histogram};
use crate::precondition::Preconditioned;
use crate::process::peak_rss_bytes;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use ssd::flash::op::{Cause, OpKind};
use ssd::{DriveConfig, Executor, OpCode, Part, Stats};
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the format of `result.json`: it changes when a key changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// Name of the file in a folder of results.
pub const FILE_NAME: &str = "result.json";

/// Steps of a distribution for each halving of the distance to 100 %.
const STEPS_PER_HALVING: u32 = 4;

/// A value for all requests, and for reads and writes alone; null where it has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Of all requests.
    pub all: Option<f64>,
    /// Of reads.
    pub read: Option<f64>,
    /// Of writes.
    pub write: Option<f64>,
}

/// How latencies are distributed; ns. Null if there are none. Percentiles are at most 0.1 % above the true ones,
/// all else is exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Of writes.
    pub write: Distribution,
    /// Of trims.
    pub trim: Distribution,
    /// Of flushes.
    pub flush: Distribution,
}

/// Time spent in one part of requests' lives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// By all requests together.
    pub sum: u64,
    /// By each of them in the mean; null if there are none.
    pub mean: Option<f64>,
}

/// Where the time of requests went; ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeSpent {
    /// Of reads.
    pub read: By<Part, Spent>,
    /// Of writes.
    pub write: By<Part, Spent>,
}

/// Flash operations by kind and cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flash {
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
}

/// Work of the translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ftl {
    /// Mapping units written to flash for the host.
    pub host_units: u64,
    /// Mapping units moved.
    pub moved_units: By<Cause, u64>,
    /// Places for mapping units left empty in programmed pages.
    pub padded_units: u64,
    /// Mapping units trimmed.
    pub trimmed_units: u64,
    /// Blocks (superblocks count as one) erased and given back.
    pub reclaimed_blocks: u64,
    /// Blocks retired.
    pub retired_blocks: u64,
}

/// Work of the DRAM buffer, in mapping units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buffer {
    /// Read wholly from DRAM.
    pub hits: u64,
    /// Read at least in part from flash.
    pub misses: u64,
    /// Read although never written, or trimmed.
    pub unmapped_reads: u64,
    /// Writes that had to wait for room.
    pub stalls: u64,
    /// Overwritten in DRAM before they went to flash.
    pub overwrites: u64,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Of all units in the mean.
    pub mean: Option<f64>,
    /// Of the busiest unit.
    pub max: Option<f64>,
}

/// How busy the drive was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// Dies: an array or a page register at work, or waiting for the channel with a result.
    pub die: Busy,
    /// Channels: commands or data on the wires.
    pub channel: Busy,
}

/// The drive's size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drive {
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
    /// `closed` or `open`.
    pub loop_mode: String,
    /// Closed loop: requests in flight on each queue.
    pub depth: Option<u32>,
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
    /// Latencies, from arrival to completion.
    pub latency_ns: Latencies,
    /// Where the time of reads and writes went.
    pub breakdown_ns: TimeSpent,
    /// Bytes programmed / bytes written by completed host writes; null without such writes.
    pub write_amplification: Option<f64>,
    /// The share of each cause in it: they add up to it.
    pub write_amplification_by_cause: Option<By<Cause, f64>>,
    /// Flash operations.
    pub flash: Flash,
    /// The translation layer.
    pub ftl: Ftl,
    /// The DRAM buffer.
    pub buffer: Buffer,
    /// Wear.
    pub erase_count: EraseCount,
    /// How busy dies and channels were.
    pub utilisation: Utilisation,
    /// The drive's size.
    pub drive: Drive,
    /// What was done to the drive before.
    pub preconditioning: Preconditioned,
    /// Processor time of the run, without preconditioning.
    pub cpu_seconds: f64,
    /// Time on the wall for the same.
    pub wall_seconds: f64,
    /// Requests served per second of processor time.
    pub requests_per_cpu_second: Option<f64>,
    /// The most memory the process has had so far.
    pub peak_rss_bytes: Option<u64>,
    /// What was skipped, rounded or moved in the workload, for a person.
    pub remarks: Vec<String>,
}

/// What a result is made of.
pub(crate) struct Facts<'a> {
    pub drive: &'a ssd::Drive,
    pub config: &'a DriveConfig,
    pub spec: &'a RunSpec,
    pub aged: Preconditioned,
    pub served: Served,
    pub meter: &'a Meter,
    pub cost: Cost,
    pub failure: Option<&'a Failure>,
}

/// Version of this crate, with the commit if it was built in a checkout.
pub fn version() -> String {
    match env!("WORDLINE_COMMIT") {
        "" => env!("CARGO_PKG_VERSION").to_owned(),
        commit => format!("{}+{commit}", env!("CARGO_PKG_VERSION")),
    }
}

fn ratio(of: f64, to: f64) -> Option<f64> {
    (to > 0.0).then(|| of / to).filter(|ratio| ratio.is_finite())
}

impl Distribution {
    fn of(latencies: &Histogram<u64>, sum: u128, min: u64, max: u64) -> Self {
        let count = latencies.len();
        let some = |value: u64| (count > 0).then_some(value);
        // The histogram knows the upper end of a step; nothing is longer than the longest.
        let percentile = |percent: f64| some(latencies.value_at_percentile(percent).clamp(min, max));
        let steps = latencies.iter_quantiles(STEPS_PER_HALVING);
        Distribution {
            count,
            mean: ratio(sum as f64, count as f64),
            min: some(min),
            p50: percentile(50.0),
            p99: percentile(99.0),
            p99_9: percentile(99.9),
            p99_99: percentile(99.99),
            max: some(max),
            percentiles: steps
                .map(|at| (at.quantile() * 100.0, at.value_iterated_to().clamp(min, max)))
                .collect(),
        }
    }

    fn of_kind(kind: &Kind) -> Self {
        Self::of(&kind.latencies, kind.latency_sum, kind.min, kind.max)
    }
}

impl Latencies {
    fn of(meter: &Meter) -> Self {
        let mut latencies = histogram();
        let (mut sum, mut min, mut max) = (0, u64::MAX, 0);
        for kind in KINDS.map(|op| meter.kind(op)) {
            // Both have the same bounds.
            let added = latencies.add(&kind.latencies);
            debug_assert!(added.is_ok());
            (sum, min, max) = (sum + kind.latency_sum, min.min(kind.min), max.max(kind.max));
        }
        Latencies {
            all: Distribution::of(&latencies, sum, min, max),
            read: Distribution::of_kind(meter.kind(OpCode::Read)),
            write: Distribution::of_kind(meter.kind(OpCode::Write)),
            trim: Distribution::of_kind(meter.kind(OpCode::Trim)),
            flush: Distribution::of_kind(meter.kind(OpCode::Flush)),
        }
    }
}

fn time_spent(kind: &Kind) -> By<Part, Spent> {
    By::new(|part: Part| {
        let sum = kind.parts[part.index()];
        Spent { sum: u64::try_from(sum).unwrap_or(u64::MAX), mean: ratio(sum as f64, kind.count as f64) }
    })
}

impl Flash {
    fn of(stats: &Stats) -> Self {
        let ops = |kind: OpKind| By::new(|cause: Cause| stats.flash.ops[kind as usize][cause.index()]);
        let bytes = stats.programmed_bytes();
        Flash {
            reads: ops(OpKind::Read),
            programs: ops(OpKind::Program),
            erases: ops(OpKind::Erase),
            copybacks: ops(OpKind::Copyback),
            multi_plane_groups: stats.flash.groups,
            program_fails: stats.flash.program_fails,
            erase_fails: stats.flash.erase_fails,
            bytes_programmed: By::new(|cause: Cause| bytes[cause.index()]),
        }
    }
}

impl Ftl {
    fn of(stats: &Stats) -> Self {
        let counts = &stats.ftl;
        Ftl {
            host_units: counts.host_units,
            moved_units: By::new(|cause: Cause| counts.moved_units[cause.index()]),
            padded_units: counts.padded_units,
            trimmed_units: counts.trimmed_units,
            reclaimed_blocks: counts.reclaimed_blocks,
            retired_blocks: counts.retired_blocks,
        }
    }
}

impl Buffer {
    fn of(stats: &Stats) -> Self {
        let counts = &stats.host;
        Buffer {
            hits: counts.buffer_hits,
            misses: counts.buffer_misses,
            unmapped_reads: counts.unmapped_reads,
            stalls: counts.buffer_stalls,
            overwrites: counts.buffer_overwrites,
        }
    }
}

impl EraseCount {
    fn of(drive: &ssd::Drive) -> Self {
        let wear = drive.health().wear;
        let mean = ratio(wear.total as f64, f64::from(wear.blocks)).unwrap_or(0.0);
        let (min, max, total) = (wear.min, wear.max, wear.total);
        EraseCount { min, mean, max, total, blocks: wear.blocks, retired: wear.retired }
    }
}

impl Busy {
    fn of(busy_ns: &[u64], time_ns: u64) -> Self {
        let time = time_ns as f64;
        let all: u64 = busy_ns.iter().sum();
        let most = busy_ns.iter().copied().max().unwrap_or(0);
        Busy { mean: ratio(all as f64, time * busy_ns.len() as f64), max: ratio(most as f64, time) }
    }
}

/// Rates of a count, in `scale` per nanosecond: of kinds together, of reads, of writes.
fn rates(meter: &Meter, together: &[OpCode], scale: f64, count: impl Fn(&Kind) -> u64) -> Rates {
    let time = meter.simulated_ns() as f64;
    let rate = |ops: &[OpCode]| {
        let total: u64 = ops.iter().map(|&op| count(meter.kind(op))).sum();
        ratio(total as f64 * scale, time)
    };
    Rates { all: rate(together), read: rate(&[OpCode::Read]), write: rate(&[OpCode::Write]) }
}

/// Requests in the drive in the mean over time, by Little's law: the time they spent there over the time that passed.
fn in_flight_mean(meter: &Meter) -> Option<f64> {
    let inside = |kind: &Kind| kind.latency_sum - kind.parts[Part::HostQueue.index()];
    let sum: u128 = KINDS.iter().map(|&op| inside(meter.kind(op))).sum();
    ratio(sum as f64, meter.simulated_ns() as f64)
}

impl RunResult {
    pub(crate) fn collect(facts: &Facts<'_>, remarks: Vec<String>) -> Self {
        let Facts { drive, config, spec, served, meter, cost, .. } = facts;
        KINDS.iter().for_each(|&op| meter.kind(op).check());
        let stats = drive.stats();
        let flash = Flash::of(&stats);
        let written = meter.kind(OpCode::Write).bytes as f64;
        let amplification = |bytes: u64| ratio(bytes as f64, written);
        let by_cause = |cause| amplification(flash.bytes_programmed[cause]).unwrap_or(0.0);
        RunResult {
            format: FORMAT,
            name: spec.name.clone(),
            version: version(),
            ended: facts.failure.map_or("complete".to_owned(), |why| format!("{}: {why}", why.name())),
            seed: config.drive.seed,
            config_hash: format!("{:016x}", config.hash()),
            workload_hash: format!("{:016x}", spec.workload_hash),
            event_hash: format!("{:016x}", drive.event_hash()),
            executor: if spec.executor == Executor::Timed { "timed" } else { "functional" }.to_owned(),
            loop_mode: spec.loop_mode.name().to_owned(),
            depth: match spec.loop_mode {
                LoopMode::Closed { depth: 0 } => Some(config.queues.depth),
                LoopMode::Closed { depth } => Some(depth),
                LoopMode::Open => None,
            },
            requests_generated: served.generated,
            requests_served: served.completed,
            requests_warm_up: served.completed.min(spec.warm_up),
            requests_measured: served.completed.saturating_sub(spec.warm_up),
            requests_failed: meter.requests_failed(),
            failed_by_status: meter
                .failed
                .iter()
                .map(|(&status, &count)| (status.to_owned(), count))
                .collect(),
            reads: meter.requests(OpCode::Read),
            writes: meter.requests(OpCode::Write),
            trims: meter.requests(OpCode::Trim),
            flushes: meter.requests(OpCode::Flush),
            bytes_read: meter.kind(OpCode::Read).bytes,
            bytes_written: meter.kind(OpCode::Write).bytes,
            simulated_ns: meter.simulated_ns(),
            iops: rates(meter, &KINDS, 1e9, |kind| kind.count),
            bandwidth_mb_s: rates(meter, &[OpCode::Read, OpCode::Write], 1e3, |kind| kind.bytes),
            in_flight_mean: in_flight_mean(meter),
            latency_ns: Latencies::of(meter),
            breakdown_ns: TimeSpent {
                read: time_spent(meter.kind(OpCode::Read)),
                write: time_spent(meter.kind(OpCode::Write)),
            },
            write_amplification: amplification(flash.bytes_programmed.sum()),
            write_amplification_by_cause: (written > 0.0).then(|| By::new(by_cause)),
            flash,
            ftl: Ftl::of(&stats),
            buffer: Buffer::of(&stats),
            erase_count: EraseCount::of(drive),
            utilisation: Utilisation {
                die: Busy::of(&stats.flash.die_busy_ns, meter.simulated_ns()),
                channel: Busy::of(&stats.flash.channel_busy_ns, meter.simulated_ns()),
            },
            drive: Drive {
                logical_bytes: config.logical_bytes(),
                physical_bytes: config.geometry.physical_bytes(),
                channels: config.geometry.channels,
                dies: config.geometry.dies(),
                table_bytes: drive.table_bytes() as u64,
            },
            preconditioning: facts.aged.clone(),
            cpu_seconds: cost.cpu.as_secs_f64(),
            wall_seconds: cost.wall.as_secs_f64(),
            requests_per_cpu_second: ratio(served.completed as f64, cost.cpu.as_secs_f64()),
            peak_rss_bytes: peak_rss_bytes(),
            remarks,
        }
    }

    /// Whether the whole workload was served.
    pub fn is_complete(&self) -> bool {
        self.ended == "complete"
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
        let result: RunResult =
            serde_json::from_str(&text).map_err(|error| ReportError::new(&file, "understand", error))?;
        if result.format != FORMAT {
            let message = format!("it has format {}, this program reads format {FORMAT}", result.format);
            return Err(ReportError::new(&file, "understand", message));
        }
        Ok(result)
    }
}
