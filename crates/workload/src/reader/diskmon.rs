//! DiskMon's log (Sysinternals): columns between tabs, in order of completion.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Order, Raw, Row};
use super::options::ReadOptions;
use super::volumes::Volumes;
use crate::base::findings::BadReason;
use ssd::signals::OpCode;

/// Reads lines such as `0 0.047339 0.00019073 0 Read 1320146 8` (with tabs).
pub(crate) struct Diskmon {
    volumes: Volumes,
    scale: TimeScale,
    units: Units,
}

impl Format for Diskmon {
    const SUMMARY: &'static str = "Text with tabs, one line per request, as saved by DiskMon for Windows; \
                                   a tab and a carriage return at the end are allowed, and a header that \
                                   begins with # is skipped. Lines are in order of completion; they are \
                                   sorted by time in a window of 65,536 requests.";
    const SOURCE: &'static str = "Russinovich: DiskMon for Windows 2.01 (Sysinternals, 2006)";
    const COLUMNS: &'static [Column] = &[
        Column { name: "#", unit: "", used_for: "" },
        Column { name: "Time", unit: "s, decimal", used_for: "arrival" },
        Column { name: "Duration", unit: "s, decimal", used_for: "" },
        Column { name: "Disk", unit: "a whole number", used_for: "device, stream hint" },
        Column { name: "Request", unit: "Read or Write", used_for: "operation" },
        Column { name: "Sector", unit: "512-byte sectors", used_for: "address" },
        Column { name: "Length", unit: "512-byte sectors", used_for: "length" },
    ];
    const SAMPLE: &'static [u8] = b"0\t0.047339\t0.00019073\t0\tRead\t1320146\t8\t\r\n\
          1\t0.531680\t0.00000000\t0\tWrite\t1080376\t8\t\r\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (7, 7);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        Diskmon {
            volumes: Volumes::new(options),
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: Units::SECTORS.or_named(options.address_unit),
        }
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        Ok(line.trim_ascii_start().starts_with(b"#"))
    }

    fn volumes(&self) -> Option<&Volumes> {
        Some(&self.volumes)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        fields.number("#")?;
        let time_ns = fields.time("Time", self.scale)?;
        fields.skip("Duration")?;
        let device = self.volumes.number(fields.placed("Disk")?)?;
        let op_at = fields.position();
        let op = match fields.word("Request", "Read or Write")? {
            b"Read" => OpCode::Read,
            b"Write" => OpCode::Write,
            _ => return Err(fields.refuse(BadReason::UnknownOperation, "Request", "Read or Write", op_at)),
        };
        let (sector, length) = (fields.placed("Sector")?, fields.placed("Length")?);
        let range = self.units.range(sector, length)?;
        Ok(Row::Request(Raw::new(time_ns, op, device, range)))
    }

    fn order(&self) -> Order {
        Order::Sorted
    }
}
