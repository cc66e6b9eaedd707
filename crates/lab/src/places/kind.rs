//! What a file is that a command writes, and how it is told from every other file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use workload::convert::TargetInfo;
use workload::{Recorded, SECTOR_BYTES, Spec};

use crate::fit;
use crate::measure::{forensics, request_log, timeline, versions};
use crate::plan::job::GENERATOR_SPACE_BYTES;
use crate::report::fio_json;
use crate::report::page::BEGINS;
use crate::result::metrics::metric_keys;

/// Bytes of a file by which it is known.
const HEAD_BYTES: u64 = 64 << 10;

/// Kinds of files that are written under a name which the user gives.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A row for each request.
    RequestLog,
    /// A row for each time that a file's versions changed.
    Versions,
    /// What each unit of flash holds.
    KeptVersions,
    /// What a thief finds.
    Finds,
    /// A result as fio writes it.
    FioJson,
    /// A trace of Perfetto.
    Timeline,
    /// A drive; its configuration lies beside it.
    Snapshot,
    /// A page for a browser.
    Report,
    /// A row for each result.
    Comparison,
    /// The configuration of a drive that was fitted.
    Fitted,
    /// Requests in a format that traces are written in.
    Trace(&'static TargetInfo),
    /// What a program did to files.
    Capture,
}

impl Kind {
    /// What it is, as messages say it.
    pub fn what(self) -> String {
        let what = match self {
            Kind::RequestLog => "a request log",
            Kind::Versions => "a table of versions",
            Kind::KeptVersions => "a table of what flash holds",
            Kind::Finds => "a table of finds",
            Kind::FioJson => "a result of ours in fio's layout",
            Kind::Timeline => "a timeline of ours",
            Kind::Snapshot => "a snapshot",
            Kind::Report => "a report",
            Kind::Comparison => "a table of results",
            Kind::Fitted => "a configuration of a fitted drive",
            Kind::Trace(target) => return format!("a trace in the format {}", target.name),
            Kind::Capture => "a capture",
        };
        what.to_owned()
    }

    /// Whether a file holds one, by how it begins.
    pub fn is(self, path: &Path) -> bool {
        let begins = |with: &[u8]| head(path).is_some_and(|head| head.starts_with(with));
        match self {
            Kind::RequestLog => is_table(path, request_log::NAME, &request_log::first_columns()),
            Kind::Versions => is_table(path, versions::TABLE_NAME, &versions::TABLE.join(",")),
            Kind::KeptVersions => is_table(path, versions::KEPT_NAME, &versions::KEPT.join(",")),
            Kind::Finds => is_table(path, forensics::NAME, &forensics::FINDS.join(",")),
            Kind::FioJson => head(path).is_some_and(|head| fio_json::begins(&head)),
            Kind::Timeline => head(path).is_some_and(|head| timeline::begins(&head)),
            Kind::Snapshot => begins(&ssd::snapshot::MAGIC),
            Kind::Report => begins(BEGINS.as_bytes()),
            Kind::Comparison => head(path).is_some_and(|head| compares(&head)),
            Kind::Fitted => head(path).is_some_and(|head| fit::is_fitted(&head)),
            Kind::Trace(target) if target.begins().is_empty() => is_trace(path, target.name),
            Kind::Trace(target) => unpacked(path).is_some_and(|text| text.starts_with(&target.begins())),
            Kind::Capture => workload::capture::is_capture(path),
        }
    }
}

/// The first bytes of a file as they are, or as far as it can be read.
fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Whether a table begins with these columns, or is one of Parquet that has that name.
fn is_table(path: &Path, name: &str, columns: &str) -> bool {
    match unpacked(path) {
        Some(text) if text.starts_with(b"PAR1") => is_parquet(path, name),
        Some(text) => text.starts_with(columns.as_bytes()),
        None => false,
    }
}

/// First bytes of what Zstandard (RFC 8878, 3.1.1) and gzip (RFC 1952, 2.3.1) have packed.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How the text of a file begins that may be packed.
fn unpacked(path: &Path) -> Option<Vec<u8>> {
    let head = head(path)?;
    let packed: Box<dyn Read + '_> = if head.starts_with(&ZSTD) {
        Box::new(zstd::stream::read::Decoder::new(&head[..]).ok()?)
    } else if head.starts_with(&GZIP) {
        Box::new(flate2::read::MultiGzDecoder::new(&head[..]))
    } else {
        return Some(head);
    };
    let mut text = Vec::new();
    // What is cut off behind the first bytes ends in an error, which is none.
    let _ = packed.take(HEAD_BYTES).read_to_end(&mut text);
    Some(text)
}

#[cfg(feature = "parquet")]
fn is_parquet(path: &Path, name: &str) -> bool {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = File::open(path).ok().and_then(|file| SerializedFileReader::new(file).ok());
    reader.is_some_and(|reader| reader.metadata().file_metadata().schema().name() == name)
}

#[cfg(not(feature = "parquet"))]
fn is_parquet(_: &Path, _: &str) -> bool {
    false
}

/// How keys of configurations begin, which may be columns of a comparison.
const SECTIONS: [&str; 9] =
    ["nand.", "cell.", "flash.", "ftl.", "host.", "buffer.", "drive.", "run.", "workload."];

/// What a metric was called in tables of version 0.1.
const FORMER_KEY: &str = "victims_of_cleaning.units_copied_of_one";

/// Whether the first row names runs, and nothing but what is compared of them.
fn compares(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else { return false };
    // Last, since there are problems.
    let line = line.trim_end();
    let line = line.strip_suffix(",problems").unwrap_or(line);
    let mut columns = line.split(',');
    let keys = metric_keys();
    let is_section = |column: &str| SECTIONS.iter().any(|section| column.starts_with(section));
    let is_metric = |column: &str| column == FORMER_KEY || keys.iter().any(|key| key == column);
    let is_known = |column: &str| is_section(column) || is_metric(column);
    columns.next() == Some("run") && line.contains(',') && columns.all(is_known)
}

/// Whether it is a trace that is recognised as one of that format.
fn is_trace(path: &Path, format: &str) -> bool {
    let spec = Spec::trace(path);
    let Ok(mut recorded) = Recorded::open(&spec, GENERATOR_SPACE_BYTES / SECTOR_BYTES) else { return false };
    let is_read = recorded.next_record().is_ok();
    is_read && recorded.report().detected.is_some_and(|found| found.format == format)
}
