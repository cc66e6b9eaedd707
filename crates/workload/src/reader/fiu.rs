//! FIU's traces of servers and home directories: text with process names and hashes of the contents.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Known, Raw, Row};
use super::names::{DeviceNumbers, Names};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use ssd::signals::Hints;

/// Reads lines such as `89966527950584 4253 nfsd 508516672 8 W 6 0 88b93b628d84082186026d9da044f173`.
pub(crate) struct Fiu {
    scale: TimeScale,
    units: Units,
    processes: Names,
    devices: DeviceNumbers,
}

impl Format for Fiu {
    const SUMMARY: &'static str = "Text with blanks, one line per request, as in the traces of 2008 and \
                                   2009 (mail, web, homes). The process name, numbered by first \
                                   appearance, is the process hint; a device is a major and a minor \
                                   number, numbered the same way. The content hashes are ignored.";
    const SOURCE: &'static str = "Koller, Rangaswami: I/O Deduplication (FAST 2010), section 2; SNIA IOTTA, FIU \
         IODedup and SRCMap traces, README";
    const COLUMNS: &'static [Column] = &[
        Column { name: "time", unit: "ns", used_for: "arrival" },
        Column { name: "pid", unit: "", used_for: "" },
        Column { name: "process", unit: "", used_for: "process hint" },
        Column { name: "lba", unit: "512-byte sectors", used_for: "address" },
        Column { name: "size", unit: "512-byte sectors", used_for: "length" },
        Column { name: "operation", unit: "R or W", used_for: "operation" },
        Column { name: "major, minor", unit: "", used_for: "device, stream hint" },
        Column { name: "MD5", unit: "of 4 KiB, or of each sector; may be missing", used_for: "" },
    ];
    const SAMPLE: &'static [u8] =
        b"89966527950584 4253 nfsd 508516672 8 W 6 0 88b93b628d84082186026d9da044f173\n\
         89966740167027 4253 imapd 519854376 8 R 6 0 442aacdb6ea1684f2aebf339de201f12\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (8, 9);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        Fiu {
            scale: TimeScale::whole(1).or_named(options.time_unit),
            units: Units::SECTORS.or_named(options.address_unit),
            processes: Names::default(),
            devices: DeviceNumbers::default(),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let time_ns = fields.time("time", self.scale)?;
        fields.number("pid")?;
        let process = fields.word("process", "a name")?;
        let lba = fields.placed("lba")?;
        let size = fields.placed("size")?;
        let op = fields.read_or_write("operation", "R or W")?;
        let major_at = fields.position();
        let (major, minor) = (fields.number("major")?, fields.number("minor")?);
        let range = self.units.range(lba, size)?;
        let allowed = "one of at most 256 devices";
        let device = self
            .devices
            .id(&(major, minor))
            .ok_or_else(|| fields.refuse(BadReason::TooLarge, "major", allowed, major_at))?;
        let process = self.processes.id(process);
        Ok(Row::Request(Raw {
            hints: Hints { stream: device, process, ..Hints::default() },
            ..Raw::new(time_ns, op, device, range)
        }))
    }

    fn processes(&self) -> Option<&Names> {
        Some(&self.processes)
    }

    fn known(&self) -> Known<'_> {
        Known { devices: self.devices.names(), ..Known::default() }
    }
}
