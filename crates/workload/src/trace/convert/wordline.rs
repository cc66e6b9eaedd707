//! Wordline's own format: everything that a request carries ([`crate::reader`] reads it).

use super::target::{Keeps, Target, labels, number};
use crate::base::request::Record;
use crate::reader::wordline::{FUA, LETTERS, MARK, OPTIONAL, REQUIRED};

/// What it is.
pub(super) const SUMMARY: &str =
    "Wordline's own format: everything about a request, hints included; times in ns, addresses in sectors.";
/// What its lines can hold.
pub(super) const KEEPS: Keeps = Keeps::ALL;

/// Writes lines such as `24675,W,1652296,256,0,0,76`.
#[derive(Default)]
pub(super) struct Wordline;

impl Target for Wordline {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(MARK.as_bytes());
        let names: Vec<&str> = REQUIRED.into_iter().chain(OPTIONAL.map(|(name, _)| name)).collect();
        out.extend_from_slice(names.join(",").as_bytes());
        out.push(b'\n');
    }

    fn add(&mut self, record: &Record, out: &mut Vec<u8>) {
        let request = &record.request;
        number(out, request.arrival_ns);
        out.push(b',');
        out.extend(LETTERS.iter().filter(|(op, _)| *op == request.op).map(|(_, letter)| *letter));
        if request.fua {
            out.push(FUA);
        }
        out.push(b',');
        number(out, request.lba);
        out.push(b',');
        number(out, u64::from(request.sectors));
        let optional: [u64; OPTIONAL.len()] = labels(record);
        let used = optional.iter().rposition(|value| *value != 0).map_or(0, |last| last + 1);
        for value in &optional[..used] {
            out.push(b',');
            if *value != 0 {
                number(out, *value);
            }
        }
        out.push(b'\n');
    }
}
