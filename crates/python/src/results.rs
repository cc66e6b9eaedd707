//! What was measured.

use crate::errors;
use crate::table::Table;
use lab::files::replace;
use lab::places::{Force, Kind, claim_file};
use lab::{BlockTable, JobError, RunError, RunResult, report};
use pyo3::exceptions::{PyFileExistsError, PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
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
fn refused(path: &Path, error: JobError) -> PyErr {
    if path.exists() && !error.is_work {
        PyFileExistsError::new_err(error.message)
    } else {
        PyOSError::new_err(error.message)
    }
}

/// Tables, made once.
struct Tables {
    series: Option<[Py<Table>; 3]>,
    blocks: Option<Py<Table>>,
    requests: Option<Py<Table>>,
}

impl Result {
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
        self.tables.get_or_try_init(py, || {
            let made = |table| Py::new(py, Table::of(table));
            let series = self.inner.series.as_ref().map(|series| series.tables());
            let series = match series {
                Some([run, dies, channels]) => Some([made(run)?, made(dies)?, made(channels)?]),
                None => None,
            };
            let blocks = self.inner.blocks.as_ref().map(|blocks| made(blocks.table())).transpose()?;
            let requests = self.inner.requests.clone().map(made).transpose()?;
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

/// A result, with the blocks at its end; raised if it is not all that was asked for.
pub fn told(
    py: Python<'_>,
    result: std::result::Result<RunResult, RunError>,
    blocks: BlockTable,
    config: &str,
) -> PyResult<Result> {
    let with_blocks = |result: RunResult| RunResult { blocks: Some(blocks), ..result };
    match result {
        Ok(result) => {
            let result = Result::of(with_blocks(result), config.to_owned());
            match result.complaint() {
                None => Ok(result),
                Some(complaint) => Err(with_result(py, complaint, result)),
            }
        }
        Err(RunError { failure, result }) => {
            let result = result.map(|result| Box::new(with_blocks(*result)));
            Err(failed(py, RunError { failure, result }, config))
        }
    }
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
            let table = at.cast::<PyDict>().map_err(|_| PyKeyError::new_err(key.to_owned()))?;
            // Keys have dots of their own: counters, settings.
            if let Some(value) = table.get_item(rest)? {
                return Ok(value);
            }
            let (first, behind) = rest.split_once('.').ok_or_else(|| PyKeyError::new_err(key.to_owned()))?;
            let next = table.get_item(first)?.ok_or_else(|| PyKeyError::new_err(key.to_owned()))?;
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

    /// Each request, in order of completion; None unless the run had `keep_requests=True`.
    #[getter]
    fn requests(&self, py: Python<'_>) -> PyResult<Option<Py<Table>>> {
        Ok(self.tables(py)?.requests.as_ref().map(|table| table.clone_ref(py)))
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
