//! The extension module of the Python package `wordline`: drives, runs, results, and tables that numpy and Arrow read
//! without a copy.
//!
//! Nothing is simulated here: what the command line does with a configuration, settings and a workload, `lab::Job` and
//! `lab::run_prepared` do for both.

mod arrow;
mod as_toml;
mod buffer;
mod callables;
mod column;
mod data;
mod drive;
mod endurance;
mod errors;
mod feed;
mod function;
mod handle;
mod measured;
mod message;
mod policies;
mod progress;
mod results;
mod running;
mod session;
mod several;

mod sweep;
mod table;

mod values;
mod work;

use pyo3::prelude::*;

/// Big tables lie on huge pages, as in the program: the map of a large drive is read at random.
#[global_allocator]
static ALLOCATOR: lab::memory::HugePages = lab::memory::HugePages;

/// Simulated NAND-flash drives. Import the package `wordline` instead of this module.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::drive::Drive;
    #[pymodule_export]
    use super::endurance::endurance;
    #[pymodule_export]
    use super::errors::{
        ConfigError, ResultWarning, RunError, SnapshotError, WordlineError, WordlineWarning, WorkloadError,
    };
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::policies::{Lane, Unit};
    #[pymodule_export]
    use super::results::Result;
    #[pymodule_export]
    use super::running::run;
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::several::{Comparison, compare, presets, report};
    #[pymodule_export]
    use super::sweep::{SweepPlan, SweepWorker, sources, tally};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::version;

    /// `RunError.result` is None unless something was measured.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyAnyMethods;
        lab::sources::built_from(env!("WORDLINE_COMMIT"));
        module.getattr("RunError")?.setattr("result", module.py().None())
    }
}

/// The version with the commit that it was built from, as in results.
#[pyfunction]
fn version() -> String {
    lab::result::version()
}

/// Runs a command line, whose first word is the program's name; returns its exit code. `worker` is the
/// command line that starts this program as a worker of sweeps.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<std::ffi::OsString>, worker: Vec<std::ffi::OsString>) -> PyResult<u8> {
    #[cfg(feature = "program")]
    return Ok(py.detach(|| wordline_cli::run(args, &worker)));
    #[cfg(not(feature = "program"))]
    {
        let _ = (py, args, worker);
        Err(pyo3::exceptions::PyNotImplementedError::new_err(
            "this module was built without the command line",
        ))
    }
}
