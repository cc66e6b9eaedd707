//! Block traces of Linux as `blkparse` prints them, or as CSV with a header: one line per event, with process names.

use super::events::{Asked, NO_DATA, PASSED_THROUGH, Requests, bracketed, event_to_read, other, two_numbers};
use super::fields::{Bad, Fields, Number, TimeScale, Units};
use super::format::{Column, Format, Known, Row};
use super::layout::{Layout, Use, Used, Word};
use super::names::Names;
use super::options::ReadOptions;
use crate::base::findings::BadReason;

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

/// Reads lines such as `8,16 5 1 0.000000000 18046 Q RM 488386593 + 1 [java]`.
pub(crate) struct Blkparse {
    scale: TimeScale,
    units: Units,
    requests: Requests,
    /// Of a CSV.
    layout: Option<Layout>,
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
            requests: Requests::default(),
            layout: None,
        };
        let is_csv = head.iter().take(2).any(|line| line.iter().filter(|&&b| b == b',').count() >= 7);
        if is_csv {
            let headers = [head[0], CSV_HEADER];
            format.layout = headers.into_iter().find_map(|line| Layout::of(line, b',', USED, "").ok());
        }
        format.requests.event = event_to_read(options.event, |event| {
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
        Some(&self.requests.processes)
    }

    fn known(&self) -> Known<'_> {
        Known { devices: self.requests.devices.names(), ..Known::default() }
    }
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
        if cells.event.text != self.requests.event {
            return other(&cells.event);
        }
        let range = self.units.range(cells.address, cells.size)?;
        let process = cells.process.strip_prefix(b"[").unwrap_or(cells.process);
        let process = process.strip_suffix(b"]").unwrap_or(process);
        let device = (cells.device.value, cells.minor.value, cells.device.at);
        self.requests.request(&Asked { time_ns: cells.time_ns, rwbs: cells.op, device, range, process })
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
        if event.text != self.requests.event {
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
        let process = if self.requests.event == b"C" {
            b""
        } else {
            bracketed(&line[fields.position().min(line.len())..])
        };
        self.requests.request(&Asked { time_ns, rwbs, device: (major, minor, device_at), range, process })
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
