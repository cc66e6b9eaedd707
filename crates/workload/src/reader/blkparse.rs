//! Block traces of Linux as `blkparse` prints them, or as CSV with a header: one line per event, with process names.

use super::fields::{Bad, Fields, Number, Range, TimeScale, Units};
use super::layout::{Layout, Use, Used, Word};
use super::names::{DeviceNumbers, Names};
use super::{Column, Event, Format, Known, Raw, ReadOptions, Row};
use crate::error::BadReason;
use ssd::signals::{Hints, OpCode};

/// Columns of the CSV that are used.
const USED: &[Used] = &[
    ("Device_Major_Number", Use::Device, false),
    ("Device_Minor_Number", Use::Minor, false),
    ("Timestamp_nanoseconds", Use::Time, true),
    ("Trace_Action", Use::Event, true),
    ("OperationType", Use::Operation, true),
    ("SectorNumber", Use::Address, true),
    ("IO_Size", Use::Size, true),
    ("ProcessName", Use::Process, false),
];
/// The usual order of the CSV.
const CSV_HEADER: &[u8] =
    b"Device_Major_Number,Device_Minor_Number,CPU_Core_ID,Record_ID,Timestamp_nanoseconds,\
    ProcessID,Trace_Action,OperationType,SectorNumber,IO_Size,ProcessName";

/// How lines of the summary at the end begin, blanks aside (blkparse.c of blktrace 1.3: what it prints).
const SUMMARY_STARTS: [&[u8]; 14] = [
    b"CPU",
    b"Total (",
    b"Reads ",
    b"Read ",
    b"Write",
    b"IO unplugs",
    b"PC Read",
    b"PC Write",
    b"Throughput (",
    b"Events (",
    b"Skips:",
    b"Input file",
    b"Timer unplugs",
    b"Allocation wait",
];

/// Letters of events, and what to call a line of each that is not taken for a request.
const EVENTS: [(&[u8], &str); 20] = [
    (b"Q", "events Q (queued)"),
    (b"D", "events D (dispatched)"),
    (b"C", "events C (completed)"),
    (b"G", "events G (request made)"),
    (b"I", "events I (inserted)"),
    (b"P", "events P (plugged)"),
    (b"U", "events U (unplugged)"),
    (b"UT", "events UT (unplugged by timer)"),
    (b"T", "events T (unplugged by timer)"),
    (b"M", "events M (merged at the back)"),
    (b"F", "events F (merged in front)"),
    (b"X", "events X (split)"),
    (b"A", "events A (remapped)"),
    (b"B", "events B (bounced)"),
    (b"R", "events R (requeued)"),
    (b"S", "events S (waited for a request)"),
    (b"m", "messages"),
    (b"N", "events N (notes)"),
    (b"a", "events a (aborted)"),
    (b"u", "events u (unknown)"),
];
pub(super) const NO_DATA: &str = "events that move no data";
pub(super) const PASSED_THROUGH: &str = "SCSI commands passed through";

/// Reads lines such as `8,16 5 1 0.000000000 18046 Q RM 488386593 + 1 [java]`.
pub(crate) struct Blkparse {
    scale: TimeScale,
    units: Units,
    /// The letter of the events that are requests.
    event: &'static [u8],
    /// Of a CSV.
    layout: Option<Layout>,
    processes: Names,
    devices: DeviceNumbers,
}

