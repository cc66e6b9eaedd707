//! A workload on several drives, each with a result of its own, and their sum.
//!
//! The drives are alike: one configuration, as large as the one needs that gets most, one seed, one past where the
//! workload makes none. Jobs work on all at one clock; drives of a trace's devices, which do not wait for each other,
//! run one after the other. Drives in a stripe get their pieces of each request, which completes with the last of them;
//! what they were before the first is what each would be on which its pieces alone had been.

use crate::base::error::Failure;
use crate::measure::latency_counts::LatencyCounts;
use crate::measure::meter::{KINDS, Meter, ratio};
use crate::measure::progress::Progress;
use crate::plan::spec::{LoopMode, RunSpec};
use crate::result::block_table::BlockTable;
use crate::result::{Distribution, FORMAT, JobResult, Rates, RunResult, Share, ShareLatencies, version};
use crate::run::driven::{AtPost, DrivenSession, Together};
use crate::run::experiment::{Before, Measured, RunError, begin, run_metered};
use schemars::JsonSchema;
use serde::Serialize;
use ssd::units::SECTOR_BYTES;
use ssd::{Drive, DriveConfig, OpCode};
use std::cell::{Cell, RefCell};
use std::fmt;
use workload::{Prepared, Spec, Split, Stripe, WorkloadError};

/// A workload for several drives, looked through.
pub enum Drives<'a> {
    /// Jobs that work on all of them.
    Jobs {
        /// Names of the drives.
        names: Vec<String>,
        /// The jobs.
        spec: &'a Spec,
        /// The same, looked through.
        prepared: &'a Prepared,
        /// The volume that they make for the jobs, or for any other requests.
        stripe: Option<Stripe>,
    },
    /// Each has its own.
    Parts(Vec<Part>),
}

/// What one of several drives gets.
pub struct Part {
    /// The drive's name.
    pub name: String,
    /// Its workload.
    pub spec: Spec,
    /// The same, looked through.
    pub prepared: Prepared,
}

/// What several drives got, as in `result.json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DrivesResult {
    /// Version of this format, as a run's.
    pub format: u32,
    /// The run's name in tables.
    pub name: String,
    /// Version and commit of the simulator.
    pub version: String,
    /// Chunks of the volume that the drives make, in KiB; null where they make none.
    pub stripe_kib: Option<u64>,
    /// All drives together; of a volume, its own requests.
    pub sum: Sum,
    /// The result of each, whose `name` is that of the drive.
    pub drives: Vec<RunResult>,
}

/// What several drives got together.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Sum {
    /// Simulated time from the start of the measurement to the last completion on any drive, in ns.
    pub simulated_ns: u64,
    /// Requests of all drives, with rates over that time.
    #[serde(flatten)]
    pub share: Share,
    /// Bytes programmed in all drives over bytes written to them; null where nothing was.
    pub write_amplification: Option<f64>,
    /// What each job got from all drives together; empty for workloads without jobs.
    pub jobs: Vec<JobResult>,
}

/// A failed run on several drives, with what was measured until then.
#[derive(Clone, Debug)]
pub struct DrivesError {
    /// Why it failed.
    pub error: RunError,
    /// The drive on which it did, if it was one.
    pub drive: Option<String>,
    /// What was measured, if requests were served at all.
    pub result: Option<Box<DrivesResult>>,
}

