//! One experiment: a drive, a workload, a measurement.

use crate::base::error::Failure;
use crate::base::process::thread_cpu_time;
use crate::base::stop::Stop;
use crate::measure::meter::Meter;
use crate::measure::progress::Progress;
use crate::past::age::{self, AgeSteps};
use crate::past::cache::CacheKey;
use crate::past::precondition::{
    Overwrite, Own, Past, Preconditioned, Preconditioning, Recipe, Spare, precondition_until,
};
use crate::plan::policies::known_by;
use crate::plan::sizing::bytes;
use crate::plan::spec::{LoopMode, RunSpec};
use crate::result::facts::{Cost, Facts};
use crate::result::{JobResult, RunResult};
use crate::run::desk::Counted;
use crate::run::driven::DrivenSession;
use crate::run::foresee::{check_told, read_prepared_ahead, tell};
use crate::run::loops::Session;
use ssd::reconfigure::differing;
use ssd::{Drive, DriveConfig, Executor, ExternalPolicies, Foresight};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use workload::{Driven, Prepared, Remark, Source, Split};

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
        let policies = self.spec.policies.clone();
        let mut drive = Drive::with_policies(&self.config, policies).map_err(Failure::Config)?;
        let spec = RunSpec { workload_hash: self.workload.workload_hash(), ..self.spec.clone() };
        run_prepared(&mut drive, &self.config, self.workload, &spec, progress)
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
    prepare_for(drive, config, None, preconditioning, steps, (stop, progress))
}

