//! Functions of Python that a drive calls: who owns them, and what becomes of the exceptions that are not its own.
//!
//! A drive and its copies share their functions, but to Python's collector of cycles one object must own each
//! reference. So they lie here, and the object that holds the drive shows them to it: a function that leads back to
//! its own drive is freed with it.

use crate::errors::RunError;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The functions of one drive. Clones are the same ones.
#[derive(Clone, Default)]
pub struct Callables(Arc<Inner>);

impl fmt::Debug for Callables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} functions", locked(&self.0.functions).len())
    }
}

#[derive(Default)]
struct Inner {
    functions: Mutex<Vec<Py<PyAny>>>,
    /// What one has raised that ends more than a run.
    raised: Mutex<Option<PyErr>>,
    /// The last that ended a run.
    cause: Mutex<Option<PyErr>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Callables {
    /// Takes one more; its place.
    pub fn add(&self, function: Py<PyAny>) -> usize {
        let mut all = locked(&self.0.functions);
        all.push(function);
        all.len() - 1
    }

    /// That at a place; none if they were let go.
    pub fn get(&self, py: Python<'_>, at: usize) -> Option<Py<PyAny>> {
        locked(&self.0.functions).get(at).map(|function| function.clone_ref(py))
    }

    /// What is said of an exception, as Python prints it. One that asks the whole program to end is kept, so that it is
    /// raised once the drive is at rest.
    pub fn failed(&self, py: Python<'_>, error: PyErr) -> String {
        let text = traceback(py, &error);
        if error.is_instance_of::<PyException>(py) {
            *locked(&self.0.cause) = Some(error);
        } else {
            locked(&self.0.raised).get_or_insert(error);
        }
        text
    }

    /// The error of a run, with the exception that has led to it as its cause, so that a debugger finds its frames.
    pub fn explain(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if let Some(cause) = locked(&self.0.cause).take()
            && error.is_instance_of::<RunError>(py)
        {
            error.set_cause(py, Some(cause));
        }
        error
    }

    /// Raises what was kept: `KeyboardInterrupt`, `SystemExit` and the like.
    pub fn raise(&self) -> PyResult<()> {
        locked(&self.0.raised).take().map_or(Ok(()), Err)
    }

    /// Shows them to the collector, for their owner.
    pub fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Nothing waits here; what somebody looks at just now is not garbage.
        let Ok(all) = self.0.functions.try_lock() else { return Ok(()) };
        all.iter().try_for_each(|function| visit.call(function))
    }

    /// Lets them go: their owner is garbage.
    pub fn clear(&self) {
        // Whatever that frees may come back here.
        let all = std::mem::take(&mut *locked(&self.0.functions));
        drop(all);
    }
}

/// An exception as Python prints it.
fn traceback(py: Python<'_>, error: &PyErr) -> String {
    // Up to Python 3.11 the exception itself does not know yet where it was raised.
    if let Some(frames) = error.traceback(py) {
        let _ = error.value(py).setattr("__traceback__", frames);
    }
    let lines = py
        .import("traceback")
        .and_then(|module| module.call_method1("format_exception", (error.value(py),)))
        .and_then(|lines| lines.extract::<Vec<String>>());
    lines.map_or_else(|_| error.to_string(), |lines| lines.concat().trim_end().to_owned())
}
