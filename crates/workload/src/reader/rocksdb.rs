//! RocksDB's block requests as decoded from an Open-CAS I/O trace: CSV with a header and the file of each request.

use super::fields::{Bad, TimeScale, Units};
use super::format::{Column, Format, Raw, Row};
use super::layout::{Layout, Use, Used};
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use ssd::signals::{Hints, OpCode};

/// Columns that are used.
const USED: &[Used] = &[
    ("timestamp_ns", Use::Time, true),
    ("operation", Use::Operation, true),
    ("lba", Use::Address, true),
    ("len", Use::Size, true),
    ("flush", Use::Flush, false),
    ("fua", Use::Fua, false),
    ("writeHint", Use::Stream, false),
    ("fileId", Use::Inode, false),
];

/// Reads lines by the columns that the header names, in any order.
pub(crate) struct Rocksdb {
    scale: TimeScale,
    units: Units,
    layout: Layout,
}

impl Format for Rocksdb {
    const SUMMARY: &'static str = "CSV with header, one line per request, with write hint and file. Columns are \
        found by name, in any order (without a header in the order below); `timestamp_ns`, `operation`, `lba` and \
        `len` must be there. A write with `flush` set becomes a flush and a write. The file's inode, folded to 32 \
        bits, is the file hint; the write hint is the stream hint.";
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
    const SAMPLE: &'static [u8] =
        b"timestamp_ns,sid,cpu,operation,lba,len,ioClass,flush,fua,metadata,direct,readahead,\
         writeHint,fileId,fileCreation_ns,fileOffset,fileSize,fileName,completion_ns,error\n\
         5,1,1,Write,8,8,0,0,0,0,0,0,0,7,1,1,1,n,9,0\n\
         9,1,1,Read,16,8,0,0,0,0,0,0,0,,,,,,9,0\n";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (4, 64);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let mut format = Rocksdb {
            scale: TimeScale::whole(1).or_named(options.time_unit),
            units: Units::SECTORS.or_named(options.address_unit),
            layout: Layout::of_sample::<Self>(USED),
        };
        format.layout.has_rows = head.iter().any(|line| format.parse(line).is_ok());
        format
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let allowed = "a header with timestamp_ns, operation, lba and len";
        self.layout.take_header(line, Self::SEPARATOR, USED, allowed)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let cells = self.layout.read(line, Self::SEPARATOR, self.scale)?;
        let op = match cells.op.text {
            b"Write" => OpCode::Write,
            b"Read" => OpCode::Read,
            b"Discard" => OpCode::Trim,
            b"Flush" => OpCode::Flush,
            _ => return Err(cells.op.refuse(BadReason::UnknownOperation, "Read, Write, Discard or Flush")),
        };
        let mut size = cells.size;
        if op == OpCode::Flush {
            size.value = 0;
        }
        let range = self.units.range(cells.address, size)?;
        let stream = cells.stream.up_to_u16()?;
        let file = (cells.inode ^ (cells.inode >> 32)) as u32;
        Ok(Row::Request(Raw {
            fua: cells.fua,
            flush_before: cells.flush,
            hints: Hints { stream, file, ..Hints::default() },
            ..Raw::new(cells.time_ns, op, 0, range)
        }))
    }
}
