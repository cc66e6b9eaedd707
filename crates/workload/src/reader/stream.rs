//! A trace as a stream of records: the damage policy, the order of time and everything else that formats share.

use super::detect::Fit;
use super::fields::{Bad, column_at};
use super::files::Files;
use super::format::{Format, Known, Order, Raw, Records, Row};
use super::names::Names;
use super::options::{OnBadLine, OnTimeStepBack, ReadOptions};
use super::pace;
use super::volumes::Volumes;
use super::window::Window;
use crate::base::error::{Problem, WorkloadError, printable};
use crate::base::findings::BadReason;
use crate::base::input::bytes::Progress;
use crate::base::input::lines::{Cut, LINE_ALLOWED, Line, is_blank};
use crate::base::remark::Remark;
use crate::base::report::{NAMES_SHOWN, SourceReport};
use crate::base::request::{Record, Request};
use ssd::signals::OpCode;

/// Longest time from the first request to the last: 2^62 ns (146 years), so that sums stay in range.
const SPAN_NS_MAX: u64 = 1 << 62;
const SPAN_ALLOWED: &str = "at most 2^62 ns (146 years) after the first request";

/// Opens a trace as one of format `F`.
pub(super) fn open<F: Format>(
    files: Files,
    options: &ReadOptions,
    fit: Option<Fit>,
) -> Result<Box<dyn Records>, WorkloadError> {
    let head = files.head(F::CUT);
    let evidence = pace::evidence(F::new(options, &head), &head, files.file())?;
    let mut format = F::new(options, &head);
    if let Some(assumed) = &evidence.assumed {
        pace::set(&mut format, assumed);
    }
    let order = format.order();
    let assumed = format.assumed().map(|(text, to_do)| Remark::caution(text).advising(to_do));
    let report = SourceReport {
        detected: fit,
        assumed: evidence.assumed,
        too_fast: evidence.too_fast,
        has_no_times: !format.has_times(),
        spread_over_seconds: order == Order::Spread,
        notes: files.notes().into_iter().chain(assumed).collect(),
        is_binary: F::CUT.is_binary(),
        ..SourceReport::default()
    };
    let state = State {
        on_bad_line: options.on_bad_line,
        on_time_step_back: options.on_time_step_back,
        report,
        first_ns: format.times_count_from_zero().then_some(0),
        last_ns: 0,
        pending: None,
        may_be_header: true,
        after_zeros: false,
    };
    let reader = Reader { files, format, state };
    Ok(match Window::new(order) {
        None => Box::new(reader),
        Some(window) => Box::new(Sorter { reader, window, first_read: None, end: None }),
    })
}

/// Reads a trace of format `F` whose lines stand in order.
struct Reader<F> {
    files: Files,
    format: F,
    state: State,
}

struct State {
    on_bad_line: OnBadLine,
    on_time_step_back: OnTimeStepBack,
    report: SourceReport,
    /// The origin of all times: that of the first request, unless the format has another.
    first_ns: Option<u64>,
    /// Time of the latest request, from that origin.
    last_ns: u64,
    /// The write whose flush has just been handed out.
    pending: Option<Record>,
    may_be_header: bool,
    /// Lines of zeros were passed over, and no other has come since.
    after_zeros: bool,
}

