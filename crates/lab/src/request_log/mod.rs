//! The request log: one row per request, in the order of completion, written as the run goes on.
//!
//! Times count from the start of the workload. The times by part add up to `latency_ns`, which is
//! `completion_ns - arrival_ns`.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use crate::error::{Failure, ReportError};
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

/// Names of the columns of a request log, in order.
pub fn request_log_columns() -> Vec<String> {
    let parts = Part::ALL.iter().map(|part| format!("{}_ns", part.name()));
    FIXED.iter().map(|name| (*name).to_owned()).chain(parts).collect()
}

/// One request.
struct Row {
    /// The four times: arrival, submission, fetch by the firmware, completion.
    times: [u64; 4],
    op: &'static str,
    lba: u64,
    sectors: u64,
    status: &'static str,
    latency: u64,
    parts: [u64; PARTS],
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
    fn row(&self, completion: &Completion) -> Row {
        let fetched =
            completion.submitted.0 + self.link_ns + completion.breakdown.ns[Part::Submission as usize];
        let Completion { arrival, submitted, completed, .. } = *completion;
        Row {
            times: [arrival, submitted, SimTime(fetched), completed].map(|time| time.since(self.start)),
            op: completion.op.name(),
            lba: completion.lba.0,
            sectors: u64::from(completion.sectors),
            status: completion.status.name(),
            latency: completed.since(arrival),
            parts: completion.breakdown.ns,
        }
    }
}

/// A kind of file.
enum Writer {
    Csv(csv::CsvLog),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::ParquetLog>),
}

/// A request log being written: it comes to its place when it is finished.
pub(crate) struct RequestLog {
    writer: Writer,
    origin: Origin,
}

impl RequestLog {
    /// Creates the file; its name says what it is: `.parquet`, `.zst` for compressed CSV, all else is CSV.
    pub fn create(path: &Path, origin: Origin) -> Result<Self, Failure> {
        let is = |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        let writer = if is("parquet") {
            create_parquet(path)?
        } else {
            Writer::Csv(csv::CsvLog::create(path, is("zst"))?)
        };
        Ok(RequestLog { writer, origin })
    }

    /// Writes a row.
    pub fn add(&mut self, completion: &Completion) -> Result<(), Failure> {
        let row = self.origin.row(completion);
        match &mut self.writer {
            Writer::Csv(log) => log.add(&row)?,
            #[cfg(feature = "parquet")]
            Writer::Parquet(log) => log.add(&row)?,
        }
        Ok(())
    }

    /// Writes what is left and closes the file.
    pub fn finish(self) -> Result<(), Failure> {
        match self.writer {
            Writer::Csv(log) => log.finish()?,
            #[cfg(feature = "parquet")]
            Writer::Parquet(log) => log.finish()?,
        }
        Ok(())
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Failure::Log(error)
    }
}

#[cfg(feature = "parquet")]
fn create_parquet(path: &Path) -> Result<Writer, Failure> {
    Ok(Writer::Parquet(Box::new(parquet::ParquetLog::create(path)?)))
}

#[cfg(not(feature = "parquet"))]
fn create_parquet(path: &Path) -> Result<Writer, Failure> {
    let message = "this program was built without Parquet; name the log .csv or .csv.zst, or build with \
                   cargo build --release -p wordline --features parquet";
    Err(ReportError::new(path, "create", message).into())
}
