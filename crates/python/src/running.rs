//! A run from what was asked for to what was measured; `wordline.run`.

use crate::as_toml::toml;
use crate::errors::{self, ConfigError, WorkloadError};
use crate::feed::{self, End};
use crate::handle::Handle;
use crate::measured::{Measured, Unbegun};
use crate::message;
use crate::policies;
use crate::progress::Shown;
use crate::results::{Ended, Result};
use crate::values;
use crate::work::watched;
use lab::files::FileLock;
use lab::job::{Given, is_config, with_path};
use lab::places::{Force, Kind, Places, claim_file};
use lab::{BlockTable, DriveCache, Job, Plan, RunSpec, Stop};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssd::DriveConfig;
use ssd::config::Layer;
use ssd::external::ExternalPolicies;
use std::path::PathBuf;
use std::sync::Arc;
use workload::{Prepared, Request, Spec};

/// What is run.
pub enum Load {
    /// A workload that Wordline makes or reads, and what arguments say of it.
    Spec(Box<Spec>, Given),
    /// Requests, and whether they have arrival times.
    Requests(Vec<Request>, bool),
}

/// What else is asked of a run.
pub struct Asked {
    name: Option<String>,
    keep_requests: bool,
    request_log: Option<PathBuf>,
    force: bool,
    cache: bool,
}

impl Asked {
    /// The request log's place for this run alone; refuses one that would overwrite what is read or anything else.
    pub fn claim_places(&self, spec: Option<&Spec>) -> std::result::Result<Option<FileLock>, lab::JobError> {
        let Some(path) = &self.request_log else { return Ok(None) };
        let mut places = Places::default();
        spec.into_iter().for_each(|spec| places.reads_workload(spec));
        places.writes("request_log", path);
        places.check()?;
        claim_file(path, Kind::RequestLog, "write the request log", Force::keyword(self.force))
    }

    /// The same, called otherwise if it has no name.
    pub fn or_called(self, name: &str) -> Self {
        Asked { name: self.name.or_else(|| Some(name.to_owned())), ..self }
    }

    /// What a run is to do.
    pub fn spec(self, plan: &Plan, spec: &Spec, stop: &Stop, is_used: bool) -> RunSpec {
        let cache = (self.cache && !is_used).then(DriveCache::usual).flatten().map(Arc::new);
        let run = RunSpec {
            name: self.name.unwrap_or_else(|| spec.title()),
            request_log: self.request_log,
            keeps_requests: self.keep_requests,
            origins: plan.origins(),
            stop: stop.clone(),
            cache,
            was_used: is_used,
            ..plan.spec(spec)
        };
        if !is_used {
            return run;
        }
        RunSpec { preconditioning: lab::Preconditioning::default(), age: lab::AgeSteps::default(), ..run }
    }
}

/// What `wordline.run` takes for a drive.
const NAMED: &str = "the name of a drive (text), such as \"m64\"; a drive of your own runs it itself: \
                     drive.run(workload)";

/// What results call the argument as the place where a key of the workload was set.
const WORKLOAD: &str = "argument workload";

/// What may be run.
const WORKLOADS: &str = "a path (a trace, a fio job file), a dict of settings ({\"pattern\": \"uniform\", \
                         \"count\": 10_000}), columns of requests (a dict or a data frame of lba, sectors, op)";

