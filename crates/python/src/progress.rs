//! Who is told how far long work is: a line on standard error, a function of the user's, or nobody.

use crate::values::wrong_type;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// What `progress` may be.
const ALLOWED: &str = "True, False, None (shown where somebody looks: a terminal, a notebook), or a function of three \
                       arguments, called with the phase, what is done of it, and of how much (or None)";

/// Whom to tell.
#[derive(Default)]
pub struct Shown(Option<Py<PyAny>>);

impl Shown {
    /// As the argument `progress` has it.
    pub fn of(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let line = |always: bool| {
            let line = py.import("wordline._progress")?.call_method1("line", (always,))?;
            Ok(Shown((!line.is_none()).then(|| line.unbind())))
        };
        match progress {
            None => line(false),
            Some(flag) if flag.is_instance_of::<PyBool>() => {
                if flag.is_truthy()? {
                    line(true)
                } else {
                    Ok(Shown::default())
                }
            }
            Some(of) if of.is_callable() => Ok(Shown(Some(of.clone().unbind()))),
            Some(other) => Err(wrong_type("progress", other, ALLOWED)),
        }
    }

    /// Tells how far it is.
    pub fn tell(&self, py: Python<'_>, at: At) -> PyResult<()> {
        self.0.as_ref().map_or(Ok(()), |shown| shown.call1(py, at).map(drop))
    }

    /// It is over: a line of our own goes.
    pub fn end(&self, py: Python<'_>) {
        if let Some(shown) = &self.0
            && let Ok(end) = shown.getattr(py, "_end_of_line")
        {
            // Standard error may be gone.
            let _ = end.call0(py);
        }
    }
}

/// How far work is: its phase, how much of that is done, and of how much.
pub type At = (&'static str, u64, Option<u64>);
