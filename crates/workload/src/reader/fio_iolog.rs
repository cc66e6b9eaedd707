//! fio's I/O logs, versions 2 and 3: files, what was done to them, and when.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Known, Raw, Row};
use super::names::Names;
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use crate::base::units::TimeUnit;
use ssd::signals::{Hints, OpCode};

const ACTIONS: &str = "read, write, trim, sync, datasync, wait, add, open or close";
const FILE_ACTIONS: &str = "files added, opened or closed";
const WAITS: &str = "waits";
/// Times that it takes to say that all are multiples of 1,000.
const TIMES_MIN: usize = 20;

/// Reads lines such as `87 f1 read 28672 4096`, or `f1 read 28672 4096` and `f1 wait 100 0`.
pub(crate) struct FioIolog {
    scale: TimeScale,
    units: Units,
    /// Version 3: each line begins with its time.
    is_timed: bool,
    /// Version 3: all times are multiples of 1,000, and nobody says their unit.
    may_be_ns: bool,
    /// Version 2: some line waits.
    waits: bool,
    /// Version 2: the sum of all waits so far.
    waited_ns: u64,
    files: Names,
}

impl Format for FioIolog {
    const SUMMARY: &'static str = "fio's write_iolog output (version 3), or the older version 2 without \
                                   times. Each file is a separate device; its number by first appearance \
                                   is also the file hint. sync and datasync are flushes; files added, \
                                   opened and closed are counted. In version 2 time advances by `wait`: \
                                   microseconds since the previous wait, as in fio's manual; without any, \
                                   all requests arrive at once.";
    const SOURCE: &'static str = "Axboe: fio, HOWTO, section 'Trace file format'; version 3 and its microseconds as \
        fio 3.33 writes them";
    const COLUMNS: &'static [Column] = &[
        Column { name: "time", unit: "us (version 3 only)", used_for: "arrival" },
        Column { name: "file", unit: "a name", used_for: "device, file hint" },
        Column { name: "action", unit: ACTIONS, used_for: "operation" },
        Column { name: "offset", unit: "bytes; us after wait", used_for: "address" },
        Column { name: "length", unit: "bytes", used_for: "length" },
    ];
    const SAMPLE: &'static [u8] = b"fio version 3 iolog\n2 f1 add\n81 f1 open\n87 f1 read 28672 4096\n\
        8559 f1 sync 0 0\n8560 f1 write 245760 4096\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (2, 5);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        let is_number = |line: &[u8]| {
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            words.next().is_some_and(|word| word.iter().all(u8::is_ascii_digit))
        };
        // Without a header: every action has a time before it, or none.
        let timed = head.iter().filter(|line| is_number(line) && matches!(words(line), 3 | 5)).count();
        let is_wait = |line: &&[u8]| line.split(u8::is_ascii_whitespace).any(|word| word == b"wait");
        let mut format = FioIolog {
            scale: TimeScale::whole(1_000).or_named(options.time_unit),
            units: Units::BYTES.or_named(options.address_unit),
            is_timed: timed * 2 >= head.len(),
            may_be_ns: options.time_unit == TimeUnit::Auto && are_thousands(head),
            waits: head.iter().any(is_wait),
            waited_ns: 0,
            files: Names::default(),
        };
        // The header counts more than the looks; what is wrong with it is told when it is read.
        if let Some(first) = head.first() {
            let _ = format.header(first);
        }
        format
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [b"fio", b"version", b"2", b"iolog"] => self.is_timed = false,
            [b"fio", b"version", b"3", b"iolog"] => self.is_timed = true,
            [b"fio", b"version", ..] => {
                let allowed = "fio version 2 iolog, or fio version 3 iolog";
                return Err(Bad { reason: BadReason::BadHeader, column: "version", allowed, at: 0 });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let time_ns = if self.is_timed { fields.time("time", self.scale)? } else { self.waited_ns };
        let file_at = fields.position();
        let file = fields.word("file", "a name")?;
        let action_at = fields.position();
        let op = match fields.word("action", ACTIONS)? {
            b"read" => OpCode::Read,
            b"write" => OpCode::Write,
            b"trim" => OpCode::Trim,
            b"sync" | b"datasync" => OpCode::Flush,
            b"add" | b"open" | b"close" if fields.is_done() => return Ok(Row::Other(FILE_ACTIONS)),
            b"wait" => {
                let wait_ns = fields.time("offset", self.scale)?;
                self.waited_ns = self.waited_ns.saturating_add(wait_ns);
                return Ok(Row::Other(WAITS));
            }
            _ => return Err(fields.refuse(BadReason::UnknownOperation, "action", ACTIONS, action_at)),
        };
        let (offset, mut length) = (fields.placed("offset")?, fields.placed("length")?);
        if op == OpCode::Flush {
            length.value = 0;
        }
        let range = self.units.range(offset, length)?;
        let file = self.files.id(file);
        let too_many = || fields.refuse(BadReason::TooLarge, "file", "one of at most 65536 files", file_at);
        let device = u16::try_from(file.wrapping_sub(1)).map_err(|_| too_many())?;
        let hints = Hints { file, ..Hints::default() };
        Ok(Row::Request(Raw { hints, ..Raw::new(time_ns, op, device, range) }))
    }

    fn assumed(&self) -> Option<(&'static str, &'static str)> {
        let text = "all times are multiples of 1,000, as if they were nanoseconds; they are read as microseconds, \
                    which fio writes";
        (self.is_timed && self.may_be_ns).then_some((text, "if they are nanoseconds: --time-unit ns"))
    }

    fn has_times(&self) -> bool {
        self.is_timed || self.waits
    }

    fn known(&self) -> Known<'_> {
        Known { files: Some(&self.files), devices: self.files.first(crate::base::report::NAMES_SHOWN) }
    }
}

/// Whether the times of the first lines are multiples of 1,000, and differ in enough of them.
fn are_thousands(head: &[&[u8]]) -> bool {
    let time = |line: &&[u8]| Fields::new(line, b' ').number("time").ok();
    let mut times: Vec<u64> = head.iter().filter_map(time).collect();
    times.dedup();
    times.len() >= TIMES_MIN && times.iter().all(|time| time.is_multiple_of(1_000))
}
