//! A drive: built, aged, run, saved.

use crate::callables::Callables;
use crate::errors::{self, ConfigError, SnapshotError, WorkloadError};
use crate::feed;
use crate::handle::{Handle, Slot};
use crate::policies;
use crate::results::{Result, told};
use crate::session::Session;
use crate::table::Table;
use crate::values;
use crate::work::work;
use lab::files::FileLock;
use lab::job::{DEFAULT_DRIVE, is_config, with_path};
use lab::places::{Force, Kind, Places, claim_file};
use lab::{BlockTable, DriveCache, Job, Plan, RunSpec, Stop};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};
use pyo3::{PyTraverseError, PyVisit};
use ssd::DriveConfig;
use ssd::config::Layer;
use ssd::external::ExternalPolicies;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use workload::{Prepared, Request, Spec};

/// How a snapshot begins.
const MAGIC: &[u8] = b"wordline drive\n";

/// A drive. It is new until it is preconditioned, aged or run: its first run preconditions it, as `wordline run`
/// does, and later ones continue from there.
#[pyclass(module = "wordline", frozen)]
pub struct Drive {
    job: Job,
    config: DriveConfig,
    policies: ExternalPolicies,
    /// The functions among them.
    pub(crate) callables: Callables,
    text: String,
    slot: Arc<Slot>,
    stop: Mutex<Stop>,
}

/// What is run.
enum Load {
    Spec(Box<Spec>),
    Requests(Vec<Request>, bool),
}

/// What else is asked of a run.
struct Asked {
    name: Option<String>,
    keep_requests: bool,
    request_log: Option<PathBuf>,
    force: bool,
    cache: bool,
}

impl Asked {
    /// The request log's place for this run alone; refuses one that would overwrite what is read or anything else.
    fn claim_places(&self, spec: Option<&Spec>) -> std::result::Result<Option<FileLock>, lab::JobError> {
        let Some(path) = &self.request_log else { return Ok(None) };
        let mut places = Places::default();
        spec.into_iter().for_each(|spec| places.reads_workload(spec));
        places.writes("request_log", path);
        places.check()?;
        claim_file(path, Kind::RequestLog, "write the request log", Force::keyword(self.force))
    }

