//! SPC trace file format: CSV without header, times in seconds, addresses in sectors, lengths in bytes.

use super::fields::{Bad, Fields, TimeScale, extent};
use super::{Column, Format, Raw, TimeUnit};
use crate::error::BadReason;
use crate::record::SECTOR_BYTES;
use ssd::signals::{Hints, OpCode};

/// Reads lines such as `0,20941264,8192,W,0.551706`.
pub(crate) struct Spc {
    scale: TimeScale,
}

impl Format for Spc {
    const SUMMARY: &'static str = "CSV without header, one line per request, as the UMass traces (Financial, \
         WebSearch) have it. Each application storage unit is a device. Columns after the fifth are passed over.";
    const SOURCE: &'static str =
        "Storage Performance Council, SPC Trace File Format Specification, revision 1.0.1 (2002), section 2";
    const COLUMNS: &'static [Column] = &[
        Column { name: "ASU", unit: "0 to 65535", used_for: "device, stream hint" },
        Column { name: "LBA", unit: "512-byte sectors", used_for: "address" },
        Column { name: "Size", unit: "bytes", used_for: "length" },
        Column { name: "Opcode", unit: "r or w, any case", used_for: "operation" },
        Column { name: "Timestamp", unit: "s, decimal", used_for: "arrival" },
    ];
    const SAMPLE: &'static str = "0,20941264,8192,W,0.551706\n0,20939840,8192,r,0.554041\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (5, 8);

    fn new(time_unit: TimeUnit, _head: &[&[u8]]) -> Self {
        Spc { scale: TimeScale { unit_ns: time_unit.ns_or(1_000_000_000), decimal: true } }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Raw, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let device = fields.number_up_to("ASU", u64::from(u16::MAX), "0 to 65535")? as u16;
        let lba_at = fields.position();
        let lba = fields.number("LBA")?;
        let size_at = fields.position();
        let size = fields.number("Size")?;
        let op_at = fields.position();
        let op = match fields.word("Opcode", "r or w")?.trim_ascii() {
            b"r" | b"R" => OpCode::Read,
            b"w" | b"W" => OpCode::Write,
            _ => return Err(fields.refuse(BadReason::UnknownOperation, "Opcode", "r or w", op_at)),
        };
        let time_ns = fields.time("Timestamp", self.scale)?;
        let rounded = !size.is_multiple_of(SECTOR_BYTES);
        let sectors = extent(lba, size.div_ceil(SECTOR_BYTES), ("LBA", lba_at), ("Size", size_at))?;
        let hints = Hints { stream: device, ..Hints::default() };
        Ok(Raw { time_ns, op, fua: false, flush_before: false, rounded, device, lba, sectors, hints })
    }
}
