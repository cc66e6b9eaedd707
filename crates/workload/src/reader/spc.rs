//! SPC trace file format: CSV without header, times in seconds, addresses in sectors, lengths in bytes.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Raw, Row};
use super::options::ReadOptions;
use super::volumes::Volumes;
use crate::base::request::SECTOR_BYTES;

/// Reads lines such as `0,20941264,8192,W,0.551706`.
pub(crate) struct Spc {
    volumes: Volumes,
    scale: TimeScale,
    units: Units,
}

impl Format for Spc {
    const SUMMARY: &'static str = "CSV without header, one line per request, as in the UMass traces \
                                   (Financial, WebSearch). Each application storage unit is a device. \
                                   Columns after the fifth are ignored.";
    const SOURCE: &'static str =
        "Storage Performance Council, SPC Trace File Format Specification, revision 1.0.1 (2002), section 2";
    const COLUMNS: &'static [Column] = &[
        Column { name: "ASU", unit: "a whole number", used_for: "device, stream hint" },
        Column { name: "LBA", unit: "512-byte sectors", used_for: "address" },
        Column { name: "Size", unit: "bytes", used_for: "length" },
        Column { name: "Opcode", unit: "r or w, any case", used_for: "operation" },
        Column { name: "Timestamp", unit: "s, decimal", used_for: "arrival" },
    ];
    const SAMPLE: &'static [u8] = b"0,20941264,8192,W,0.551706\n0,20939840,8192,r,0.554041\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (5, 8);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        let units = Units { address: SECTOR_BYTES, size: 1 };
        Spc {
            volumes: Volumes::new(options),
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: units.or_named(options.address_unit),
        }
    }

    fn volumes(&self) -> Option<&Volumes> {
        Some(&self.volumes)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let device = self.volumes.number(fields.placed("ASU")?)?;
        let lba = fields.placed("LBA")?;
        let size = fields.placed("Size")?;
        let op = fields.read_or_write("Opcode", "r or w")?;
        let time_ns = fields.time("Timestamp", self.scale)?;
        let range = self.units.range(lba, size)?;
        Ok(Row::Request(Raw::new(time_ns, op, device, range)))
    }
}
