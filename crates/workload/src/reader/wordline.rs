//! Wordline's own format: CSV whose first line names version and columns, with all that a request can carry.
//!
//! Written by [`crate::trace::convert`]. Times count from the beginning of the workload, so that a first request that
//! does not arrive at once stays where it is. Columns at the end of a line that are 0 are left out: most lines have
//! four.

use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Raw, Row};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use ssd::signals::{Hints, OpCode};

/// How the first line begins: name and version.
pub(crate) const MARK: &str = "#wordline 1 ";
/// Columns that every line has.
pub(crate) const REQUIRED: [&str; 4] = ["time_ns", "op", "lba", "sectors"];
/// Columns after those, 0 where a line ends before them, with the largest value of each.
pub(crate) const OPTIONAL: [(&str, u64); 8] = [
    ("device", u16::MAX as u64),
    ("stream", u16::MAX as u64),
    ("file", u32::MAX as u64),
    ("process", u32::MAX as u64),
    ("context", u32::MAX as u64),
    ("priority", 3),
    ("class", u8::MAX as u64),
    ("one_time", 1),
];

/// Letters of the operations; one behind them says forced unit access, as in blktrace's RWBS.
pub(crate) const LETTERS: [(OpCode, u8); 4] =
    [(OpCode::Read, b'R'), (OpCode::Write, b'W'), (OpCode::Trim, b'T'), (OpCode::Flush, b'F')];
/// That letter.
pub(crate) const FUA: u8 = b'F';

/// Reads lines such as `24675,W,1652296,256,0,0,76`.
pub(crate) struct Wordline {
    scale: TimeScale,
    units: Units,
    /// How many of [`OPTIONAL`] the header names.
    optional: usize,
}

impl Wordline {
    /// The columns that may be left out, in order; those that the line ends before are 0.
    #[inline]
    fn optional(&self, fields: &mut Fields<'_>) -> Result<[u64; OPTIONAL.len()], Bad> {
        let mut values = [0; OPTIONAL.len()];
        for ((name, most), value) in OPTIONAL.into_iter().zip(&mut values).take(self.optional) {
            if fields.is_done() {
                return Ok(values);
            }
            let at = fields.position();
            *value = fields.number_or_empty(name)?;
            if *value > most {
                let allowed = if most > 0xffff {
                    "up to 2^32 - 1"
                } else {
                    "up to 65535, priority 3, class 255, one_time 1"
                };
                return Err(fields.refuse(BadReason::TooLarge, name, allowed, at));
            }
        }
        if fields.is_done() {
            return Ok(values);
        }
        let at = fields.position();
        Err(fields.refuse(BadReason::NotANumber, "", "no more columns than the first line names", at))
    }
}

/// Operation and forced unit access by its letters.
#[inline]
fn operation(word: &[u8]) -> Option<(OpCode, bool)> {
    let (&letter, rest) = word.split_first()?;
    let (op, _) = LETTERS.into_iter().find(|(_, known)| *known == letter)?;
    match rest {
        [] => Some((op, false)),
        [FUA] => Some((op, true)),
        _ => None,
    }
}