    fn spec(self, plan: &Plan, spec: &Spec, stop: &Stop, is_used: bool) -> RunSpec {
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

/// The workload that somebody asks for: a path, settings, columns of requests; of the job if it is none.
fn load(job: &Job, of: Option<&Bound<'_, PyAny>>) -> PyResult<Load> {
    let configured = || job.workload().map_err(errors::of_job);
    let Some(of) = of else {
        let nothing =
            || WorkloadError::new_err("nothing to run: found no workload, allowed: a path, a dict, columns");
        return Ok(Load::Spec(Box::new(configured()?.ok_or_else(nothing)?)));
    };
    if let Ok(settings) = of.cast::<PyDict>() {
        if feed::are_columns(settings)? {
            let (requests, has_times) = feed::requests(settings)?;
            return Ok(Load::Requests(requests, has_times));
        }
        let line = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let key: String = key.extract()?;
            let value = values::toml(&value).map_err(|error| values::of_workload(of.py(), &key, error))?;
            Ok(format!("{key} = {value}\n"))
        };
        let text: String = settings.iter().map(line).collect::<PyResult<_>>()?;
        let spec = Spec::parse(&text).map_err(|error| errors::of_workload(&error))?;
        return Ok(Load::Spec(Box::new(spec)));
    }
    let path: PathBuf = of.extract()?;
    if is_config(&path) {
        let message = format!(
            "{}\n    found:   a configuration\n    allowed: a trace or a fio job file; wordline.run() and \
             Drive.from_toml() take configurations",
            path.display()
        );
        return Err(WorkloadError::new_err(message));
    }
    Ok(Load::Spec(Box::new(with_path(configured()?, &path))))
}

/// Settings of the `[run]` table, and what is no setting.
fn asked(
    name: Option<String>,
    (keep_requests, request_log, force, cache): (bool, Option<PathBuf>, bool, bool),
    run: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Asked, Vec<Layer>)> {
    Ok((Asked { name, keep_requests, request_log, force, cache }, values::run_layers(run)?))
}

/// What came of a run: the result or why there is none, the blocks at its end, a configuration that repeats it.
type Measured = (std::result::Result<lab::RunResult, lab::RunError>, BlockTable, String);

/// Why it did not begin.
enum Unbegun {
    Job(lab::JobError),
    Workload(workload::WorkloadError),
}

impl From<lab::JobError> for Unbegun {
    fn from(error: lab::JobError) -> Self {
        Unbegun::Job(error)
    }
}

impl From<workload::WorkloadError> for Unbegun {
    fn from(error: workload::WorkloadError) -> Self {
        Unbegun::Workload(error)
    }
}

impl From<Unbegun> for PyErr {
    fn from(why: Unbegun) -> Self {
        match why {
            Unbegun::Job(error) => errors::of_job(error),
            Unbegun::Workload(error) => errors::of_workload(&error),
        }
    }
}

/// Everything from a workload's settings to its result, on a drive that is there or is made for it.
fn measure(
    job: &Job,
    mut spec: Spec,
    (asked, stop): (Asked, &Stop),
    drive: &mut Option<Handle>,
) -> std::result::Result<Measured, Unbegun> {
    job.settle(&mut spec, false)?;
    let _lock = asked.claim_places(Some(&spec))?;
    let prepared: Prepared = spec.prepare()?;
    let plan = job.plan(Some((&spec, &prepared)))?;
    let (config, policies) = (&plan.resolved.config, plan.libraries.policies());
    let mut handle = match drive.take() {
        Some(handle) => handle,
        None => Handle::new(config, &policies).map_err(lab::JobError::from)?,
    };
    let mut run = asked.spec(&plan, &spec, stop, handle.is_used);
    run.workload_hash = prepared.workload_hash();
    let result = lab::run_prepared(&mut handle.drive, config, &prepared, &run, &mut |_| {});
    let blocks = BlockTable::of(&handle.drive);
    let has_begun = result.as_ref().map_or_else(|error| error.result.is_some(), |_| true);
    *drive = Some(if has_begun { Handle::used(handle.drive) } else { handle.undone(config, &policies) });
    Ok((result, blocks, plan.to_toml(&spec)))
}

impl Drive {
    fn build(py: Python<'_>, job: Job, callables: Callables) -> PyResult<Self> {
        let plan = job.plan(None).map_err(errors::of_job)?;
        let config = plan.resolved.config.clone();
        let policies = plan.libraries.policies();
        let handle = work(py, &Stop::default(), || Handle::new(&config, &policies))?;
        let handle = handle.map_err(|errors| ConfigError::new_err(errors.to_string()))?;
        Drive::of(job, &plan, handle, callables)
    }

    fn of(job: Job, plan: &Plan, handle: Handle, callables: Callables) -> PyResult<Self> {
        let config = plan.resolved.config.clone();
        let slot = Arc::new(Slot::of(handle));
        // With the run and the workload that its configuration has, so that a copy has them too.
        let text = match job.workload().map_err(errors::of_job)? {
            Some(spec) => plan.to_toml(&spec),
            None => plan.resolved.to_toml() + &plan.run_toml(),
        };
        let policies = plan.libraries.policies();
        Ok(Drive { job, config, policies, callables, text, slot, stop: Mutex::default() })
    }

    /// A wish to stop, for what is begun now by whoever has the drive.
    fn begin(&self) -> Stop {
        let stop = Stop::default();
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = stop.clone();
        stop
    }

