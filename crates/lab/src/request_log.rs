//! The request log: one row per request, in the order of completion, written as the run goes on.
//!
//! Times count from the start of the workload. The times by part add up to `latency_ns`, which is
//! `completion_ns - arrival_ns`.

use crate::error::Failure;
use crate::rows::{Cell, Column, Rows};
use ssd::{Completion, PARTS, Part, SimTime};
use std::path::Path;

/// Columns before those of the parts.
const FIXED: [&str; 9] = [
    "arrival_ns",
    "submitted_ns",
    "start_ns",
    "completion_ns",
    "op",
    "lba",
    "sectors",
    "status",
    "latency_ns",
];
/// Of these, those that hold text.
const WORDS: [&str; 2] = ["op", "status"];

/// Names of the columns of a request log, in order.
pub fn request_log_columns() -> Vec<String> {
    let parts = Part::ALL.iter().map(|part| format!("{}_ns", part.name()));
    FIXED.iter().map(|name| (*name).to_owned()).chain(parts).collect()
}

/// How times become columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The workload's time zero.
    pub start: SimTime,
    /// From submission until a command is in the drive's sight.
    pub link_ns: u64,
}

impl Origin {
    fn row(&self, completion: &Completion) -> [Cell; FIXED.len() + PARTS] {
        let fetched =
            completion.submitted.0 + self.link_ns + completion.breakdown.ns[Part::Submission as usize];
        let Completion { arrival, submitted, completed, .. } = *completion;
        let [arrived, sent, started, done] = [arrival, submitted, SimTime(fetched), completed]
            .map(|time| Cell::Number(time.since(self.start)));
        let fixed = [
            arrived,
            sent,
            started,
            done,
            Cell::Word(completion.op.name()),
            Cell::Number(completion.lba.0),
            Cell::Number(u64::from(completion.sectors)),
            Cell::Word(completion.status.name()),
            Cell::Number(completed.since(arrival)),
        ];
        let parts = &completion.breakdown.ns;
        std::array::from_fn(|at| match fixed.get(at) {
            Some(cell) => *cell,
            None => Cell::Number(parts[at - FIXED.len()]),
        })
    }
}

/// A request log being written: it comes to its place when it is finished.
pub(crate) struct RequestLog {
    rows: Rows,
    origin: Origin,
}

impl RequestLog {
    /// Creates the file; its name says what it is ([`Rows::create`]).
    pub fn create(path: &Path, origin: Origin) -> Result<Self, Failure> {
        let column = |name: String| Column { is_word: WORDS.contains(&name.as_str()), name };
        let columns = request_log_columns().into_iter().map(column).collect();
        Ok(RequestLog { rows: Rows::create(path, "requests", columns)?, origin })
    }

    /// Writes a row. Not a part of what is done for each request of runs without a log.
    #[inline(never)]
    pub fn add(&mut self, completion: &Completion) -> Result<(), Failure> {
        Ok(self.rows.add(&self.origin.row(completion))?)
    }

    /// Writes what is left and closes the file.
    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.rows.finish()?)
    }
}