impl Format for Wordline {
    const SUMMARY: &'static str = "Wordline's own format: CSV with everything about a request, hints \
                                   included, as written by `wordline trace convert` and `cut`. The first \
                                   line gives version and columns. Columns from `device` on may be \
                                   omitted, in a line or altogether: they are 0. Times count from the \
                                   beginning of the workload, which may be before the first request.";
    const SOURCE: &'static str = "this project";
    const COLUMNS: &'static [Column] = &[
        Column { name: "time_ns", unit: "ns", used_for: "arrival" },
        Column { name: "op", unit: "R, W, T (trim), F (flush); followed by F: FUA", used_for: "operation" },
        Column { name: "lba", unit: "512-byte sectors", used_for: "address" },
        Column { name: "sectors", unit: "512-byte sectors", used_for: "length" },
        Column { name: "device", unit: "0 to 65535", used_for: "device" },
        Column { name: "stream", unit: "0 to 65535", used_for: "stream hint" },
        Column { name: "file", unit: "0 to 2^32 - 1", used_for: "file hint" },
        Column { name: "process", unit: "0 to 2^32 - 1", used_for: "process hint" },
        Column { name: "context", unit: "0 to 2^32 - 1", used_for: "program context hint" },
        Column { name: "priority", unit: "0 to 3", used_for: "priority hint: 1 low, 2 medium, 3 high" },
        Column { name: "class", unit: "0 to 255", used_for: "security class hint" },
        Column { name: "one_time", unit: "0 or 1", used_for: "hint that the data is read only once" },
    ];
    const SAMPLE: &'static [u8] = b"#wordline 1 time_ns,op,lba,sectors,\
         device,stream,file,process,context,priority,class,one_time\n\
         0,R,749016,64\n1332052600,WF,5512000,8,1,1,76,0,0,2\n";
    const MARK: &'static str = MARK;
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (4, 12);

    fn new(options: &ReadOptions, _head: &[&[u8]]) -> Self {
        let scale = TimeScale::whole(1).or_named(options.time_unit);
        Wordline { scale, units: Units::SECTORS.or_named(options.address_unit), optional: 0 }
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let bad = |column, allowed| Err(Bad { reason: BadReason::BadHeader, column, allowed, at: 0 });
        let Some(names) = line.strip_prefix(MARK.as_bytes()) else {
            return bad("", "a first line such as `#wordline 1 time_ns,op,lba,sectors`");
        };
        let mut names = names.split(|&byte| byte == Self::SEPARATOR).map(<[u8]>::trim_ascii);
        for name in REQUIRED {
            if names.next() != Some(name.as_bytes()) {
                return bad(name, "time_ns,op,lba,sectors, then device and so on, in this order");
            }
        }
        self.optional = 0;
        for name in names {
            if OPTIONAL.get(self.optional).is_none_or(|(known, _)| known.as_bytes() != name) {
                return bad(
                    "",
                    "after sectors: device,stream,file,process,context,priority,class,one_time, in this order",
                );
            }
            self.optional += 1;
        }
        Ok(true)
    }

    fn times_count_from_zero(&self) -> bool {
        true
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        const OPERATIONS: &str = "R, W, T or F, or with FUA RF, WF, TF or FF";
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let time_ns = fields.time("time_ns", self.scale)?;
        let op_at = fields.position();
        let Some((op, fua)) = operation(fields.word("op", OPERATIONS)?) else {
            return Err(fields.refuse(BadReason::UnknownOperation, "op", OPERATIONS, op_at));
        };
        let (lba, sectors) = (fields.placed("lba")?, fields.placed("sectors")?);
        let range = self.units.range(lba, sectors)?;
        let [device, stream, file, process, context, priority, class, one_time] =
            self.optional(&mut fields)?;
        let hints = Hints {
            stream: stream as u16,
            file: file as u32,
            process: process as u32,
            context: context as u32,
            priority: priority as u8,
            class: class as u8,
            one_time: one_time == 1,
        };
        Ok(Row::Request(Raw { fua, hints, ..Raw::new(time_ns, op, device as u16, range) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{ReadOptions, read_from};

    fn read(text: &str) -> Result<Vec<crate::Request>, String> {
        let text = std::io::Cursor::new(text.to_owned());
        let mut source =
            read_from(text, "test", "wordline", &ReadOptions::default()).map_err(|e| e.to_string())?;
        let mut requests = Vec::new();
        while let Some(request) = source.next().map_err(|e| e.to_string())? {
            requests.push(request);
        }
        Ok(requests)
    }

    #[test]
    fn times_count_from_the_beginning_and_not_from_the_first_request() {
        let found = read("#wordline 1 time_ns,op,lba,sectors\n70,R,0,8\n75,FF,0,0\n").unwrap();
        assert_eq!(
            found.iter().map(|r| (r.arrival_ns, r.op)).collect::<Vec<_>>(),
            [(70, OpCode::Read), (75, OpCode::Flush)]
        );
    }

    #[test]
    fn headers_name_version_and_columns() {
        let all = "#wordline 1 time_ns,op,lba,sectors,device,stream,file,process,context,priority,class\n";
        assert_eq!(read(&format!("{all}0,R,0,8,,,,,7,,\n")).unwrap()[0].hints.context, 7);
        for (text, says) in [
            ("0,R,0,8\n", "#wordline 1 time_ns,op,lba,sectors"),
            ("#wordline 2 time_ns,op,lba,sectors\n0,R,0,8\n", "found '#wordline 2"),
            ("#wordline 1 time_ns,op,sectors,lba\n0,R,8,0\n", "column lba"),
            ("#wordline 1 time_ns,op,lba,sectors,stream\n0,R,8,0,1\n", "device,stream"),
            ("#wordline 1 time_ns,op,lba,sectors,device\n0,R,8,8,1,2\n", "no more columns"),
            (&format!("{all}0,R,8,8,65536\n"), "column device: too large: found '65536'"),
            (&format!("{all}0,R,8,8,0,0,0,0,0,9\n"), "column priority: too large"),
            (
                &format!("{}0,R,8,8,0,0,0,0,0,0,0,2\n", all.replace("class", "class,one_time")),
                "column one_time",
            ),
            (&format!("{all}0,WW,8,8\n"), "column op: unknown operation: found 'WW'"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