impl fmt::Display for DrivesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.drive {
            Some(drive) => write!(f, "{drive}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for DrivesError {}

impl From<Failure> for DrivesError {
    fn from(failure: Failure) -> Self {
        DrivesError { error: failure.into(), drive: None, result: None }
    }
}

/// The result of a drive with what was measured of its requests, which sums are made of.
type Metered = (RunResult, Meter);

impl<'a> Drives<'a> {
    /// Of a workload, if it is for several. `look_through` prepares the workloads of single drives.
    pub fn of<E: From<WorkloadError>>(
        spec: &'a Spec,
        prepared: &'a Prepared,
        mut look_through: impl FnMut(&Spec) -> Result<Prepared, E>,
    ) -> Result<Option<Self>, E> {
        Ok(match prepared.split() {
            Split::Whole => None,
            Split::Jobs(names) => Some(Drives::Jobs { names, spec, prepared, stripe: None }),
            Split::Striped(stripe) => {
                Some(Drives::Jobs { names: stripe.names(), spec, prepared, stripe: Some(stripe) })
            }
            Split::Parts(parts) => {
                let part = |(name, spec): (String, Spec)| {
                    look_through(&spec).map(|prepared| Part { name, spec, prepared })
                };
                Some(Drives::Parts(parts.into_iter().map(part).collect::<Result<_, E>>()?))
            }
        })
    }

    /// Names of the drives.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Drives::Jobs { names, .. } => names.iter().map(String::as_str).collect(),
            Drives::Parts(parts) => parts.iter().map(|part| part.name.as_str()).collect(),
        }
    }

    /// What the drives are made for: the workload of the one that needs most room.
    pub fn largest(&self) -> (&Spec, &Prepared) {
        match self {
            Drives::Jobs { spec, prepared, .. } => (spec, prepared),
            Drives::Parts(parts) => {
                let largest = parts.iter().max_by_key(|part| part.prepared.space_sectors());
                let Some(Part { spec, prepared, .. }) = largest else { unreachable!("several drives") };
                (spec, prepared)
            }
        }
    }

    /// The workload that repeats what a drive got, or the whole run where drives are not apart.
    pub fn workload_of(&self, drive: usize) -> &Spec {
        match self {
            Drives::Jobs { spec, .. } => spec,
            Drives::Parts(parts) => &parts[drive].spec,
        }
    }

