//! `wordline.endurance`: how long a drive lasts under a load, as `wordline endurance` tells it.

use crate::errors::{self, WordlineError};
use crate::feed::End;
use crate::message;
use crate::running::{Load, load};
use crate::values;
use crate::work::work;
use lab::endurance::{Answer, EnduranceError, Wanted};
use lab::job::is_config;
use lab::{Job, Stop};
use pyo3::prelude::*;
use std::path::PathBuf;
use workload::{AddressPolicy, Spec};

/// What it takes for a drive.
const NAMED: &str = "the name of a drive (text), such as \"client_tlc\"";

/// A number, or text with a unit.
fn amount(name: &str, of: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
    let Some(of) = of else { return Ok(None) };
    if let Ok(number) = of.extract::<f64>() {
        return Ok(Some(format!("{number}")));
    }
    values::text(name, of, "a number of TB, or text with a unit, such as \"1.2PB\"").map(Some)
}

/// Works it out: what is wrong with a question is an error of the configuration.
fn answered(job: &Job, spec: Option<Spec>, wanted: &Wanted, stop: &Stop) -> Result<Answer, EnduranceError> {
    wanted.question(job, None)?;
    let mut spec = spec;
    if let Some(spec) = &mut spec {
        if let Spec::Trace(trace) = spec {
            trace.address = AddressPolicy::Compact;
        }
        job.settle(spec, true)?;
    }
    let prepared = spec.as_ref().map(Spec::prepare).transpose().map_err(lab::JobError::from)?;
    wanted.question(job, spec.as_ref().zip(prepared.as_ref()))?.answer(stop, &|_, _| {})
}

/// How long a drive lasts under a load: what `wordline endurance --json` prints, as a dict. `workload` is a path (a
/// trace, a fio job file, a configuration with a workload) or a dict (the settings of a `[workload]`); without one,
/// `writes` ("864GB/day") and `pattern` say what is written.
#[pyfunction]
#[pyo3(signature = (workload=None, drive=None, settings=None, *, capacity=None, tbw=None, rated=None, pe=None,
                    years=None, writes=None, reads=None, pattern=None, reclaim_reads=None, what_if=true))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn endurance(
    py: Python<'_>,
    workload: Option<&Bound<'_, PyAny>>,
    drive: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyAny>>,
    capacity: Option<String>,
    tbw: Option<&Bound<'_, PyAny>>,
    rated: Option<String>,
    pe: Option<u32>,
    years: Option<f64>,
    writes: Option<String>,
    reads: Option<String>,
    pattern: Option<String>,
    reclaim_reads: Option<f64>,
    what_if: bool,
) -> PyResult<Py<PyAny>> {
    let tbw = amount("tbw", tbw)?;
    let is_short = !what_if;
    let wanted = Wanted {
        capacity,
        tbw,
        rated,
        pe,
        years,
        writes,
        reads,
        pattern,
        reclaim_reads,
        is_short,
        dashes: "",
    };
    let settings = values::settings(values::dict("settings", settings, values::SETTINGS)?)?;
    let drive = drive.map(|drive| values::text("drive", drive, NAMED)).transpose()?;
    let path: Option<PathBuf> = workload.and_then(|workload| workload.extract().ok());
    let config = path.as_deref().filter(|path| is_config(path));
    let job = Job::read(config, drive.as_deref(), &settings).map_err(errors::of_job)?;
    let spec = match workload {
        None => None,
        Some(workload) => match load(&job, End::of_bytes(0), Some(workload).filter(|_| config.is_none()))? {
            Load::Spec(spec, _) => Some(*spec),
            Load::Requests(..) => {
                let allowed = "a path, or a dict of settings";
                return Err(message::wrong("workload", "columns of requests", allowed));
            }
        },
    };
    let stop = Stop::default();
    let answer = work(py, &stop, || answered(&job, spec, &wanted, &stop))?.map_err(|error| match error {
        EnduranceError::Asked(error) => errors::of_job(error),
        EnduranceError::Failed(error) => WordlineError::new_err(error.to_string()),
    })?;
    Ok(py.import("json")?.call_method1("loads", (answer.to_json(),))?.unbind())
}
