//! What a file is that may stand for a workload or a configuration.

use std::path::Path;
use workload::Spec;

/// Whether a file named where a trace or a configuration may stand is a configuration.
pub fn is_config(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The trace or job file at that path, with the other settings of `spec` if that is of the same kind.
pub fn with_path(spec: Option<Spec>, path: &Path) -> Spec {
    let is_job_file = workload::fio::is_job_file(path);
    let is_capture = workload::capture::is_capture(path);
    match spec {
        Some(Spec::Capture(mut captured)) if is_capture => {
            captured.capture = path.to_owned();
            Spec::Capture(captured)
        }
        _ if is_capture => Spec::capture(path),
        Some(Spec::Fio(mut fio)) if is_job_file => {
            fio.jobs = path.to_owned();
            Spec::Fio(fio)
        }
        _ if is_job_file => Spec::fio(path),
        Some(Spec::Trace(mut trace)) => {
            trace.path = path.to_owned();
            Spec::Trace(trace)
        }
        _ => Spec::trace(path),
    }
}