    /// Runs it. `drive` makes one of `config`; `how` says how a workload is run, and is asked for nothing that is
    /// written while a run is under way; `name` is what tables call all of it.
    pub fn run(
        &self,
        (config, name): (&DriveConfig, &str),
        drive: &mut dyn FnMut() -> Result<Drive, Failure>,
        how: &dyn Fn(&Spec) -> RunSpec,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<DrivesResult, DrivesError> {
        match self {
            Drives::Jobs { names, spec, prepared, stripe } => {
                let mut drives = Vec::new();
                for _ in names {
                    drives.push(drive()?);
                }
                run_jobs((names, drives), config, (prepared, *stripe, &how(spec)), name, progress)
            }
            Drives::Parts(parts) => run_parts(parts, (config, name), drive, how, progress),
        }
    }
}

/// Runs the workload of each drive.
fn run_parts(
    parts: &[Part],
    (config, name): (&DriveConfig, &str),
    make: &mut dyn FnMut() -> Result<Drive, Failure>,
    how: &dyn Fn(&Spec) -> RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<DrivesResult, DrivesError> {
    let mut all: Vec<Metered> = Vec::new();
    for part in parts {
        let mut drive = make()?;
        let workload_hash = part.prepared.workload_hash();
        let spec = RunSpec { name: part.name.clone(), workload_hash, ..how(&part.spec) };
        let (ran, meter) = run_metered(&mut drive, config, &part.prepared, &spec, progress);
        let (result, error) = match ran {
            Ok(result) => (Some(result), None),
            Err(mut error) => (error.result.take().map(|result| *result), Some(error)),
        };
        if let Some((result, meter)) = result.zip(meter) {
            all.push((RunResult { blocks: Some(BlockTable::of(&drive)), ..result }, meter));
        }
        if let Some(error) = error {
            let result =
                (!all.is_empty()).then(|| Box::new(DrivesResult::of(name, all, Together::default())));
            return Err(DrivesError { error, drive: Some(part.name.clone()), result });
        }
    }
    Ok(DrivesResult::of(name, all, Together::default()))
}

/// Runs jobs on all drives at one clock.
fn run_jobs(
    (names, mut drives): (&[String], Vec<Drive>),
    config: &DriveConfig,
    (workload, stripe, spec): (&Prepared, Option<Stripe>, &RunSpec),
    name: &str,
    progress: &mut dyn FnMut(Progress),
) -> Result<DrivesResult, DrivesError> {
    let workload_hash = workload.workload_hash();
    let most = config.queues.depth;
    let depth = match spec.loop_mode {
        _ if workload.is_driven() => None,
        LoopMode::Closed { depth } if depth > most => return Err(Failure::depth(depth, most).into()),
        LoopMode::Closed { depth } => Some(if depth == 0 { most } else { depth }),
        LoopMode::Open | LoopMode::Jobs => None,
    };
    let depth = depth.map(|depth| u64::from(depth) * u64::from(config.queues.count));
    let loop_mode = if workload.is_driven() { LoopMode::Jobs } else { spec.loop_mode };
    let spec = RunSpec { loop_mode, workload_hash, ..spec.clone() };
    let mut befores: Vec<Before> = Vec::new();
    for (number, drive) in drives.iter_mut().enumerate() {
        let own = stripe.map(|stripe| workload.on_member(stripe, number as u16));
        befores.push(begin(drive, config, (own.as_ref(), None), &spec, progress)?);
    }
    let mut driven = workload.on_volume(drives[0].logical_sectors(), depth).map_err(Failure::Workload)?;
    let total = spec.total(driven.requests_at_most());
    // One is told of all.
    let told = RefCell::new(progress);
    let done: Vec<Cell<u64>> = drives.iter().map(|_| Cell::new(0)).collect();
    let (told, done) = (&told, &done);
    let mut hears: Vec<_> = (0..drives.len())
        .map(|number| {
            move |at: Progress<'_>| {
                done[number].set(at.done);
                let done = done.iter().map(Cell::get).sum();
                (told.borrow_mut())(Progress { done, ..at });
            }
        })
        .collect();
    let posts: Vec<AtPost<'_>> =
        drives.iter_mut().zip(&mut hears).map(|(drive, hear)| (drive, hear as _)).collect();
    let mut session = DrivenSession::new(posts, config, (&mut *driven, stripe), &spec)?;
    let mut failure = session.run().err();
    let (counted, together) = session.finish(&mut failure);
    let remarks = driven.report().told();
    let mut all: Vec<Metered> = Vec::new();
    let mut failed: Option<(RunError, Option<String>)> = None;
    let of_drives = befores.into_iter().zip(&drives).zip(names).zip(counted);
    for (((before, drive), name), (counted, jobs)) in of_drives {
        let spec = RunSpec { name: name.clone(), ..spec.clone() };
        let measured = Measured { total, counted, jobs, failure: failure.clone() };
        let (ended, meter) = before.end_metered(drive, config, &spec, measured, remarks.clone());
        let (result, error) = match ended {
            Ok(result) => (Some(result), None),
            Err(mut error) => (error.result.take().map(|result| *result), Some(error)),
        };
        if let Some(error) = error {
            // That of all is of none.
            let of_one = failure.is_none().then(|| name.clone());
            failed.get_or_insert((error, of_one));
        }
        all.extend(result.map(|result| (RunResult { blocks: Some(BlockTable::of(drive)), ..result }, meter)));
    }
    let stripe_kib = stripe.map(|stripe| (stripe.chunk_sectors() * SECTOR_BYTES) >> 10);
    let result = DrivesResult { stripe_kib, ..DrivesResult::of(name, all, together) };
    match failed {
        None => Ok(result),
        Some((error, drive)) => Err(DrivesError { error, drive, result: Some(Box::new(result)) }),
    }
}

impl DrivesResult {
    fn of(name: &str, all: Vec<Metered>, together: Together) -> Self {
        let sum = Sum::of(&all, together);
        let drives = all.into_iter().map(|(result, _)| result).collect();
        DrivesResult {
            format: FORMAT,
            name: name.to_owned(),
            version: version(),
            stripe_kib: None,
            sum,
            drives,
        }
    }

    /// As JSON, with a line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| unreachable!("results are JSON: {error}"))
            + "\n"
    }
}

