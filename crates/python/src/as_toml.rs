//! Values of Python as TOML.

use crate::errors::ConfigError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use ssd::config::Value;
use std::ops::Range;

/// Levels of dicts and lists that a value may have. What contains itself has no end of them.
pub const LEVELS_MAX: usize = 32;

/// Letters that a value may take: a list that holds another many times may be short, and its text not.
const LETTERS_MAX: usize = 16 << 20;

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
pub fn deeper(levels: usize, letters: usize) -> PyResult<usize> {
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
