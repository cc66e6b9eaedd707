//! CSV for everything else: a header, words for operations, addresses in bytes.

use super::target::{Keeps, Target, labels, number};
use crate::base::request::{Record, SECTOR_BYTES};

/// The columns.
const HEADER: &[u8] =
    b"time_ns,op,offset_bytes,size_bytes,fua,device,stream,file,process,context,priority,class,one_time\n";

/// What it is.
pub(super) const SUMMARY: &str = "CSV with a header: times in ns, read, write, trim or flush, addresses in bytes, \
        and every hint in a column. It is read back with --columns time=time_ns:ns,op=op,offset=offset_bytes:bytes,\
        size=size_bytes:bytes,fua=fua,device=device,stream=stream,file=file,process=process,context=context,\
        priority=priority,class=class,one_time=one_time";
/// What its lines can hold.
pub(super) const KEEPS: Keeps = Keeps::ALL;

/// Writes lines such as `24675,write,845975552,131072,0,0,0,76,0,0,0,0,0`.
#[derive(Default)]
pub(super) struct Csv;

impl Target for Csv {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(HEADER);
    }

    fn add(&mut self, record: &Record, out: &mut Vec<u8>) {
        let request = &record.request;
        number(out, request.arrival_ns);
        out.push(b',');
        out.extend_from_slice(request.op.name().as_bytes());
        let range = [request.lba * SECTOR_BYTES, request.bytes(), request.fua.into()];
        for column in range.into_iter().chain(labels(record)) {
            out.push(b',');
            number(out, column);
        }
        out.push(b'\n');
    }
}
