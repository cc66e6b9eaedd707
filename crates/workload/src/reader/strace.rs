//! System calls as `strace` prints them: those that say where in a file they read or write.

use super::fields::{Bad, Fields, Number, TimeScale, Units};
use super::format::{Column, Format, Known, Order, Raw, Row};
use super::names::Names;
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use ssd::signals::{Hints, OpCode};

/// Calls that are requests, what they ask for, and which of their arguments is the place in the file, counted from the
/// last.
const CALLS: [(&[u8], OpCode, usize); 9] = [
    (b"pread64", OpCode::Read, 0),
    (b"pwrite64", OpCode::Write, 0),
    (b"preadv", OpCode::Read, 0),
    (b"pwritev", OpCode::Write, 0),
    (b"preadv2", OpCode::Read, 1),
    (b"pwritev2", OpCode::Write, 1),
    (b"fallocate", OpCode::Trim, 1),
    (b"fsync", OpCode::Flush, 0),
    (b"fdatasync", OpCode::Flush, 0),
];
/// Calls that read and write where the one before has ended.
const WITHOUT_OFFSET: [&[u8]; 6] = [b"read", b"write", b"readv", b"writev", b"sendfile", b"lseek"];
const UNFINISHED: &[u8] = b"<unfinished ...>";
/// Calls under way that are kept, and bytes of each: a path of Linux, and some data.
const UNDER_WAY_MAX: usize = 4096;
const CALL_BYTES_MAX: usize = 8192;

/// Reads lines such as `1523 1795910857.233906 pwrite64(3</tmp/a>, "abc"..., 4096, 8192) = 4096`.
pub(crate) struct Strace {
    scale: TimeScale,
    units: Units,
    files: Names,
    processes: Names,
    /// Calls that were begun, and what has been printed of them.
    under_way: Vec<(Vec<u8>, u64, Vec<u8>)>,
}

impl Format for Strace {
    const SUMMARY: &'static str = "Text of strace -f -ttt -y -e trace=desc, or only some of these calls. pread64, \
         pwrite64, preadv, pwritev and their second versions are requests of as many bytes as they return, fsync and \
         fdatasync flushes, fallocate with PUNCH_HOLE a trim. read, write and others that do not say where are \
         counted, as are calls that fail. Each file is a separate device, and the file hint; the number of the process \
         is the process hint. These are requests to files: what the page cache answers is among them.";
    const SOURCE: &'static str = "strace(1), of strace 6.1";
    const COLUMNS: &'static [Column] = &[
        Column { name: "process", unit: "a number, with -f", used_for: "process hint" },
        Column { name: "time", unit: "s since 1970, decimal (-ttt)", used_for: "arrival" },
        Column { name: "call", unit: "pread64, pwrite64, ...", used_for: "operation" },
        Column { name: "file", unit: "a number and <a name> (-y)", used_for: "device, file hint" },
        Column { name: "offset", unit: "bytes", used_for: "address" },
        Column { name: "result", unit: "bytes", used_for: "length" },
    ];
    const SAMPLE: &'static [u8] =
        b"1523  1795910857.233874 openat(AT_FDCWD</db>, \"a\", O_RDWR) = 3</db/a>\n\
          1523  1795910857.233906 pwrite64(3</db/a>, \"abc\"..., 4096, 8192) = 4096\n\
          1523  1795910857.234110 pread64(3</db/a>, \"abc\"..., 512, 8192) = 512\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (1, 4096);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        Strace {
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: Units::BYTES.or_named(options.address_unit),
            files: Names::default(),
            processes: Names::default(),
            under_way: Vec::new(),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        if line.starts_with(b"strace: ") {
            return Ok(Row::Other("messages of strace"));
        }
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let mut process = &b""[..];
        let time_at = fields.position();
        match fields.word("time", "seconds since 1970, as strace -ttt prints them")? {
            b"[pid" => process = fields.word("process", "a number")?.strip_suffix(b"]").unwrap_or_default(),
            word if word.iter().all(u8::is_ascii_digit) => process = word,
            _ => fields = Fields::from(line, Self::SEPARATOR, time_at),
        }
        let time_ns = fields.time("time", self.scale)?;
        let at = fields.position();
        let call = line.get(at..).unwrap_or_default();
        if call.starts_with(b"+++") || call.starts_with(b"---") {
            return Ok(Row::Other("signals and ends of processes"));
        }
        if let Some(begun) = call.trim_ascii_end().strip_suffix(UNFINISHED) {
            return Ok(Row::Other(self.begin(process, time_ns, begun)));
        }
        if call.starts_with(b"<... ") {
            return self.end(process, call, at);
        }
        self.call(process, time_ns, call, at)
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