impl Format for Blkparse {
    const SUMMARY: &'static str = "Text as printed by blkparse by default, one line per event, or CSV with \
                                   a header (columns are found by name; its \"nanoseconds\" are decimal \
                                   seconds). Requests are the Q events, or D events if the first lines \
                                   have no Q; `event` selects others: Q is what the file system asked for, \
                                   D what the drive got. Other events and the summary at the end are \
                                   counted. In RWBS, F before the operation's letter is a flush before it, \
                                   F after it forced unit access; D is a trim. The process name, numbered by \
        first appearance, is the process hint (events C have none); a device is a major and a minor \
        number, numbered the same way.";
    const SOURCE: &'static str = "Axboe, Brunelle: blktrace User Guide (2007); blkparse(1); Yadgar et al., SNIA \
        IOTTA, YCSB RocksDB SSD traces (the CSV's columns)";
    const COLUMNS: &'static [Column] = &[
        Column { name: "device", unit: "major,minor", used_for: "device, stream hint" },
        Column { name: "cpu, sequence", unit: "", used_for: "" },
        Column { name: "time", unit: "s, decimal", used_for: "arrival" },
        Column { name: "pid", unit: "", used_for: "" },
        Column { name: "action", unit: "Q, D, C, ...", used_for: "which events are requests" },
        Column { name: "RWBS", unit: "letters", used_for: "operation, flush, forced unit access" },
        Column { name: "sector", unit: "512-byte sectors", used_for: "address" },
        Column { name: "+ sectors", unit: "512-byte sectors", used_for: "length" },
        Column { name: "process", unit: "a name in brackets", used_for: "process hint" },
    ];
    const SAMPLE: &'static [u8] =
        b"  8,16   5        1     0.000000000 18046  Q  RM 488386593 + 1 [DataXceiver for]\n  \
           8,16   5        2     0.000005724 18046  G  RM 488386593 + 1 [DataXceiver for]\n  \
           8,16   7      178    18.209005123 16977  Q  WS 6464 + 32 [xfsaild/sdb]\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (2, 64);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let mut format = Blkparse {
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: Units::SECTORS.or_named(options.address_unit),
            event: b"",
            layout: None,
            processes: Names::default(),
            devices: DeviceNumbers::default(),
        };
        let is_csv = head.iter().take(2).any(|line| line.iter().filter(|&&b| b == b',').count() >= 7);
        if is_csv {
            let headers = [head[0], CSV_HEADER];
            format.layout = headers.into_iter().find_map(|line| Layout::of(line, b',', USED, "").ok());
        }
        format.event = event_to_read(options.event, |event| {
            head.iter().any(|line| format.event_of(line).is_ok_and(|found| found.text == event))
        });
        let has_rows = head.iter().any(|line| format.event_of(line).is_ok());
        if let Some(layout) = &mut format.layout {
            layout.has_rows = has_rows;
        }
        format
    }

    fn kind(&self) -> &'static str {
        match self.layout {
            Some(_) => "a block trace's events as CSV, such as SNIA's of RocksDB",
            None => "blkparse's text",
        }
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let Some(layout) = &mut self.layout else { return Ok(false) };
        let allowed =
            "a header with Timestamp_nanoseconds, Trace_Action, OperationType, SectorNumber and IO_Size";
        layout.take_header(line, b',', USED, allowed)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        if self.layout.is_some() { self.parse_csv(line) } else { self.parse_text(line) }
    }

    fn separator(&self) -> u8 {
        if self.layout.is_some() { b',' } else { b' ' }
    }

    fn processes(&self) -> Option<&Names> {
        Some(&self.processes)
    }

    fn known(&self) -> Known<'_> {
        Known { devices: self.devices.names(), ..Known::default() }
    }
}

/// The letter of the events that are requests: where nobody says which, the first that `is_there` of queued, dispatched
/// and completed.
pub(super) fn event_to_read(event: Event, is_there: impl Fn(&[u8]) -> bool) -> &'static [u8] {
    match event {
        Event::Auto => [&b"Q"[..], b"D", b"C"].into_iter().find(|letter| is_there(letter)).unwrap_or(b"Q"),
        named => named.name().as_bytes(),
    }
}

/// What to call an event that is not taken for a request.
#[inline]
pub(super) fn called(letter: &[u8]) -> Option<&'static str> {
    EVENTS.iter().find(|(known, _)| *known == letter).map(|(_, what)| *what)
}

/// What a line says of a request.
struct Asked<'a> {
    time_ns: u64,
    rwbs: Word<'a>,
    device: (u64, u64, usize),
    range: Range,
    process: &'a [u8],
}

