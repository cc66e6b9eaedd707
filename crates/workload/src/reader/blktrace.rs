//! Block traces of Linux as `blktrace` writes them: binary records, in a file for each processor.

use super::binary::Endian;
use super::events::{NO_DATA, PASSED_THROUGH, called, event_to_read};
use super::fields::{Bad, Number, TimeScale, Units};
use super::format::{Column, Format, Known, Order, Raw, Row};
use super::names::{DeviceNumbers, Names};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use crate::base::input::lines::{Cut, LINE_BYTES_MAX, Records};
use crate::base::pages::ChunkHasher;
use crate::base::request::SECTOR_BYTES;
use ssd::signals::{Hints, OpCode};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Bytes of `struct blk_io_trace`, and of the magic number that it begins with.
const RECORD_BYTES: usize = 48;
const MAGIC_BYTES: usize = 4;
/// The magic number; its last byte is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
/// Bits of `action`: kinds of events from the 16th on; below, that a control group's number leads what follows.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASSED: u32 = 1 << 25;
const NOTE: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;
const FROM_CGROUP: u32 = 1 << 8;
const CGROUP_BYTES: usize = 8;
/// What happened, the other bits below the 16th: the letters that blkparse prints.
const LETTERS: [&[u8]; 17] =
    [b"", b"Q", b"M", b"F", b"G", b"S", b"R", b"D", b"C", b"P", b"U", b"UT", b"I", b"X", b"B", b"A", b"a"];
const DRIVER_DATA: u32 = 17;
/// Of notes: the name of a process.
const NAME_OF_PROCESS: u32 = 0;
const MESSAGE: u32 = 2;
/// Processes whose names are kept.
const PROCESSES_MAX: usize = 1 << 20;

/// Reads records of 48 bytes, and what follows some of them.
pub(crate) struct Blktrace {
    scale: TimeScale,
    units: Units,
    /// The letter of the events that are requests.
    event: &'static [u8],
    processes: Names,
    /// Names of processes by their numbers: only looked up, never walked.
    names: HashMap<u32, u32, BuildHasherDefault<ChunkHasher>>,
    devices: DeviceNumbers,
}

