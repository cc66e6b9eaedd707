//! libCacheSim's oracleGeneral: requests for objects of a cache, binary, with the next request for each.

use super::binary::Endian::Little;
use super::fields::{Bad, Number, TimeScale, Units};
use super::format::{Column, Format, Order, Raw, Row};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use crate::base::input::lines::{Cut, Records};
use crate::base::request::SECTOR_BYTES;
use crate::base::units::TimeUnit;
use ssd::signals::OpCode;

const RECORD_BYTES: usize = 24;
/// Where the fields are.
const OBJECT_AT: usize = 4;
const SIZE_AT: usize = 12;
const NEXT_AT: usize = 16;
/// Objects that lie beyond these bytes have hashes for numbers, and are taken modulo it: half of what a trace may have.
const SPACE_BYTES: u64 = 1 << 58;
/// More requests than any trace has.
const REQUESTS_MAX: u64 = 1 << 48;

/// Reads records of 24 bytes.
pub(crate) struct OracleGeneral {
    scale: TimeScale,
    units: Units,
    order: Order,
}

impl Format for OracleGeneral {
    const SUMMARY: &'static str = "Binary records of 24 bytes, little endian, of libCacheSim's public traces, \
         usually packed: time, object, size, next access. They have neither operations nor addresses: all are reads, \
         and an object begins at the sector that its number says, as in block traces that were converted with sector \
         numbers (`address_unit`: another unit of the numbers). Numbers that are hashes lie beyond 256 PiB, and are \
         taken modulo that. The requests of each second are spread over it.";
    const SOURCE: &'static str =
        "libCacheSim: traceReader/customizedReader/oracle/oracleGeneralBin.h, FAQ.md";
    const COLUMNS: &'static [Column] = &[
        Column { name: "clock_time", unit: "4 bytes: s", used_for: "arrival" },
        Column { name: "obj_id", unit: "8 bytes: 512-byte sectors", used_for: "address" },
        Column { name: "obj_size", unit: "4 bytes: bytes", used_for: "length" },
        Column { name: "next_access_vtime", unit: "8 bytes; -1: none", used_for: "" },
    ];
    const SAMPLE: &'static [u8] = b"\x01\0\0\0\0\0\x10\0\0\0\0\0\0\x10\0\0\x03\0\0\0\0\0\0\0\
          \x01\0\0\0\x40\0\x20\0\0\0\0\0\0\x20\0\0\xff\xff\xff\xff\xff\xff\xff\xff\
          \x02\0\0\0\0\0\x10\0\0\0\0\0\0\x10\0\0\xff\xff\xff\xff\xff\xff\xff\xff";
    const CUT: Cut = Cut::Records(Records { length: |_| RECORD_BYTES, time, fit });
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (1, 1);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        let is_in_seconds = matches!(options.time_unit, TimeUnit::Auto | TimeUnit::Seconds);
        OracleGeneral {
            scale: TimeScale::whole(TimeScale::SECONDS.unit_ns).or_named(options.time_unit),
            units: Units { address: options.address_unit.bytes_or(SECTOR_BYTES), size: 1 },
            order: if is_in_seconds { Order::Spread } else { Order::Recorded },
        }
    }

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Row, Bad> {
        if !is_record(record) {
            let allowed = "24 bytes that end in the number of the object's next request, or -1";
            return Err(Bad { reason: BadReason::NotARecord, column: "", allowed, at: 0 });
        }
        let object = Little.u64(record, OBJECT_AT) % (SPACE_BYTES / self.units.address);
        let object = Number { value: object, column: "obj_id", at: OBJECT_AT };
        let size = Number { value: Little.u32(record, SIZE_AT).into(), column: "obj_size", at: SIZE_AT };
        let range = self.units.range(object, size)?;
        // 32 bits of seconds fit.
        let time_ns = u64::from(Little.u32(record, 0)) * self.scale.unit_ns;
        Ok(Row::Request(Raw::new(time_ns, OpCode::Read, 0, range)))
    }

    fn assumed(&self) -> Option<(&'static str, &'static str)> {
        let text = "oracleGeneral has neither operations nor addresses: all requests are reads, and an object begins \
                    at the sector that its number says, modulo 256 PiB";
        Some((text, "another unit of the numbers: --address-unit"))
    }

    fn order(&self) -> Order {
        self.order
    }
}

/// Whether it is whole, and may name the object's next request.
#[inline]
fn is_record(record: &[u8]) -> bool {
    let next = Little.u64(record, NEXT_AT);
    record.len() == RECORD_BYTES
        && (next == u64::MAX || next == i64::MAX as u64 || (1..REQUESTS_MAX).contains(&next))
}

fn time(record: &[u8]) -> Option<u64> {
    is_record(record).then(|| Little.u32(record, 0).into())
}

/// All are records, in order of time.
fn fit(head: &[&[u8]]) -> bool {
    head.iter().all(|record| is_record(record)) && head.is_sorted_by_key(|record| Little.u32(record, 0))
}