/// The workload that somebody asks for: a path, settings, columns of requests; of the job if it is none.
pub fn load(job: &Job, end: End, of: Option<&Bound<'_, PyAny>>) -> PyResult<Load> {
    let configured = || job.workload().map_err(errors::of_job);
    let Some(of) = of else {
        let nothing =
            || WorkloadError::new_err(format!("nothing to run: found no workload, allowed: {WORKLOADS}"));
        return Ok(Load::Spec(Box::new(configured()?.ok_or_else(nothing)?), Given::default()));
    };
    if let Some(columns) = feed::columns(of)? {
        let (requests, has_times) = feed::requests(&columns, end)?;
        if requests.is_empty() {
            return Err(message::wrong(
                "requests",
                "columns without rows",
                "a row for each request, one or more",
            ));
        }
        return Ok(Load::Requests(requests, has_times));
    }
    if let Ok(settings) = of.cast::<PyDict>() {
        let mut given = Given { is_whole: true, ..Given::default() };
        let line = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let key: String = key.extract()?;
            let value = toml(&value).map_err(|error| values::of_workload(of.py(), &key, error))?;
            let line = format!("{key} = {value}\n");
            given.keys.insert(key, WORKLOAD.to_owned());
            Ok(line)
        };
        let text: String = settings.iter().map(line).collect::<PyResult<_>>()?;
        let spec = Spec::parse(&text).map_err(|error| errors::of_workload(&error))?;
        return Ok(Load::Spec(Box::new(spec), given));
    }
    let Ok(path) = of.extract::<PathBuf>() else {
        return Err(message::wrong("workload", message::shown_with_kind(of), WORKLOADS));
    };
    if is_config(&path) {
        let message = format!(
            "{}\n    found:   a configuration\n    allowed: a trace or a fio job file; wordline.run() and \
             Drive.from_toml() take configurations",
            path.display()
        );
        return Err(WorkloadError::new_err(message));
    }
    let spec = with_path(configured()?, &path);
    let given = Given::path(&spec, WORKLOAD);
    Ok(Load::Spec(Box::new(spec), given))
}

/// Refuses a depth beside arrival times, which would be silently without effect.
pub fn refuse_depth(run: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(run) = run else { return Ok(()) };
    let (depth, mode) = (run.get_item("depth")?, run.get_item("loop_mode")?);
    match depth {
        Some(depth) if mode.is_none() => {
            let found = format!("{}, beside arrival_ns", message::shown(&depth));
            let allowed = "one of them: without depth, requests arrive at arrival_ns; without arrival_ns (or with \
                           loop_mode=\"closed\"), so many are kept in flight";
            Err(ConfigError::new_err(format!("depth\n    found:   {found}\n    allowed: {allowed}")))
        }
        _ => Ok(()),
    }
}

/// Settings of the `[run]` table, and what is no setting.
pub fn asked(
    name: Option<String>,
    (keep_requests, request_log, force, cache): (bool, Option<PathBuf>, bool, bool),
    run: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Asked, Vec<Layer>)> {
    Ok((Asked { name, keep_requests, request_log, force, cache }, values::run_layers(run)?))
}

/// What went wrong with aged drives that are kept, a line each.
pub fn remarks_of(cache: Option<&DriveCache>) -> Vec<String> {
    cache.map(DriveCache::take_remarks).unwrap_or_default()
}

/// Everything from a workload's settings to its result, on a drive that is there or is made for it.
pub fn measure(
    job: &Job,
    (mut spec, given): (Spec, Given),
    (asked, stop): (Asked, &Stop),
    drive: &mut Option<Handle>,
    told: &mut dyn FnMut(lab::Progress),
) -> std::result::Result<Measured, Unbegun> {
    job.settle(&mut spec, false)?;
    let _lock = asked.claim_places(Some(&spec))?;
    let prepared: Prepared = spec.prepare()?;
    let plan = job.plan(Some((&spec, &prepared)))?;
    let plan = plan.with_workload_origins(job.workload_origins(&spec, &given));
    let (config, policies) = (&plan.resolved.config, plan.libraries.policies());
    let mut handle = match drive.take() {
        Some(handle) => handle,
        None => Handle::new(config, &policies).map_err(lab::JobError::from)?,
    };
    let mut run = asked.spec(&plan, &spec, stop, handle.is_used);
    run.workload_hash = prepared.workload_hash();
    let result = lab::run_prepared(&mut handle.drive, config, &prepared, &run, told);
    let blocks = BlockTable::of(&handle.drive);
    let has_begun = result.as_ref().map_or_else(|error| error.result.is_some(), |_| true);
    *drive = Some(if has_begun { Handle::used(handle.drive) } else { handle.undone(config, &policies) });
    Ok(Measured { result, blocks, config: plan.to_toml(&spec), remarks: remarks_of(run.cache.as_deref()) })
}

