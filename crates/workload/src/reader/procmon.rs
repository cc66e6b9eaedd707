//! What Process Monitor of Windows saves as CSV: operations on files, with the details in words.

use super::fields::{Bad, Fields, Number, TimeScale, Units};
use super::format::{Column, Format, Known, Order, Raw, Row};
use super::names::Names;
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use ssd::signals::{Hints, OpCode};

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Time,
    Process,
    Operation,
    Path,
    Result,
    Detail,
    Nothing,
}

const USED: [(&str, Use); 6] = [
    ("Time of Day", Use::Time),
    ("Process Name", Use::Process),
    ("Operation", Use::Operation),
    ("Path", Use::Path),
    ("Result", Use::Result),
    ("Detail", Use::Detail),
];
const DAY_NS: u64 = 86_400_000_000_000;
const HALF_DAY_NS: u64 = DAY_NS / 2;
const TIME_ALLOWED: &str = "a time of day such as 10:32:01.1234567 AM, or 22:32:01.1234567";

/// Reads lines such as `"10:32:01.1234567 AM","a.exe","4","ReadFile","C:\a","SUCCESS","Offset: 0, Length: 4,096"`.
pub(crate) struct Procmon {
    units: Units,
    columns: Vec<(&'static str, Use)>,
    files: Names,
    processes: Names,
    /// Days that have gone by, and the latest time of day.
    days: u64,
    latest_ns: u64,
}

impl Format for Procmon {
    const SUMMARY: &'static str = "CSV of Process Monitor (Sysinternals), with its header; columns are \
         found by name. ReadFile and WriteFile that succeeded are requests, FlushBuffersFile is a flush; other \
         operations are counted. Each path is a separate device, and the file hint; the process name is the process \
         hint. These are requests to files: to have only what reached a drive, filter for details with Non-cached \
         before saving.";
    const SOURCE: &'static str = "Russinovich: Process Monitor (Sysinternals)";
    const COLUMNS: &'static [Column] = &[
        Column { name: "Time of Day", unit: "h:mm:ss, decimal, AM or PM", used_for: "arrival" },
        Column { name: "Process Name", unit: "a name", used_for: "process hint" },
        Column { name: "PID", unit: "", used_for: "" },
        Column { name: "Operation", unit: "ReadFile, WriteFile, ...", used_for: "operation" },
        Column { name: "Path", unit: "a name", used_for: "device, file hint" },
        Column { name: "Result", unit: "SUCCESS or another", used_for: "which are requests" },
        Column { name: "Detail", unit: "Offset: bytes, Length: bytes", used_for: "address, length" },
    ];
    const SAMPLE: &'static [u8] =
        b"\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\",\"Result\",\"Detail\"\n\
          \"10:32:01.1234567 AM\",\"a.exe\",\"4\",\"ReadFile\",\"C:\\a\",\"SUCCESS\",\"Offset: 4,096, Length: 512\"\n\
          \"10:32:01.1236001 AM\",\"a.exe\",\"4120\",\"WriteFile\",\"C:\\b\",\"SUCCESS\",\"Offset: 0, Length: 512\"\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (6, 64);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        Procmon {
            units: Units::BYTES.or_named(options.address_unit),
            columns: Vec::new(),
            files: Names::default(),
            processes: Names::default(),
            days: 0,
            latest_ns: 0,
        }
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        while !fields.is_done() {
            let name = fields.word("", "a name")?;
            let known = USED.into_iter().find(|(known, _)| known.as_bytes() == name);
            self.columns.push(known.unwrap_or(("", Use::Nothing)));
        }
        match USED.iter().find(|used| !self.columns.contains(used)) {
            None => Ok(true),
            Some(&(column, _)) => {
                let allowed = "a header with Time of Day, Process Name, Operation, Path, Result and Detail";
                Err(Bad { reason: BadReason::BadHeader, column, allowed, at: 0 })
            }
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let (mut time, mut detail) = ((&b""[..], 0), (&b""[..], 0));
        let (mut process, mut operation, mut path, mut result) = (&b""[..], &b""[..], &b""[..], &b""[..]);
        for &(column, what) in &self.columns {
            let at = fields.position();
            let word = fields.word(column, "a column as in the header")?;
            match what {
                Use::Time => time = (word, at),
                Use::Process => process = word,
                Use::Operation => operation = word,
                Use::Path => path = word,
                Use::Result => result = word,
                Use::Detail => detail = (word, at),
                Use::Nothing => {}
            }
        }
        let of_day_ns = time_of_day(time.0, time.1)?;
        let op = match operation {
            b"ReadFile" => OpCode::Read,
            b"WriteFile" => OpCode::Write,
            b"FlushBuffersFile" => OpCode::Flush,
            _ => return Ok(Row::Other("other operations")),
        };
        if result != b"SUCCESS" {
            return Ok(Row::Other("operations that failed"));
        }
        let (offset, length) = match op {
            OpCode::Flush => (Number::default(), Number::default()),
            _ => (named("Offset: ", detail.0, detail.1)?, named("Length: ", detail.0, detail.1)?),
        };
        let range = self.units.range(offset, length)?;
        let file = self.files.id(path);
        let allowed = "one of at most 65536 files";
        let device = u16::try_from(file.wrapping_sub(1)).map_err(|_| Bad {
            reason: BadReason::TooLarge,
            column: "Path",
            allowed,
            at: detail.1,
        })?;
        // From one midnight to the next. A line that is late, behind one of the next day, is of the day before.
        let is_late = self.days > 0 && of_day_ns > self.latest_ns + HALF_DAY_NS;
        if !is_late {
            self.days += u64::from(of_day_ns + HALF_DAY_NS < self.latest_ns);
            self.latest_ns = of_day_ns;
        }
        let day = self.days - u64::from(is_late);
        let hints = Hints { file, process: self.processes.id(process), stream: device, ..Hints::default() };
        let time_ns = (day + 1).saturating_mul(DAY_NS).saturating_add(of_day_ns);
        Ok(Row::Request(Raw { hints, ..Raw::new(time_ns, op, device, range) }))
    }

    fn order(&self) -> Order {
        Order::Sorted
    }

    fn processes(&self) -> Option<&Names> {
        Some(&self.processes)
    }

    fn known(&self) -> Known<'_> {
        Known { files: Some(&self.files), devices: self.files.first(crate::base::report::NAMES_SHOWN) }
    }
}

