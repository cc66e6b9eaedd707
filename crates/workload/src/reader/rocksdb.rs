//! RocksDB's block requests as decoded from an Open-CAS I/O trace: CSV with a header and the file of each request.

use super::fields::{Bad, Fields, TimeScale, extent};
use super::{Column, Format, Raw, TimeUnit};
use crate::error::BadReason;
use ssd::signals::{Hints, OpCode};

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Time,
    Operation,
    Lba,
    Sectors,
    Flush,
    Fua,
    WriteHint,
    File,
    Nothing,
}

/// Columns that are used, by the names in the header; true where there must be one.
const USED: [(&str, Use, bool); 8] = [
    ("timestamp_ns", Use::Time, true),
    ("operation", Use::Operation, true),
    ("lba", Use::Lba, true),
    ("len", Use::Sectors, true),
    ("flush", Use::Flush, false),
    ("fua", Use::Fua, false),
    ("writeHint", Use::WriteHint, false),
    ("fileId", Use::File, false),
];

/// Reads lines by the columns that the header names, in any order.
pub(crate) struct Rocksdb {
    scale: TimeScale,
    /// Use of each column up to the last one that is used.
    uses: Vec<Use>,
    /// Columns after those, which must be there nevertheless.
    columns_after: usize,
}

impl Format for Rocksdb {
    const SUMMARY: &'static str = "CSV with header, one line per request, with write hint and file. Columns are found \
        by name, in any order; `timestamp_ns`, `operation`, `lba` and `len` must be there. A write with `flush` set \
        becomes a flush and a write. The file's inode, folded to 32 bits, is the file hint; the write hint is the \
        stream hint.";
    const SOURCE: &'static str = "Open-CAS standalone-linux-io-tracer (Intel), \
        octf.proto.trace events, one row each with its completion";
    const COLUMNS: &'static [Column] = &[
        Column { name: "timestamp_ns", unit: "ns", used_for: "arrival" },
        Column { name: "sid", unit: "", used_for: "" },
        Column { name: "cpu", unit: "", used_for: "" },
        Column { name: "operation", unit: "Read, Write, Discard or Flush", used_for: "operation" },
        Column { name: "lba", unit: "512-byte sectors", used_for: "address" },
        Column { name: "len", unit: "512-byte sectors", used_for: "length" },
        Column { name: "ioClass", unit: "", used_for: "" },
        Column { name: "flush", unit: "0 or 1", used_for: "a flush before the request" },
        Column { name: "fua", unit: "0 or 1", used_for: "forced unit access" },
        Column { name: "metadata, direct, readahead", unit: "0 or 1", used_for: "" },
        Column { name: "writeHint", unit: "0 to 65535", used_for: "stream hint" },
        Column { name: "fileId", unit: "inode, may be empty", used_for: "file hint" },
        Column { name: "fileCreation_ns, fileOffset, fileSize, fileName", unit: "", used_for: "" },
        Column { name: "completion_ns, error", unit: "", used_for: "" },
    ];
    const SAMPLE: &'static str = "timestamp_ns,sid,cpu,operation,lba,len,ioClass,flush,fua,metadata,direct,readahead,\
         writeHint,fileId,fileCreation_ns,fileOffset,fileSize,fileName,completion_ns,error\n\
         5,1,1,Write,8,8,0,0,0,0,0,0,0,7,1,1,1,n,9,0\n\
         9,1,1,Read,16,8,0,0,0,0,0,0,0,,,,,,9,0\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (4, 64);

    fn new(time_unit: TimeUnit, _head: &[&[u8]]) -> Self {
        let scale = TimeScale { unit_ns: time_unit.ns_or(1), decimal: time_unit != TimeUnit::Auto };
        Rocksdb { scale, uses: Vec::new(), columns_after: 0 }
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let names: Vec<&[u8]> = line.split(|&b| b == Self::SEPARATOR).map(<[u8]>::trim_ascii).collect();
        for (name, _, required) in USED {
            if required && !names.contains(&name.as_bytes()) {
                let allowed = "a header with timestamp_ns, operation, lba and len";
                return Err(Bad { reason: BadReason::BadHeader, column: name, allowed, at: 0 });
            }
        }
        let use_of = |name: &[u8]| {
            USED.iter()
                .find(|(known, _, _)| known.as_bytes() == name)
                .map_or(Use::Nothing, |(_, what, _)| *what)
        };
        self.uses = names.iter().map(|name| use_of(name)).collect();
        let used = self.uses.iter().rposition(|&what| what != Use::Nothing).map_or(0, |last| last + 1);
        self.columns_after = self.uses.len() - used;
        self.uses.truncate(used);
        Ok(true)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Raw, Bad> {
        const OPERATIONS: &str = "Read, Write, Discard or Flush";
        let mut fields = Fields::new(line, Self::SEPARATOR);
        let (mut time_ns, mut op, mut lba, mut sectors) = (0, OpCode::Read, 0, 0);
        let (mut lba_at, mut sectors_at) = (0, 0);
        let (mut flush, mut fua) = (0, 0);
        let mut hints = Hints::default();
        for &what in &self.uses {
            let at = fields.position();
            match what {
                Use::Nothing => {
                    fields.word("", "a column as in the header")?;
                }
                Use::Time => time_ns = fields.time("timestamp_ns", self.scale)?,
                Use::Operation => {
                    op = match fields.word("operation", OPERATIONS)? {
                        b"Write" => OpCode::Write,
                        b"Read" => OpCode::Read,
                        b"Discard" => OpCode::Trim,
                        b"Flush" => OpCode::Flush,
                        _ => {
                            return Err(fields.refuse(
                                BadReason::UnknownOperation,
                                "operation",
                                OPERATIONS,
                                at,
                            ));
                        }
                    }
                }
                Use::Lba => (lba, lba_at) = (fields.number("lba")?, at),
                Use::Sectors => (sectors, sectors_at) = (fields.number("len")?, at),
                Use::Flush => flush = fields.number_or_empty("flush")?,
                Use::Fua => fua = fields.number_or_empty("fua")?,
                Use::WriteHint => {
                    let hint = fields.number_or_empty("writeHint")?;
                    let allowed = "0 to 65535";
                    hints.stream = u16::try_from(hint)
                        .map_err(|_| fields.refuse(BadReason::TooLarge, "writeHint", allowed, at))?;
                }
                Use::File => {
                    let inode = fields.number_or_empty("fileId")?;
                    hints.file = (inode ^ (inode >> 32)) as u32;
                }
            }
        }
        if fields.remaining() < self.columns_after {
            let allowed = "as many columns as the header has";
            return Err(fields.refuse(BadReason::MissingColumn, "", allowed, line.len()));
        }
        let sectors = if op == OpCode::Flush { 0 } else { sectors };
        let sectors = extent(lba, sectors, ("lba", lba_at), ("len", sectors_at))?;
        let (fua, flush_before) = (fua != 0, flush != 0);
        Ok(Raw { time_ns, op, fua, flush_before, rounded: false, device: 0, lba, sectors, hints })
    }
}
