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
//! - whole-number times of a format that does not say their unit: the finest of ns, us and ms at which the beginning
//!   asks for at most 8 GB/s and a million requests a second, and remarked; an error with figures if none is left, or
//!   if a coarser one would be as ordinary (at least 100 requests/s in 20 requests). `time_unit` decides;
//! - bytes that do not begin and end on a sector: rounded out to whole sectors and counted;
//! - blank lines: passed over and counted; carriage returns and a byte-order mark: passed over;
//! - header that lacks a column, a compressed file that is cut or damaged, no request at all (empty, only a header,
//!   all lines skipped): an error, always.
//!
//! Columns that are not used are not looked at, but they must be there.

mod fields;
mod pace;

use crate::error::{BadReason, Problem, WorkloadError, printable};
use crate::input::{Input, Progress};
use crate::lines::{LINE_BYTES_MAX, Line, Lines};
use crate::near::near;
use crate::record::{Request, Source};
use crate::report::SourceReport;
use crate::settings::choice;
use fields::{Bad, TimeScale, column_at};
use ssd::signals::{Hints, OpCode};
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
                sample: $module::$type::SAMPLE,
            },
            recognises: recognises::<$module::$type>,
            open: open::<$module::$type>,
        }),*];
    };
}

formats! {
    msr: Msr,
    spc: Spc,
    mqsim: Mqsim,
    rocksdb: Rocksdb,
    wordline: Wordline,
}

/// One column of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, as errors call it.
    pub name: &'static str,
    /// Unit, or the words allowed.
    pub unit: &'static str,
    /// What it is used for; empty if it is passed over.
    pub used_for: &'static str,
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
    /// The beginning of such a trace.
    pub sample: &'static str,
}

/// All trace formats.
pub fn formats() -> impl Iterator<Item = &'static FormatInfo> {
    FORMATS.iter().map(|entry| &entry.info)
}

choice! {
    /// Unit of a trace's time column.
    pub enum TimeUnit {
        /// What the format defines. For `mqsim`: ms if the first lines have decimals, else the finest of ns, us and ms
        /// at which the head asks for at most 8 GB/s and 1,000,000 requests/s.
        Auto = "auto",
        /// Seconds.
        Seconds = "s",
        /// Milliseconds.
        Milliseconds = "ms",
        /// Microseconds.
        Microseconds = "us",
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// Steps of 100 ns (Windows file time).
        Filetime = "100ns",
    }
}

choice! {
    /// What to do about a line that cannot be understood.
    pub enum OnBadLine {
        /// Stop with an error that names it.
        Error = "error",
        /// Skip it, count it by reason, and report.
        Skip = "skip",
    }
}

choice! {
    /// What to do about a request that arrives before the one above it.
    pub enum OnTimeStepBack {
        /// Move it up to that one's time, count it, and report. Recorded traces have such lines.
        Clamp = "clamp",
        /// Treat it as a damaged line.
        Error = "error",
    }
}

impl TimeUnit {
    /// Nanoseconds of one unit, or `auto` for the format's own.
    fn ns_or(self, auto: u64) -> u64 {
        match self {
            TimeUnit::Auto => auto,
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Filetime => 100,
        }
    }
}

/// How a trace is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Unit of the time column.
    pub time_unit: TimeUnit,
    /// What to do about damaged lines.
    pub on_bad_line: OnBadLine,
    /// What to do about time that goes backwards.
    pub on_time_step_back: OnTimeStepBack,
}

/// What a format reads from one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    /// Time as the trace has it, from whatever origin.
    pub time_ns: u64,
    pub op: OpCode,
    pub fua: bool,
    /// A flush is to be done before it.
    pub flush_before: bool,
    /// The range was rounded out to sectors.
    pub rounded: bool,
    pub device: u16,
    pub lba: u64,
    pub sectors: u32,
    pub hints: Hints,
}

/// A request as recorded, with the device it was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The request; its addresses count from the device's first sector.
    pub request: Request,
    /// Number of the device.
    pub device: u16,
}

