//! Values of Python as configurations write them.

use crate::as_toml::{LEVELS_MAX, deeper, toml};
use crate::errors::{ConfigError, WorkloadError};
use crate::message::shown_with_kind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use ssd::config::Layer;
use std::path::PathBuf;

/// Letters of a key that a message shows: one of a dict that contains itself is long.
const KEY_SHOWN: usize = 60;

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