impl Format for Blktrace {
    const SUMMARY: &'static str = "Files of blktrace (sda.blktrace.0, ...), or what blkparse -d \
         writes: binary records of version 7, in either byte order. A folder of them is read as one trace, merged by \
         time. Requests are the events queued (Q), or issued (D) if the first records have no Q; `event` selects \
         others. Discards are trims; flushes and forced unit access are kept. Names of processes come from notes that \
         blktrace writes.";
    const SOURCE: &'static str = "Linux: include/uapi/linux/blktrace_api.h, struct blk_io_trace";
    const COLUMNS: &'static [Column] = &[
        Column { name: "magic", unit: "4 bytes: 0x65617407", used_for: "" },
        Column { name: "sequence", unit: "4 bytes", used_for: "" },
        Column { name: "time", unit: "8 bytes: ns", used_for: "arrival" },
        Column { name: "sector", unit: "8 bytes: 512-byte sectors", used_for: "address" },
        Column { name: "bytes", unit: "4 bytes", used_for: "length" },
        Column {
            name: "action",
            unit: "4 bytes: event, operation",
            used_for: "operation, flush, forced unit access",
        },
        Column { name: "pid", unit: "4 bytes", used_for: "process hint" },
        Column { name: "device", unit: "4 bytes: major, minor", used_for: "device, stream hint" },
        Column { name: "cpu, error", unit: "4 and 2 bytes", used_for: "" },
        Column { name: "pdu_len", unit: "2 bytes: bytes that follow", used_for: "" },
    ];
    const SAMPLE: &'static [u8] = b"\x07tae\x01\0\0\0\xe8\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
        \0\0\0\0\0\0\0\x04=#\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\
        java\0\0\0\0\0\0\0\0\0\0\0\0\
        \x07tae\x02\0\0\0\xdc\x05\0\0\0\0\0\0\0\0 \0\0\0\0\0\
        \0@\0\0\x01\0\x11\0=#\0\0\x10\0\x80\0\0\0\0\0\0\0\0\0\
        \x07tae\x03\0\0\0\x1c%\0\0\0\0\0\0\0\0\x90\0\0\0\0\0\
        \0 \0\0\x01\0\x1a\x80=#\0\0\x10\0\x80\0\0\0\0\0\0\0\0\0";
    const CUT: Cut = Cut::Records(Records { length, time, fit: |_| true });
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (1, 1);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let is_there = |letter: &[u8]| {
            let events = head.iter().filter_map(|record| Event::of(record).ok());
            events.filter(|event| event.action & NOTE == 0).any(|event| event.letter() == Some(letter))
        };
        let units = Units { address: SECTOR_BYTES, size: 1 };
        Blktrace {
            scale: TimeScale::whole(1).or_named(options.time_unit),
            units: units.or_named(options.address_unit),
            event: event_to_read(options.event, is_there),
            processes: Names::default(),
            names: HashMap::default(),
            devices: DeviceNumbers::default(),
        }
    }

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Row, Bad> {
        let event = Event::of(record)?;
        if event.action & NOTE != 0 {
            return Ok(Row::Other(self.take_note(&event)));
        }
        let letter = event.letter();
        if letter != Some(self.event) {
            return match letter.and_then(called) {
                Some(what) => Ok(Row::Other(what)),
                None if event.what() == DRIVER_DATA => Ok(Row::Other("data of drivers")),
                None => {
                    let allowed = "an event from 1 to 17 in its lower half";
                    Err(Bad { reason: BadReason::UnknownOperation, column: "action", allowed, at: ACTION_AT })
                }
            };
        }
        if event.action & PASSED != 0 {
            return Ok(Row::Other(PASSED_THROUGH));
        }
        self.request(&event)
    }

    fn order(&self) -> Order {
        Order::Sorted
    }

    fn processes(&self) -> Option<&Names> {
        Some(&self.processes)
    }

    fn known(&self) -> Known<'_> {
        Known { devices: self.devices.names(), ..Known::default() }
    }
}

impl Blktrace {
    /// The request of an event.
    #[inline]
    fn request(&mut self, event: &Event<'_>) -> Result<Row, Bad> {
        let bytes = event.u32(BYTES_AT);
        let is_flush = event.action & FLUSH != 0;
        let op = match event.action {
            action if action & DISCARD != 0 => OpCode::Trim,
            action if action & WRITE != 0 => OpCode::Write,
            _ if bytes > 0 => OpCode::Read,
            _ if is_flush => OpCode::Flush,
            _ => return Ok(Row::Other(NO_DATA)),
        };
        if bytes == 0 && !is_flush {
            return Ok(Row::Other(NO_DATA));
        }
        let sector = Number { value: event.u64(SECTOR_AT), column: "sector", at: SECTOR_AT };
        let range =
            self.units.range(sector, Number { value: bytes.into(), column: "bytes", at: BYTES_AT })?;
        let number = event.u32(DEVICE_AT);
        let (major, minor) = (u64::from(number >> 20), u64::from(number & 0xf_ffff));
        let allowed = "one of at most 256 devices";
        let too_many = || Bad { reason: BadReason::TooLarge, column: "device", allowed, at: DEVICE_AT };
        let device = self.devices.id(&(major, minor)).ok_or_else(too_many)?;
        // Who was interrupted by a completion is not who asked.
        let process = if self.event == b"C" { None } else { self.names.get(&event.u32(PID_AT)) };
        let time_ns = event.u64(TIME_AT).checked_mul(self.scale.unit_ns);
        let allowed = "less than 2^64 ns";
        let too_late = || Bad { reason: BadReason::TooLarge, column: "time", allowed, at: TIME_AT };
        Ok(Row::Request(Raw {
            fua: event.action & FUA != 0,
            flush_before: is_flush && op != OpCode::Flush,
            hints: Hints { stream: device, process: process.copied().unwrap_or(0), ..Hints::default() },
            ..Raw::new(time_ns.ok_or_else(too_late)?, op, device, range)
        }))
    }

