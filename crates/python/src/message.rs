//! Values of Python as messages show them, and what is wrong with them.

use crate::as_toml::toml;
use crate::errors::WorkloadError;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

/// What is wrong with a column, or a value in it.
pub fn wrong(key: &str, found: impl std::fmt::Display, allowed: &str) -> PyErr {
    WorkloadError::new_err(format!("{key}\n    found:   {found}\n    allowed: {allowed}"))
}

/// Letters of a value that a message shows.
pub(super) const SHOWN_MAX: usize = 60;

/// A value for a message, cut where it is long.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = toml(value).unwrap_or_else(|_| kind_of(value));
    text.chars().take(SHOWN_MAX).collect()
}

/// The same with its type.
pub fn shown_with_kind(value: &Bound<'_, PyAny>) -> String {
    let (text, kind) = (shown(value), kind_of(value));
    if text == kind { text } else { format!("{text} ({kind})") }
}

/// Whether an exception is about something else than the values that were looked at: Ctrl-C, say.
pub fn is_not_of_values(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py) || error.is_instance_of::<PyMemoryError>(py)
}

/// What something is, for a message: an array with the type of what is in it.
pub fn kind_of(of: &Bound<'_, PyAny>) -> String {
    let kind = of.get_type().fully_qualified_name();
    let kind = kind.map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    match of.getattr("dtype") {
        Ok(dtype) => format!("{kind} of dtype {dtype}"),
        Err(_) => match PyMemoryView::from(of).and_then(|view| view.getattr("format")) {
            Ok(format) => format!("{kind} of format {format}"),
            Err(_) => kind,
        },
    }
}
