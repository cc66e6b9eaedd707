//! MQSim's text format, which is also DiskSim's ASCII format: five numbers between blanks.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, OpenUnits, Raw, Row};
use super::options::ReadOptions;
use super::pace::guess_of_decimals;
use super::volumes::Volumes;
use crate::base::units::{AddressUnit, TimeUnit};
use ssd::signals::OpCode;

/// Largest set of flags; DiskSim has fewer.
const FLAGS_MAX: u64 = 0xffff;

/// Reads lines such as `11413000 0 657728 16 1`.
pub(crate) struct Mqsim {
    volumes: Volumes,
    scale: TimeScale,
    units: Units,
    /// The unit of times with decimals.
    guessed_time: TimeUnit,
    /// Whether times have decimals, as DiskSim's do.
    has_decimals: bool,
    /// Whether nothing says what the times' unit is.
    time_is_open: bool,
    /// Whether nothing says what the unit of addresses and sizes is.
    space_is_open: bool,
}

impl Format for Mqsim {
    const SUMMARY: &'static str = "Five numbers separated by blanks, one line per request, as for MQSim \
                                   and DiskSim; they have no units, which are inferred from the first \
                                   1,000 lines. Times with decimals are milliseconds (seconds, if that \
                                   makes them dates). Whole numbers are in the unit that makes them dates; \
                                   else in the finest of ns, us and ms at which these lines ask for at \
                                   most 8 GB/s and 1,000,000 requests/s; it is an error if a coarser one \
                                   would still be 100 requests/s, unless all times are multiples of 1,000 \
                                   (ns). \
         Addresses and sizes are bytes if all are multiples of 512 and the sizes differ, else sectors. \
         `time_unit` and `address_unit` override this.";
    const SOURCE: &'static str = "Tavakkol et al.: MQSim (FAST 2018), its traces; Bucy et al.: DiskSim 4.0 \
         Reference Manual (2008), section on external traces";
    const COLUMNS: &'static [Column] = &[
        Column {
            name: "Time",
            unit: "ns (or us, ms, by the request rate), ms if \
                                      decimal",
            used_for: "arrival",
        },
        Column { name: "Device", unit: "a whole number", used_for: "device, stream hint" },
        Column { name: "Address", unit: "512-byte sectors, or bytes", used_for: "address" },
        Column { name: "Size", unit: "512-byte sectors, or bytes", used_for: "length" },
        Column { name: "Type", unit: "flags: odd read, even write", used_for: "operation" },
    ];
    const SAMPLE: &'static [u8] = b"938513000 4 264719034 16 0\n938828000 3 197570570 32 1\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (5, 5);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let time_is_open = options.time_unit == TimeUnit::Auto;
        let is_decimal = |line: &&[u8]| {
            line.trim_ascii_start().iter().take_while(|b| !b.is_ascii_whitespace()).any(|&b| b == b'.')
        };
        let decimal = head.iter().any(is_decimal);
        let guessed_time = match time_is_open && decimal {
            true => guess_of_decimals(head.iter().map(|line| line.trim_ascii_start())),
            false => TimeUnit::Auto,
        };
        let unit_ns = options.time_unit.ns_or(guessed_time.ns_or(1));
        Mqsim {
            volumes: Volumes::new(options),
            scale: TimeScale { unit_ns, decimal: decimal || !time_is_open },
            guessed_time,
            has_decimals: decimal,
            units: Units::SECTORS.or_named(options.address_unit),
            time_is_open: time_is_open && !decimal,
            space_is_open: options.address_unit == AddressUnit::Auto,
        }
    }

    fn kind(&self) -> &'static str {
        if self.has_decimals { "DiskSim's ASCII text" } else { "MQSim's text" }
    }

    fn open_units(&mut self) -> OpenUnits<'_> {
        OpenUnits {
            time: self.time_is_open.then_some(&mut self.scale),
            space: self.space_is_open.then_some(&mut self.units),
        }
    }

    fn guessed_time(&self) -> TimeUnit {
        self.guessed_time
    }

    fn volumes(&self) -> Option<&Volumes> {
        Some(&self.volumes)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let time_ns = fields.time("Time", self.scale)?;
        let device = self.volumes.number(fields.placed("Device")?)?;
        let address = fields.placed("Address")?;
        let size = fields.placed("Size")?;
        // B_READ of Unix and DiskSim's READ.
        let flags = fields.number_up_to("Type", FLAGS_MAX, "flags up to 65535: odd read, even write")?;
        let op = if flags & 1 == 1 { OpCode::Read } else { OpCode::Write };
        let range = self.units.range(address, size)?;
        Ok(Row::Request(Raw::new(time_ns, op, device, range)))
    }
}
