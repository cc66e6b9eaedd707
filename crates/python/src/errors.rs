//! What is raised: the text is the command line's, without its `error: `.

use lab::{Failure, JobError};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
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
