//! MSR Cambridge: CSV without header, times in Windows file time, addresses in bytes.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Raw, Row};
use super::names::Few;
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use ssd::signals::OpCode;

/// Reads lines such as `128166372003061629,hm,0,Read,383496192,32768,413`.
pub(crate) struct Msr {
    scale: TimeScale,
    units: Units,
    /// Names of hosts; their numbers are the upper half of those of devices.
    hosts: Few<Vec<u8>>,
    /// Whether the lines end with a response time; the first one decides.
    has_response: Option<bool>,
}

impl Format for Msr {
    const SUMMARY: &'static str = "CSV without header, one line per request, as in the MSR Cambridge \
                                   traces of 2007. A device is a host and a disk: its number is the \
                                   disk's, plus 256 for each earlier host.";
    const SOURCE: &'static str = "Narayanan, Donnelly, Rowstron: Write Off-Loading (FAST 2008); \
        SNIA IOTTA, MSR Cambridge Block I/O Traces";
    const COLUMNS: &'static [Column] = &[
        Column { name: "Timestamp", unit: "100 ns (Windows file time)", used_for: "arrival" },
        Column { name: "Hostname", unit: "", used_for: "device" },
        Column { name: "DiskNumber", unit: "0 to 255", used_for: "device, stream hint" },
        Column { name: "Type", unit: "Read or Write", used_for: "operation" },
        Column { name: "Offset", unit: "bytes", used_for: "address" },
        Column { name: "Size", unit: "bytes", used_for: "length" },
        Column { name: "ResponseTime", unit: "100 ns (may be missing in all lines)", used_for: "" },
    ];
    const SAMPLE: &'static [u8] = b"128166372003061629,hm,0,Read,383496192,32768,413\n\
                                  128166372016382155,hm,1,Write,2822144000,4096,1\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (6, 7);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        Msr {
            scale: TimeScale::whole(100).or_named(options.time_unit),
            units: Units::BYTES.or_named(options.address_unit),
            hosts: Few::default(),
            has_response: None,
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let time_ns = fields.time("Timestamp", self.scale)?;
        let host_at = fields.position();
        let host = fields.word("Hostname", "a name")?;
        let disk = fields.number_up_to("DiskNumber", 255, "0 to 255")?;
        let op_at = fields.position();
        let op = match fields.word("Type", "Read or Write")? {
            b"Read" => OpCode::Read,
            b"Write" => OpCode::Write,
            other if other.trim_ascii().eq_ignore_ascii_case(b"read") => OpCode::Read,
            other if other.trim_ascii().eq_ignore_ascii_case(b"write") => OpCode::Write,
            _ => return Err(fields.refuse(BadReason::UnknownOperation, "Type", "Read or Write", op_at)),
        };
        let offset = fields.placed("Offset")?;
        let size = fields.placed("Size")?;
        if *self.has_response.get_or_insert(!fields.is_done()) && fields.is_done() {
            let allowed = "a response time, as in the lines above";
            return Err(fields.refuse(BadReason::MissingColumn, "ResponseTime", allowed, line.len()));
        }
        let too_many = || fields.refuse(BadReason::TooLarge, "Hostname", "one of at most 256 hosts", host_at);
        let host = self.hosts.id(host).ok_or_else(too_many)?;
        let device = host * 256 + disk as u16;
        let range = self.units.range(offset, size)?;
        Ok(Row::Request(Raw::new(time_ns, op, device, range)))
    }
}
