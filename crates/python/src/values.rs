//! Values of Python as configurations write them.

use crate::errors::{ConfigError, WorkloadError};
use crate::feed::shown_with_kind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use ssd::config::{Layer, Value};
use std::ops::Range;
use std::path::PathBuf;

/// Levels of dicts and lists that a value may have. What contains itself has no end of them.
const LEVELS_MAX: usize = 32;
/// Letters that a value may take: a list that holds another many times may be short, and its text not.
const LETTERS_MAX: usize = 16 << 20;

/// Letters of a key that a message shows: one of a dict that contains itself is long.
const KEY_SHOWN: usize = 60;

/// A value as TOML: texts in quotes.
pub fn toml(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = String::new();
    write(value, LEVELS_MAX, &mut text)?;
    Ok(text)
}

fn write(value: &Bound<'_, PyAny>, levels: usize, to: &mut String) -> PyResult<()> {
    let separate = |to: &mut String, at: usize| to.push_str(if at > 0 { ", " } else { "" });
    if let Ok(text) = value.cast::<PyString>() {
        to.push_str(&Value::Text(text.to_string()).to_string());
    } else if let Ok(table) = value.cast::<PyDict>() {
        let levels = deeper(levels, to.len())?;
        to.push_str("{ ");
        for (at, (key, value)) in table.iter().enumerate() {
            separate(to, at);
            to.push_str(&key.extract::<String>()?);
            to.push_str(" = ");
            write(&value, levels, to)?;
        }
        to.push_str(" }");
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let levels = deeper(levels, to.len())?;
        to.push('[');
        let mut last: Option<(Bound<'_, PyAny>, Range<usize>)> = None;
        for (at, item) in value.try_iter()?.enumerate() {
            let item = item?;
            separate(to, at);
            let begin = to.len();
            match &last {
                // What holds another many times is told by its letters, not by reading it as many times.
                Some((before, letters)) if before.is(&item) => {
                    within(begin + letters.len())?;
                    to.extend_from_within(letters.clone());
                }
                _ => write(&item, levels, to)?,
            }
            last = Some((item, begin..to.len()));
        }
        to.push(']');
    } else {
        to.push_str(&number(value)?);
    }
    Ok(())
}

/// The levels that are left inside a dict or a list.
fn deeper(levels: usize, letters: usize) -> PyResult<usize> {
    within(letters)?;
    levels.checked_sub(1).ok_or_else(|| {
        ConfigError::new_err(format!(
            "found dicts and lists inside each other, {LEVELS_MAX} levels and more, or one that contains itself; \
             allowed: up to {LEVELS_MAX} levels"
        ))
    })
}

/// That a value takes no more letters than it may.
fn within(letters: usize) -> PyResult<()> {
    if letters > LETTERS_MAX {
        let found = format!("more than {LETTERS_MAX} letters, as a configuration would have them");
        return Err(ConfigError::new_err(format!("found {found}, allowed: fewer")));
    }
    Ok(())
}

/// A number, or yes or no. What counts as one in Python does here: those of numpy, too.
fn number(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_string());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(float(value.extract()?));
    }
    if let Ok(whole) = value.call_method0("__index__") {
        return Ok(whole.str()?.to_string());
    }
    if value.hasattr("__float__")? {
        return Ok(float(value.call_method0("__float__")?.extract()?));
    }
    let found = value.get_type().name()?;
    let hint = if value.is_none() { "; leave the key out for its default" } else { "" };
    Err(PyTypeError::new_err(format!(
        "found {found}, allowed: text, a number, True, False, or a list of these{hint}"
    )))
}

/// A number with a point. To Python 1e5 is one, too, and to a configuration a count: it is written as it was typed.
fn float(value: f64) -> String {
    let with_exponent = format!("{value:e}");
    let is_round = value >= 1000.0 && !with_exponent.contains('.') && value.is_finite();
    if is_round { with_exponent } else { Value::Float(value).to_string() }
}

/// What settings may be given as.
pub const SETTINGS: &str = "a dict, such as {\"ftl.gc_victim.policy\": \"fifo\"}";

/// An argument of the wrong type.
pub fn wrong_type(name: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let found = shown_with_kind(value);
    PyTypeError::new_err(format!("{name}\n    found:   {found}\n    allowed: {allowed}"))
}