/// A trace format: how one line becomes one request.
pub(crate) trait Format: Send + Sized + 'static {
    const SUMMARY: &'static str;
    const SOURCE: &'static str;
    const COLUMNS: &'static [Column];
    /// The beginning of a trace of this format, with its header if it has one: two requests or more, no line of it
    /// wrong. People see it in the list of formats, and the tests of all formats read it.
    const SAMPLE: &'static str;
    const SEPARATOR: u8;
    /// Fewest and most columns of a line that may be recognised as this format.
    const RECOGNISED_COLUMNS: (usize, usize);

    /// A parser; `head` is the beginning of the trace, for what only the data can tell.
    fn new(time_unit: TimeUnit, head: &[&[u8]]) -> Self;

    /// Takes the first line if it is a header. An error means that there must be one and it lacks something.
    fn header(&mut self, _line: &[u8]) -> Result<bool, Bad> {
        Ok(false)
    }

    /// Reads one line.
    fn parse(&mut self, line: &[u8]) -> Result<Raw, Bad>;

    /// Its scale of times, where they are whole numbers whose unit neither the format nor the user says.
    fn open_scale(&mut self) -> Option<&mut TimeScale> {
        None
    }

    /// Whether its times count from the beginning of the workload; otherwise the first request's is the origin.
    fn times_count_from_zero(&self) -> bool {
        false
    }

    /// Whether requests that could be read are plausible in this format, for telling twins apart.
    fn is_plausible(_sample: &[Raw]) -> bool {
        true
    }
}

/// A stream of recorded requests.
pub(crate) trait Records: Send {
    fn next(&mut self) -> Result<Option<Record>, WorkloadError>;
    fn report(&self) -> &SourceReport;
    /// Bytes of the file read so far and in all.
    fn progress(&self) -> Progress;
}

struct Entry {
    info: FormatInfo,
    recognises: fn(&[&[u8]]) -> bool,
    open: fn(Lines, ReadOptions) -> Result<Box<dyn Records>, WorkloadError>,
}

/// Opens a trace; `format` is a name of the list, or `auto` to recognise it by its contents.
pub(crate) fn open_trace(
    path: &Path,
    format: &str,
    options: ReadOptions,
) -> Result<Box<dyn Records>, WorkloadError> {
    open_input(Input::open(path)?, format, options)
}

/// Reads a trace from any stream of text, with addresses as recorded; `name` stands for the file in messages.
pub fn read_from(
    text: impl Read + Send + 'static,
    name: &str,
    format: &str,
    options: ReadOptions,
) -> Result<Box<dyn Source>, WorkloadError> {
    Ok(Box::new(AsRecorded(open_input(Input::from_reader(text, name), format, options)?)))
}

/// The same with devices.
#[cfg(test)]
pub(crate) fn open_records(
    text: impl Read + Send + 'static,
    name: &str,
    format: &str,
    options: ReadOptions,
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
        self.0.report().clone()
    }
}

/// Opens a trace that is already a stream of text.
fn open_input(input: Input, format: &str, options: ReadOptions) -> Result<Box<dyn Records>, WorkloadError> {
    check_name(format)?;
    let lines = Lines::new(input)?;
    let entry = match FORMATS.iter().find(|entry| entry.info.name == format) {
        Some(entry) => entry,
        None => recognise(&lines)?,
    };
    (entry.open)(lines, options)
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
fn recognise(lines: &Lines) -> Result<&'static Entry, WorkloadError> {
    let head = lines.head();
    if head.is_empty() {
        return Err(Problem::NoRequests { file: lines.file().to_string(), lines: 0, skipped: 0 }.into());
    }
    let fitting: Vec<&Entry> = FORMATS.iter().filter(|entry| (entry.recognises)(&head)).collect();
    match fitting.as_slice() {
        [one] => Ok(one),
        several => Err(Problem::FormatNotRecognised {
            file: lines.file().to_string(),
            found: printable(head[0]),
            candidates: several.iter().map(|entry| entry.info.name).collect(),
            allowed: FORMATS.iter().map(|entry| entry.info.name).collect(),
        }
        .into()),
    }
}

