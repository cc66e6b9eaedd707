//! What came of a run, or why it did not begin.

use crate::errors;
use lab::BlockTable;
use pyo3::prelude::*;

/// What came of a run.
pub struct Measured {
    /// What was measured, or why there is less.
    pub result: std::result::Result<lab::RunResult, lab::RunError>,
    /// The blocks at its end.
    pub blocks: BlockTable,
    /// A configuration that repeats it.
    pub config: String,
    /// What went wrong with cached drives, a line each.
    pub remarks: Vec<String>,
}

/// Why it did not begin.
pub enum Unbegun {
    /// For its settings.
    Job(lab::JobError),
    /// For its workload.
    Workload(workload::WorkloadError),
}

impl From<lab::JobError> for Unbegun {
    fn from(error: lab::JobError) -> Self {
        Unbegun::Job(error)
    }
}

impl From<workload::WorkloadError> for Unbegun {
    fn from(error: workload::WorkloadError) -> Self {
        Unbegun::Workload(error)
    }
}

impl From<Unbegun> for PyErr {
    fn from(why: Unbegun) -> Self {
        match why {
            Unbegun::Job(error) => errors::of_job(error),
            Unbegun::Workload(error) => errors::of_workload(&error),
        }
    }
}
