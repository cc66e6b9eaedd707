//! What is raised: the text is the command line's, without its `error: `.

use lab::{Failure, JobError};
use pyo3::exceptions::{PyException, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::CString;
use workload::WorkloadError as Wrong;

pyo3::create_exception!(wordline, WordlineError, PyException, "Base class of all Wordline errors.");
pyo3::create_exception!(
    wordline,
    ConfigError,
    WordlineError,
    "A configuration or setting is invalid: which key, what was found, what is allowed."
);
pyo3::create_exception!(
    wordline,
    WorkloadError,
    WordlineError,
    "A workload is invalid, or its file cannot be read: which file and line, or which key."
);
pyo3::create_exception!(
    wordline,
    RunError,
    WordlineError,
    "A run did not finish. `result` is what was measured so far, a Result, or None."
);
pyo3::create_exception!(
    wordline,
    SnapshotError,
    WordlineError,
    "A snapshot is damaged or has another layout, or the drive cannot be saved."
);

pyo3::create_exception!(
    wordline,
    WordlineWarning,
    PyUserWarning,
    "Base class of all Wordline warnings; itself it tells what went wrong with cached drives."
);
pyo3::create_exception!(
    wordline,
    ResultWarning,
    WordlineWarning,
    "The numbers of a result or a sweep cannot be taken as they stand; `problems` says why."
);

/// Warns the caller; an error where he has made warnings errors.
fn warn(py: Python<'_>, category: &Bound<'_, PyType>, text: &str) -> PyResult<()> {
    // A text of C ends at the first of these.
    let text = CString::new(text.replace('\0', "\\0"))?;
    PyErr::warn(py, category, &text, 1)
}

/// What went wrong with aged drives that are kept, a line each.
pub fn warn_of_cache(py: Python<'_>, remarks: &[String]) -> PyResult<()> {
    remarks.iter().try_for_each(|remark| warn(py, &py.get_type::<WordlineWarning>(), remark))
}

/// What is wrong with a result.
pub fn warn_of_result(py: Python<'_>, result: &lab::RunResult) -> PyResult<()> {
    let texts: Vec<&str> = result.problems.iter().map(|problem| problem.text.as_str()).collect();
    match texts.as_slice() {
        [] => Ok(()),
        texts => warn(py, &py.get_type::<ResultWarning>(), &format!("{}: {}", result.name, texts.join("; "))),
    }
}

/// Somebody else has the drive.
pub fn busy() -> PyErr {
    WordlineError::new_err(
        "the drive is busy: in another thread (stop() ends what runs there), or in a session that is not finished \
         (its finish() frees the drive)",
    )
}

/// A call panicked while it had the drive.
pub fn lost() -> PyErr {
    WordlineError::new_err("the drive is gone: an earlier call hit a bug in Wordline; build the drive again")
}

/// A job that cannot be.
pub fn of_job(error: JobError) -> PyErr {
    ConfigError::new_err(error.message)
}

/// A workload that cannot be.
pub fn of_workload(error: &Wrong) -> PyErr {
    WorkloadError::new_err(error.to_string())
}

/// A failure before anything was measured.
pub fn of_failure(failure: &Failure) -> PyErr {
    let text = failure.to_string();
    match failure {
        Failure::Config(_) | Failure::Setting { .. } => ConfigError::new_err(text),
        Failure::Workload(_) => WorkloadError::new_err(text),
        _ => RunError::new_err(text),
    }
}