impl Blkparse {
    /// The event of a line.
    fn event_of<'a>(&self, line: &'a [u8]) -> Result<Word<'a>, Bad> {
        match &self.layout {
            Some(layout) => Ok(layout.read(line, b',', self.scale)?.event),
            None => {
                let mut fields = Fields::new(line, b' ');
                for column in ["device", "cpu", "sequence", "time", "pid"] {
                    fields.skip(column)?;
                }
                let at = fields.position();
                Ok(Word { text: fields.word("action", "an event")?, column: "action", at })
            }
        }
    }

    fn parse_csv(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let Some(layout) = &self.layout else { return Ok(Row::Other(NO_DATA)) };
        let cells = layout.read(line, b',', self.scale)?;
        if cells.event.text != self.event {
            return other(&cells.event);
        }
        let range = self.units.range(cells.address, cells.size)?;
        let process = cells.process.strip_prefix(b"[").unwrap_or(cells.process);
        let process = process.strip_suffix(b"]").unwrap_or(process);
        let device = (cells.device.value, cells.minor.value, cells.device.at);
        self.request(&Asked { time_ns: cells.time_ns, rwbs: cells.op, device, range, process })
    }

    #[inline]
    fn parse_text(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, b' ');
        let device_at = fields.position();
        if line.get(device_at).is_some_and(u8::is_ascii_alphabetic) {
            return summary(line, device_at);
        }
        let device = fields.word("device", "major,minor such as 8,16")?;
        fields.skip("cpu")?;
        fields.skip("sequence")?;
        let time_at = fields.position();
        fields.skip("time")?;
        fields.skip("pid")?;
        let at = fields.position();
        let event = Word { text: fields.word("action", "an event such as Q")?, column: "action", at };
        if event.text != self.event {
            return other(&event);
        }
        let time_ns = Fields::from(line, b' ', time_at).time("time", self.scale)?;
        let (major, minor) = two_numbers(device, device_at)?;
        let at = fields.position();
        let rwbs = Word { text: fields.word("RWBS", "letters such as RA")?, column: "RWBS", at };
        let bracket = |fields: &Fields<'_>| line.get(fields.position()) == Some(&b'[');
        let mut sector = Number { column: "sector", at: fields.position(), ..Default::default() };
        let mut sectors = Number { column: "sectors", ..sector };
        if !bracket(&fields) {
            sector = fields.placed("sector")?;
            match line.get(fields.position()) {
                Some(b'(') => return Ok(Row::Other(PASSED_THROUGH)),
                Some(b'[') => {}
                _ => {
                    let at = fields.position();
                    if fields.word("+", "+ and a number of sectors")? != b"+" {
                        return Err(fields.refuse(
                            BadReason::NotANumber,
                            "+",
                            "+ and a number of sectors",
                            at,
                        ));
                    }
                    sectors = fields.placed("sectors")?;
                }
            }
        }
        let range = self.units.range(sector, sectors)?;
        let process =
            if self.event == b"C" { b"" } else { bracketed(&line[fields.position().min(line.len())..]) };
        self.request(&Asked { time_ns, rwbs, device: (major, minor, device_at), range, process })
    }

    #[inline]
    fn request(&mut self, asked: &Asked<'_>) -> Result<Row, Bad> {
        let Some((op, flush_before, fua)) = operation(&asked.rwbs)? else { return Ok(Row::Other(NO_DATA)) };
        if asked.range.sectors == 0 && !flush_before && op != OpCode::Flush {
            return Ok(Row::Other(NO_DATA));
        }
        let (major, minor, at) = asked.device;
        let allowed = "one of at most 256 devices";
        let too_many = || Bad { reason: BadReason::TooLarge, column: "device", allowed, at };
        let device = self.devices.id(&(major, minor)).ok_or_else(too_many)?;
        // What blkparse prints for a process whose name is not in the trace.
        let process = if asked.process == b"(null)" { 0 } else { self.processes.id(asked.process) };
        let mut raw = Raw::new(asked.time_ns, op, device, asked.range);
        if op == OpCode::Flush {
            raw.range.sectors = 0;
        }
        let hints = Hints { stream: device, process, ..Hints::default() };
        Ok(Row::Request(Raw { fua, flush_before, hints, ..raw }))
    }
}

