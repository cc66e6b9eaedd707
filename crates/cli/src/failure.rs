//! How a command can fail, and the exit code that says so to scripts.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;

use lab::JobError;
use ssd::config::ConfigErrors;
use workload::WorkloadError;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command line or a configuration is wrong, or a file it names is missing: exit code 2.
    Usage(String),
    /// The work could not be done to its end: exit code 1.
    Work(String),
    /// Whoever read the output went away (`| head`): nothing is wrong, and there is nobody to tell.
    Closed,
    /// A command that was run for the user ended with this code, which is passed on; it has said why itself.
    Ended(u8),
    /// The work is done, and is not what was required of it: exit code 3.
    Unmet(String),
    /// A signal of this number ended the work: exit code 128 + signal, as shells tell it.
    Interrupted {
        /// The signal.
        signal: u8,
        /// What came of the work.
        message: String,
    },
}

impl Failure {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::Usage(message.into())
    }

    /// Work that did not succeed.
    pub fn work(message: impl Into<String>) -> Self {
        Failure::Work(message.into())
    }

    /// A file that was named and cannot be used.
    pub fn file(path: &Path, action: &str, error: &dyn Display) -> Self {
        Failure::Usage(format!("{}: cannot {action}: {error}", path.display()))
    }

    /// A name that does not exist, with all that do and the one that was probably meant.
    pub fn no_such(what: &'static str, found: &str, names: &[&str]) -> Self {
        JobError::no_such(what, found, names).into()
    }

    /// The same failure, with what it is about in front.
    pub fn about(self, what: &str) -> Self {
        match self {
            Failure::Usage(message) => Failure::Usage(format!("{what}: {message}")),
            Failure::Work(message) => Failure::Work(format!("{what}: {message}")),
            Failure::Unmet(message) => Failure::Unmet(format!("{what}: {message}")),
            Failure::Interrupted { signal, message } => {
                Failure::Interrupted { signal, message: format!("{what}: {message}") }
            }
            Failure::Closed => Failure::Closed,
            Failure::Ended(code) => Failure::Ended(code),
        }
    }

    /// The same failure, and something else that went wrong besides.
    pub fn and(self, more: &str) -> Self {
        match self {
            Failure::Usage(message) => Failure::Usage(format!("{message}\n{more}")),
            Failure::Work(message) => Failure::Work(format!("{message}\n{more}")),
            Failure::Unmet(message) => Failure::Unmet(format!("{message}\n{more}")),
            Failure::Interrupted { signal, message } => {
                Failure::Interrupted { signal, message: format!("{message}\n{more}") }
            }
            Failure::Closed | Failure::Ended(_) => Failure::Work(more.to_owned()),
        }
    }

    /// What to tell a person; `None` if nobody needs to know.
    pub fn message(&self) -> Option<&str> {
        match self {
            Failure::Usage(message)
            | Failure::Work(message)
            | Failure::Unmet(message)
            | Failure::Interrupted { message, .. } => Some(message),
            Failure::Closed | Failure::Ended(_) => None,
        }
    }

    /// 0 done, 1 failed while working, 2 bad usage or configuration, 3 not what `--require` asks for, 128 + signal.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Work(_) => 1,
            Failure::Unmet(_) => 3,
            Failure::Closed => 0,
            Failure::Ended(code) => *code,
            Failure::Interrupted { signal, .. } => 128 + signal,
        }
    }
}

/// Errors of writing to standard output ([`crate::stdout::Output`] keeps them for the end); all other files say their
/// name by [`Failure::file`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Work(format!("cannot write to standard output: {error}")),
        }
    }
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        Failure::Usage(errors.to_string())
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        if error.is_work { Failure::Work(error.message) } else { Failure::Usage(error.message) }
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        JobError::from(error).into()
    }
}

impl From<lab::ReportError> for Failure {
    fn from(error: lab::ReportError) -> Self {
        match error.action {
            // A folder or file that cannot be made where the user asked for it.
            "create" => Failure::Usage(error.to_string()),
            _ => Failure::Work(error.to_string()),
        }
    }
}

impl From<&lab::RunError> for Failure {
    fn from(error: &lab::RunError) -> Self {
        use lab::Failure as F;
        let message = error.to_string();
        match &error.failure {
            F::Workload(cause) => match Failure::from(cause.clone()) {
                Failure::Usage(_) => Failure::Usage(message),
                _ => Failure::Work(message),
            },
            F::Log(cause) => Failure::from(cause.clone()),
            F::Config(_) | F::Setting { .. } | F::NothingMeasured { .. } => Failure::Usage(message),
            F::Preconditioning(_)
            | F::ReadOnly { .. }
            | F::BoundBroken(_)
            | F::Policy(_)
            | F::Lost { .. }
            | F::Interrupted { .. } => Failure::Work(message),
        }
    }
}
