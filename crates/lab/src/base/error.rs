//! Why an experiment fails, and why a result could not be written or read.

use crate::base::number::{bytes, digits, of_things};
use crate::base::phase::Phase;
use ssd::config::{ConfigErrors, shown};
use ssd::{BrokenBound, Drive, PolicyFault, Reason};
use std::fmt;
use std::path::{Path, PathBuf};
use workload::WorkloadError;

/// Why a run did not serve its whole workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The drive's configuration makes no sense.
    Config(ConfigErrors),
    /// A setting of the run makes no sense on this drive.
    Setting {
        /// Its key in the `[run]` table.
        key: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// The drive could not be preconditioned.
    Preconditioning(PreconditionError),
    /// The workload cannot be opened or read on.
    Workload(WorkloadError),
    /// The drive takes no more writes.
    ReadOnly {
        /// Why.
        reason: Reason,
    },
    /// A page was not read with the voltages that were promised to read it: what was measured is of no worth.
    BoundBroken(BrokenBound),
    /// A policy from outside answered wrongly, or failed: a plainer one has decided since.
    Policy(Box<PolicyFault>),
    /// Commands that the drive accepted never completed: a bug of the simulator.
    Lost {
        /// Requests handed to the drive.
        generated: u64,
        /// Requests completed.
        completed: u64,
    },
    /// The workload was over before the measurement began.
    NothingMeasured {
        /// Requests of the warm-up.
        warm_up: u64,
        /// Requests completed.
        completed: u64,
    },
    /// The request log cannot be written.
    Log(ReportError),
    /// Somebody asked the run to end early ([`crate::Stop`]).
    Interrupted {
        /// What it was doing.
        phase: Phase,
    },
}

impl Failure {
    /// Why a run must end whose voltages by age have not read what they promised to.
    pub(crate) fn of_bound(drive: &Drive) -> Option<Self> {
        drive.health().broken_bound.map(Failure::BoundBroken)
    }

    /// Why a run must end whose policy from outside has failed.
    pub(crate) fn of_policy(drive: &Drive) -> Option<Self> {
        drive.external().fault().map(|fault| Failure::Policy(Box::new(fault.clone())))
    }

    /// The error of a closed loop deeper than the queues.
    pub(crate) fn depth(depth: u32, room: u32) -> Self {
        Failure::Setting {
            key: "run.depth",
            found: format!("{depth} requests in flight on each queue"),
            allowed: format!("1 to {room} (host.queues.depth), or 0 for as many as a queue holds"),
        }
    }

    /// The error of what shows times where none passes.
    pub(crate) fn no_time(what: &str) -> Self {
        Failure::Setting {
            key: "run.executor",
            found: format!("functional, which simulates no time, and {what} shows times"),
            allowed: "timed".to_owned(),
        }
    }

    /// An output could not be written. A run fails by what went wrong first; but that somebody has asked it to end is
    /// no reason to be silent about what is lost.
    pub(crate) fn unwritten(failure: &mut Option<Failure>, error: Failure) {
        if matches!(failure, None | Some(Failure::Interrupted { .. })) {
            *failure = Some(error);
        }
    }

    /// Short name, as results begin to say how a run ended.
    pub fn name(&self) -> &'static str {
        match self {
            Failure::Config(_) => "config",
            Failure::Setting { .. } => "setting",
            Failure::Preconditioning(_) => "preconditioning",
            Failure::Workload(_) => "workload",
            Failure::ReadOnly { .. } => "read_only",
            Failure::BoundBroken(_) => "bound_broken",
            Failure::Policy(_) => "policy",
            Failure::Lost { .. } => "lost",
            Failure::NothingMeasured { .. } => "nothing_measured",
            Failure::Log(_) => "request_log",
            Failure::Interrupted { .. } => "interrupted",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Config(errors) => write!(f, "{errors}"),
            Failure::Setting { key, found, allowed } => {
                write!(f, "{key}\n    found:   {}\n    allowed: {allowed}", shown(found))
            }
            Failure::Preconditioning(error) => write!(f, "{error}"),
            Failure::Workload(error) => write!(f, "{error}"),
            Failure::ReadOnly { reason } => write!(f, "the drive became read-only: {}", reason.text()),
            Failure::BoundBroken(broken) => write!(
                f,
                "{broken}; allowed: another flash.read_voltage.policy or ftl.age_marker.policy, because \
                 this one's bound does not hold on these cells"
            ),
            Failure::Policy(fault) => write!(f, "{fault}"),
            Failure::Lost { generated, completed } => write!(
                f,
                "{} of {generated} requests never completed, and no events are left: a bug in the simulator",
                generated - completed
            ),
            Failure::NothingMeasured { warm_up, completed } => write!(
                f,
                "the workload ended after {completed} requests, within the warm-up of {warm_up} (run.warm_up_requests)"
            ),
            Failure::Log(error) => write!(f, "{error}"),
            Failure::Interrupted { phase } => write!(f, "asked to end while {}", phase.name()),
        }
    }
}