    /// What is known of a run whose requests come from the caller.
    fn fed(
        &self,
        layers: Vec<Layer>,
        has_times: bool,
        asked: Asked,
        stop: &Stop,
        is_used: bool,
    ) -> PyResult<(RunSpec, Option<FileLock>)> {
        let lock = asked.claim_places(None).map_err(errors::of_job)?;
        let job = self.job.clone().with_flags(layers);
        let plan = job.plan(None).map_err(errors::of_job)?;
        // At their times, as of a trace, or kept in flight, as of a generator.
        let like = if has_times { Ok(Spec::trace("-")) } else { Spec::parse("pattern = \"uniform\"") };
        let like = like.map_err(|error| errors::of_workload(&error))?;
        let name = asked.name.clone().or_else(|| Some("requests".to_owned()));
        Ok((Asked { name, ..asked }.spec(&plan, &like, stop, is_used), lock))
    }

    /// Makes it a past: by preconditioning, or by ageing.
    fn prepare(&self, py: Python<'_>, layers: Vec<Layer>, ages: bool, fills: bool) -> PyResult<()> {
        let job = self.job.clone().with_flags(layers);
        let plan = job.plan(None).map_err(errors::of_job)?;
        let mut guard = self.slot.lock()?;
        let stop = self.begin();
        let Some(mut handle) = guard.take() else { return Err(errors::busy()) };
        let mut spec = RunSpec { stop: stop.clone(), policies: self.policies.clone(), ..RunSpec::default() };
        if fills {
            spec.preconditioning = plan.run.preconditioning(None);
        }
        if ages {
            spec.age = plan.run.age.clone();
        }
        let config = &plan.resolved.config;
        spec.cache = (!handle.is_used && fills).then(DriveCache::usual).flatten().map(Arc::new);
        let (slot, policies) = (&mut *guard, &self.policies);
        let done = work(py, &stop, || {
            let done = lab::prepare_run(&mut handle.drive, config, None, &spec, &mut |_| {});
            *slot =
                Some(if done.is_ok() { Handle::used(handle.drive) } else { handle.undone(config, policies) });
            done
        })?;
        self.callables.raise()?;
        done.map(drop).map_err(|failure| errors::of_failure(&failure))
    }
}

#[pymethods]
impl Drive {
    /// A drive that ships with Wordline, by its name (`wordline presets`), with settings of your own:
    /// `Drive.preset("straw", {"ftl.gc_victim.policy": "fifo"})`. `policies` are your own, for `gc_victim`,
    /// `wear_leveling` and `stream`: a function, a C address (an int), or the path of a library.
    #[staticmethod]
    #[pyo3(signature = (name, settings=None, policies=None))]
    fn preset(
        py: Python<'_>,
        name: &str,
        settings: Option<&Bound<'_, PyDict>>,
        policies: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let given = policies::policies(policies)?;
        let settings = [values::settings(settings)?, given.settings].concat();
        let job = Job::read(None, Some(name), &settings).map_err(errors::of_job)?;
        Drive::build(py, job.giving(given.policies), given.callables)
    }

    /// The drive of a configuration, given as a path or text. If it names no drive, this is the default one, in full
    /// size.
    #[staticmethod]
    #[pyo3(signature = (config, settings=None, policies=None))]
    fn from_toml(
        py: Python<'_>,
        config: &Bound<'_, PyAny>,
        settings: Option<&Bound<'_, PyDict>>,
        policies: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let given = policies::policies(policies)?;
        let settings = [values::settings(settings)?, given.settings].concat();
        let text = config.cast::<PyString>().ok().map(ToString::to_string);
        let job = match text.filter(|text| text.contains(['\n', '='])) {
            Some(text) => {
                let job = Job::of_text(Path::new("configuration"), text);
                job.with_sets(&settings)
            }
            None => Job::read(Some(&config.extract::<PathBuf>()?), None, &settings),
        };
        let job = job.map_err(errors::of_job)?;
        let job = if job.names_a_drive() { job } else { job.on(DEFAULT_DRIVE).map_err(errors::of_job)? };
        Drive::build(py, job.giving(given.policies), given.callables)
    }