/// Whether at least half of the first lines, header aside, can be read as `F` with the right number of columns.
fn recognises<F: Format>(head: &[&[u8]]) -> bool {
    let mut format = F::new(TimeUnit::Auto, head);
    let Ok(has_header) = format.header(head[0]) else { return false };
    let rows = &head[usize::from(has_header)..];
    if rows.is_empty() {
        return has_header;
    }
    let (fewest, most) = F::RECOGNISED_COLUMNS;
    let has_right_width = |line: &[u8]| {
        let mut rest = fields::Fields::new(line, F::SEPARATOR);
        let mut columns = 0;
        while !rest.is_done() && columns <= most {
            columns += usize::from(rest.word("", "").is_ok());
        }
        (fewest..=most).contains(&columns)
    };
    let sample: Vec<Raw> = rows
        .iter()
        .filter(|line| line.len() <= LINE_BYTES_MAX && has_right_width(line))
        .filter_map(|line| format.parse(line).ok())
        .collect();
    sample.len() * 2 >= rows.len() && !sample.is_empty() && F::is_plausible(&sample)
}

fn open<F: Format>(lines: Lines, options: ReadOptions) -> Result<Box<dyn Records>, WorkloadError> {
    let mut format = F::new(options.time_unit, &lines.head());
    let assumed_unit = pace::assume(&mut format, &lines)?;
    let first_ns = format.times_count_from_zero().then_some(0);
    Ok(Box::new(Reader {
        lines,
        format,
        state: State {
            options,
            report: SourceReport { assumed_unit, ..SourceReport::default() },
            first_ns,
            last_ns: 0,
            pending: None,
            may_be_header: true,
        },
    }))
}

/// Reads a trace of format `F`: the damage policy, the order of time and everything else that formats share.
struct Reader<F> {
    lines: Lines,
    format: F,
    state: State,
}

struct State {
    options: ReadOptions,
    report: SourceReport,
    /// The origin of all times: that of the first request, unless the format has another.
    first_ns: Option<u64>,
    /// Time of the latest request, from that origin.
    last_ns: u64,
    /// The write whose flush has just been handed out.
    pending: Option<Record>,
    may_be_header: bool,
}

/// Longest time from the first request to the last: 2^62 ns (146 years), so that sums stay in range.
const SPAN_NS_MAX: u64 = 1 << 62;

impl<F: Format> Records for Reader<F> {
    fn next(&mut self) -> Result<Option<Record>, WorkloadError> {
        if let Some(record) = self.state.pending.take() {
            return Ok(Some(record));
        }
        while let Some(line) = self.lines.next()? {
            self.state.report.lines += 1;
            let bytes = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
            let parsed = if line.too_long || self.state.may_be_header {
                match first_line(&mut self.format, &mut self.state, bytes, line) {
                    Ok(true) => continue,
                    Ok(false) => self.format.parse(bytes),
                    Err(bad) => Err(bad),
                }
            } else {
                self.format.parse(bytes)
            };
            match parsed.and_then(|raw| self.state.accept(&raw)) {
                Ok(Some(record)) => {
                    self.state.report.last_line_unterminated |= !line.terminated;
                    return Ok(Some(record));
                }
                Ok(None) => {}
                Err(_) if bytes.trim_ascii().is_empty() => self.state.report.blank_lines += 1,
                Err(bad) => {
                    let line = Line { bytes, ..line };
                    let error = self.state.damaged(bad, line, F::SEPARATOR);
                    error.map_or(Ok(()), |problem| Err(name_file(problem, self.lines.file())))?;
                }
            }
        }
        if self.state.report.requests == 0 {
            return Err(Problem::NoRequests {
                file: self.lines.file().to_string(),
                lines: self.state.report.lines,
                skipped: self.state.report.skipped_total(),
            }
            .into());
        }
        Ok(None)
    }

    fn report(&self) -> &SourceReport {
        &self.state.report
    }

    fn progress(&self) -> Progress {
        self.lines.progress()
    }
}

