//! MQSim's text format, which is also DiskSim's ASCII format: five numbers between blanks.

use super::fields::{Bad, Fields, TimeScale, extent};
use super::{Column, Format, Raw, TimeUnit};
use crate::error::BadReason;
use ssd::signals::{Hints, OpCode};

/// Reads lines such as `11413000 0 657728 16 1`.
pub(crate) struct Mqsim {
    scale: TimeScale,
    /// Whether nothing says what the times' unit is.
    unit_is_open: bool,
}

impl Format for Mqsim {
    const SUMMARY: &'static str = "Five numbers between blanks, one line per request. Times are nanoseconds in \
         MQSim's own traces and decimal milliseconds in DiskSim's and in many made for MQSim: if one of the first \
         20 lines has a decimal point in the time, all times are milliseconds. Whole numbers are taken for the finest \
         of ns, us and ms at which the head asks for at most 8 GB/s and 1,000,000 requests/s; it is an error if a \
         coarser one would still be 100 requests/s (`time_unit` decides).";
    const SOURCE: &'static str = "Tavakkol et al.: MQSim (FAST 2018), its traces; Bucy et al.: DiskSim 4.0 \
         Reference Manual (2008), section on external traces";
    const COLUMNS: &'static [Column] = &[
        Column { name: "Time", unit: "ns (or us, ms by the pace), ms if decimal", used_for: "arrival" },
        Column { name: "Device", unit: "0 to 65535", used_for: "device, stream hint" },
        Column { name: "Address", unit: "512-byte sectors", used_for: "address" },
        Column { name: "Size", unit: "512-byte sectors", used_for: "length" },
        Column { name: "Type", unit: "1 read, 0 write", used_for: "operation" },
    ];
    const SAMPLE: &'static str = "938513000 4 264719034 16 0\n938828000 3 197570570 32 1\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (5, 5);

    fn new(time_unit: TimeUnit, head: &[&[u8]]) -> Self {
        let is_decimal = |line: &&[u8]| {
            line.trim_ascii_start().iter().take_while(|b| !b.is_ascii_whitespace()).any(|&b| b == b'.')
        };
        let decimal = head.iter().any(is_decimal);
        let auto = if decimal { 1_000_000 } else { 1 };
        let unit_is_open = !decimal && time_unit == TimeUnit::Auto;
        let decimal = decimal || time_unit != TimeUnit::Auto;
        Mqsim { scale: TimeScale { unit_ns: time_unit.ns_or(auto), decimal }, unit_is_open }
    }

    fn open_scale(&mut self) -> Option<&mut TimeScale> {
        self.unit_is_open.then_some(&mut self.scale)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Raw, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let time_ns = fields.time("Time", self.scale)?;
        let device = fields.number_up_to("Device", u64::from(u16::MAX), "0 to 65535")? as u16;
        let lba_at = fields.position();
        let lba = fields.number("Address")?;
        let size_at = fields.position();
        let sectors = fields.number("Size")?;
        let type_at = fields.position();
        let op = match fields.number("Type")? {
            1 => OpCode::Read,
            0 => OpCode::Write,
            _ => {
                return Err(fields.refuse(
                    BadReason::UnknownOperation,
                    "Type",
                    "1 (read) or 0 (write)",
                    type_at,
                ));
            }
        };
        let sectors = extent(lba, sectors, ("Address", lba_at), ("Size", size_at))?;
        let hints = Hints { stream: device, ..Hints::default() };
        Ok(Raw { time_ns, op, fua: false, flush_before: false, rounded: false, device, lba, sectors, hints })
    }

    /// Traces of the same shape exist with addresses and sizes in bytes. Taken as sectors, their requests are all
    /// multiples of 256 KiB: those are not recognised but must be named.
    fn is_plausible(sample: &[Raw]) -> bool {
        !sample.iter().all(|raw| raw.lba % 512 == 0 && raw.sectors % 512 == 0)
    }
}