impl<F: Format> Reader<F> {
    /// Reads lines until `take` makes something of a request; `None` at the end.
    #[inline]
    fn read<T>(
        &mut self,
        mut take: impl FnMut(&mut State, &Raw) -> Result<Option<T>, Bad>,
    ) -> Result<Option<T>, WorkloadError> {
        while let Some(line) = self.files.next(F::CUT, |line| self.format.line_goes_on(line))? {
            self.state.report.lines += line.lines;
            let bytes = match F::CUT {
                Cut::Lines => line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes),
                Cut::Records(_) => line.bytes,
            };
            let parsed = if line.too_long || self.state.may_be_header || self.state.after_zeros {
                match first_line(&mut self.format, &mut self.state, bytes, line) {
                    Ok(true) => continue,
                    Ok(false) => self.format.parse(bytes),
                    Err(bad) => Err(bad),
                }
            } else {
                self.format.parse(bytes)
            };
            let taken = match parsed {
                Ok(Row::Request(raw)) => take(&mut self.state, &raw),
                Ok(Row::Other(what)) => {
                    self.state.report.pass_over(what);
                    Ok(None)
                }
                Err(bad) => Err(bad),
            };
            match taken {
                Ok(taken) => {
                    self.state.report.last_line_unterminated |= !line.terminated;
                    if taken.is_some() {
                        return Ok(taken);
                    }
                }
                Err(_) if is_blank(bytes) && !(F::CUT.is_binary() && line.terminated) => {
                    self.state.blank(bytes, line.terminated);
                }
                Err(bad) => {
                    let line = Line { bytes, ..line };
                    let error = self.state.damaged(bad, line, self.format.separator());
                    error.map_or(Ok(()), |problem| Err(name_place(problem, &self.files)))?;
                }
            }
        }
        Ok(None)
    }

    /// The end of the trace: an error if there was nothing in it.
    #[cold]
    fn end(&self) -> Result<Option<Record>, WorkloadError> {
        if self.state.report.requests > 0 {
            return Ok(None);
        }
        Err(Problem::NoRequests {
            file: self.files.file().to_string(),
            lines: self.state.report.lines,
            skipped: self.state.report.skipped_total(),
            passed_over: self.state.report.passed_over.clone(),
        }
        .into())
    }
}

impl<F: Format> Records for Reader<F> {
    fn next(&mut self) -> Result<Option<Record>, WorkloadError> {
        if let Some(record) = self.state.pending.take() {
            return Ok(Some(record));
        }
        match self.read(State::accept)? {
            Some(record) => Ok(Some(record)),
            None => self.end(),
        }
    }

    fn report(&self) -> SourceReport {
        let Known { files, devices } = self.format.known();
        let names = |names: Option<&Names>| names.map(|names| names.first(NAMES_SHOWN)).unwrap_or_default();
        SourceReport {
            processes: names(self.format.processes()),
            files: names(files),
            device_names: devices,
            renumbered: self.format.volumes().map(Volumes::renumbered).unwrap_or_default(),
            ..self.state.report.clone()
        }
    }

    fn device(&self, device: u64) -> Option<u16> {
        match self.format.volumes() {
            Some(volumes) => volumes.number_of(device),
            None => u16::try_from(device).ok(),
        }
    }

    fn process(&self, id: u32) -> Option<&[u8]> {
        self.format.processes()?.name(id)
    }

    fn progress(&self) -> Progress {
        self.files.progress()
    }
}

/// Reads one whose lines do not: they wait in a window.
struct Sorter<F> {
    reader: Reader<F>,
    window: Window,
    /// Time of the first line.
    first_read: Option<u64>,
    /// How reading ended; an error waits until what was read before it is handed out.
    end: Option<Option<WorkloadError>>,
}

impl<F: Format> Sorter<F> {
    /// Reads until the window is full or the trace at its end.
    fn fill(&mut self) {
        let Sorter { reader, window, first_read, .. } = self;
        let read = reader.read(|state, raw| {
            let first = *first_read.get_or_insert(raw.time_ns);
            if raw.time_ns.abs_diff(first) > SPAN_NS_MAX / 2 {
                return Err(Bad {
                    reason: BadReason::TooLarge,
                    column: "time",
                    allowed: SPAN_ALLOWED,
                    at: 0,
                });
            }
            let late = window.too_late_by(raw.time_ns);
            if late > 0 {
                state.step_back(late)?;
            }
            window.push(raw);
            Ok(window.is_full().then_some(()))
        });
        match read {
            Ok(Some(())) => {}
            Ok(None) => self.end = Some(None),
            Err(error) => self.end = Some(Some(error)),
        }
    }
}

