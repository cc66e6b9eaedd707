//! A drive: built, aged, run, saved.

use crate::callables::Callables;
use crate::errors::{self, ConfigError, SnapshotError};
use crate::feed::End;
use crate::handle::{Handle, Slot};
use crate::measured::Measured;
use crate::policies;
use crate::progress::Shown;
use crate::results::{Ended, Result};
use crate::running::{Asked, Load, asked, feed_all, load, measure, refuse_depth, remarks_of};
use crate::session::{Fed, Session};
use crate::table::Table;
use crate::values;
use crate::work::{watched, work};
use lab::files::FileLock;
use lab::job::DEFAULT_DRIVE;
use lab::{BlockTable, DriveCache, Job, Plan, RunSpec, Stop};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};
use ssd::DriveConfig;
use ssd::config::Layer;
use ssd::external::ExternalPolicies;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use workload::Spec;

/// What a drive may be made from.
const PRESETS: &str = "the name of a drive (text), such as \"m64\"; wordline.presets() has all";
const CONFIGS: &str = "the path of a configuration, or its text";
const SNAPSHOTS: &str =
    "the bytes of drive.snapshot(), or the path of a file of `wordline run --save-snapshot`";

/// What a drive's cells may go through.
const STEPS: &str = "text, such as \"cycle to 3000\" or \"retain 3 months at 40 C\"";

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

    /// Where requests must end.
    pub(crate) fn end(&self) -> End {
        End::of_bytes(self.config.logical_bytes())
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
        Ok((asked.or_called("requests").spec(&plan, &like, stop, is_used), lock))
    }

    /// Makes it a past: by preconditioning, or by ageing.
    fn prepare(
        &self,
        py: Python<'_>,
        layers: Vec<Layer>,
        (ages, fills): (bool, bool),
        shown: &Shown,
    ) -> PyResult<()> {
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
        let (done, raised) = watched(py, &stop, shown, |told| {
            let done = lab::prepare_run(&mut handle.drive, config, None, &spec, told);
            *slot =
                Some(if done.is_ok() { Handle::used(handle.drive) } else { handle.undone(config, policies) });
            done
        })?;
        raised.map_or(Ok(()), Err)?;
        self.callables.raise()?;
        errors::warn_of_cache(py, &remarks_of(spec.cache.as_deref()))?;
        done.map(drop).map_err(|failure| self.callables.explain(py, errors::of_failure(&failure)))
    }
}

impl Fed for Py<Drive> {
    fn callables(&self) -> &Callables {
        &self.get().callables
    }

    fn end(&self) -> End {
        self.get().end()
    }

    fn visit(&self, visit: &PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(self)
    }
}

#[pymethods]
impl Drive {
    /// A drive that ships with Wordline, by its name (`wordline presets`), with settings of your own:
    /// `Drive.preset("straw", {"ftl.gc_victim.policy": "fifo"})`. `policies` are your own, for `gc_victim`,
    /// `wear_leveling` and `stream`: a function, a class, a C address (an int), or the path of a library. A policy may
    /// have a name of your own instead, which the settings have where they would name a shipped one.
    #[staticmethod]
    #[pyo3(signature = (name, settings=None, policies=None))]
    fn preset(
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        settings: Option<&Bound<'_, PyAny>>,
        policies: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let name = values::text("name", name, PRESETS)?;
        let settings = values::dict("settings", settings, values::SETTINGS)?;
        let policies = values::dict("policies", policies, policies::POLICIES)?;
        let given = policies::policies(policies)?;
        let settings = [values::settings(settings)?, given.settings.clone()].concat();
        let job = Job::read(None, Some(&name), &settings).map_err(errors::of_job)?;
        Drive::build(py, given.to_job(job)?, given.callables)
    }

    /// The drive of a configuration, given as a path or text. If it names no drive, this is the default one, in full
    /// size.
    #[staticmethod]
    #[pyo3(signature = (config, settings=None, policies=None))]
    fn from_toml(
        py: Python<'_>,
        config: &Bound<'_, PyAny>,
        settings: Option<&Bound<'_, PyAny>>,
        policies: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let settings = values::dict("settings", settings, values::SETTINGS)?;
        let policies = values::dict("policies", policies, policies::POLICIES)?;
        let given = policies::policies(policies)?;
        let settings = [values::settings(settings)?, given.settings.clone()].concat();
        let text = config.cast::<PyString>().ok().map(ToString::to_string);
        let job = match text.filter(|text| text.contains(['\n', '='])) {
            Some(text) => {
                let job = Job::of_text(Path::new("configuration"), text);
                job.with_sets(&settings)
            }
            None => Job::read(Some(&values::path("config", config, CONFIGS)?), None, &settings),
        };
        let job = job.map_err(errors::of_job)?;
        let job = if job.names_a_drive() { job } else { job.on(DEFAULT_DRIVE).map_err(errors::of_job)? };
        Drive::build(py, given.to_job(job)?, given.callables)
    }

    /// Fills the drive and overwrites it; keys of `[run]` say how: `drive.precondition(fill_percent=80,
    /// overwrite="none")`.
    #[pyo3(signature = (*, progress=None, **run))]
    fn precondition(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        run: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.prepare(py, values::run_layers(run)?, (false, true), &Shown::of(py, progress)?)
    }

