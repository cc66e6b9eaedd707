//! The request log: one row per request, in the order of completion, written as the run goes on.
//!
//! Times count from the start of the workload. The times by part add up to `latency_ns`, which is
//! `completion_ns - arrival_ns`. Where it is told whom requests waited for, columns with that follow.

use crate::base::columns::Table;
use crate::base::error::Failure;
use crate::base::rows::{Cell, Column, KeptRows, Of, Rows};
use ssd::{Completion, Holder, PARTS, Part, SimTime, Told};
use std::path::Path;
use std::sync::OnceLock;

/// Columns before those of the parts.
const FIXED: [(&str, Of); 9] = [
    ("arrival_ns", Of::Numbers),
    ("submitted_ns", Of::Numbers),
    ("start_ns", Of::Numbers),
    ("completion_ns", Of::Numbers),
    ("op", Of::Words),
    ("lba", Of::Numbers),
    ("sectors", Of::Numbers),
    ("status", Of::Words),
    ("latency_ns", Of::Numbers),
];
/// Columns of requests that it is told of whom they waited for: the flash operation that they waited for last, and
/// what held them longest.
const TOLD: [(&str, Of); 7] = [
    ("die", Of::NumbersOrNone),
    ("plane", Of::NumbersOrNone),
    ("page_type", Of::NumbersOrNone),
    ("attempts", Of::NumbersOrNone),
    ("suspends", Of::NumbersOrNone),
    ("holder", Of::Words),
    ("held_ns", Of::Numbers),
];
/// Name of the table.
pub(crate) const NAME: &str = "requests";
/// Columns of all requests.
const COLUMNS: usize = FIXED.len() + PARTS;

fn columns() -> impl Iterator<Item = Column> {
    let column = |(name, of): (&str, Of)| Column { name: name.to_owned(), of };
    let parts = Part::ALL.iter().map(|part| format!("{}_ns", part.name()));
    FIXED.into_iter().map(column).chain(parts.map(|name| Column { name, of: Of::Numbers }))
}

/// Names of the columns of a request log, in order, without those of runs that explain their tail.
pub fn request_log_columns() -> Vec<String> {
    columns().map(|column| column.name).collect()
}

/// How the first row of every request log begins.
pub(crate) fn first_columns() -> String {
    FIXED.map(|(name, _)| name).join(",")
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
    fn row(&self, completion: &Completion) -> [Cell; COLUMNS] {
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
    /// In a file, and in memory.
    rows: Option<Rows>,
    kept: Option<KeptRows>,
    origin: Origin,
}

/// Names of holders, by their index.
fn names_of_holders() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| Holder::all().map(Holder::name).collect())
}

impl RequestLog {
    /// Creates the file, if one is named; its name says what it is ([`Rows::create`]). Keeps rows in memory, if that is
    /// asked for. Rows of a log that `tells` are added by [`RequestLog::add_told`].
    pub fn create(
        path: Option<&Path>,
        keeps: bool,
        (origin, tells): (Origin, bool),
    ) -> Result<Self, Failure> {
        let more = TOLD.into_iter().filter(|_| tells);
        let columns = columns().chain(more.map(|(name, of)| Column { name: name.to_owned(), of }));
        let columns: Vec<Column> = columns.collect();
        let kept = keeps.then(|| KeptRows::new(NAME, columns.clone()));
        let rows = path.map(|path| Rows::create(path, NAME, columns)).transpose()?;
        Ok(RequestLog { rows, kept, origin })
    }

    fn row(&mut self, cells: &[Cell]) -> Result<(), Failure> {
        if let Some(kept) = &mut self.kept {
            kept.add(cells);
        }
        Ok(self.rows.as_mut().map_or(Ok(()), |rows| rows.add(cells))?)
    }

    /// Writes a row. Not a part of what is done for each request of runs without a log.
    #[inline(never)]
    pub fn add(&mut self, completion: &Completion) -> Result<(), Failure> {
        let row = self.origin.row(completion);
        self.row(&row)
    }

    /// The same with whom the request has waited for.
    pub fn add_told(&mut self, completion: &Completion, told: &Told) -> Result<(), Failure> {
        let number = |number: Option<u32>| number.map_or(Cell::Nothing, |number| Cell::Number(number.into()));
        let last = told.last;
        let names = names_of_holders();
        // Nobody if it has not waited.
        let (holder, ns) = (told.held.longest()).map_or(("", 0), |(by, ns)| (names[by.index()].as_str(), ns));
        let more: [Cell; TOLD.len()] = [
            number(last.map(|last| last.die)),
            number(last.map(|last| last.plane)),
            number(last.map(|last| last.page_type.into())),
            number(last.map(|last| last.attempts.into())),
            number(last.map(|last| last.suspends.into())),
            Cell::Word(holder),
            Cell::Number(ns),
        ];
        let mut row = [Cell::Nothing; COLUMNS + TOLD.len()];
        row[..COLUMNS].copy_from_slice(&self.origin.row(completion));
        row[COLUMNS..].copy_from_slice(&more);
        self.row(&row)
    }

    /// Writes what is left and closes the file; gives back what was kept.
    pub fn finish(self) -> (Option<Table>, Result<(), Failure>) {
        let written = self.rows.map_or(Ok(()), Rows::finish);
        (self.kept.map(KeptRows::finish), written.map_err(Failure::from))
    }
}
