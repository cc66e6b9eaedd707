//! What came of recording a command, or why nothing did.

use std::ffi::OsString;
use std::fmt;
use std::io;

use workload::capture::Totals;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// How the command ended.
    pub end: End,
    /// Calls recorded.
    pub calls: u64,
    /// Files they changed.
    pub files: u64,
    /// Processes that changed files.
    pub processes: u64,
    /// Different call stacks.
    pub stacks: u64,
    /// Call stacks whose sum another, different stack has too.
    pub ambiguous: u64,
    /// All else.
    pub totals: Totals,
}

impl Recorded {
    /// What the command did that was not seen, and how often.
    pub fn unseen(&self) -> Vec<String> {
        let totals = &self.totals;
        let lines = [
            (totals.shared_maps, "files were mapped shared and writable: stores to such memory are not seen"),
            (totals.io_urings, "io_uring rings were created: I/O through them is not seen"),
            (totals.aio_calls, "calls of io_submit: their writes are not seen"),
            (totals.setuid_programs, "programs with another user's rights (setuid) ran without them"),
            (totals.foreign_programs, "programs of another architecture ran: they are not seen"),
        ];
        lines.iter().filter(|(count, _)| *count > 0).map(|(count, text)| format!("{count} {text}")).collect()
    }
}

/// Why nothing was recorded.
#[derive(Debug)]
pub enum Error {
    /// There is no such command.
    NotFound {
        /// As it was given.
        command: OsString,
    },
    /// There is one, but it cannot be run.
    NotRun {
        /// As it was given.
        command: OsString,
        /// What the system says.
        error: io::Error,
    },
    /// The system does not let this process trace another one.
    Forbidden {
        /// What is forbidden.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// Not on this system, or not on this processor.
    Unsupported,
    /// What was recorded could not be written. The command has run to its end.
    Unwritten {
        /// How the command ended.
        end: End,
        /// What the system says.
        error: io::Error,
    },
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotFound { command } => write!(
                f,
                "no such command\n    found:   {command:?}\n    allowed: a program in a folder of PATH, or a path"
            ),
            Error::NotRun { command, error } => {
                write!(f, "{}: cannot run it: {error}", command.to_string_lossy())
            }
            Error::Forbidden { what, error } => write!(
                f,
                "{what} is forbidden here: {error}\n    allowed: a system where a process may trace its children (in a \
                 container: --cap-add SYS_PTRACE and a seccomp profile that allows ptrace)"
            ),
            Error::Unsupported => {
                write!(
                    f,
                    "programs can be captured only on Linux, on x86-64 and aarch64; captures can be read \
                     anywhere"
                )
            }
            Error::Unwritten { error, .. } => write!(f, "cannot write the capture: {error}"),
        }
    }
}
