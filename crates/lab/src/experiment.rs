//! One experiment: a drive, a workload, a measurement.

use crate::age::{self, AgeSteps};
use crate::error::Failure;
use crate::facts::{Cost, Facts};
use crate::loops::Session;
use crate::phase::Progress;
use crate::precondition::{Preconditioned, Preconditioning, precondition_until};
use crate::process::thread_cpu_time;
use crate::result::RunResult;
use crate::spec::RunSpec;
use crate::stop::Stop;
use ssd::{Drive, DriveConfig};
use std::fmt;
use std::time::{Duration, Instant};
use workload::{Prepared, Source};

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

/// A failed run, with what was measured until then.
#[derive(Clone, Debug, PartialEq)]
pub struct RunError {
    /// Why it failed.
    pub failure: Failure,
    /// What was measured, if requests were served at all; its `ended` says why it ended.
    pub result: Option<Box<RunResult>>,
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        RunError { failure, result: None }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.failure)?;
        if let Some(result) = &self.result {
            // What was taken from the workload until then is no total: the rest was never asked for.
            match result.requests_total {
                Some(total) => write!(f, " (after {} of {total} requests)", result.requests_served)?,
                None => write!(f, " (after {} requests)", result.requests_served)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for RunError {}
