//! Values of Python as configurations write them.

use crate::errors::ConfigError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use ssd::config::{Layer, Value};

/// A value as TOML: texts in quotes.
pub fn toml(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(text.to_string()).to_string());
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let entries =
            table.iter().map(|(key, value)| Ok(format!("{} = {}", key.extract::<String>()?, toml(&value)?)));
        return Ok(format!("{{ {} }}", entries.collect::<PyResult<Vec<_>>>()?.join(", ")));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| toml(&item?)).collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("[{}]", items.join(", ")));
    }
    number(value)
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
        return Ok(format!("{:?}", value.extract::<f64>()?));
    }
    if let Ok(whole) = value.call_method0("__index__") {
        return Ok(whole.str()?.to_string());
    }
    if value.hasattr("__float__")? {
        return Ok(format!("{:?}", value.call_method0("__float__")?.extract::<f64>()?));
    }
    let found = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "found {found}, allowed: text, a number, True, False, or a list of these"
    )))
}

/// A value as `--set` takes it: texts as they are.
fn setting(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_string()),
        Err(_) => toml(value),
    }
}

/// Settings, as `--set` has them: `{"ftl.gc_victim.policy": "fifo"}`, or tables in tables.
pub fn settings(of: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let mut all = Vec::new();
    if let Some(of) = of {
        flatten(of, "", &mut all)?;
    }
    Ok(all)
}

fn flatten(of: &Bound<'_, PyDict>, before: &str, all: &mut Vec<String>) -> PyResult<()> {
    for (key, value) in of.iter() {
        let key = format!("{before}{}", key.extract::<String>()?);
        match value.cast::<PyDict>() {
            Ok(table) => flatten(table, &format!("{key}."), all)?,
            Err(_) => all.push(format!("{key}={}", setting(&value)?)),
        }
    }
    Ok(())
}

/// Keys of the `[run]` table as settings, which messages call by their names alone.
pub fn run_layers(of: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Layer>> {
    let mut layers = Vec::new();
    for (key, value) in of.into_iter().flat_map(|of| of.iter()) {
        let (key, value) = (key.extract::<String>()?, setting(&value)?);
        let mut layer = Layer::set(&format!("run.{key}={value}"))
            .map_err(|errors| ConfigError::new_err(errors.to_string()))?;
        layer.source = format!("{key}={value}");
        layers.push(layer);
    }
    Ok(layers)
}
