//! fio's iolog, version 3: what `fio --read_iolog` replays, each device as a file of its own.
//!
//! fio's manual ("Trace file format v3") says that a time stands first; that it is in microseconds was measured on what
//! fio 3.33 writes with a think time.

use super::target::{Keeps, Target, number};
use crate::base::request::{Record, SECTOR_BYTES};
use ssd::signals::OpCode;
use std::collections::BTreeSet;

/// Nanoseconds of its times.
const UNIT_NS: u64 = 1_000;

/// What it is.
pub(super) const SUMMARY: &str = "fio's iolog, version 3, for `fio --read_iolog`: times in us, addresses in bytes, \
        files device0, device1 and so on (`--replay_redirect` names a real one).";
/// What its lines can hold.
pub(super) const KEEPS: Keeps =
    Keeps { time_ns: UNIT_NS, trims: true, flushes: true, fua: false, hints: false };

/// Writes lines such as `24 device0 write 845975552 131072`.
#[derive(Default)]
pub(super) struct FioIolog {
    /// Devices whose files are open.
    devices: BTreeSet<u16>,
    time_us: u64,
}

impl FioIolog {
    fn begin_line(&self, device: u16, action: &str, out: &mut Vec<u8>) {
        number(out, self.time_us);
        out.extend_from_slice(b" device");
        number(out, device.into());
        out.push(b' ');
        out.extend_from_slice(action.as_bytes());
    }
}

impl Target for FioIolog {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"fio version 3 iolog\n");
    }

    fn add(&mut self, record: &Record, out: &mut Vec<u8>) {
        let request = &record.request;
        self.time_us = request.arrival_ns / UNIT_NS;
        if self.devices.insert(record.device) {
            for action in ["add\n", "open\n"] {
                self.begin_line(record.device, action, out);
            }
        }
        let action = if request.op == OpCode::Flush { "sync" } else { request.op.name() };
        self.begin_line(record.device, action, out);
        out.push(b' ');
        number(out, request.lba * SECTOR_BYTES);
        out.push(b' ');
        number(out, request.bytes());
        out.push(b'\n');
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        for device in &self.devices {
            self.begin_line(*device, "close\n", out);
        }
    }
}
