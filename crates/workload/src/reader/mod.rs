//! The family of trace formats: one file each, one line each in the list below.
//!
//! A format turns one line into one request and knows nothing of files, damage policy or time order: that is the
//! same for all and lives in `Reader`. To add a format, write `reader/<name>.rs` with a type that implements
//! `Format` and add `<name>: <Type>` to the list.
//!
//! What is done about input that is not as it should be:
//!
//! - *damaged line* (a column missing, a letter in a number, a negative or too large number, an unknown operation,
//!   more than 64 KiB without line end, a time more than 146 years after the first, noise): an error with file, line,
//!   column, what was found and what is allowed; with `on_bad_line = "skip"` it is skipped, counted by reason, and the
//!   first such lines are named in the report;
//! - last line cut in its middle: a damaged line, told apart as `cut_at_end`;
//! - last line whole but without line end: used, and remarked, since a cut inside its last number cannot be seen;
//! - time before that of the line above: moved up to it and counted; with `on_time_step_back = "error"` a damaged line;
//! - request of no length: dropped and counted;
//! - times behind a later one in a format whose lines are not in order (`tencent`, `systor17`, `diskmon`, `blktrace`,
//!   `biosnoop`): sorted in a window of 65,536 requests and counted; what is later still is moved up as above;
//! - whole seconds in such a format (`tencent`): the requests of each are spread over it, and remarked;
//! - units that neither the format nor the user says (`time_unit`, `address_unit`): told by the first 1,000 lines, see
//!   `pace.rs`, and remarked; an error with figures where they tell nothing, or two things;
//! - lines that are as they should be and no request (other events of a block trace, its summary): counted by kind;
//! - bytes that do not begin and end on a sector: rounded out to whole sectors and counted;
//! - zeros at the end of the file, which was cut: passed over, counted as damaged lines, and remarked; elsewhere they
//!   are a damaged line;
//! - blank lines: passed over and counted; carriage returns and a byte-order mark: passed over;
//! - header that lacks a column, a compressed file that is cut or damaged, no request at all (empty, only a header,
//!   all lines skipped): an error, always.
//!
//! Columns that are not used are not looked at, but they must be there.
//!
//! A binary format says how its records are told apart (`Format::CUT`); a record is then what a line is above, and an
//! error names the byte of the file where it begins.

mod binary;
mod columns;
mod dates;
mod detect;
mod events;
pub(crate) mod fields;
mod files;
mod format;
mod layout;
mod names;
mod options;
mod pace;
mod stream;
mod volumes;
mod window;

use crate::base::error::{Problem, WorkloadError, printable};
use crate::base::input::bytes::Input;
use crate::base::input::lines::Cut;
use crate::base::near::near;
use crate::base::report::SourceReport;
use crate::base::request::{Request, Source};
pub use columns::{Columns, CsvColumn, CsvUse, Place, Separator};
use detect::Fit;
use files::Files;
pub use format::Column;
pub(crate) use format::{Format, Records};
pub use options::{Event, Header, OnBadLine, OnTimeStepBack, ReadOptions};
use std::io::Read;
use std::path::Path;

macro_rules! formats {
    ($($module:ident: $type:ident,)*) => {
        $(pub(crate) mod $module;)*

        /// All formats: what they are, and how they are recognised and opened.
        static FORMATS: &[Entry] = &[$(Entry {
            info: FormatInfo {
                name: stringify!($module),
                file: concat!("crates/workload/src/reader/", stringify!($module), ".rs"),
                summary: $module::$type::SUMMARY,
                source: $module::$type::SOURCE,
                columns: $module::$type::COLUMNS,
                is_binary: $module::$type::CUT.is_binary(),
                sample: $module::$type::SAMPLE,
                sample_columns: $module::$type::SAMPLE_COLUMNS,
            },
            mark: $module::$type::MARK,
            cut: $module::$type::CUT,
            fits: |head, options| detect::fits::<$module::$type>(stringify!($module), head, options),
            reads: detect::reads::<$module::$type>,
            open: stream::open::<$module::$type>,
        }),*];
    };
}

