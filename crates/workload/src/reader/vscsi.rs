//! Traces of virtual SCSI disks as VMware's vscsiStats records them: binary, versions 1 and 2.

use super::binary::Endian::Little;
use super::cloudphysics::{OTHER_COMMANDS, of_opcode};
use super::fields::{Bad, Number, TimeScale, Units};
use super::format::{Column, Format, Raw, Row};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use crate::base::input::lines::{Cut, LINE_BYTES_MAX, Records};
use crate::base::request::SECTOR_BYTES;
use ssd::signals::OpCode;

/// Where the fields of a version's records are, and how long those are, in bytes.
struct Version {
    number: u8,
    bytes: usize,
    length_at: usize,
    command_at: usize,
    version_at: usize,
}

const FIRST: Version = Version { number: 1, bytes: 32, length_at: 4, command_at: 12, version_at: 14 };
const SECOND: Version = Version { number: 2, bytes: 40, length_at: 8, command_at: 0, version_at: 2 };
/// The same in both.
const SECTOR_AT: usize = 16;
const TIME_AT: usize = 24;
/// Between places where a record may begin behind a damaged one: both versions' are a multiple of it.
const STEP_BYTES: usize = 8;

/// Reads records of 32 or 40 bytes.
pub(crate) struct Vscsi {
    scale: TimeScale,
    units: Units,
}

impl Format for Vscsi {
    const SUMMARY: &'static str = "Binary records of SCSI commands of a virtual disk, of 32 bytes (version 1) or 40 \
         (version 2), little endian, as libCacheSim's reader `vscsi` takes them. Commands as for cloudphysics.";
    const SOURCE: &'static str = "Waldspurger et al.: Efficient MRC Construction with SHARDS (FAST 2015), section 5.1; \
         libCacheSim: traceReader/customizedReader/vscsi.h; opcodes: T10 SBC-4, SPC-5";
    const COLUMNS: &'static [Column] = &[
        Column { name: "sn, nSG", unit: "4 bytes each", used_for: "" },
        Column { name: "len", unit: "4 bytes: bytes", used_for: "length" },
        Column { name: "cmd", unit: "2 bytes: SCSI opcode", used_for: "operation" },
        Column { name: "ver", unit: "2 bytes: 1 or 2 in the upper", used_for: "which version" },
        Column { name: "lbn", unit: "8 bytes: 512-byte sectors", used_for: "address" },
        Column { name: "ts", unit: "8 bytes: us", used_for: "arrival" },
        Column { name: "rt", unit: "8 bytes (version 2 only)", used_for: "" },
    ];
    const SAMPLE: &'static [u8] = b"\x28\0\0\x02\x01\0\0\0\0\x10\0\0\x01\0\0\0\0\0\x10\0\0\0\0\0\
          \xe8\x03\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\
          \x2a\0\0\x02\x02\0\0\0\0\x20\0\0\x02\0\0\0\x08\0\x10\0\0\0\0\0\
          \xd0\x07\0\0\0\0\0\0\x50\0\0\0\0\0\0\0";
    const CUT: Cut = Cut::Records(Records { length, time, fit });
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (1, 1);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        let units = Units { address: SECTOR_BYTES, size: 1 };
        Vscsi {
            scale: TimeScale::whole(1_000).or_named(options.time_unit),
            units: units.or_named(options.address_unit),
        }
    }

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Row, Bad> {
        let whole = version(record).filter(|version| version.bytes == record.len());
        let Some(version) = whole else {
            let allowed = "a record of version 1 (32 bytes) or 2 (40 bytes)";
            return Err(Bad { reason: BadReason::NotARecord, column: "ver", allowed, at: 0 });
        };
        let Some(op) = of_opcode(Little.u16(record, version.command_at).into()) else {
            return Ok(Row::Other(OTHER_COMMANDS));
        };
        let bytes = if op == OpCode::Flush { 0 } else { Little.u32(record, version.length_at) };
        let sector = Number { value: Little.u64(record, SECTOR_AT), column: "lbn", at: SECTOR_AT };
        let length = Number { value: bytes.into(), column: "len", at: version.length_at };
        let range = self.units.range(sector, length)?;
        let time_ns = Little.u64(record, TIME_AT).checked_mul(self.scale.unit_ns);
        let allowed = "a time below 2^64 ns (584 years)";
        let too_late = || Bad { reason: BadReason::TooLarge, column: "ts", allowed, at: TIME_AT };
        Ok(Row::Request(Raw::new(time_ns.ok_or_else(too_late)?, op, 0, range)))
    }
}

/// The version of the record that begins here.
#[inline]
fn version(bytes: &[u8]) -> Option<&'static Version> {
    // In a record of version 1 a serial number may stand where version 2 has its own; the reverse, a command of
    // millions of pieces, does not come.
    let is_it = |version: &&Version| bytes.get(version.version_at + 1) == Some(&version.number);
    [&FIRST, &SECOND].into_iter().find(is_it)
}

#[inline]
fn length(bytes: &[u8]) -> usize {
    version(bytes).map_or_else(|| up_to_next(bytes), |version| version.bytes)
}

#[cold]
fn up_to_next(bytes: &[u8]) -> usize {
    let most = bytes.len().min(LINE_BYTES_MAX);
    let mut places = (STEP_BYTES..most).step_by(STEP_BYTES);
    places.find(|&at| version(&bytes[at..]).is_some()).unwrap_or(most.max(1))
}

fn time(record: &[u8]) -> Option<u64> {
    version(record).map(|_| Little.u64(record, TIME_AT))
}

/// All are of one version, and none of a command that SCSI does not have.
fn fit(head: &[&[u8]]) -> bool {
    let versions = || head.iter().map(|record| version(record).map(|version| version.number));
    let is_command = |record: &&[u8]| {
        version(record).is_some_and(|version| Little.u16(record, version.command_at) <= u8::MAX.into())
    };
    versions().all(|number| Some(number) == versions().next()) && head.iter().all(is_command)
}