/// Requests that a session is fed with at once: some ms of work. However they are cut, the result is the same.
pub const PIECE: usize = 1 << 13;

/// Feeds a session with everything; the drive comes back to its slot whatever happens.
pub fn feed_all(
    handle: Handle,
    (config, policies): (&DriveConfig, &ExternalPolicies),
    spec: &RunSpec,
    requests: &[Request],
    slot: &mut Option<Handle>,
    told: &mut dyn FnMut(lab::Progress),
) -> (std::result::Result<lab::RunResult, lab::RunError>, BlockTable) {
    let is_used = handle.is_used;
    let mut session = match lab::Session::on_telling(handle.drive, config, None, spec, told) {
        Ok(session) => session,
        Err((failure, drive)) => {
            let blocks = BlockTable::of(&drive);
            *slot = Some(Handle { drive, is_used }.undone(config, policies));
            return (Err(failure.into()), blocks);
        }
    };
    let total = Some(requests.len() as u64);
    for (at, piece) in requests.chunks(PIECE).enumerate() {
        let (phase, done) = (lab::Phase::Running, (at * PIECE) as u64);
        told(lab::Progress { phase, done, total, simulated_ns: session.now_ns(), so_far: None });
        // What goes wrong is told at the end, with what was measured.
        if session.feed(piece).is_err() {
            break;
        }
    }
    let (result, drive) = session.end();
    let blocks = BlockTable::of(&drive);
    *slot = Some(Handle::used(drive));
    (result, blocks)
}

/// Everything that `wordline run` does: a workload, on a named drive, or on one made for it. `workload` is a path (a
/// trace, a fio job file, a configuration with a workload) or a dict (the settings of a `[workload]`); `settings` are
/// those of `--set`, `policies` those of `Drive.preset`; other keywords are keys of `[run]`.
#[pyfunction]
#[pyo3(signature = (workload, drive=None, settings=None, *, policies=None, name=None, keep_requests=false,
                    request_log=None, force=false, cache=true, progress=None, **run))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn run(
    py: Python<'_>,
    workload: &Bound<'_, PyAny>,
    drive: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyAny>>,
    policies: Option<&Bound<'_, PyAny>>,
    name: Option<String>,
    keep_requests: bool,
    request_log: Option<PathBuf>,
    force: bool,
    cache: bool,
    progress: Option<&Bound<'_, PyAny>>,
    run: Option<&Bound<'_, PyDict>>,
) -> PyResult<Result> {
    let (asked, layers) = asked(name, (keep_requests, request_log, force, cache), run)?;
    let settings = values::settings(values::dict("settings", settings, values::SETTINGS)?)?;
    let given = policies::policies(values::dict("policies", policies, policies::POLICIES)?)?;
    let settings = [settings, given.settings.clone()].concat();
    let drive = drive.map(|drive| values::text("drive", drive, NAMED)).transpose()?;
    if feed::columns(workload)?.is_some() {
        let (found, allowed) = ("no drive for them", "Drive.preset(\"m64\").run(columns)");
        return Err(message::wrong("columns of requests", found, allowed));
    }
    let path: Option<PathBuf> = workload.extract().ok();
    let config = path.as_deref().filter(|path| is_config(path));
    let job = Job::read(config, drive.as_deref(), &settings).map_err(errors::of_job)?;
    let job = given.to_job(job)?.with_flags(layers);
    // A drive is made for it, so that columns have none to end on.
    let loaded = load(&job, End::of_bytes(0), Some(workload).filter(|_| config.is_none()))?;
    let Load::Spec(spec, said) = loaded else { unreachable!("columns were refused") };
    let of = (*spec, said);
    let (stop, shown) = (Stop::default(), Shown::of(py, progress)?);
    let measured = watched(py, &stop, &shown, |told| measure(&job, of, (asked, &stop), &mut None, told))?;
    let ended = Ended::of(measured)?;
    let ended = Ended { raised: ended.raised.or(given.callables.raise().err()), ..ended };
    ended.told(py).map_err(|error| given.callables.explain(py, error))
}