formats! {
    msr: Msr,
    spc: Spc,
    mqsim: Mqsim,
    rocksdb: Rocksdb,
    alibaba: Alibaba,
    tencent: Tencent,
    blkparse: Blkparse,
    blktrace: Blktrace,
    biosnoop: Biosnoop,
    ftrace: Ftrace,
    strace: Strace,
    procmon: Procmon,
    vscsi: Vscsi,
    oracle_general: OracleGeneral,
    fiu: Fiu,
    fio_iolog: FioIolog,
    cloudphysics: Cloudphysics,
    systor17: Systor17,
    diskmon: Diskmon,
    csv: Csv,
    wordline: Wordline,
}

/// What a person needs to know about a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// Name in `format = "…"`.
    pub name: &'static str,
    /// The source file of its reader.
    pub file: &'static str,
    /// What it is, in a sentence or two.
    pub summary: &'static str,
    /// Who defined it.
    pub source: &'static str,
    /// Its columns from left to right.
    pub columns: &'static [Column],
    /// Whether it is made of binary records, not of lines.
    pub is_binary: bool,
    /// The beginning of such a trace.
    pub sample: &'static [u8],
    /// What `columns` must be for the sample; empty in all formats that say so themselves.
    pub sample_columns: &'static str,
}

/// All trace formats.
pub fn formats() -> impl Iterator<Item = &'static FormatInfo> {
    FORMATS.iter().map(|entry| &entry.info)
}

struct Entry {
    info: FormatInfo,
    mark: &'static str,
    cut: Cut,
    fits: fn(&[&[u8]], &ReadOptions) -> Option<Fit>,
    reads: fn(&[&[u8]], &ReadOptions) -> bool,
    open: fn(Files, &ReadOptions, Option<Fit>) -> Opened,
}

type Opened = Result<Box<dyn Records>, WorkloadError>;

/// Opens a trace; `format` is a name of the list, or `auto` to recognise it by its contents.
pub(crate) fn open_trace(
    path: &Path,
    format: &str,
    options: &ReadOptions,
) -> Result<Box<dyn Records>, WorkloadError> {
    open_files(format, options, || Files::open(path))
}

/// Reads a trace from any stream of text, with addresses as recorded; `name` stands for the file in messages.
pub fn read_from(
    text: impl Read + Send + 'static,
    name: &str,
    format: &str,
    options: &ReadOptions,
) -> Result<Box<dyn Source>, WorkloadError> {
    Ok(Box::new(AsRecorded(open_input(Input::from_reader(text, name), format, options)?)))
}

/// The same with devices.
#[cfg(test)]
pub(crate) fn open_records(
    text: impl Read + Send + 'static,
    name: &str,
    format: &str,
    options: &ReadOptions,
) -> Result<Box<dyn Records>, WorkloadError> {
    open_input(Input::from_reader(text, name), format, options)
}

/// Records as requests.
struct AsRecorded(Box<dyn Records>);

impl Source for AsRecorded {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next()?.map(|record| record.request))
    }

    fn len_hint(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        self.0.report()
    }
}

/// Opens a trace that is already a stream of bytes.
fn open_input(input: Input, format: &str, options: &ReadOptions) -> Opened {
    open_files(format, options, || Files::one(input))
}

/// Opens a trace, once it is known that there is such a format.
fn open_files(
    format: &str,
    options: &ReadOptions,
    open: impl FnOnce() -> Result<Files, WorkloadError>,
) -> Opened {
    let format = format_to_read(format, options)?;
    let files = open()?;
    match FORMATS.iter().find(|entry| entry.info.name == format) {
        Some(entry) => {
            files.check_one_unless(entry.cut)?;
            open_named(entry, files, options)
        }
        None => {
            let (entry, fit) = recognise(&files, options)?;
            files.check_one_unless(entry.cut)?;
            (entry.open)(files, options, Some(fit))
        }
    }
}