impl Sum {
    fn of(all: &[Metered], Together { jobs, volume }: Together) -> Self {
        let meters: Vec<&Meter> = match &volume {
            Some(volume) => vec![volume],
            None => all.iter().map(|(_, meter)| meter).collect(),
        };
        let simulated_ns = meters.iter().map(|meter| meter.simulated_ns()).max().unwrap_or(0);
        let share = Share::of(&meters, simulated_ns);
        let programmed: u64 = all.iter().map(|(result, _)| result.flash.bytes_programmed.sum()).sum();
        let amplification = ratio(programmed as f64, share.bytes_written as f64);
        let write_amplification = amplification.filter(|_| programmed > 0);
        Sum { simulated_ns, share, write_amplification, jobs }
    }
}

impl Share {
    /// What a drive got in its run.
    pub(crate) fn of_run(result: &RunResult) -> Self {
        let without_steps = |of: &Distribution| Distribution { percentiles: Vec::new(), ..of.clone() };
        let latency = &result.latency_ns;
        Share {
            requests: result.requests_measured,
            requests_failed: result.requests_failed,
            reads: result.reads,
            writes: result.writes,
            trims: result.trims,
            flushes: result.flushes,
            bytes_read: result.bytes_read,
            bytes_written: result.bytes_written,
            iops: result.iops,
            bandwidth_mb_s: result.bandwidth_mb_s,
            latency_ns: ShareLatencies {
                all: without_steps(&latency.all),
                read: without_steps(&latency.read),
                write: without_steps(&latency.write),
                trim: without_steps(&latency.trim),
                flush: without_steps(&latency.flush),
            },
            fio: None,
        }
    }

    /// What several drives got in a time; ns.
    fn of(all: &[&Meter], ns: u64) -> Self {
        let sum = |of: &dyn Fn(&Meter) -> u64| all.iter().map(|meter| of(meter)).sum::<u64>();
        let requests = |op: OpCode| sum(&|meter| meter.requests(op));
        let count = |op: OpCode| sum(&|meter| meter.kind(op).count);
        let bytes = |op: OpCode| sum(&|meter| meter.kind(op).bytes);
        let rates = |of: &dyn Fn(OpCode) -> u64, together: &[OpCode], scale: f64| {
            let rate = |total: u64| ratio(total as f64 * scale, ns as f64);
            Rates {
                all: rate(together.iter().map(|op| of(*op)).sum()),
                read: rate(of(OpCode::Read)),
                write: rate(of(OpCode::Write)),
            }
        };
        let latency = |ops: &[OpCode]| {
            let mut latencies = LatencyCounts::new();
            let (mut sum, mut min, mut max) = (0, u64::MAX, 0);
            for kind in all.iter().flat_map(|meter| ops.iter().map(|op| meter.kind(*op))) {
                latencies.add(&kind.latencies);
                (sum, min, max) = (sum + kind.latency_sum(), min.min(kind.min), max.max(kind.max));
            }
            Distribution { percentiles: Vec::new(), ..Distribution::of_counts(&latencies, sum, min, max) }
        };
        Share {
            requests: KINDS.iter().map(|op| requests(*op)).sum(),
            requests_failed: sum(&Meter::requests_failed),
            reads: requests(OpCode::Read),
            writes: requests(OpCode::Write),
            trims: requests(OpCode::Trim),
            flushes: requests(OpCode::Flush),
            bytes_read: bytes(OpCode::Read),
            bytes_written: bytes(OpCode::Write),
            iops: rates(&count, &KINDS, 1e9),
            bandwidth_mb_s: rates(&bytes, &[OpCode::Read, OpCode::Write], 1e3),
            latency_ns: ShareLatencies {
                all: latency(&KINDS),
                read: latency(&[OpCode::Read]),
                write: latency(&[OpCode::Write]),
                trim: latency(&[OpCode::Trim]),
                flush: latency(&[OpCode::Flush]),
            },
            fio: None,
        }
    }
}
