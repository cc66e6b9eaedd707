//! MQSim's text: five numbers, reads and writes only.

use super::target::{Keeps, Target, number};
use crate::base::request::Record;
use ssd::signals::OpCode;

/// What it is.
pub(super) const SUMMARY: &str =
    "MQSim's text: time in ns, device, first sector, sectors, 1 for a read and 0 for a write.";
/// What its lines can hold.
pub(super) const KEEPS: Keeps = Keeps { time_ns: 1, trims: false, flushes: false, fua: false, hints: false };

/// Writes lines such as `938513000 4 264719034 16 0`.
#[derive(Default)]
pub(super) struct Mqsim;

impl Target for Mqsim {
    fn add(&mut self, record: &Record, out: &mut Vec<u8>) {
        let request = &record.request;
        let is_read = u64::from(request.op == OpCode::Read);
        let columns =
            [request.arrival_ns, record.device.into(), request.lba, request.sectors.into(), is_read];
        for (place, column) in columns.into_iter().enumerate() {
            if place > 0 {
                out.push(b' ');
            }
            number(out, column);
        }
        out.push(b'\n');
    }
}
