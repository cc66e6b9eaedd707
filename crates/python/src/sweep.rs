//! What a sweep is to Python: a plan with its folder, and workers that carry out runs of it anywhere.

use crate::callables::Callables;
use crate::errors::{self, ConfigError, RunError, WordlineError};
use crate::policies::{self, Given};
use crate::values;
use lab::files::FolderLock;
use lab::places::Force;
use lab::result::problems::Requirements;
use lab::sweep::{Done, Folder, Order, Outcome, Outside, Standing, SweepTold, Worker};
use lab::{Allowed, DriveCache, ReportError, RunResult, Stop};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A sweep to be run: its plan, and the folder that keeps it.
#[pyclass(module = "wordline", frozen)]
pub struct SweepPlan {
    plan: lab::sweep::SweepPlan,
    /// Place of each run in the plan, by its name.
    places: BTreeMap<String, usize>,
    folder: Folder,
    required: Requirements,
    /// Nobody else writes to the folder meanwhile.
    _lock: FolderLock,
}

/// A file that cannot be read or written.
fn unwritten(error: ReportError) -> PyErr {
    WordlineError::new_err(error.to_string())
}

#[pymethods]
impl SweepPlan {
    /// From a sweep file, or a dict of what it would say, and a folder; `policies` as for `Drive.preset`.
    #[new]
    #[pyo3(signature = (file, out, policies=None, allow_libraries=false, force=false, require=vec![]))]
    fn new(
        py: Python<'_>,
        file: &Bound<'_, PyAny>,
        out: PathBuf,
        policies: Option<&Bound<'_, PyDict>>,
        allow_libraries: bool,
        force: bool,
        require: Vec<String>,
    ) -> PyResult<Self> {
        let required = Requirements::parse(require.iter().map(String::as_str))
            .map_err(|wrong| ConfigError::new_err(format!("require: {wrong}")))?;
        let given = policies::policies(policies)?;
        let allowed = if allow_libraries { Allowed::All } else { Allowed::default() };
        let (file, text) = match file.cast::<PyDict>() {
            // Messages call it as the argument is called.
            Ok(table) => (PathBuf::from("file"), values::document(table)?),
            Err(_) => {
                let file: PathBuf = file.extract()?;
                let text = lab::job::files::read_text(&file, "read the sweep").map_err(errors::of_job)?;
                (file, text)
            }
        };
        lab::job::files::absolute_text(&out, "write the sweep").map_err(errors::of_job)?;
        // No two sweeps have the same.
        let salt = py.import("uuid")?.call_method0("uuid4")?.getattr("hex")?.extract()?;
        let (sets, names) = (given.settings.clone(), given.names.clone());
        let outside = Outside { allowed, given: given.policies.clone(), sets, names, salt };
        let (kept, path) = (text.clone(), file.clone());
        let mut raised = None;
        // Ctrl-C is heard between two points.
        let mut told = |_, _| match Python::attach(|py| py.check_signals()) {
            Ok(()) => Ok(()),
            Err(error) => {
                raised = Some(error);
                Err(lab::JobError::new("interrupted"))
            }
        };
        let plan = py.detach(|| {
            lab::sweep::SweepPlan::new(&path, text, outside, &mut |spec| spec.prepare(), &mut told)
        });
        let plan = plan.map_err(|error| raised.unwrap_or_else(|| errors::of_job(error)))?;
        let asked = plan.runs.iter().flat_map(|run| &run.asked).map(|asked| asked.name.clone());
        given.all_asked(&asked.collect::<Vec<_>>())?;
        let folder = Folder::new(&out).map_err(errors::of_job)?;
        let lock = FolderLock::take(&out).map_err(unwritten)?;
        folder.create(&plan, &kept, Force::keyword(force)).map_err(errors::of_job)?;
        let places = plan.runs.iter().zip(0..).map(|(run, at)| (run.id.clone(), at)).collect();
        Ok(SweepPlan { plan, places, folder, required, _lock: lock })
    }

    /// Runs still to be done: texts, each an order for a worker; those of one aged drive follow each other.
    #[pyo3(signature = (cache=true))]
    fn orders(&self, py: Python<'_>, cache: bool) -> PyResult<Vec<String>> {
        let cache = cache.then(DriveCache::usual).flatten();
        let cache = cache.as_ref().map(DriveCache::folder);
        py.detach(|| {
            let mut open = self.plan.open(&self.folder.outcomes(&self.plan), (0, 1));
            // Drives in the order in which they are needed first.
            let mut first = BTreeMap::new();
            open.iter().for_each(|&at| _ = first.entry(self.plan.runs[at].drive).or_insert(at));
            open.sort_by_key(|&at| first[&self.plan.runs[at].drive]);
            let text =
                |order| serde_json::to_string(&order).map_err(|error| lab::JobError::new(error.to_string()));
            let order = |at: usize| self.folder.order(&self.plan.runs[at], cache).and_then(text);
            open.into_iter().map(order).collect::<Result<_, _>>()
        })
        .map_err(errors::of_job)
    }

