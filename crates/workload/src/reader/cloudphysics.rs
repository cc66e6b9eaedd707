//! CloudPhysics' traces of virtual disks: CSV with SCSI opcodes.

use super::fields::{Bad, TimeScale, Units};
use super::format::{Column, Format, Raw, Row};
use super::layout::{Layout, Use, Used, Word};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use crate::base::request::SECTOR_BYTES;
use ssd::signals::OpCode;

/// Columns that are used.
const USED: &[Used] = &[
    ("version", Use::Version, false),
    ("time", Use::Time, true),
    ("op", Use::Operation, true),
    ("size", Use::Size, true),
    ("lbn", Use::Address, true),
];

pub(super) const OTHER_COMMANDS: &str = "SCSI commands that neither read, write, unmap nor flush";

/// Reads lines such as `1,5633898368802,2a,512,42932745`.
pub(crate) struct Cloudphysics {
    scale: TimeScale,
    units: Units,
    layout: Layout,
}

impl Format for Cloudphysics {
    const SUMMARY: &'static str = "CSV with header, one line per SCSI command of a virtual disk. Columns are found \
         by name, in any order (without a header in the order below). Reads, writes (also with verify) and \
         write-same are recognised in their 6-, 10-, 12- and 16-byte forms; UNMAP is a trim, SYNCHRONIZE \
         CACHE a flush; other commands are counted.";
    const SOURCE: &'static str = "Waldspurger et al.: Efficient MRC Construction with SHARDS (FAST 2015), section \
         5.1; opcodes: T10 SBC-4, SPC-5";
    const COLUMNS: &'static [Column] = &[
        Column { name: "version", unit: "0 to 9", used_for: "" },
        Column { name: "time", unit: "us", used_for: "arrival" },
        Column { name: "op", unit: "SCSI opcode, hex", used_for: "operation" },
        Column { name: "size", unit: "bytes", used_for: "length" },
        Column { name: "lbn", unit: "512-byte sectors", used_for: "address" },
    ];
    const SAMPLE: &'static [u8] =
        b"version,time,op,size,lbn\n1,5633898368802,2a,512,42932745\n1,5633898967708,28,6656,40409911\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (4, 5);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let units = Units { address: SECTOR_BYTES, size: 1 };
        let mut format = Cloudphysics {
            scale: TimeScale::whole(1_000).or_named(options.time_unit),
            units: units.or_named(options.address_unit),
            layout: Layout::of_sample::<Self>(USED),
        };
        format.layout.has_rows = head.iter().any(|line| format.parse(line).is_ok());
        format
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let allowed = "a header with time, op, size and lbn";
        self.layout.take_header(line, Self::SEPARATOR, USED, allowed)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let cells = self.layout.read(line, Self::SEPARATOR, self.scale)?;
        let Some(op) = operation(&cells.op)? else {
            return Ok(Row::Other(OTHER_COMMANDS));
        };
        let mut size = cells.size;
        if op == OpCode::Flush {
            size.value = 0;
        }
        let range = self.units.range(cells.address, size)?;
        Ok(Row::Request(Raw::new(cells.time_ns, op, 0, range)))
    }
}

/// What a SCSI opcode asks for; `None` for commands that a drive's blocks do not notice.
#[inline]
fn operation(op: &Word<'_>) -> Result<Option<OpCode>, Bad> {
    let digit = |byte: &u8| (*byte as char).to_digit(16);
    let text = op.text.trim_ascii();
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let code = match text {
        [low] => digit(low),
        [high, low] => digit(high).zip(digit(low)).map(|(high, low)| high << 4 | low),
        _ => None,
    };
    let allowed = "a SCSI opcode of two hex digits, such as 2a";
    let code = code.ok_or_else(|| op.refuse(BadReason::UnknownOperation, allowed))?;
    Ok(of_opcode(code))
}

/// The same of the opcode as a number.
#[inline]
pub(super) fn of_opcode(code: u32) -> Option<OpCode> {
    match code {
        // READ (6), (10), (12), (16).
        0x08 | 0x28 | 0xa8 | 0x88 => Some(OpCode::Read),
        // WRITE (6), (10), (12), (16); WRITE AND VERIFY (10), (12), (16); WRITE SAME (10), (16).
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e | 0x41 | 0x93 => Some(OpCode::Write),
        // UNMAP.
        0x42 => Some(OpCode::Trim),
        // SYNCHRONIZE CACHE (10), (16).
        0x35 | 0x91 => Some(OpCode::Flush),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_of_all_lengths_are_known() {
        let of = |text: &str| operation(&Word { text: text.as_bytes(), column: "op", at: 0 });
        for (codes, op) in [
            ("8 08 28 a8 88 0x28", Some(OpCode::Read)),
            ("0a 2a aa 8A 2e ae 8e", Some(OpCode::Write)),
            ("42", Some(OpCode::Trim)),
            ("35 91", Some(OpCode::Flush)),
            ("0 12 1a a0", None),
        ] {
            for code in codes.split(' ') {
                assert_eq!(of(code), Ok(op), "{code}");
            }
        }
        for code in ["", "2x", "128", "x"] {
            assert_eq!(of(code).map_err(|bad| bad.reason), Err(BadReason::UnknownOperation), "{code}");
        }
    }
}