    /// Ages its cells, step by step: `drive.age("cycle to 3000", "retain 3 months at 40 C")`.
    #[pyo3(signature = (*steps, progress=None))]
    fn age(
        &self,
        py: Python<'_>,
        steps: &Bound<'_, PyTuple>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let text =
            |(at, step): (usize, Bound<'_, PyAny>)| values::text(&format!("steps[{at}]"), &step, STEPS);
        let steps = steps.iter().enumerate().map(text).collect::<PyResult<Vec<String>>>()?;
        let run = PyDict::new(py);
        run.set_item("age", steps)?;
        self.prepare(py, values::run_layers(Some(&run))?, (true, false), &Shown::of(py, progress)?)
    }

    /// Serves a workload, and returns what was measured. The workload is a path (a trace, a fio job file), a dict
    /// (the settings of a `[workload]`: `{"pattern": "zipf", "count": 100_000}`), columns of requests (`{"lba":
    /// array, "sectors": array, "op": array, "arrival_ns": array}`; without the last they are kept in flight), or, if
    /// None, that of the drive's configuration. Other keywords are keys of `[run]`: `depth`, `requests`, `samples`,
    /// `explain_tail` ...
    ///
    /// `progress` shows how far it is, on standard error, where somebody looks: a terminal, a notebook (None), always
    /// (True), never (False); or is a function that is called with the phase, how much of it is done, and of how much.
    /// Ctrl-C ends the run; the `KeyboardInterrupt` has what was measured until then, as `.result`.
    #[pyo3(signature = (workload=None, *more, name=None, keep_requests=false, request_log=None, force=false,
                        cache=true, progress=None, **run),
           text_signature = "($self, workload=None, *, name=None, keep_requests=False, request_log=None, force=False, \
                             cache=True, progress=None, **run)")]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn run(
        &self,
        py: Python<'_>,
        workload: Option<&Bound<'_, PyAny>>,
        more: &Bound<'_, PyTuple>,
        name: Option<String>,
        keep_requests: bool,
        request_log: Option<PathBuf>,
        force: bool,
        cache: bool,
        progress: Option<&Bound<'_, PyAny>>,
        run: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Result> {
        if let Ok(second) = more.get_item(0) {
            let allowed = "a workload, and all else by keyword: drive.run(workload, depth=4)";
            return Err(values::wrong_type("a second positional argument", &second, allowed));
        }
        let (asked, layers) = asked(name, (keep_requests, request_log, force, cache), run)?;
        let shown = Shown::of(py, progress)?;
        let mut guard = self.slot.lock()?;
        let (stop, slot) = (self.begin(), &mut *guard);
        let ended = match load(&self.job, self.end(), workload)? {
            Load::Spec(spec, given) => {
                let of = (*spec, given);
                let job = self.job.clone().with_flags(layers).on_built_drive();
                let run = |told: &mut dyn FnMut(lab::Progress)| measure(&job, of, (asked, &stop), slot, told);
                Ended::of(watched(py, &stop, &shown, run)?)?
            }
            Load::Requests(requests, has_times) => {
                if has_times {
                    refuse_depth(run)?;
                }
                let is_used = slot.as_ref().is_some_and(|handle| handle.is_used);
                let (spec, _lock) = self.fed(layers, has_times, asked, &stop, is_used)?;
                let Some(handle) = slot.take() else { return Err(errors::busy()) };
                let (config, policies) = (&self.config, &self.policies);
                let fed = |told: &mut dyn FnMut(lab::Progress)| {
                    feed_all(handle, (config, policies), &spec, &requests, slot, told)
                };
                let ((result, blocks), raised) = watched(py, &stop, &shown, fed)?;
                let remarks = remarks_of(spec.cache.as_deref());
                Ended { measured: Measured { result, blocks, config: self.text.clone(), remarks }, raised }
            }
        };
        // What a policy has raised to end the program ends it, with what was measured.
        let ended = Ended { raised: ended.raised.or(self.callables.raise().err()), ..ended };
        ended.told(py).map_err(|error| self.callables.explain(py, error))
    }

    /// Begins a run that is fed piece by piece; `arrivals=True` if requests arrive at given times, other keywords as
    /// for `run`. The drive is busy until the session is finished.
    #[pyo3(signature = (*, arrivals=false, name=None, keep_requests=false, request_log=None, force=false,
                        cache=true, progress=None, **run))]
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
        progress: Option<&Bound<'_, PyAny>>,
        run: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Session> {
        let (asked, layers) = asked(name, (keep_requests, request_log, force, cache), run)?;
        if arrivals {
            refuse_depth(run)?;
        }
        let (this, shown) = (slf.get(), Shown::of(py, progress)?);
        let mut guard = this.slot.lock()?;
        let stop = this.begin();
        let is_used = guard.as_ref().is_some_and(|handle| handle.is_used);
        let (spec, lock) = this.fed(layers, arrivals, asked, &stop, is_used)?;
        let Some(handle) = guard.take() else { return Err(errors::busy()) };
        let (config, policies, slot) = (&this.config, &this.policies, &mut *guard);
        let begun = watched(py, &stop, &shown, |told| {
            lab::Session::on_telling(handle.drive, config, None, &spec, told).map_err(|(failure, drive)| {
                *slot = Some(Handle { drive, is_used }.undone(config, policies));
                failure
            })
        });
        let begun = begun.and_then(|(begun, raised)| raised.map_or(Ok(begun), Err));
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
        let owner: Box<dyn Fed> = Box::new(slf.clone().unbind());
        let of = (owner, Arc::clone(&this.slot));
        let session = Session::new(session, of, this.text.clone(), (arrivals, lock));
        errors::warn_of_cache(py, &remarks_of(spec.cache.as_deref()))?;
        Ok(session)
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
            Err(_) => of_file(py, &values::path("snapshot", snapshot, SNAPSHOTS)?),
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
    let rest = snapshot
        .strip_prefix(MAGIC)
        .ok_or_else(|| wrong(&format!("it begins otherwise; allowed: {SNAPSHOTS}")))?;
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
