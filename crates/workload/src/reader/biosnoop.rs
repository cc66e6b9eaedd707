//! What bcc's `biosnoop` prints: one line per request as it completes, with the name of its process.

use super::events::{NO_DATA, operation};
use super::fields::{Bad, Fields, Number, TimeScale, Units};
use super::format::{Column, Format, Known, Order, Raw, Row};
use super::layout::Word;
use super::names::Names;
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use crate::base::request::SECTOR_BYTES;
use ssd::signals::{Hints, OpCode};

/// What stands in a column behind the process's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Pid,
    Disk,
    Letters,
    Sector,
    Bytes,
    Latency,
    Nothing,
}

/// The columns that must be there.
const USED: [(&str, Use); 6] = [
    ("PID", Use::Pid),
    ("DISK", Use::Disk),
    ("T", Use::Letters),
    ("SECTOR", Use::Sector),
    ("BYTES", Use::Bytes),
    ("LAT(ms)", Use::Latency),
];
const MILLISECONDS: TimeScale = TimeScale { unit_ns: 1_000_000, decimal: true };
/// Added to all times (16 years), so that a request which began before the first line has one too.
const BEFORE_NS: u64 = 1 << 59;

/// Reads lines such as `0.004000 Web Content 8812 sda R 2101248 4096 0.19`.
pub(crate) struct Biosnoop {
    scale: TimeScale,
    units: Units,
    /// The columns behind the process's name, which may hold blanks: they are counted from the right.
    columns: Vec<(&'static str, Use)>,
    processes: Names,
    disks: Names,
}

impl Format for Biosnoop {
    const SUMMARY: &'static str = "Text as printed by bcc's biosnoop (the Python or the libbpf tool), \
         with or without -Q; columns are found by the header's names. A line is printed as its request completes, so \
         it arrives at TIME less LAT, when the drive got it; requests are sorted by that in a window of 65,536. T is R \
         or W, or letters as in blkparse's RWBS. The process name, numbered by first appearance, is the process hint. \
         What biosnoop.bt of bpftrace prints has no addresses, and cannot be replayed.";
    const SOURCE: &'static str = "Gregg: BPF Performance Tools (2019), section 9.3.2; biosnoop(8) of bcc";
    const COLUMNS: &'static [Column] = &[
        Column { name: "TIME(s)", unit: "s, decimal: of the completion", used_for: "arrival" },
        Column { name: "COMM", unit: "a name, which may hold blanks", used_for: "process hint" },
        Column { name: "PID", unit: "", used_for: "" },
        Column { name: "DISK", unit: "a name", used_for: "device, stream hint" },
        Column { name: "T", unit: "R, W, or letters", used_for: "operation, flush, forced unit access" },
        Column { name: "SECTOR", unit: "512-byte sectors", used_for: "address" },
        Column { name: "BYTES", unit: "bytes", used_for: "length" },
        Column { name: "QUE(ms)", unit: "with -Q only", used_for: "" },
        Column { name: "LAT(ms)", unit: "ms, decimal", used_for: "arrival" },
    ];
    const SAMPLE: &'static [u8] = b"TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n\
          0.000000    jbd2/sda1-8    412    sda     W 9437192    8192      0.41\n\
          0.004000    Web Content    8812   sda     R 2101248    4096      0.19\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (7, 20);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let units = Units { address: SECTOR_BYTES, size: 1 };
        let mut format = Biosnoop {
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: units.or_named(options.address_unit),
            columns: USED.to_vec(),
            processes: Names::default(),
            disks: Names::default(),
        };
        // Without a header, and with -Q.
        if !head.iter().any(|line| format.parse(line).is_ok()) {
            format.columns.insert(USED.len() - 1, ("", Use::Nothing));
        }
        format
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let mut names = line.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
        if names.next() != Some(b"TIME(s)") || names.next() != Some(b"COMM") {
            return Ok(false);
        }
        let known = |name: &[u8]| USED.into_iter().find(|(known, _)| known.as_bytes() == name);
        self.columns = names.map(|name| known(name).unwrap_or(("", Use::Nothing))).collect();
        match USED.iter().find(|used| !self.columns.contains(used)) {
            None => Ok(true),
            Some(&(column, _)) => {
                let allowed = "a header with PID, DISK, T, SECTOR, BYTES and LAT(ms)";
                Err(Bad { reason: BadReason::BadHeader, column, allowed, at: 0 })
            }
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let completed_ns = fields.time("TIME(s)", self.scale)?;
        let name_at = fields.position();
        let Some(columns_at) = last_words(line, self.columns.len()).filter(|&at| at > name_at) else {
            let allowed = "a process and as many columns behind it as the header has";
            return Err(Bad { reason: BadReason::MissingColumn, column: "COMM", allowed, at: line.len() });
        };
        let process = line[name_at..columns_at].trim_ascii();
        let mut fields = Fields::from(line, Self::SEPARATOR, columns_at);
        let (mut disk, mut letters, mut latency_ns) = (Word::default(), Word::default(), 0);
        let (mut sector, mut bytes) = (None, Number::default());
        for &(column, what) in &self.columns {
            let at = fields.position();
            match what {
                Use::Pid => {
                    fields.number(column)?;
                }
                Use::Disk => disk = Word { text: fields.word(column, "a name")?, column, at },
                Use::Letters => letters = Word { text: fields.word(column, "R or W")?, column, at },
                Use::Sector => {
                    fields.skip(column)?;
                    sector = Some((column, at));
                }
                Use::Bytes => bytes = fields.placed(column)?,
                Use::Latency => latency_ns = fields.time(column, MILLISECONDS)?,
                Use::Nothing => fields.skip(column)?,
            }
        }
        let Some((op, flush_before, fua)) = operation(&letters)? else { return Ok(Row::Other(NO_DATA)) };
        let range = match sector {
            Some((column, at)) if op != OpCode::Flush => {
                self.units.range(Fields::from(line, Self::SEPARATOR, at).placed(column)?, bytes)?
            }
            // What a flush has for an address is none, and may be -1.
            _ => self.units.range(Number::default(), Number::default())?,
        };
        let number = self.disks.id(disk.text).wrapping_sub(1);
        let device = u16::try_from(number)
            .map_err(|_| disk.refuse(BadReason::TooLarge, "one of at most 65536 disks"))?;
        let time_ns = completed_ns.saturating_add(BEFORE_NS).saturating_sub(latency_ns);
        let hints = Hints { stream: device, process: self.processes.id(process), ..Hints::default() };
        Ok(Row::Request(Raw { flush_before, fua, hints, ..Raw::new(time_ns, op, device, range) }))
    }

    fn order(&self) -> Order {
        Order::Sorted
    }

    fn processes(&self) -> Option<&Names> {
        Some(&self.processes)
    }

    fn known(&self) -> Known<'_> {
        Known { devices: self.disks.first(crate::base::report::NAMES_SHOWN), ..Known::default() }
    }
}

/// Where the last words of a line begin, so many of them.
#[inline]
fn last_words(line: &[u8], count: usize) -> Option<usize> {
    let mut at = line.trim_ascii_end().len();
    for number in 0..count {
        at = line[..at].iter().rposition(|&b| b == b' ' || b == b'\t')? + 1;
        if number + 1 < count {
            at = line[..at].trim_ascii_end().len();
        }
    }
    Some(at)
}