/// `10:32:01.1234567 AM`, or of 24 hours, in ns.
#[inline]
fn time_of_day(word: &[u8], at: usize) -> Result<u64, Bad> {
    let bad = || Bad { reason: BadReason::NotANumber, column: "Time of Day", allowed: TIME_ALLOWED, at };
    let (clock, half) = match word {
        [clock @ .., b' ', b'A' | b'a', b'M' | b'm'] => (clock, Some(0)),
        [clock @ .., b' ', b'P' | b'p', b'M' | b'm'] => (clock, Some(12)),
        clock => (clock, None),
    };
    let mut parts = clock.splitn(3, |&b| b == b':');
    let mut number = |most: u64| {
        let part = parts.next()?;
        Fields::new(part, b',').number("").ok().filter(|&number| number < most)
    };
    let (hour, minute) = number(24).zip(number(60)).ok_or_else(bad)?;
    let seconds = parts.next().and_then(|part| Fields::new(part, b';').time("", TimeScale::SECONDS).ok());
    let seconds = seconds.filter(|&ns| ns < 61_000_000_000).ok_or_else(bad)?;
    let hour = half.map_or(hour, |half| hour % 12 + half);
    Ok((hour * 60 + minute) * 60_000_000_000 + seconds)
}

/// The number behind a name in the details, whose thousands are set apart by whatever mark Windows is set to.
#[inline]
fn named(name: &'static str, detail: &[u8], at: usize) -> Result<Number, Bad> {
    let column = name.trim_end_matches(": ");
    let bad = |reason| Bad { reason, column, allowed: "Offset: 4,096, Length: 8,192", at };
    let found = memchr::memmem::find(detail, name.as_bytes()).ok_or_else(|| bad(BadReason::MissingColumn))?;
    let rest = &detail[found + name.len()..];
    // A comma and a blank lead to what comes next.
    let end = memchr::memmem::find(rest, b", ").unwrap_or(rest.len());
    let mut digits = rest[..end].iter().filter(|b| b.is_ascii_digit()).peekable();
    if digits.peek().is_none() || rest[..end].iter().any(u8::is_ascii_alphabetic) {
        return Err(bad(BadReason::NotANumber));
    }
    let value =
        digits.try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    Ok(Number { value: value.ok_or_else(|| bad(BadReason::TooLarge))?, column, at })
}