/// An argument that is a text.
pub fn text(name: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyResult<String> {
    value.extract().map_err(|_| wrong_type(name, value, allowed))
}

/// An argument that is a path.
pub fn path(name: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyResult<PathBuf> {
    value.extract().map_err(|_| wrong_type(name, value, allowed))
}

/// An argument that is a dict, or None.
pub fn dict<'a, 'py>(
    name: &str,
    value: Option<&'a Bound<'py, PyAny>>,
    allowed: &str,
) -> PyResult<Option<&'a Bound<'py, PyDict>>> {
    value.map(|value| value.cast::<PyDict>().map_err(|_| wrong_type(name, value, allowed))).transpose()
}

/// A value as `--set` takes it: texts as they are.
fn setting(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_string()),
        Err(_) => toml(value),
    }
}

/// Most settings that somebody may give.
const SETTINGS_MAX: usize = 10_000;

/// Settings, as `--set` has them: `{"ftl.gc_victim.policy": "fifo"}`, or tables in tables.
pub fn settings(of: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let mut all = Vec::new();
    if let Some(of) = of {
        flatten(of, ("", LEVELS_MAX), &mut all)?;
    }
    Ok(all)
}

fn flatten(of: &Bound<'_, PyDict>, (before, levels): (&str, usize), all: &mut Vec<String>) -> PyResult<()> {
    for (key, value) in of.iter() {
        let key = format!("{before}{}", key.extract::<String>()?);
        match value.cast::<PyDict>() {
            Ok(table) => {
                let levels = deeper(levels, 0).map_err(|error| about(of.py(), &key, error))?;
                flatten(table, (&format!("{key}."), levels), all)?;
            }
            Err(_) => {
                let value = setting(&value).map_err(|error| about(of.py(), &key, error))?;
                all.push(format!("{key}={value}"));
            }
        }
        if all.len() > SETTINGS_MAX {
            let found = format!("found more than {SETTINGS_MAX} settings, allowed: fewer");
            return Err(ConfigError::new_err(format!("settings: {found}")));
        }
    }
    Ok(())
}

/// A dict as the text of a configuration: a line for each key, and for those of its tables.
pub fn document(of: &Bound<'_, PyDict>) -> PyResult<String> {
    let (mut keys, mut tables) = (String::new(), String::new());
    let line = |before: &str, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>| {
        let key: String =
            key.extract().map_err(|_| wrong_type(&format!("file: a key of {before:?}"), key, "text"))?;
        let value = toml(value).map_err(|error| about(value.py(), &format!("file: {before}{key}"), error))?;
        PyResult::Ok(format!("{key} = {value}\n"))
    };
    for (key, value) in of.iter() {
        let Ok(table) = value.cast::<PyDict>() else {
            keys.push_str(&line("", &key, &value)?);
            continue;
        };
        let name: String = key.extract().map_err(|_| wrong_type("file: a key", &key, "text"))?;
        tables.push_str(&format!("[{name}]\n"));
        for (key, value) in table.iter() {
            tables.push_str(&line(&format!("{name}."), &key, &value)?);
        }
    }
    Ok(keys + &tables)
}

/// The error about a value, with the key that it belongs to.
fn about(py: Python<'_>, key: &str, error: PyErr) -> PyErr {
    let is_ours = error.is_instance_of::<ConfigError>(py) || error.is_instance_of::<PyTypeError>(py);
    if !is_ours {
        return error;
    }
    let key: String = key.chars().take(KEY_SHOWN).collect();
    let text = format!("{key}: {}", error.value(py));
    PyErr::from_type(error.get_type(py), text)
}

/// The same about a value of a workload.
pub fn of_workload(py: Python<'_>, key: &str, error: PyErr) -> PyErr {
    let error = about(py, key, error);
    if error.is_instance_of::<ConfigError>(py) {
        return WorkloadError::new_err(error.value(py).to_string());
    }
    error
}

/// Keys of the `[run]` table as settings, which messages call by their names alone.
pub fn run_layers(of: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Layer>> {
    let mut layers = Vec::new();
    for (key, value) in of.into_iter().flat_map(|of| of.iter()) {
        let key = key.extract::<String>()?;
        let value = setting(&value).map_err(|error| about(value.py(), &key, error))?;
        let mut layer = Layer::set(&format!("run.{key}={value}"))
            .map_err(|errors| ConfigError::new_err(errors.to_string()))?;
        layer.source = format!("{key}={value}");
        layers.push(layer);
    }
    Ok(layers)
}