impl std::error::Error for Failure {}

/// Why a drive could not be preconditioned.
#[derive(Clone, Debug, PartialEq)]
pub enum PreconditionError {
    /// A number makes no sense.
    Setting {
        /// Its key in the `[run]` table.
        key: &'static str,
        /// What was found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The drive had no room left.
    NoRoom {
        /// What was being done.
        phase: Phase,
        /// Mapping units written until then.
        written: u64,
        /// Mapping units to be written.
        wanted: u64,
        /// Why the drive takes no more writes, if it says so.
        reason: Option<Reason>,
        /// Blocks retired.
        retired: u32,
    },
    /// So many blocks were retired that the drive took no more.
    WornOut {
        /// What was being done.
        phase: Phase,
        /// Bytes that the host has written until then: all that the drive took in its life.
        written_bytes: u64,
        /// Bytes that the host sees.
        logical_bytes: u64,
        /// Blocks retired.
        retired: u32,
    },
}

impl fmt::Display for PreconditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreconditionError::Setting { key, found, allowed } => {
                write!(f, "{key}\n    found:   {found}\n    allowed: {allowed}")
            }
            PreconditionError::NoRoom { phase, written, wanted, reason, retired } => {
                write!(
                    f,
                    "the drive was full after {written} of {wanted} mapping units while {}",
                    phase.name()
                )?;
                if let Some(reason) = reason {
                    write!(f, ": {}", reason.text())?;
                }
                if *retired > 0 {
                    write!(f, " ({retired} blocks retired)")?;
                }
                Ok(())
            }
            PreconditionError::WornOut { phase, written_bytes, logical_bytes, retired } => {
                let (written, logical) = (*written_bytes as f64, *logical_bytes as f64);
                write!(
                    f,
                    "the drive wore out while {}, before the run: {} were retired\n    lifetime: {} written by the \
                     host, {} drive writes\n    allowed:  more cycles (nand.reliability.endurance_cycles), or a \
                     shorter past (run.overwrite, as with --precondition times=1)",
                    phase.name(),
                    of_things(u64::from(*retired), "block"),
                    bytes(written),
                    digits(written / logical),
                )
            }
        }
    }
}

impl std::error::Error for PreconditionError {}

/// Longest message of a parser that is told as it is; bytes.
const MESSAGE_MAX: usize = 4096;

/// A file of results that cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportError {
    /// The file or folder.
    pub path: PathBuf,
    /// What was being done: `write`, `read`, `understand`, `create`.
    pub action: &'static str,
    /// What the system or the parser says.
    pub message: String,
}

impl ReportError {
    pub(crate) fn new(path: &Path, action: &'static str, error: impl fmt::Display) -> Self {
        let message = error.to_string();
        // Parsers quote what they do not understand, and that may be all of a file.
        let message = if message.len() > MESSAGE_MAX { shown(&message).into_owned() } else { message };
        ReportError { path: path.to_owned(), action, message }
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: cannot {}: {}", self.path.display(), self.action, self.message)
    }
}

impl std::error::Error for ReportError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_bound_names_the_page_what_it_went_through_and_what_to_do() {
        let broken = BrokenBound {
            block: 7,
            page: 12,
            cycles: 500,
            minutes: 30,
            erc_q12: 2048,
            bits_q8: 20 << 8 | 1,
            limit_q8: 64 << 8,
        };
        let failure = Failure::BoundBroken(broken);
        let text = failure.to_string();
        for part in [
            "page 12 of block 7",
            "like 500 cycles",
            "30 minutes",
            "50 % of the reads",
            "21 bits",
            "64 are corrected",
            "flash.read_voltage.policy",
            "ftl.age_marker.policy",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(failure.name(), "bound_broken");
    }
}
