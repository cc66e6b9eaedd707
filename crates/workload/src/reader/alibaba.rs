//! Alibaba Cloud block storage: CSV without header, addresses and sizes in bytes, times in microseconds since 1970.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Raw, Row};
use super::options::ReadOptions;
use super::volumes::Volumes;

/// Reads lines such as `419,W,8792731648,16384,1577808144360767`.
pub(crate) struct Alibaba {
    volumes: Volumes,
    scale: TimeScale,
    units: Units,
}

impl Format for Alibaba {
    const SUMMARY: &'static str = "CSV without header, one line per request, as in the traces of 1,000 \
                                   volumes from January 2020, in one file or one per volume. Each volume \
                                   is a device.";
    const SOURCE: &'static str = "Li et al.: An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale \
         Production (IISWC 2020); github.com/alibaba/block-traces, README";
    const COLUMNS: &'static [Column] = &[
        Column { name: "device_id", unit: "a whole number", used_for: "device, stream hint" },
        Column { name: "opcode", unit: "R or W", used_for: "operation" },
        Column { name: "offset", unit: "bytes", used_for: "address" },
        Column { name: "length", unit: "bytes", used_for: "length" },
        Column { name: "timestamp", unit: "us since 1970", used_for: "arrival" },
    ];
    const SAMPLE: &'static [u8] =
        b"419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (5, 5);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        Alibaba {
            volumes: Volumes::new(options),
            scale: TimeScale::whole(1_000).or_named(options.time_unit),
            units: Units::BYTES.or_named(options.address_unit),
        }
    }

    fn volumes(&self) -> Option<&Volumes> {
        Some(&self.volumes)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let device = self.volumes.number(fields.placed("device_id")?)?;
        let op = fields.read_or_write("opcode", "R or W")?;
        let offset = fields.placed("offset")?;
        let length = fields.placed("length")?;
        let time_ns = fields.time("timestamp", self.scale)?;
        let range = self.units.range(offset, length)?;
        Ok(Row::Request(Raw::new(time_ns, op, device, range)))
    }
}