impl Strace {
    /// Keeps a call that another process's line interrupts, if it is one of those that are requests.
    fn begin(&mut self, process: &[u8], time_ns: u64, begun: &[u8]) -> &'static str {
        let is_request = name(begun).is_some_and(|name| CALLS.iter().any(|(known, ..)| *known == name));
        if !is_request || begun.len() > CALL_BYTES_MAX {
            return OTHER_CALLS;
        }
        self.under_way.retain(|(other, ..)| other != process);
        if self.under_way.len() == UNDER_WAY_MAX {
            self.under_way.remove(0);
        }
        self.under_way.push((process.to_vec(), time_ns, begun.trim_ascii_end().to_vec()));
        "first halves of calls"
    }

    /// The call that goes on here, from where it was begun.
    fn end(&mut self, process: &[u8], rest: &[u8], at: usize) -> Result<Row, Bad> {
        let begun = self.under_way.iter().position(|(other, ..)| other == process);
        let after = memchr::memmem::find(rest, b" resumed>").map(|found| found + b" resumed>".len());
        let (Some(begun), Some(after)) = (begun, after) else { return Ok(Row::Other(OTHER_CALLS)) };
        let (process, time_ns, mut call) = self.under_way.remove(begun);
        call.push(b' ');
        call.extend_from_slice(&rest[after..]);
        self.call(&process, time_ns, &call, at)
    }

    /// The request of a whole call; `at` is where it stands in its line.
    #[inline]
    fn call(&mut self, process: &[u8], time_ns: u64, call: &[u8], at: usize) -> Result<Row, Bad> {
        let bad = |reason, column, allowed| Bad { reason, column, allowed, at };
        let allowed = "a call such as pread64(3</a>, ..., 4096, 0) = 4096, whole";
        let name = name(call).ok_or_else(|| bad(BadReason::UnknownOperation, "call", allowed))?;
        let Some(&(_, op, from_last)) = CALLS.iter().find(|(known, ..)| *known == name) else {
            let is_placed = !WITHOUT_OFFSET.contains(&name);
            return Ok(Row::Other(if is_placed {
                OTHER_CALLS
            } else {
                "calls that do not say where in the file"
            }));
        };
        let (arguments, result) = split(&call[name.len() + 1..])
            .ok_or_else(|| bad(BadReason::MissingColumn, "result", "a result, such as ) = 4096"))?;
        if result.starts_with(b"-") || result.starts_with(b"?") {
            return Ok(Row::Other("calls that failed"));
        }
        let file = file(arguments);
        let file =
            file.ok_or_else(|| bad(BadReason::MissingColumn, "file", "3</a>, as strace -y prints it"))?;
        if name == b"fallocate" && memchr::memmem::find(arguments, b"PUNCH_HOLE").is_none() {
            return Ok(Row::Other(OTHER_CALLS));
        }
        let last = |number: usize| {
            let argument = arguments.rsplit(|&b| b == b',').nth(number)?.trim_ascii();
            Fields::new(argument, b',').number("offset").ok()
        };
        let allowed = "bytes from the start of the file";
        let missing = || bad(BadReason::NotANumber, "offset", allowed);
        let (offset, bytes) = match op {
            OpCode::Flush => (0, 0),
            OpCode::Trim => (last(from_last).ok_or_else(missing)?, last(0).ok_or_else(missing)?),
            _ => {
                let bytes =
                    Fields::new(result, b' ').number("result").map_err(|found| Bad { at, ..found })?;
                (last(from_last).ok_or_else(missing)?, bytes)
            }
        };
        let number = |value, column| Number { value, column, at };
        let range = self.units.range(number(offset, "offset"), number(bytes, "result"))?;
        let file = self.files.id(file);
        let device = u16::try_from(file.wrapping_sub(1))
            .map_err(|_| bad(BadReason::TooLarge, "file", "one of at most 65536 files"))?;
        let process = self.processes.id(process);
        let hints = Hints { file, process, stream: device, ..Hints::default() };
        Ok(Row::Request(Raw { hints, ..Raw::new(time_ns, op, device, range) }))
    }
}

const OTHER_CALLS: &str = "other calls";

/// The name before the arguments.
#[inline]
fn name(call: &[u8]) -> Option<&[u8]> {
    let name = &call[..memchr::memchr(b'(', call)?];
    (!name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')).then_some(name)
}

/// What stands between a call's brackets, and behind the sign.
#[inline]
fn split(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let sign = memchr::memmem::rfind(rest, b"= ")?;
    let arguments = rest[..sign].trim_ascii_end().strip_suffix(b")")?;
    Some((arguments, &rest[sign + b"= ".len()..]))
}

/// The name of the file in the first argument, such as `3</tmp/a>`: strace escapes brackets in names.
#[inline]
fn file(arguments: &[u8]) -> Option<&[u8]> {
    let start = arguments.iter().position(|b| !b.is_ascii_digit())?;
    let inner = arguments[start..].strip_prefix(b"<")?;
    Some(&inner[..memchr::memchr(b'>', inner)?])
}