    /// Fills the drive and overwrites it; keys of `[run]` say how: `drive.precondition(fill_percent=80,
    /// overwrite="none")`.
    #[pyo3(signature = (**run))]
    fn precondition(&self, py: Python<'_>, run: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.prepare(py, values::run_layers(run)?, false, true)
    }

    /// Ages its cells, step by step: `drive.age("cycle to 3000", "retain 3 months at 40 C")`.
    #[pyo3(signature = (*steps))]
    fn age(&self, py: Python<'_>, steps: Vec<String>) -> PyResult<()> {
        let run = PyDict::new(py);
        run.set_item("age", steps)?;
        self.prepare(py, values::run_layers(Some(&run))?, true, false)
    }

    /// Serves a workload, and returns what was measured. The workload is a path (a trace, a fio job file), a dict
    /// (the settings of a `[workload]`: `{"pattern": "zipf", "count": 100_000}`), columns of requests (`{"lba":
    /// array, "sectors": array, "op": array, "arrival_ns": array}`; without the last they are kept in flight), or, if
    /// None, that of the drive's configuration. Other keywords are keys of `[run]`: `depth`, `requests`, `samples`,
    /// `explain_tail` ...
    #[pyo3(signature = (workload=None, *, name=None, keep_requests=false, request_log=None, force=false,
                        cache=true, **run))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn run(
        &self,
        py: Python<'_>,
        workload: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        keep_requests: bool,
        request_log: Option<PathBuf>,
        force: bool,
        cache: bool,
        run: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Result> {
        let (asked, layers) = asked(name, (keep_requests, request_log, force, cache), run)?;
        let mut guard = self.slot.lock()?;
        let stop = self.begin();
        let slot = &mut *guard;
        let (result, blocks, config) = match load(&self.job, workload)? {
            Load::Spec(spec) => {
                let job = self.job.clone().with_flags(layers);
                work(py, &stop, || measure(&job, *spec, (asked, &stop), slot))??
            }
            Load::Requests(requests, has_times) => {
                let is_used = slot.as_ref().is_some_and(|handle| handle.is_used);
                let (spec, _lock) = self.fed(layers, has_times, asked, &stop, is_used)?;
                let Some(handle) = slot.take() else { return Err(errors::busy()) };
                let (config, policies) = (&self.config, &self.policies);
                let fed = || feed_all(handle, (config, policies), &spec, &requests, slot);
                let (result, blocks) = work(py, &stop, fed)?;
                (result, blocks, self.text.clone())
            }
        };
        self.callables.raise()?;
        told(py, result, blocks, &config)
    }

    /// Begins a run that is fed piece by piece; `arrivals=True` if requests arrive at given times, other keywords as
    /// for `run`. The drive is busy until the session is finished.
    #[pyo3(signature = (*, arrivals=false, name=None, keep_requests=false, request_log=None, force=false,
                        cache=true, **run))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn session(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        arrivals: bool,
        name: Option<String>,
        keep_requests: bool,
        request_log: Option<PathBuf>,
        force: bool,
        cache: bool,
        run: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Session> {
        let (asked, layers) = asked(name, (keep_requests, request_log, force, cache), run)?;
        let this = slf.get();
        let mut guard = this.slot.lock()?;
        let stop = this.begin();
        let is_used = guard.as_ref().is_some_and(|handle| handle.is_used);
        let (spec, lock) = this.fed(layers, arrivals, asked, &stop, is_used)?;
        let Some(handle) = guard.take() else { return Err(errors::busy()) };
        let (config, policies, slot) = (&this.config, &this.policies, &mut *guard);
        let begun = work(py, &stop, || match lab::Session::on(handle.drive, config, None, &spec) {
            Ok(session) => Ok(session),
            Err((failure, drive)) => {
                *slot = Some(Handle { drive, is_used }.undone(config, policies));
                Err(failure)
            }
        });
        let mut session = match begun.and_then(|begun| this.callables.raise().map(|()| begun)) {
            Ok(begun) => begun.map_err(|failure| errors::of_failure(&failure))?,
            Err(raised) => {
                // Begun, and nobody wants it any more.
                if slot.is_none() {
                    *slot = Some(
                        Handle::new(config, policies)
                            .map_err(|errors| ConfigError::new_err(errors.to_string()))?,
                    );
                }
                return Err(raised);
            }
        };
        session.restart_clock();
        let of = (slf.clone().unbind(), Arc::clone(&this.slot));
        Ok(Session::new(session, of, this.text.clone(), (arrivals, lock)))
    }

    /// Asks a run in another thread to end; the drive keeps its state at that point.
    fn stop(&self) {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).ask();
    }

    /// The whole drive as bytes, for `Drive.restore`. Pickles hold the same; as with any pickle, load only those you
    /// trust.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let guard = self.slot.lock()?;
        let Some(handle) = guard.as_ref() else { return Err(errors::busy()) };
        let mut bytes = MAGIC.to_vec();
        bytes.push(u8::from(handle.is_used));
        bytes.extend((self.text.len() as u64).to_le_bytes());
        bytes.extend(self.text.as_bytes());
        let saved = py.detach(|| handle.drive.save(&mut bytes));
        saved.map_err(|error| SnapshotError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A drive from a snapshot: the bytes of `snapshot()`, or the path of a file written by `wordline run
    /// --save-snapshot`, with its configuration beside it.
    #[classmethod]
    fn restore(_class: &Bound<'_, PyType>, py: Python<'_>, snapshot: &Bound<'_, PyAny>) -> PyResult<Self> {
        match snapshot.cast::<PyBytes>() {
            Ok(bytes) => of_bytes(py, bytes.as_bytes()),
            Err(_) => of_file(py, &snapshot.extract::<PathBuf>()?),
        }
    }

    /// For pickle.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("restore")?, (slf.get().snapshot(slf.py())?,)))
    }

    /// Its blocks, one row each; superblocks count as one.
    #[getter]
    fn blocks(&self) -> PyResult<Table> {
        let guard = self.slot.lock()?;
        let Some(handle) = guard.as_ref() else { return Err(errors::busy()) };
        Ok(Table::of(BlockTable::of(&handle.drive).table()))
    }

    /// Its counters since its last run began, by name (docs/results.md explains each).
    #[getter]
    fn counters(&self) -> PyResult<std::collections::BTreeMap<&'static str, u64>> {
        let guard = self.slot.lock()?;
        let Some(handle) = guard.as_ref() else { return Err(errors::busy()) };
        let stats = handle.drive.stats();
        Ok(stats.counters().map(|(counter, count)| (counter.key, count.sum())).collect())
    }

    /// The configuration with every key, as TOML.
    #[getter]
    fn config(&self) -> &str {
        &self.text
    }

    /// Bytes that the host sees.
    #[getter]
    fn logical_bytes(&self) -> u64 {
        self.config.logical_bytes()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        self.callables.visit(&visit)
    }

    fn __clear__(&self) {
        self.callables.clear();
    }

    fn __repr__(&self) -> String {
        let gib = self.config.logical_bytes() as f64 / (1u64 << 30) as f64;
        format!("<wordline.Drive of {gib:.2} GiB, configuration {:016x}>", self.config.hash())
    }
}