/// The same before a run of a workload, whose own writes may make the drive's past.
pub fn prepare_run(
    drive: &mut Drive,
    config: &DriveConfig,
    workload: Option<&Prepared>,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Preconditioned, Failure> {
    if let Some(base) = &spec.aged_as {
        return prepare_as(base, drive, config, workload, (spec, progress));
    }
    let own = workload.map(|workload| Own { workload, requests: spec.requests });
    let age = |drive: &mut Drive, progress: &mut dyn FnMut(Progress)| {
        prepare_for(drive, config, own, &spec.preconditioning, &spec.age, (&spec.stop, progress))
    };
    // What a policy from outside has learnt cannot be kept.
    let can_be_kept = spec.ages() && !drive.external().decides();
    let Some(cache) = spec.cache.as_ref().filter(|_| can_be_kept) else { return age(drive, progress) };
    let key = cache_key(config, workload, spec);
    cache.prepare(drive, (config, &key), (&spec.stop, progress), age)
}

/// Ages a drive of another configuration, which goes on as this one.
fn prepare_as(
    base: &DriveConfig,
    drive: &mut Drive,
    config: &DriveConfig,
    workload: Option<&Prepared>,
    (spec, progress): (&RunSpec, &mut dyn FnMut(Progress)),
) -> Result<Preconditioned, Failure> {
    let mut old = Drive::new(base).map_err(Failure::Config)?;
    let as_base = RunSpec { aged_as: None, policies: ExternalPolicies::default(), ..spec.clone() };
    let aged = prepare_run(&mut old, base, workload, &as_base, progress)?;
    let policies = spec.policies.clone();
    old.reconfigure(base, config, policies).map_err(|error| Failure::Setting {
        key: "sweep.age_with",
        found: format!("\"base\"; {error}"),
        allowed: "\"each\"".to_owned(),
    })?;
    *drive = old;
    let set = |(key, value): (String, String)| format!("{key} = {value}");
    Ok(Preconditioned { aged_as: differing(base, config).into_iter().map(set).collect(), ..aged })
}

/// What of a workload, if it is known ahead, makes a drive's past, if anything does.
fn own_past(workload: Option<u64>, spec: &RunSpec) -> Option<String> {
    let workload = workload.filter(|_| spec.preconditioning.past == Past::Own)?;
    Some(format!("workload {workload:016x}, requests {:?}", spec.requests))
}

/// All that makes an aged drive, of which `config` is the text.
fn identity(config: &str, past: Option<&str>, spec: &RunSpec) -> String {
    let RunSpec { preconditioning, age, .. } = spec;
    format!(
        "sources {}\n{preconditioning:?}\n{:?}\n{}\n{config}{}",
        crate::base::sources::SOURCES,
        age.texts(),
        past.unwrap_or("no workload"),
        known_by(&spec.policies).join("\n"),
    )
}

/// The number of the aged drive that runs of a configuration begin with: a hash of what it is kept under.
pub(crate) fn number_of_drive(config: &str, workload: Option<u64>, spec: &RunSpec) -> u64 {
    let past = own_past(workload, spec);
    ssd::snapshot::checksum(identity(config, past.as_deref(), spec).as_bytes())
}

/// What a drive is kept under that is aged before a run.
pub(crate) fn cache_key(config: &DriveConfig, workload: Option<&Prepared>, spec: &RunSpec) -> CacheKey {
    let RunSpec { preconditioning, age, .. } = spec;
    let known = workload.filter(|workload| !workload.is_driven());
    let past = own_past(known.map(Prepared::workload_hash), spec);
    let identity = identity(&config.to_toml(), past.as_deref(), spec);
    let space = bytes(config.logical_bytes());
    let steps: String = age.texts().iter().map(|step| format!(", {step}")).collect();
    let what = format!(
        "{space}, configuration {:016x}, filled to {} %, {}{steps}",
        config.hash(),
        preconditioning.fill_percent,
        past.as_deref().unwrap_or(match preconditioning.overwrite {
            Overwrite::None => "not overwritten",
            _ => "overwritten at random",
        }),
    );
    let recipe = Recipe { preconditioning: *preconditioning, steps: age.texts() };
    CacheKey { identity, what, recipe }
}

fn prepare_for(
    drive: &mut Drive,
    config: &DriveConfig,
    own: Option<Own<'_>>,
    preconditioning: &Preconditioning,
    steps: &AgeSteps,
    (stop, progress): (&Stop, &mut dyn FnMut(Progress)),
) -> Result<Preconditioned, Failure> {
    let cpu = thread_cpu_time();
    age::check(drive, config.errors.model, steps)?;
    let programmed = |drive: &Drive| drive.stats().programmed_bytes().iter().sum::<u64>();
    let before = programmed(drive);
    let mut done =
        precondition_until(drive, Some(config), own, config.drive.seed, preconditioning, (stop, progress))?;
    age::age(drive, steps, stop, progress)?;
    Failure::of_bound(drive).or_else(|| Failure::of_policy(drive)).map_or(Ok(()), Err)?;
    done.bytes_written = (done.units_filled + done.units_overwritten) * u64::from(drive.unit_bytes());
    done.bytes_programmed = programmed(drive) - before;
    done.age_steps = steps.texts();
    done.cpu_seconds = thread_cpu_time().saturating_sub(cpu).as_secs_f64();
    Ok(done)
}

/// Runs a workload on a drive that exists, in the loop that it needs. `config` is the drive's.
pub fn run_prepared(
    drive: &mut Drive,
    config: &DriveConfig,
    workload: &Prepared,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<RunResult, RunError> {
    run_metered(drive, config, workload, spec, progress).0
}

/// The same, with what was measured of the requests, if any were taken.
pub(crate) fn run_metered(
    drive: &mut Drive,
    config: &DriveConfig,
    workload: &Prepared,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> (Result<RunResult, RunError>, Option<Meter>) {
    let ran = check_one_drive(workload)
        .map_err(RunError::from)
        .and_then(|()| start(drive, config, workload, spec, progress));
    match ran {
        Ok((ended, meter)) => (ended, Some(meter)),
        Err(error) => (Err(error), None),
    }
}

/// How a run ended, and what was measured of its requests.
type Ended = (Result<RunResult, RunError>, Meter);

fn start(
    drive: &mut Drive,
    config: &DriveConfig,
    workload: &Prepared,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Ended, RunError> {
    let ahead = read_prepared_ahead(drive, workload, spec, progress)?;
    match workload.driven(drive.logical_sectors()) {
        None => {
            let mut source = workload.open(drive.logical_sectors()).map_err(Failure::Workload)?;
            let before = begin(drive, config, (Some(workload), ahead), spec, progress)?;
            serve(before, drive, config, &mut *source, spec, progress)
        }
        Some(driven) => {
            if spec.executor == Executor::Functional
                && let Some(job) = workload.timed_job()
            {
                let found = format!("no time passes, and job {job} ends by time (runtime, until_s)");
                let allowed =
                    "timed; jobs that end by size, io_size or number_ios; or phases that do not end by time";
                let allowed = allowed.to_owned();
                return Err(Failure::Setting { key: "run.executor", found, allowed }.into());
            }
            let mut driven = driven.map_err(Failure::Workload)?;
            run_foreseen(drive, config, (&mut *driven, ahead), spec, progress)
        }
    }
}

/// Refuses a workload for several drives where there is one.
fn check_one_drive(workload: &Prepared) -> Result<(), Failure> {
    let names = workload.split().names();
    if names.is_empty() {
        return Ok(());
    }
    let how = if let Split::Striped(_) = workload.split() { "striped" } else { "each" };
    let found = format!("\"{how}\", and {} drives ({})", names.len(), names.join(", "));
    let allowed = "\"together\" on this one drive; `wordline run` has a drive for each".to_owned();
    Err(Failure::Setting { key: "workload.drives", found, allowed })
}

/// Runs requests in a closed or an open loop on a drive that exists, and was told of them if it looks ahead
/// ([`crate::foresee()`]). `config` is the drive's.
pub fn run<S: Source + ?Sized>(
    drive: &mut Drive,
    config: &DriveConfig,
    source: &mut S,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<RunResult, RunError> {
    let before = begin(drive, config, (None, None), spec, progress)?;
    serve(before, drive, config, source, spec, progress)?.0
}

/// Serves the requests, on a drive that is ready.
fn serve<S: Source + ?Sized>(
    before: Before,
    drive: &mut Drive,
    config: &DriveConfig,
    source: &mut S,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Ended, RunError> {
    let total = spec.total(source.len_hint());
    let mut session = Session::new(drive, config, source, spec, progress)?;
    let mut failure = session.run(spec.loop_mode).err();
    let counted = session.finish(&mut failure);
    let measured = Measured { total, counted, jobs: Vec::new(), failure };
    Ok(before.end_metered(drive, config, spec, measured, source.report().told()))
}

/// Runs jobs on a drive that exists, in their own loop whatever `spec` asks for. `config` is the drive's.
pub fn run_driven(
    drive: &mut Drive,
    config: &DriveConfig,
    driven: &mut dyn Driven,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<RunResult, RunError> {
    run_foreseen(drive, config, (driven, None), spec, progress)?.0
}

/// The same on a drive that is told what was read ahead once it is ready.
fn run_foreseen(
    drive: &mut Drive,
    config: &DriveConfig,
    (driven, ahead): (&mut dyn Driven, Option<Arc<Foresight>>),
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Ended, RunError> {
    let spec = &RunSpec { loop_mode: LoopMode::Jobs, ..spec.clone() };
    let before = begin(drive, config, (None, ahead), spec, progress)?;
    let total = spec.total(driven.requests_at_most());
    let mut session = DrivenSession::new(vec![(&mut *drive, progress)], config, (driven, None), spec)?;
    let mut failure = session.run().err();
    let (mut of_drives, _) = session.finish(&mut failure);
    let Some((counted, jobs)) = of_drives.pop() else { unreachable!("a session of one drive counts one") };
    let measured = Measured { total, counted, jobs, failure };
    Ok(before.end_metered(drive, config, spec, measured, driven.report().told()))
}

/// What was so before the first request.
pub(crate) struct Before {
    was_used: bool,
    was_read_only: bool,
    aged: Preconditioned,
    clock: Clock,
}

/// What a loop leaves behind.
pub(crate) struct Measured {
    pub total: Option<u64>,
    pub counted: Counted,
    pub jobs: Vec<JobResult>,
    pub failure: Option<Failure>,
}

/// Makes the drive ready for the first request. What was read ahead it is told when it has its past.
pub(crate) fn begin(
    drive: &mut Drive,
    config: &DriveConfig,
    (workload, ahead): (Option<&Prepared>, Option<Arc<Foresight>>),
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Before, Failure> {
    if ahead.is_none() {
        check_told(drive)?;
    }
    let was_used = spec.was_used || drive.health().wear.total > 0;
    let mut aged = prepare_run(drive, config, workload, spec, progress)?;
    aged.spare = Spare::of(drive, config);
    ahead.map_or(Ok(()), |ahead| tell(drive, ahead))?;
    drive.set_executor(spec.executor);
    drive.reset_stats();
    Ok(Before { was_used, was_read_only: drive.health().read_only.is_some(), aged, clock: Clock::start() })
}

impl Before {
    /// Costs count from now on, of this thread.
    pub fn restart_clock(&mut self) {
        self.clock = Clock::start();
    }

    /// Makes a result of it.
    pub(crate) fn end(
        self,
        drive: &Drive,
        config: &DriveConfig,
        spec: &RunSpec,
        measured: Measured,
        remarks: Vec<Remark>,
    ) -> Result<RunResult, RunError> {
        self.end_metered(drive, config, spec, measured, remarks).0
    }

    /// The same, with what was measured of the requests.
    pub(crate) fn end_metered(
        self,
        drive: &Drive,
        config: &DriveConfig,
        spec: &RunSpec,
        measured: Measured,
        remarks: Vec<Remark>,
    ) -> Ended {
        let cost = self.clock.stop();
        let Measured { total, counted, jobs, mut failure } = measured;
        let Counted { served, meter, members, versions, series, tail, stalls, fio, requests } = counted;
        if failure.is_none() && !self.was_read_only {
            failure = drive.health().read_only.map(|reason| Failure::ReadOnly { reason });
        }
        failure = failure.or_else(|| Failure::of_bound(drive)).or_else(|| Failure::of_policy(drive));
        let warm_up = spec.warm_up.max(served.warm_up);
        if failure.is_none() && served.completed <= warm_up && warm_up > 0 {
            failure = Some(Failure::NothingMeasured { warm_up, completed: served.completed });
        }
        let facts = Facts {
            drive,
            config,
            spec,
            total,
            aged: self.aged,
            served,
            meter: &meter,
            cost,
            failure: failure.as_ref(),
            was_used: self.was_used,
            was_read_only: self.was_read_only,
            series: series.as_ref(),
            versions: versions.as_ref(),
        };
        let collected = RunResult::collect(&facts, remarks, jobs);
        let result = RunResult { members, series, tail, stalls, fio, requests, ..collected };
        let ended = match failure {
            None => Ok(result),
            Some(failure) => Err(RunError { failure, result: Some(Box::new(result)) }),
        };
        (ended, meter)
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