    /// Keeps what a worker answered.
    fn keep(&self, outcome: &str) -> PyResult<()> {
        let strange = || RunError::new_err("a worker's answer is not a result of this sweep");
        let outcome: Outcome = serde_json::from_str(outcome).map_err(|_| strange())?;
        let at = *self.places.get(&outcome.id).ok_or_else(strange)?;
        outcome.write(&self.folder.file(&self.plan.runs[at])).map_err(unwritten)
    }

    /// Writes tables and figures, and says what is wrong with the sweep: runs that failed, and those that are
    /// `undone`, a line each; and what is required and not met. None where nothing is.
    fn conclude(&self, py: Python<'_>, undone: Vec<String>) -> PyResult<(Option<String>, Option<String>)> {
        let outcomes = py.detach(|| self.folder.outcomes(&self.plan));
        let standing = Standing::of(&outcomes);
        let told = SweepTold::new(&self.plan, outcomes);
        py.detach(|| self.folder.tell(&told)).map_err(unwritten)?;
        let of = |result: &RunResult| {
            let unmet = self.required.unmet(result).into_iter();
            unmet.map(|line| format!("\n    {}: {line}", result.name)).collect::<String>()
        };
        let lines: String = told.results().map(of).collect();
        let unmet = (!lines.is_empty()).then(|| format!("require is not met{lines}"));
        Ok((standing.complaint(&undone), unmet))
    }
}

/// Carries out runs of a sweep, one after the other.
#[pyclass(module = "wordline", frozen)]
pub struct SweepWorker {
    worker: Mutex<Worker>,
    callables: Callables,
    stop: Stop,
}

#[pymethods]
impl SweepWorker {
    /// `policies` as for `Drive.preset`; its orders must ask for them.
    #[new]
    #[pyo3(signature = (policies=None))]
    fn new(policies: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let Given { policies, names, callables, .. } = policies::policies(policies)?;
        Ok(SweepWorker {
            worker: Mutex::new(Worker::giving(policies, names)),
            callables,
            stop: Stop::default(),
        })
    }

    /// Carries out an order: its outcome, for `SweepPlan.keep`, or why there is none. The other is None; both are once
    /// it is stopped. Then what went wrong with aged drives, a line each: they are kept where this machine keeps them.
    fn run(&self, py: Python<'_>, order: &str) -> PyResult<(Option<String>, Option<String>, Vec<String>)> {
        let mut order: Order = serde_json::from_str(order)
            .map_err(|error| ConfigError::new_err(format!("no order of a sweep: {error}")))?;
        order.cache = order.cache.and_then(|_| DriveCache::usual()).map(|cache| cache.folder().to_owned());
        let (done, remarks) = py.detach(|| {
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            (worker.run(&order, &self.stop), worker.take_remarks())
        });
        // What asks the program to end says nothing about the run, which is not done.
        self.callables.raise()?;
        match done {
            Done::Kept(outcome) => {
                let text = serde_json::to_string(&outcome);
                let text = text.map_err(|error| RunError::new_err(error.to_string()))?;
                Ok((Some(text), None, remarks))
            }
            Done::Undone(why) => Ok((None, Some(format!("{} ({}): {why}", order.name, order.id)), remarks)),
            Done::Stopped => Ok((None, None, remarks)),
        }
    }

    /// Asks a run in another thread to end.
    fn stop(&self) {
        self.stop.ask();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callables.visit(&visit)
    }

    fn __clear__(&self) {
        self.callables.clear();
    }
}

/// How many of some results have each kind of problem, in words; None if none has one. `problems` has the names of each
/// result's.
#[pyfunction]
pub fn tally(problems: Vec<Vec<String>>) -> Option<String> {
    let names: Vec<Vec<&str>> = problems.iter().map(|of| of.iter().map(String::as_str).collect()).collect();
    lab::result::problems::tally_names(&names)
}

/// A hash of all sources that affect results: programs with the same hash give the same results.
#[pyfunction]
pub fn sources() -> &'static str {
    lab::sources::SOURCES
}