/// What RWBS asks for: operation, whether a flush comes first, forced unit access; `None` if it moves no data.
///
/// Letters in the order in which the kernel and blkparse put them: F (flush first), the operation (R, W, D discard, N
/// none, F flush), then E (erase), F (forced unit access), A (read-ahead), S (synchronous), M (metadata), B (barrier).
#[inline]
pub(super) fn operation(rwbs: &Word<'_>) -> Result<Option<(OpCode, bool, bool)>, Bad> {
    let (flush_before, rest) = match rwbs.text {
        [b'F', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let (op, flags) = match rest {
        [b'R', flags @ ..] => (OpCode::Read, flags),
        [b'W', flags @ ..] => (OpCode::Write, flags),
        [b'D', flags @ ..] => (OpCode::Trim, flags),
        // A flush with nothing behind it.
        [b'N' | b'F', flags @ ..] if flush_before => (OpCode::Flush, flags),
        [] if flush_before => (OpCode::Flush, rest),
        [b'N', ..] => return Ok(None),
        _ => {
            let allowed = "R, W, D or N, after F or alone, and then flags of FASMBE";
            return Err(rwbs.refuse(BadReason::UnknownOperation, allowed));
        }
    };
    if flags.iter().any(|flag| !b"FASMBEU".contains(flag)) {
        return Err(rwbs.refuse(BadReason::UnknownOperation, "R, W, D or N, and then flags of FASMBE"));
    }
    Ok(Some((op, flush_before && op != OpCode::Flush, flags.contains(&b'F'))))
}

/// A line of another event than the one that is asked for.
#[inline]
fn other(event: &Word<'_>) -> Result<Row, Bad> {
    match called(event.text) {
        Some(what) => Ok(Row::Other(what)),
        None => Err(event.refuse(BadReason::UnknownOperation, "an event of blktrace such as Q, D or C")),
    }
}

/// A line that begins with a letter: one of the summary, or damaged.
#[cold]
fn summary(line: &[u8], at: usize) -> Result<Row, Bad> {
    if SUMMARY_STARTS.iter().any(|start| line[at..].starts_with(start)) {
        return Ok(Row::Other("lines of the summary"));
    }
    let allowed = "major,minor such as 8,16, or a line of the summary";
    Err(Bad { reason: BadReason::NotANumber, column: "device", allowed, at })
}

/// `8,16` as two numbers.
#[inline]
fn two_numbers(device: &[u8], at: usize) -> Result<(u64, u64), Bad> {
    let mut numbers = Fields::new(device, b',');
    let both = numbers.number("device").and_then(|major| Ok((major, numbers.number("device")?)));
    match both {
        Ok(both) if numbers.is_done() => Ok(both),
        _ => {
            let allowed = "major,minor such as 8,16";
            Err(Bad { reason: BadReason::NotANumber, column: "device", allowed, at })
        }
    }
}

/// What stands between the brackets of the rest of a line.
#[inline]
fn bracketed(rest: &[u8]) -> &[u8] {
    let Some(from) = memchr::memchr(b'[', rest) else { return b"" };
    let inner = &rest[from + 1..];
    &inner[..memchr::memrchr(b']', inner).unwrap_or(inner.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_operation_flush_and_forced_access() {
        let of = |text: &str| operation(&Word { text: text.as_bytes(), column: "RWBS", at: 0 });
        for (text, expected) in [
            ("R", Some((OpCode::Read, false, false))),
            ("RA", Some((OpCode::Read, false, false))),
            ("WSM", Some((OpCode::Write, false, false))),
            ("FWFSM", Some((OpCode::Write, true, true))),
            ("FWS", Some((OpCode::Write, true, false))),
            ("WFS", Some((OpCode::Write, false, true))),
            ("D", Some((OpCode::Trim, false, false))),
            ("DE", Some((OpCode::Trim, false, false))),
            ("F", Some((OpCode::Flush, false, false))),
            ("FN", Some((OpCode::Flush, false, false))),
            ("FFS", Some((OpCode::Flush, false, false))),
            ("N", None),
        ] {
            assert_eq!(of(text), Ok(expected), "{text}");
        }
        for text in ["", "X", "RX", "AR", "W5"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
