//! The virtual-desktop storage traces of SYSTOR '17: CSV with header, in order of completion.

use super::fields::{Bad, TimeScale, Units};
use super::format::{Column, Format, Order, Raw, Row};
use super::layout::{Layout, Use, Used};
use super::options::ReadOptions;
use super::volumes::Volumes;
use crate::base::findings::BadReason;
use ssd::signals::OpCode;

/// Columns that are used.
const USED: &[Used] = &[
    ("Timestamp", Use::Time, true),
    ("IOType", Use::Operation, true),
    ("LUN", Use::Device, false),
    ("Offset", Use::Address, true),
    ("Size", Use::Size, true),
];

/// Reads lines such as `1456095145.133076000,0.000806000,R,0,899056122368,131072`.
pub(crate) struct Systor17 {
    volumes: Volumes,
    scale: TimeScale,
    units: Units,
    layout: Layout,
}

impl Format for Systor17 {
    const SUMMARY: &'static str = "CSV with header, one line per request, as in the traces of 2016, one \
                                   file for each hour and LUN. Columns are found by name, in any order \
                                   (without a header in the order below). Each LUN is a device. Lines are \
                                   in order of completion; they are sorted by time in a window of 65,536 \
                                   requests. Lines without a type are counted.";
    const SOURCE: &'static str = "Lee et al.: Understanding Storage Traffic Characteristics on Enterprise Virtual \
         Desktop Infrastructure (SYSTOR 2017); SNIA IOTTA, SYSTOR '17 Traces, README";
    const COLUMNS: &'static [Column] = &[
        Column { name: "Timestamp", unit: "s since 1970, decimal", used_for: "arrival" },
        Column { name: "Response", unit: "s", used_for: "" },
        Column { name: "IOType", unit: "R or W, may be empty", used_for: "operation" },
        Column { name: "LUN", unit: "a whole number", used_for: "device, stream hint" },
        Column { name: "Offset", unit: "bytes", used_for: "address" },
        Column { name: "Size", unit: "bytes", used_for: "length" },
    ];
    const SAMPLE: &'static [u8] = b"Timestamp,Response,IOType,LUN,Offset,Size\n\
         1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
         1456095145.126285000,0.008044000,W,3,4256049987072,122880\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (4, 6);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let mut format = Systor17 {
            volumes: Volumes::new(options),
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: Units::BYTES.or_named(options.address_unit),
            layout: Layout::of_sample::<Self>(USED),
        };
        format.layout.has_rows = head.iter().any(|line| format.parse(line).is_ok());
        format
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let allowed = "a header with Timestamp, IOType, Offset and Size";
        self.layout.take_header(line, Self::SEPARATOR, USED, allowed)
    }

    fn volumes(&self) -> Option<&Volumes> {
        Some(&self.volumes)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let cells = self.layout.read(line, Self::SEPARATOR, self.scale)?;
        let op = match cells.op.text.trim_ascii() {
            b"R" | b"r" => OpCode::Read,
            b"W" | b"w" => OpCode::Write,
            b"" => return Ok(Row::Other("requests without a type")),
            _ => return Err(cells.op.refuse(BadReason::UnknownOperation, "R, W or nothing")),
        };
        let range = self.units.range(cells.address, cells.size)?;
        let device = self.volumes.number(cells.device)?;
        Ok(Row::Request(Raw::new(cells.time_ns, op, device, range)))
    }

    fn order(&self) -> Order {
        Order::Sorted
    }
}
