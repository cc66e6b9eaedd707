//! What was measured.

use crate::errors;
use crate::measured::{Measured, Unbegun};
use crate::table::{Table, no_key};
use lab::files::replace;
use lab::places::{Force, Kind, claim_file};
use lab::{JobError, RunError, RunResult, report};
use pyo3::exceptions::{PyAttributeError, PyFileExistsError, PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use ssd::config::shown;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What a run measured. `result["latency_ns"]["read"]["p99"]`, or `result["latency_ns.read.p99"]`: its keys are those
/// of `result.json`. Times are in ns, sizes in bytes.
#[pyclass(module = "wordline", frozen)]
pub struct Result {
    inner: RunResult,
    /// Drive, run and workload, as one configuration that repeats the run.
    #[pyo3(get)]
    config: String,
    /// Made once. What it leads to is shown to the collector of cycles: it is the caller's to change.
    dict: OnceLock<Py<PyDict>>,
    tables: PyOnceLock<Tables>,
}

/// A place where nothing may be written: what is there, and what is allowed.
pub fn refused(path: &Path, error: JobError) -> PyErr {
    if path.exists() && !error.is_work {
        PyFileExistsError::new_err(error.message)
    } else {
        PyOSError::new_err(error.message)
    }
}

/// What is pickled of a result: its JSON, its configuration, series and blocks as JSON, requests.
type Pickled = (String, String, String, Option<Py<Table>>);

/// Tables, made once.
struct Tables {
    series: Option<[Py<Table>; 3]>,
    blocks: Option<Py<Table>>,
    requests: Option<Py<Table>>,
}

impl Result {
    /// What was measured.
    pub fn inner(&self) -> &RunResult {
        &self.inner
    }

    /// A key that is not there; what is, in the last table on the way.
    fn no_key(&self, key: &str, rest: &str, table: Option<&Bound<'_, PyDict>>) -> PyErr {
        let Some(table) = table else {
            let of = key.strip_suffix(rest).unwrap_or(key).trim_end_matches('.');
            return PyKeyError::new_err(format!(
                "found {:?}, allowed: {of}, which is a value and no table",
                shown(key)
            ));
        };
        let names: Vec<String> = table.keys().iter().filter_map(|name| name.extract().ok()).collect();
        let of = key.strip_suffix(rest).unwrap_or_default().trim_end_matches('.');
        no_key(of, rest, names.iter().map(String::as_str))
    }

    /// What else is wrong with it: requests that were not served, or failed.
    pub fn complaint(&self) -> Option<String> {
        self.inner.unserved()
    }

    /// Of a run that the configuration repeats.
    pub fn of(inner: RunResult, config: String) -> Self {
        Result { inner, config, dict: OnceLock::new(), tables: PyOnceLock::new() }
    }

    fn dict<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyDict>> {
        if let Some(made) = self.dict.get() {
            return Ok(made.bind(py));
        }
        let dict = py.import("json")?.call_method1("loads", (self.inner.to_json(),))?;
        let dict = dict.cast_into::<PyDict>()?.unbind();
        Ok(self.dict.get_or_init(|| dict).bind(py))
    }

    fn tables(&self, py: Python<'_>) -> PyResult<&Tables> {
        self.tables_with(py, None)
    }

    /// The tables, those of the requests as they were pickled.
    fn tables_with(&self, py: Python<'_>, requests: Option<Py<Table>>) -> PyResult<&Tables> {
        self.tables.get_or_try_init(py, || {
            let made = |table| Py::new(py, Table::of(table));
            let series = self.inner.series.as_ref().map(|series| series.tables());
            let series = match series {
                Some([run, dies, channels]) => Some([made(run)?, made(dies)?, made(channels)?]),
                None => None,
            };
            let blocks = self.inner.blocks.as_ref().map(|blocks| made(blocks.table())).transpose()?;
            let requests = match requests {
                Some(table) => Some(table),
                None => self.inner.requests.clone().map(made).transpose()?,
            };
            Ok(Tables { series, blocks, requests })
        })
    }

    fn of_series(&self, py: Python<'_>, which: usize) -> PyResult<Option<Py<Table>>> {
        Ok(self.tables(py)?.series.as_ref().map(|tables| tables[which].clone_ref(py)))
    }
}

/// A run that failed, with what was measured.
fn failed(py: Python<'_>, error: RunError, config: &str) -> PyErr {
    let text = error.to_string();
    match error.result {
        Some(result) => with_result(py, text, Result::of(*result, config.to_owned())),
        None => errors::of_failure(&error.failure),
    }
}

/// A run that did not do all that it was asked for.
fn with_result(py: Python<'_>, text: String, result: Result) -> PyErr {
    let failed = errors::RunError::new_err(text);
    match Py::new(py, result).and_then(|result| failed.value(py).setattr("result", result)) {
        Ok(()) => failed,
        Err(other) => other,
    }
}

/// How a run ended.
pub struct Ended {
    /// What came of it.
    pub measured: Measured,
    /// What has ended it from outside: Ctrl-C, say.
    pub raised: Option<PyErr>,
}

impl Ended {
    /// Of a run that has begun; an error of one that has not.
    pub fn of((measured, raised): (std::result::Result<Measured, Unbegun>, Option<PyErr>)) -> PyResult<Self> {
        match (measured, raised) {
            (Ok(measured), raised) => Ok(Ended { measured, raised }),
            (Err(_), Some(raised)) => Err(raised),
            (Err(unbegun), None) => Err(unbegun.into()),
        }
    }

    /// The result, with warnings of what is wrong with it; raised if it is not all that was asked for.
    pub fn told(self, py: Python<'_>) -> PyResult<Result> {
        let Ended { measured: Measured { result, blocks, config, remarks }, raised } = self;
        let with_blocks = |result: RunResult| RunResult { blocks: Some(blocks), ..result };
        if let Some(raised) = raised {
            let result = result.map_or_else(|error| error.result.map(|result| *result), Some);
            return Err(interrupted(
                py,
                raised,
                result.map(|result| Result::of(with_blocks(result), config)),
            ));
        }
        let warned = errors::warn_of_cache(py, &remarks);
        match result {
            Ok(result) => {
                let result = Result::of(with_blocks(result), config);
                match result.complaint() {
                    None => doubted(py, warned, result),
                    Some(complaint) => Err(with_result(py, complaint, result)),
                }
            }
            Err(RunError { failure, result }) => {
                let result = result.map(|result| Box::new(with_blocks(*result)));
                Err(failed(py, RunError { failure, result }, &config))
            }
        }
    }
}

/// A result, with a warning if its numbers cannot be taken as they stand. Where the user has made warnings errors,
/// they have it.
fn doubted(py: Python<'_>, warned: PyResult<()>, result: Result) -> PyResult<Result> {
    match warned.and_then(|()| errors::warn_of_result(py, &result.inner)) {
        Ok(()) => Ok(result),
        Err(warning) => {
            Py::new(py, result).and_then(|result| warning.value(py).setattr("result", result))?;
            Err(warning)
        }
    }
}

/// What has ended a run from outside, with what was measured until then.
fn interrupted(py: Python<'_>, raised: PyErr, result: Option<Result>) -> PyErr {
    let Some(result) = result else { return raised };
    let note = "what the run had measured until then is the exception's .result (sys.last_value.result in a notebook)";
    let value = raised.value(py);
    // An exception that takes no attributes has none.
    let _ = Py::new(py, result).and_then(|result| value.setattr("result", result));
    let _ = value.call_method1("add_note", (note,));
    raised
}

#[pymethods]
impl Result {
    /// Everything in `result.json`, as a dict.
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        // A copy: what is written into it is the caller's.
        let copied = py.import("copy")?.call_method1("deepcopy", (self.dict(py)?,))?;
        Ok(copied.cast_into::<PyDict>()?.unbind())
    }

    /// The text of `result.json`.
    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    /// A value by its key, or by a dotted path of keys.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        let dict = self.dict(py)?;
        if let Some(value) = dict.get_item(key)? {
            return Ok(value);
        }
        let (mut at, mut rest) = (dict.clone().into_any(), key);
        loop {
            let table = at.cast::<PyDict>().map_err(|_| self.no_key(key, rest, None))?;
            // Keys have dots of their own: counters, settings.
            if let Some(value) = table.get_item(rest)? {
                return Ok(value);
            }
            let missing = || self.no_key(key, rest, Some(table));
            let (first, behind) = rest.split_once('.').ok_or_else(missing)?;
            let next = table.get_item(first)?.ok_or_else(missing)?;
            (at, rest) = (next, behind);
        }
    }

    /// Whether there is such a key, or path of keys.
    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> bool {
        key.extract::<String>().is_ok_and(|key| self.__getitem__(py, &key).is_ok())
    }

    /// A value by its key or path, or a default.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> Option<Bound<'py, PyAny>> {
        self.__getitem__(py, key).ok().or(default)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dict(py)?.call_method0("__iter__")
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.dict(py)?.len())
    }

    /// Keys with their values, as for a dict.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dict(py)?.call_method0("items")
    }

    /// The values, as for a dict.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dict(py)?.call_method0("values")
    }

    /// The keys of `result.json`.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dict(py)?.call_method0("keys")
    }

    /// Why the numbers cannot be taken as they stand, the most serious first: dicts with `name` and `text`. Empty if
    /// nothing is known against them.
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let of = |problem: &lab::result::problems::Problem| {
            let told = PyDict::new(py);
            told.set_item("name", &*problem.name)?;
            told.set_item("text", &problem.text)?;
            Ok(told)
        };
        PyList::new(py, self.inner.problems.iter().map(of).collect::<PyResult<Vec<_>>>()?)
    }

    /// Time series of the run, one row per interval; None without one (`samples=0`, or a functional run).
    #[getter]
    fn timeseries(&self, py: Python<'_>) -> PyResult<Option<Py<Table>>> {
        self.of_series(py, 0)
    }

    /// The same for dies, one row per interval and die.
    #[getter]
    fn dies(&self, py: Python<'_>) -> PyResult<Option<Py<Table>>> {
        self.of_series(py, 1)
    }

    /// The same for channels.
    #[getter]
    fn channels(&self, py: Python<'_>) -> PyResult<Option<Py<Table>>> {
        self.of_series(py, 2)
    }

    /// The drive's blocks at the end of the run.
    #[getter]
    fn blocks(&self, py: Python<'_>) -> PyResult<Option<Py<Table>>> {
        Ok(self.tables(py)?.blocks.as_ref().map(|table| table.clone_ref(py)))
    }

    /// Each request, in order of completion, of a run with `keep_requests=True`.
    #[getter]
    fn requests(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let kept = self.tables(py)?.requests.as_ref().map(|table| table.clone_ref(py));
        kept.ok_or_else(|| {
            let allowed = "requests of a run that keeps them: drive.run(..., keep_requests=True)";
            PyAttributeError::new_err(format!(
                "requests: found none, for the run did not keep them, allowed: {allowed}"
            ))
        })
    }

    /// The HTML report: one file that needs no network. Written to `path` if given, otherwise returned as text.
    /// An earlier report there is replaced with `force`, any other file never.
    #[pyo3(signature = (path=None, *, force=false))]
    fn report(&self, path: Option<PathBuf>, force: bool) -> PyResult<Option<String>> {
        let page = report::page(&self.inner);
        let Some(path) = path else { return Ok(Some(page)) };
        let claimed = claim_file(&path, Kind::Report, "write the report", Force::keyword(force));
        let _lock = claimed.map_err(|error| refused(&path, error))?;
        replace(&path, page.as_bytes()).map(|()| None).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Writes a folder as `wordline run --out` does: result.json, tables, plots, the report, the configuration.
    /// An earlier result there is replaced with `force`, any other file never. Returns the files.
    #[pyo3(signature = (folder, *, force=false))]
    fn save(&self, folder: PathBuf, force: bool) -> PyResult<Vec<PathBuf>> {
        let place = folder.display().to_string();
        let claimed = report::claim_run(&folder, &place, Force::keyword(force));
        let _lock = claimed.map_err(|error| refused(&folder, error))?;
        let written = report::write(&folder, &self.inner, &self.config);
        written.map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Draws it with matplotlib; see `wordline.plot`.
    #[pyo3(signature = (*args, **keywords))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all = std::iter::once(slf.clone().into_any()).chain(args.iter());
        let args = PyTuple::new(slf.py(), all.collect::<Vec<_>>())?;
        slf.py().import("wordline")?.getattr("plot")?.call(args, keywords)
    }

    /// For pickle: all of it, tables too.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let (py, this) = (slf.py(), slf.get());
        let tables = serde_json::to_string(&(&this.inner.series, &this.inner.blocks));
        let tables = tables.map_err(|error| errors::WordlineError::new_err(error.to_string()))?;
        let requests = this.tables(py)?.requests.as_ref().map(|table| table.clone_ref(py));
        let parts = (this.inner.to_json(), this.config.clone(), tables, requests);
        Ok((py.get_type::<Result>().getattr("_unpickled")?, parts))
    }

    /// A result from what a pickle holds of it.
    #[staticmethod]
    #[pyo3(signature = (json, config, tables, requests=None))]
    fn _unpickled(
        py: Python<'_>,
        json: &str,
        config: String,
        tables: &str,
        requests: Option<Py<Table>>,
    ) -> PyResult<Self> {
        let damaged = |why: String| {
            errors::WordlineError::new_err(format!("the pickle of a result cannot be used: {why}"))
        };
        let (series, blocks) = serde_json::from_str(tables).map_err(|error| damaged(error.to_string()))?;
        let inner = RunResult { series, blocks, ..RunResult::of_json(json).map_err(damaged)? };
        let result = Result::of(inner, config);
        result.tables_with(py, requests)?;
        Ok(result)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(self.dict.get())
    }

    /// The tables that `wordline run` prints.
    fn __str__(&self) -> String {
        report::table(&self.inner)
    }

    fn __repr__(&self) -> String {
        let RunResult { name, requests_served, ended, event_hash, .. } = &self.inner;
        format!("<wordline.Result {name:?}: {requests_served} requests, {ended}, event hash {event_hash}>")
    }

    /// The page, in a frame of its own.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let page = py.import("html")?.call_method1("escape", (report::page(&self.inner),))?;
        Ok(format!("<iframe srcdoc=\"{page}\" style=\"width: 100%; height: 40em; border: 0\"></iframe>"))
    }
}
