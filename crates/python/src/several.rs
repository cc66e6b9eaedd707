//! Several results: side by side, and as one page. And the names of what ships with Wordline.

use crate::errors::{ConfigError, WordlineError};
use crate::results::{Result, refused};
use crate::table::escaped;
use crate::values::wrong_type;
use lab::RunResult;
use lab::files::replace;
use lab::places::{Force, Kind, claim_file};
use lab::report::page::Reported;
use lab::report::{Comparison as Compared, NotCompared};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use ssd::config::Problem;
use ssd::config::presets::{Preset, cells, drives, nands};
use std::path::PathBuf;

/// What may stand beside each other.
const RESULTS: &str = "results, folders of `wordline run --out`, or a dict of names with these";

/// One of several: a result in memory, or the place of one.
enum Of {
    Memory(Box<RunResult>),
    Place(PathBuf),
}

/// What was given: results or places one by one, in a list, or in a dict by their names.
fn given(of: &Bound<'_, PyTuple>) -> PyResult<Vec<Of>> {
    let mut all = Vec::new();
    for each in of.iter() {
        if let Ok(named) = each.cast::<PyDict>() {
            for (name, value) in named.iter() {
                let result = match one(&value)? {
                    Of::Memory(result) => *result,
                    Of::Place(path) => load(&path)?,
                };
                all.push(Of::Memory(Box::new(RunResult { name: name.extract()?, ..result })));
            }
        } else if is_one(&each) {
            all.push(one(&each)?);
        } else {
            let list = each.try_iter().map_err(|_| wrong_type("results", &each, RESULTS))?;
            for each in list {
                all.push(one(&each?)?);
            }
        }
    }
    if all.is_empty() {
        return Err(WordlineError::new_err(format!("results\n    found:   none\n    allowed: {RESULTS}")));
    }
    Ok(all)
}

/// Whether something is a result, or may be the place of one.
fn is_one(of: &Bound<'_, PyAny>) -> bool {
    of.is_instance_of::<Result>() || of.extract::<PathBuf>().is_ok()
}

fn one(of: &Bound<'_, PyAny>) -> PyResult<Of> {
    match (of.cast::<Result>(), of.extract()) {
        (Ok(result), _) => Ok(Of::Memory(Box::new(result.get().inner().clone()))),
        (_, Ok(path)) => Ok(Of::Place(path)),
        _ => Err(wrong_type("results", of, RESULTS)),
    }
}

fn load(path: &std::path::Path) -> PyResult<RunResult> {
    RunResult::load(path).map_err(|error| WordlineError::new_err(error.to_string()))
}

/// Results side by side, each number with its ratio to the baseline's. Printed, it is a table.
#[pyclass(module = "wordline", frozen)]
pub struct Comparison(Compared);

#[pymethods]
impl Comparison {
    /// Names of the results.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.results().iter().map(|result| result.name.clone()).collect()
    }

    /// A row for each result, with everything in full, in the units of `result.json`.
    fn to_csv(&self) -> String {
        self.0.csv()
    }

    /// Tables of Markdown.
    fn to_markdown(&self) -> String {
        self.0.markdown()
    }

    /// As a pandas DataFrame: a row for each result.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = py.import("io")?.call_method1("StringIO", (self.0.csv(),))?;
        py.import("pandas")?.call_method1("read_csv", (text,))
    }

    fn __len__(&self) -> usize {
        self.0.results().len()
    }

    fn __str__(&self) -> String {
        self.0.text()
    }

    fn __repr__(&self) -> String {
        format!("<wordline.Comparison of {}>", self.names().join(", "))
    }

    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>", escaped(&self.0.text()))
    }
}

/// Puts results side by side: `wordline.compare(one, other)`, or a list, or a dict with names of your own. Each is a
/// result or a folder of `wordline run --out`. `baseline` is the name of the one that ratios are of (default: the
/// first); `keys` are the only metrics and settings to show.
#[pyfunction]
#[pyo3(signature = (*results, baseline=None, keys=None))]
pub fn compare(
    results: &Bound<'_, PyTuple>,
    baseline: Option<&str>,
    keys: Option<Vec<String>>,
) -> PyResult<Comparison> {
    let of = given(results)?.into_iter().map(|of| match of {
        Of::Memory(result) => Ok((PathBuf::from(&result.name), *result)),
        Of::Place(path) => load(&path).map(|result| (path, result)),
    });
    let mut compared = Compared::new(of.collect::<PyResult<_>>()?).with_given_baseline(0);
    let wrong = |what: &str, not: NotCompared| {
        let near = not.near.map_or(String::new(), |near| format!("\n    did you mean {near:?}?"));
        let allowed = not.allowed.join(", ");
        ConfigError::new_err(format!("{what}\n    found:   {:?}\n    allowed: {allowed}{near}", not.found))
    };
    if let Some(name) = baseline {
        compared = compared.with_baseline(name).map_err(|not| wrong("baseline", not))?;
    }
    if let Some(keys) = keys {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        compared = compared.with_keys(&keys).map_err(|not| wrong("keys", not))?;
    }
    Ok(Comparison(compared))
}

/// One page of several results: a file that needs no network. `results` is a list of results and of folders of
/// `wordline run --out`. Written to `path` if given, otherwise returned as text. An earlier report there is replaced
/// with `force`, any other file never.
#[pyfunction]
#[pyo3(signature = (results, path=None, *, force=false))]
pub fn report(results: &Bound<'_, PyAny>, path: Option<PathBuf>, force: bool) -> PyResult<Option<String>> {
    let mut reported = Reported::default();
    for of in given(&PyTuple::new(results.py(), [results])?)? {
        let added = match of {
            Of::Memory(result) => reported.add_result(&result),
            Of::Place(path) => reported.add(&path),
        };
        added.map_err(|error| WordlineError::new_err(error.to_string()))?;
    }
    let page = reported.page();
    let Some(path) = path else { return Ok(Some(page)) };
    let claimed = claim_file(&path, Kind::Report, "write the report", Force::keyword(force));
    let _lock = claimed.map_err(|error| refused(&path, error))?;
    replace(&path, page.as_bytes()).map(|()| None).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// What ships with Wordline, by name, with a sentence on each: drives (`Drive.preset(name)`), or `kind="nand"` parts,
/// `"cell"` parts, `"workload"`s (`drive.run({"preset": name})`).
#[pyfunction]
#[pyo3(signature = (kind="drive"))]
pub fn presets<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyDict>> {
    let kinds: [(&str, &[Preset]); 4] =
        [("drive", drives()), ("nand", nands()), ("cell", cells()), ("workload", workload::standins())];
    let Some((_, of)) = kinds.iter().find(|(name, _)| *name == kind) else {
        let names = kinds.map(|(name, _)| name);
        let near = match Problem::no_such_name("kind", kind, names) {
            Problem::NoSuchName { near: Some(near), .. } => format!("\n    did you mean {near:?}?"),
            _ => String::new(),
        };
        let allowed = names.join(", ");
        return Err(ConfigError::new_err(format!(
            "kind\n    found:   {kind:?}\n    allowed: {allowed}{near}"
        )));
    };
    let all = PyDict::new(py);
    for preset in *of {
        all.set_item(preset.name, preset.summary())?;
    }
    Ok(all)
}
