//! How a job can be wrong before it runs.

use crate::base::error::ReportError;
use ssd::config::{ConfigError, ConfigErrors, KeyAt, Origin, Problem, shown};
use ssd::drive_config::Resolved;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use workload::WorkloadError;

/// So many lines that are no TOML are no slip in a configuration.
const MANY_LINES: usize = 3;

/// So many more are counted, and no further.
const MANY_LINES_TOLD: usize = 999;

/// Why a job cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    /// What is wrong, with its place and what is allowed.
    pub message: String,
    /// The job itself is in order and what it names is damaged: asking otherwise would not help.
    pub is_work: bool,
}

impl JobError {
    /// What was asked for cannot be.
    pub fn new(message: impl Into<String>) -> Self {
        JobError { message: message.into(), is_work: false }
    }

    /// A file that was named and cannot be used.
    pub fn file(path: &Path, action: &str, error: &dyn fmt::Display) -> Self {
        Self::new(format!("{}: cannot {action}: {error}", path.display()))
    }

    /// A name that does not exist, with all that do and the one that was probably meant.
    pub fn no_such(what: &'static str, found: &str, names: &[&str]) -> Self {
        let mut message =
            format!("no such {what}\n    found:   {:?}\n    allowed: {}", shown(found), names.join(", "));
        if let Problem::NoSuchName { near: Some(near), .. } =
            Problem::no_such_name(what, found, names.iter().copied())
        {
            message.push_str(&format!("\n    did you mean {near:?}?"));
        }
        Self::new(message)
    }

    /// The same, with what it is about in front.
    pub fn about(self, what: &str) -> Self {
        JobError { message: format!("{what}: {}", self.message), ..self }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JobError {}

impl From<ReportError> for JobError {
    fn from(error: ReportError) -> Self {
        // Another run that holds a lock is nothing that the user has said wrongly.
        JobError { is_work: error.action == "lock", ..JobError::new(error.to_string()) }
    }
}

impl From<ConfigErrors> for JobError {
    fn from(errors: ConfigErrors) -> Self {
        // What a sweep says of its runs is no part of a drive.
        let is_of_sweep = |found: &str| {
            let first = found.split('.').next().unwrap_or_default();
            ["grid", "zip", "sample", "sweep"].contains(&first)
        };
        let is_sweep = errors.0.iter().any(|error| match &error.problem {
            Problem::NoSuchTable { found, .. } => is_of_sweep(found),
            _ => false,
        });
        let is_text = errors.0.len() > MANY_LINES
            && errors.0.iter().all(|e| matches!(e.problem, Problem::Syntax { .. }));
        match errors.0.first() {
            Some(ConfigError { origin: Some(origin), .. }) if is_sweep => Self::new(format!(
                "{origin}: this file describes a sweep\n    found:   [grid], [zip], [sample] or [sweep]\n    \
                 allowed: wordline sweep {} -o DIR",
                origin.source
            )),
            Some(first) if is_text => {
                // Not all are looked for.
                let more = match errors.0.len() - 1 {
                    more if more < MANY_LINES_TOLD => more.to_string(),
                    _ => "many".to_owned(),
                };
                Self::new(format!(
                    "{first}\n    and {more} more lines: this is not a configuration; to look at a trace: wordline \
                     trace info FILE"
                ))
            }
            _ => Self::new(errors.to_string()),
        }
    }
}

impl From<WorkloadError> for JobError {
    fn from(error: WorkloadError) -> Self {
        use workload::Problem as P;
        let message = error.to_string();
        let is_work = match error.problem() {
            // What was asked for cannot be: another job would help.
            P::File { action: "open", .. }
            | P::FormatNotRecognised { .. }
            | P::OtherFormat { .. }
            | P::UnknownUnits { .. }
            | P::NothingSelected { .. }
            | P::DoesNotFit { .. }
            | P::Job { .. }
            | P::Setting { .. } => false,
            // The trace itself is damaged, or changed under our hands.
            _ => true,
        };
        JobError { message, is_work }
    }
}

/// A key of the run and one of the drive that do not go together.
pub(super) fn conflict(
    [of_run, of_drive]: [&str; 2],
    origins: &BTreeMap<String, Origin>,
    resolved: &Resolved,
    found: String,
    allowed: String,
) -> JobError {
    let origin = origins.get(of_run).cloned();
    let keys = vec![
        KeyAt { key: of_run.to_owned(), origin: origin.clone() },
        KeyAt { key: of_drive.to_owned(), origin: resolved.origin(of_drive).cloned() },
    ];
    ConfigErrors::from(ConfigError { keys, origin, problem: Problem::Conflict { found, allowed } }).into()
}