/// The drive of `snapshot()`'s bytes.
fn of_bytes(py: Python<'_>, snapshot: &[u8]) -> PyResult<Drive> {
    let wrong = |what: &str| SnapshotError::new_err(format!("not a snapshot of a drive: {what}"));
    let rest = snapshot.strip_prefix(MAGIC).ok_or_else(|| wrong("it begins otherwise"))?;
    let (is_used, rest) = rest.split_first().ok_or_else(|| wrong("it is cut off"))?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(|| wrong("it is cut off"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (text, rest) = rest.split_at_checked(length).ok_or_else(|| wrong("it is cut off"))?;
    let text = String::from_utf8(text.to_vec()).map_err(|_| wrong("its configuration is not text"))?;
    restored(py, Job::of_text(Path::new("snapshot"), text), rest, *is_used != 0)
}

/// The drive of a file of the command line's.
fn of_file(py: Python<'_>, path: &Path) -> PyResult<Drive> {
    let unread = |error: lab::JobError| SnapshotError::new_err(error.message);
    let bytes = lab::job::files::read_snapshot(path).map_err(unread)?;
    let beside = lab::job::files::beside(path);
    lab::job::files::check(&beside, "read the snapshot's configuration").map_err(unread)?;
    let job = Job::read(Some(&beside), None, &[]).map_err(unread)?;
    restored(py, job, &bytes, true).map_err(|error| {
        let text = format!("{}: {}", path.display(), error.value(py));
        SnapshotError::new_err(text)
    })
}

fn restored(py: Python<'_>, job: Job, bytes: &[u8], is_used: bool) -> PyResult<Drive> {
    let plan = job.plan(None).map_err(|error| SnapshotError::new_err(error.message))?;
    let config = plan.resolved.config.clone();
    let drive = py.detach(|| ssd::Drive::restore(&config, bytes));
    let drive = drive.map_err(|error| SnapshotError::new_err(error.to_string()))?;
    Drive::of(job, &plan, Handle { drive: Box::new(drive), is_used }, Callables::default())
}

/// Feeds a session with everything at once; the drive comes back to its slot whatever happens.
fn feed_all(
    handle: Handle,
    (config, policies): (&DriveConfig, &ExternalPolicies),
    spec: &RunSpec,
    requests: &[Request],
    slot: &mut Option<Handle>,
) -> (std::result::Result<lab::RunResult, lab::RunError>, BlockTable) {
    let is_used = handle.is_used;
    let mut session = match lab::Session::on(handle.drive, config, None, spec) {
        Ok(session) => session,
        Err((failure, drive)) => {
            let blocks = BlockTable::of(&drive);
            *slot = Some(Handle { drive, is_used }.undone(config, policies));
            return (Err(failure.into()), blocks);
        }
    };
    // What goes wrong is told at the end, with what was measured.
    let _ = session.feed(requests);
    let (result, drive) = session.end();
    let blocks = BlockTable::of(&drive);
    *slot = Some(Handle::used(drive));
    (result, blocks)
}

/// Everything that `wordline run` does: a workload, on a named drive, or on one made for it. `workload` is a path (a
/// trace, a fio job file, a configuration with a workload) or a dict (the settings of a `[workload]`); `settings` are
/// those of `--set`; other keywords are keys of `[run]`.
#[pyfunction]
#[pyo3(signature = (workload, drive=None, settings=None, *, name=None, keep_requests=false, request_log=None,
                    force=false, cache=true, **run))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn run(
    py: Python<'_>,
    workload: &Bound<'_, PyAny>,
    drive: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
    name: Option<String>,
    keep_requests: bool,
    request_log: Option<PathBuf>,
    force: bool,
    cache: bool,
    run: Option<&Bound<'_, PyDict>>,
) -> PyResult<Result> {
    let (asked, layers) = asked(name, (keep_requests, request_log, force, cache), run)?;
    let is_dict = workload.is_instance_of::<PyDict>();
    let path = if is_dict { None } else { Some(workload.extract::<PathBuf>()?) };
    let config = path.as_deref().filter(|path| is_config(path));
    let job =
        Job::read(config, drive, &values::settings(settings)?).map_err(errors::of_job)?.with_flags(layers);
    let spec = match load(&job, Some(workload).filter(|_| config.is_none()))? {
        Load::Spec(spec) => spec,
        Load::Requests(..) => {
            let allowed = "Drive.preset(...).run(...)";
            return Err(feed::wrong("columns of requests", "no drive for them", allowed));
        }
    };
    let stop = Stop::default();
    let measured = work(py, &stop, || measure(&job, *spec, (asked, &stop), &mut None))?;
    let (result, blocks, config) = measured?;
    told(py, result, blocks, &config)
}
