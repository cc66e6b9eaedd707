//! Tencent Cloud Block Storage: CSV without header, addresses and sizes in sectors, times in whole seconds since 1970.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Order, Raw, Row};
use super::options::ReadOptions;
use super::volumes::Volumes;
use crate::base::findings::BadReason;
use crate::base::units::TimeUnit;
use ssd::signals::OpCode;

/// Reads lines such as `1538323199,13896880,128,0,1063`.
pub(crate) struct Tencent {
    volumes: Volumes,
    scale: TimeScale,
    units: Units,
    order: Order,
}

impl Format for Tencent {
    const SUMMARY: &'static str = "CSV without header, one line per request, as in the traces of October \
                                   2018. Each volume is a device. Lines are slightly out of order: they \
                                   are sorted in a window of 65,536 requests. \
         Times are whole seconds: the requests of each second are spread evenly over it (assumed), unless \
         a time has decimals.";
    const SOURCE: &'static str = "Zhang et al.: OSCA: An Online-Model Based Cache Allocation Scheme in Cloud Block \
         Storage Systems (USENIX ATC 2020); SNIA IOTTA, Tencent Block Storage Traces";
    const COLUMNS: &'static [Column] = &[
        Column { name: "timestamp", unit: "s since 1970", used_for: "arrival" },
        Column { name: "offset", unit: "512-byte sectors", used_for: "address" },
        Column { name: "size", unit: "512-byte sectors", used_for: "length" },
        Column { name: "type", unit: "0 read, 1 write", used_for: "operation" },
        Column { name: "volume", unit: "a whole number", used_for: "device, stream hint" },
    ];
    const SAMPLE: &'static [u8] = b"1538323199,13896880,128,0,1063\n1538323199,49518656,1024,1,1058\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (5, 5);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let is_whole = |line: &&[u8]| !line.iter().take_while(|&&b| b != Self::SEPARATOR).any(|&b| b == b'.');
        let in_seconds = matches!(options.time_unit, TimeUnit::Auto | TimeUnit::Seconds);
        let is_spread = in_seconds && head.iter().all(is_whole);
        Tencent {
            volumes: Volumes::new(options),
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: Units::SECTORS.or_named(options.address_unit),
            order: if is_spread { Order::Spread } else { Order::Sorted },
        }
    }

    fn volumes(&self) -> Option<&Volumes> {
        Some(&self.volumes)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let time_ns = fields.time("timestamp", self.scale)?;
        let offset = fields.placed("offset")?;
        let size = fields.placed("size")?;
        let op_at = fields.position();
        let op = match fields.number("type")? {
            0 => OpCode::Read,
            1 => OpCode::Write,
            _ => {
                let allowed = "0 (read) or 1 (write)";
                return Err(fields.refuse(BadReason::UnknownOperation, "type", allowed, op_at));
            }
        };
        let volume = self.volumes.number(fields.placed("volume")?)?;
        let range = self.units.range(offset, size)?;
        Ok(Row::Request(Raw::new(time_ns, op, volume, range)))
    }

    fn order(&self) -> Order {
        self.order
    }
}