/// Opens a trace as one of the format that was named; an error if its beginning is of another one, and of this not at
/// all.
fn open_named(entry: &Entry, files: Files, options: &ReadOptions) -> Opened {
    let mut fitting = Vec::new();
    if options.on_bad_line == OnBadLine::Error && !(entry.reads)(&files.head(entry.cut), options) {
        let others = FORMATS.iter().filter(|other| (other.fits)(&files.head(other.cut), options).is_some());
        fitting.extend(others.map(|other| other.info.name));
    }
    let file = files.file().to_string();
    let mut records = (entry.open)(files, options, None)?;
    if fitting.is_empty() {
        return Ok(records);
    }
    // The first line says what is wrong; one that goes on in the next is not of this format all the same.
    let cause = records.next().err().map_or(file, |cause| cause.to_string());
    Err(Problem::OtherFormat { named: entry.info.name, cause, fitting }.into())
}

/// The format that is to be read: a name of the list, or `auto`. Columns make it `csv`, which must have them.
pub(crate) fn format_to_read<'a>(format: &'a str, options: &ReadOptions) -> Result<&'a str, WorkloadError> {
    check_name(format)?;
    match (format, options.columns.is_empty()) {
        ("csv", true) => {
            let allowed = "what the columns are, such as --columns time=1:us,op=3,offset=4:bytes,size=5";
            Err(WorkloadError::setting("columns", "missing, and the format is csv", allowed))
        }
        ("auto", false) => Ok("csv"),
        ("csv", false) | (_, true) => Ok(format),
        (other, false) => {
            let found = format!("the format is {other}, which knows its columns");
            Err(WorkloadError::setting("columns", found, "format = \"csv\", or no columns"))
        }
    }
}

/// Refuses a format that does not exist.
pub(crate) fn check_name(format: &str) -> Result<(), WorkloadError> {
    let names = || FORMATS.iter().map(|entry| entry.info.name).chain(["auto"]);
    if names().any(|name| name == format) {
        return Ok(());
    }
    let allowed: Vec<&str> = names().collect();
    let error =
        WorkloadError::setting("format", format!("unknown trace format `{format}`"), allowed.join(", "));
    Err(error.with_near(near(format, names())))
}

/// Finds the one format that the first lines fit.
fn recognise(files: &Files, options: &ReadOptions) -> Result<(&'static Entry, Fit), WorkloadError> {
    let head = files.head(Cut::Lines);
    if head.is_empty() {
        return Err(Problem::NoRequests {
            file: files.file().to_string(),
            lines: 0,
            skipped: 0,
            passed_over: Vec::new(),
        }
        .into());
    }
    // What says of itself what it is, is that.
    let is_marked = |entry: &&Entry| !entry.mark.is_empty() && head[0].starts_with(entry.mark.as_bytes());
    let is_any_marked = FORMATS.iter().any(|entry| is_marked(&entry));
    let fits = FORMATS
        .iter()
        .filter(|entry| !is_any_marked || is_marked(entry))
        .filter_map(|entry| Some((entry, (entry.fits)(&files.head(entry.cut), options)?)));
    let fitting: Vec<(&Entry, Fit)> = fits.collect();
    match fitting.as_slice() {
        [(entry, fit)] => Ok((entry, *fit)),
        several => Err(Problem::FormatNotRecognised {
            file: files.file().to_string(),
            found: printable(head[0]),
            candidates: several.iter().map(|(entry, _)| entry.info.name).collect(),
            allowed: FORMATS.iter().map(|entry| entry.info.name).collect(),
            advice: detect::advice(&head),
        }
        .into()),
    }
}

#[cfg(test)]
mod tests;
