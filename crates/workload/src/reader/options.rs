//! How a trace is to be read: units, and what to do about input that is not as it should be.

use super::columns::{Columns, Separator};
use crate::base::settings::{choice, words};
use crate::base::units::{AddressUnit, TimeUnit};

words!(TimeUnit {});
words!(AddressUnit {});

choice! {
    /// Which event of a block trace (`blktrace`, `blkparse`) is a request.
    pub enum Event {
        /// Q; D where the beginning of the trace has no Q.
        Auto = "auto",
        /// Queued (`queue`): as the file system asked for it.
        Queued = "Q" | "queue",
        /// Dispatched (`issue`): as the drive got it, after merging and scheduling.
        Dispatched = "D" | "issue",
        /// Completed (`complete`).
        Completed = "C" | "complete",
    }
}

choice! {
    /// What to do with a line that cannot be parsed.
    pub enum OnBadLine {
        /// Stop with an error that names it.
        Error = "error",
        /// Skip it, count it by reason, and report.
        Skip = "skip",
    }
}

choice! {
    /// What to do with a request that arrives before the one above it.
    pub enum OnTimeStepBack {
        /// Move it up to that one's time, count it, and report. Recorded traces have such lines.
        Clamp = "clamp",
        /// Treat it as a damaged line.
        Error = "error",
    }
}

/// How a trace is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Unit of the time column.
    pub time_unit: TimeUnit,
    /// Unit of the address and size columns.
    pub address_unit: AddressUnit,
    /// Which event of a block trace is a request.
    pub event: Event,
    /// What the columns of a `csv` are.
    pub columns: Columns,
    /// What separates them.
    pub separator: Separator,
    /// Whether it has a header.
    pub header: Header,
    /// What to do about damaged lines.
    pub on_bad_line: OnBadLine,
    /// What to do about time that goes backwards.
    pub on_time_step_back: OnTimeStepBack,
    /// The devices that are asked for; none for all.
    pub devices: Vec<u64>,
}

choice! {
    /// Whether the first line of a `csv` names its columns.
    pub enum Header {
        /// It does if names stand wherever an operation or a number should.
        Auto = "auto",
        /// It does.
        Yes = "yes",
        /// It does not.
        No = "no",
    }
}