    /// Takes what a note says; returns what to call it.
    #[cold]
    fn take_note(&mut self, event: &Event<'_>) -> &'static str {
        match event.what() {
            NAME_OF_PROCESS => {
                let number = event.u32(PID_AT);
                if self.names.len() < PROCESSES_MAX || self.names.contains_key(&number) {
                    let name = event.follows.split(|&b| b == 0).next().unwrap_or_default();
                    self.names.insert(number, self.processes.id(name));
                }
                "names of processes"
            }
            MESSAGE => "messages",
            _ => "notes",
        }
    }
}

/// Where fields of a record begin.
const TIME_AT: usize = 8;
const SECTOR_AT: usize = 16;
const BYTES_AT: usize = 24;
const ACTION_AT: usize = 28;
const PID_AT: usize = 32;
const DEVICE_AT: usize = 36;
const FOLLOWING_AT: usize = 46;

/// A whole record.
struct Event<'a> {
    record: &'a [u8],
    endian: Endian,
    action: u32,
    /// What stands behind the record.
    follows: &'a [u8],
}

impl<'a> Event<'a> {
    fn of(record: &'a [u8]) -> Result<Self, Bad> {
        let allowed = "the magic number 0x65617407 of blktrace, version 7, and a whole record";
        let bad = Bad { reason: BadReason::NotARecord, column: "magic", allowed, at: 0 };
        let endian = endian(record).filter(|_| record.len() >= RECORD_BYTES).ok_or(bad)?;
        let action = endian.u32(record, ACTION_AT);
        let follows = &record[RECORD_BYTES..];
        if endian.u32(record, 0) != MAGIC | VERSION
            || follows.len() != endian.u16(record, FOLLOWING_AT).into()
        {
            return Err(bad);
        }
        let group = if action & FROM_CGROUP == 0 { 0 } else { CGROUP_BYTES };
        Ok(Event { record, endian, action, follows: follows.get(group..).unwrap_or_default() })
    }

    /// What happened, as a number.
    fn what(&self) -> u32 {
        self.action & 0xffff & !FROM_CGROUP
    }

    /// The letter that blkparse prints for it.
    fn letter(&self) -> Option<&'static [u8]> {
        LETTERS.get(self.what() as usize).copied()
    }

    fn u32(&self, at: usize) -> u32 {
        self.endian.u32(self.record, at)
    }

    fn u64(&self, at: usize) -> u64 {
        self.endian.u64(self.record, at)
    }
}

/// The order of bytes, as the magic number shows it; `None` if there is none.
#[inline]
fn endian(bytes: &[u8]) -> Option<Endian> {
    let known = |endian: &Endian| bytes.len() >= MAGIC_BYTES && endian.u32(bytes, 0) & !0xff == MAGIC;
    [Endian::Little, Endian::Big].into_iter().find(known)
}

/// Bytes of the record that begins here, or up to the next magic number.
#[inline]
fn length(bytes: &[u8]) -> usize {
    let length = endian(bytes).map(|endian| RECORD_BYTES + usize::from(endian.u16(bytes, FOLLOWING_AT)));
    length.filter(|&length| length <= LINE_BYTES_MAX).unwrap_or_else(|| up_to_next(bytes))
}

#[cold]
fn up_to_next(bytes: &[u8]) -> usize {
    let most = bytes.len().min(LINE_BYTES_MAX);
    let next = (1..most).find(|&at| endian(&bytes[at..]).is_some());
    // A magic number may have begun where these bytes end.
    next.unwrap_or(if most < bytes.len() { most - (MAGIC_BYTES - 1) } else { most.max(1) })
}

fn time(record: &[u8]) -> Option<u64> {
    Event::of(record).ok().map(|event| event.u64(TIME_AT))
}