/// Lines that are not simply parsed: a line that is too long, and the first one, which may be a header (true).
#[cold]
fn first_line<F: Format>(
    format: &mut F,
    state: &mut State,
    bytes: &[u8],
    line: Line<'_>,
) -> Result<bool, Bad> {
    if line.too_long {
        return Err(Bad {
            reason: BadReason::LineTooLong,
            column: "",
            allowed: "at most 65536 bytes",
            at: 0,
        });
    }
    if bytes.trim_ascii().is_empty() {
        // Counted as blank; the header may still come.
        return Err(Bad { reason: BadReason::MissingColumn, column: "", allowed: "", at: 0 });
    }
    state.may_be_header = false;
    format.header(bytes)
}

/// Puts the file's name into a problem with a line.
#[cold]
fn name_file(mut problem: Problem, name: &str) -> WorkloadError {
    if let Problem::BadLine { file, .. } = &mut problem {
        *file = name.to_string();
    }
    problem.into()
}

impl State {
    /// Puts a request in order; `None` if there is nothing left of it.
    #[inline]
    fn accept(&mut self, raw: &Raw) -> Result<Option<Record>, Bad> {
        let first = *self.first_ns.get_or_insert(raw.time_ns);
        let mut arrival_ns = raw.time_ns.saturating_sub(first);
        if raw.time_ns < first + self.last_ns {
            self.step_back(first + self.last_ns - raw.time_ns)?;
            arrival_ns = self.last_ns;
        } else if arrival_ns > SPAN_NS_MAX {
            let allowed = "at most 2^62 ns (146 years) after the first request";
            return Err(Bad { reason: BadReason::TooLarge, column: "time", allowed, at: 0 });
        }
        self.last_ns = arrival_ns;
        self.report.rounded_to_sectors += u64::from(raw.rounded);
        let request = Request {
            arrival_ns,
            op: raw.op,
            fua: raw.fua,
            lba: raw.lba,
            sectors: raw.sectors,
            hints: raw.hints,
        };
        let record = Record { request, device: raw.device };
        if raw.sectors == 0 || raw.flush_before {
            return Ok(self.flush_or_nothing(record, raw.flush_before));
        }
        self.report.requests += 1;
        Ok(Some(record))
    }

    /// A request of no length, or one with a flush before it.
    #[cold]
    fn flush_or_nothing(&mut self, record: Record, flush_before: bool) -> Option<Record> {
        let is_flush = record.request.op == OpCode::Flush;
        if record.request.sectors > 0 {
            self.pending = Some(record);
            self.report.requests += 1;
        } else if !flush_before && !is_flush {
            self.report.zero_length += 1;
            return None;
        }
        self.report.requests += 1;
        let flush = Request { op: OpCode::Flush, lba: 0, sectors: 0, fua: false, ..record.request };
        Some(Record { request: flush, device: record.device })
    }

    #[cold]
    fn step_back(&mut self, by_ns: u64) -> Result<(), Bad> {
        if self.options.on_time_step_back == OnTimeStepBack::Error {
            let allowed = "a time not before the one above (on_time_step_back = \"clamp\" would move it)";
            return Err(Bad { reason: BadReason::TimeStepBack, column: "", allowed, at: 0 });
        }
        self.report.time_steps_back += 1;
        self.report.time_step_back_ns_max = self.report.time_step_back_ns_max.max(by_ns);
        Ok(())
    }

    /// Counts a damaged line, or makes the error of it.
    #[cold]
    fn damaged(&mut self, bad: Bad, line: Line<'_>, separator: u8) -> Option<Problem> {
        let number = self.report.lines;
        let is_header = bad.reason == BadReason::BadHeader;
        let is_order = bad.reason == BadReason::TimeStepBack;
        let is_cut = !line.terminated && !is_header && !is_order && !line.too_long;
        let reason = if is_cut { BadReason::CutAtEnd } else { bad.reason };
        self.report.last_line_unterminated |= !line.terminated;
        if self.options.on_bad_line == OnBadLine::Skip && !is_header {
            self.report.skip(reason, number);
            return None;
        }
        let whole = bad.column.is_empty() || is_header;
        let found = if whole { line.bytes } else { column_at(line.bytes, bad.at, separator) };
        Some(Problem::BadLine {
            file: String::new(),
            line: number,
            column: bad.column,
            reason,
            found: printable(found),
            allowed: bad.allowed.to_string(),
        })
    }
}

#[cfg(test)]
mod tests;
