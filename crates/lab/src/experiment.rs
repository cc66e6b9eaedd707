//! One experiment: a drive, a workload, a measurement.

use crate::age::{self, AgeSteps};
use crate::collect::Facts;
use crate::error::{Failure, RunError};
use crate::loops::Session;
use crate::precondition::{Preconditioned, Preconditioning, precondition_until};
use crate::process::thread_cpu_time;
use crate::result::RunResult;
use crate::settings::Settings;
use crate::stop::Stop;
use ssd::{Drive, DriveConfig, Executor};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use workload::{Prepared, Source};

/// How requests reach the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopMode {
    /// So many are kept in flight; the workload's arrival times are not looked at.
    Closed {
        /// Requests in flight on each of the drive's queues; 0 for as many as a queue holds.
        depth: u32,
    },
    /// At the workload's arrival times. A request that finds all queues full waits, and its latency counts from its
    /// arrival all the same.
    Open,
}

impl LoopMode {
    /// Name in configurations and results.
    pub fn name(self) -> &'static str {
        match self {
            LoopMode::Closed { .. } => "closed",
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
    /// The measurement begins when so many requests have completed.
    pub warm_up: u64,
    /// At most so many requests are taken from the workload, the warm-up included.
    pub requests: Option<u64>,
    /// Whether time passes.
    pub executor: Executor,
    /// File for one row per request: CSV, compressed if the name ends in `.zst`; Parquet if it ends in `.parquet`.
    pub request_log: Option<PathBuf>,
    /// What identifies the workload in the result ([`Prepared::workload_hash`]).
    pub workload_hash: u64,
    /// What was set of the run and the workload, by key, for the result; those of the drive are added.
    pub settings: Settings,
    /// Whether the drive had been written before, as one that comes from a snapshot.
    pub was_used: bool,
    /// Asked to end early, the run stops to take requests, and its result says so.
    pub stop: Stop,
}

impl RunSpec {
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
            workload_hash: 0,
            settings: Settings::new(),
            was_used: false,
            stop: Stop::default(),
        }
    }
}

/// What a long experiment is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Overwriting a single die, to see how full the blocks of the drive become.
    OneDie,
    /// Writing the drive full, in order.
    Filling,
    /// Overwriting it at random.
    Overwriting,
    /// Making its cells older.
    Ageing,
    /// Serving the workload.
    Running,
}

impl Phase {
    /// What to tell a person.
    pub fn name(self) -> &'static str {
        match self {
            Phase::OneDie => "ageing a die",
            Phase::Filling => "filling",
            Phase::Overwriting => "overwriting",
            Phase::Ageing => "ageing",
            Phase::Running => "running",
        }
    }

    /// What is counted.
    pub fn unit(self) -> &'static str {
        match self {
            Phase::OneDie | Phase::Filling | Phase::Overwriting => "units",
            Phase::Ageing => "steps",
            Phase::Running => "requests",
        }
    }
}

/// How far an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// How much of it is done, in [`Phase::unit`]s.
    pub done: u64,
    /// How much there is, or at most is, where that is known.
    pub total: Option<u64>,
    /// Simulated time since the workload began; ns.
    pub simulated_ns: u64,
}

/// A drive to be built, a workload to be opened, and how to run it.
#[derive(Clone)]
pub struct Experiment<'a> {
    /// The drive.
    pub config: DriveConfig,
    /// What it has to serve.
    pub workload: &'a Prepared,
    /// How; the workload's hash is filled in.
    pub spec: RunSpec,
}

impl Experiment<'_> {
    /// Builds the drive, opens the workload, runs. `progress` is told now and then how far it is.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Result<RunResult, RunError> {
        let mut drive = Drive::new(&self.config).map_err(Failure::Config)?;
        let mut source = self.workload.open(drive.logical_sectors()).map_err(Failure::Workload)?;
        let spec = RunSpec { workload_hash: self.workload.workload_hash(), ..self.spec.clone() };
        run(&mut drive, &self.config, &mut *source, &spec, progress)
    }
}

/// Preconditions a drive and ages its cells: all that comes before a measurement. `config` is the drive's; counters are
/// not reset. Ends early, as a failure, if `stop` is asked for.
pub fn prepare(
    drive: &mut Drive,
    config: &DriveConfig,
    preconditioning: &Preconditioning,
    steps: &AgeSteps,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Preconditioned, Failure> {
    let cpu = thread_cpu_time();
    age::check(drive, config.errors.model, steps)?;
    let programmed = |drive: &Drive| drive.stats().programmed_bytes().iter().sum::<u64>();
    let before = programmed(drive);
    let mut done =
        precondition_until(drive, Some(config), config.drive.seed, preconditioning, stop, progress)?;
    age::age(drive, steps, stop, progress)?;
    done.bytes_written = (done.units_filled + done.units_overwritten) * u64::from(drive.unit_bytes());
    done.bytes_programmed = programmed(drive) - before;
    done.age_steps = steps.texts();
    done.cpu_seconds = thread_cpu_time().saturating_sub(cpu).as_secs_f64();
    Ok(done)
}

/// Runs a workload on a drive that exists. `config` is the drive's.
pub fn run<S: Source + ?Sized>(
    drive: &mut Drive,
    config: &DriveConfig,
    source: &mut S,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<RunResult, RunError> {
    let was_used = spec.was_used || drive.health().wear.total > 0;
    let aged = prepare(drive, config, &spec.preconditioning, &spec.age, &spec.stop, progress)?;
    drive.set_executor(spec.executor);
    drive.reset_stats();
    let was_read_only = drive.health().read_only;
    let clock = Clock::start();
    let total = spec.total(source.len_hint());
    let mut session = Session::new(drive, config, source, spec, progress)?;
    let mut failure = session.run(spec.loop_mode).err();
    let (served, meter) = session.finish(&mut failure);
    let cost = clock.stop();
    if failure.is_none() && was_read_only.is_none() {
        failure = drive.health().read_only.map(|reason| Failure::ReadOnly { reason });
    }
    if failure.is_none() && served.completed <= spec.warm_up && spec.warm_up > 0 {
        failure = Some(Failure::NothingMeasured { warm_up: spec.warm_up, completed: served.completed });
    }
    let facts = Facts {
        drive,
        config,
        spec,
        total,
        aged,
        served,
        meter: &meter,
        cost,
        failure: failure.as_ref(),
        was_used,
        was_read_only: was_read_only.is_some(),
    };
    let result = RunResult::collect(&facts, source.report().remarks());
    match failure {
        None => Ok(result),
        Some(failure) => Err(RunError { failure, result: Some(Box::new(result)) }),
    }
}

/// Time that a run took of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub cpu: Duration,
    pub wall: Duration,
}

struct Clock {
    cpu: Duration,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Clock { cpu: thread_cpu_time(), wall: Instant::now() }
    }

    fn stop(&self) -> Cost {
        Cost { cpu: thread_cpu_time().saturating_sub(self.cpu), wall: self.wall.elapsed() }
    }
}