impl<F: Format> Records for Sorter<F> {
    fn next(&mut self) -> Result<Option<Record>, WorkloadError> {
        if let Some(record) = self.reader.state.pending.take() {
            return Ok(Some(record));
        }
        loop {
            if self.end.is_none() && !self.window.is_full() {
                self.fill();
            }
            let Some(raw) = self.window.pop() else { break };
            // Times are in order and in range here.
            if let Ok(Some(record)) = self.reader.state.accept(&raw) {
                return Ok(Some(record));
            }
        }
        match self.end.replace(None).flatten() {
            Some(error) => Err(error),
            None => self.reader.end(),
        }
    }

    fn report(&self) -> SourceReport {
        SourceReport { sorted: self.window.out_of_order, ..self.reader.report() }
    }

    fn device(&self, device: u64) -> Option<u16> {
        self.reader.device(device)
    }

    fn process(&self, id: u32) -> Option<&[u8]> {
        self.reader.process(id)
    }

    fn progress(&self) -> Progress {
        self.reader.progress()
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
        return Err(Bad { reason: BadReason::LineTooLong, column: "", allowed: LINE_ALLOWED, at: 0 });
    }
    if is_blank(bytes) {
        // Counted as blank; the header may still come.
        return Err(Bad { reason: BadReason::MissingColumn, column: "", allowed: "", at: 0 });
    }
    if std::mem::take(&mut state.after_zeros) && state.on_bad_line == OnBadLine::Error {
        let allowed = "zeros at the end of a file only, which was cut there; or --skip-bad-lines";
        return Err(Bad { reason: BadReason::ZeroBytes, column: "", allowed, at: 0 });
    }
    if !std::mem::take(&mut state.may_be_header) {
        return Ok(false);
    }
    format.header(bytes)
}

/// Puts the file's name into a problem with a line, and where in it a record begins.
#[cold]
fn name_place(mut problem: Problem, files: &Files) -> WorkloadError {
    if let Problem::BadLine { file, byte, .. } = &mut problem {
        *file = files.file().to_string();
        *byte = byte.map(|length| files.place() - length);
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
            return Err(Bad { reason: BadReason::TooLarge, column: "time", allowed: SPAN_ALLOWED, at: 0 });
        }
        self.last_ns = arrival_ns;
        self.report.rounded_to_sectors += u64::from(raw.range.rounded);
        let request = Request {
            arrival_ns,
            op: raw.op,
            fua: raw.fua,
            lba: raw.range.lba,
            sectors: raw.range.sectors,
            hints: raw.hints,
        };
        let record = Record { request, device: raw.device };
        if raw.range.sectors == 0 || raw.flush_before {
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

    /// Counts a line that holds nothing, or nothing but zeros: data that was lost.
    #[cold]
    fn blank(&mut self, bytes: &[u8], terminated: bool) {
        if bytes.contains(&0) {
            self.after_zeros = terminated;
            self.report.skip(BadReason::ZeroBytes, self.report.lines);
        } else {
            self.report.blank_lines += 1;
        }
    }

    #[cold]
    fn step_back(&mut self, by_ns: u64) -> Result<(), Bad> {
        if self.on_time_step_back == OnTimeStepBack::Error {
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
        let is_binary = self.report.is_binary;
        self.report.last_line_unterminated |= !line.terminated && !is_binary;
        if self.on_bad_line == OnBadLine::Skip && !is_header {
            self.report.skip(reason, number);
            return None;
        }
        let whole = bad.column.is_empty() || is_header;
        let found = match (whole, is_binary) {
            (true, _) => line.bytes,
            (false, true) => line.bytes.get(bad.at..).unwrap_or_default(),
            (false, false) => column_at(line.bytes, bad.at, separator),
        };
        Some(Problem::BadLine {
            file: String::new(),
            line: number,
            byte: is_binary.then_some(line.bytes.len() as u64),
            column: bad.column,
            reason,
            found: printable(found),
            allowed: bad.allowed.to_string(),
        })
    }
}
