//! What is counted of a part of a run's requests: those of a job, of a phase.

use crate::measure::fio_tally::{DIGITS_OF_JOB, FioTally};
use crate::measure::latency_counts::histogram_of;
use crate::measure::meter::KINDS;
use crate::result::{Distribution, Rates, Share, ShareLatencies};
use hdrhistogram::Histogram;
use ssd::units::SECTOR_BYTES;
use ssd::{Completion, OpCode, SimTime, Status};

/// Significant decimal digits of a part's latencies: there may be thousands of parts.
const DIGITS: u8 = 2;

/// Latencies of one kind.
pub(crate) struct Spread {
    steps: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Spread {
    pub fn new() -> Self {
        Spread { steps: histogram_of(DIGITS), sum: 0, min: u64::MAX, max: 0 }
    }

    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.steps.saturating_record(ns);
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    fn add(&mut self, other: &Spread) {
        // Both have the same bounds.
        let added = self.steps.add(&other.steps);
        debug_assert!(added.is_ok());
        (self.sum, self.min, self.max) =
            (self.sum + other.sum, self.min.min(other.min), self.max.max(other.max));
    }

    pub fn told(&self) -> Distribution {
        let whole = Distribution::of(&self.steps, self.sum, self.min, self.max);
        Distribution { percentiles: Vec::new(), ..whole }
    }

    fn clear(&mut self) {
        self.steps.reset();
        (self.sum, self.min, self.max) = (0, u64::MAX, 0);
    }
}

/// Counts and latencies of some requests.
pub(crate) struct Tally {
    /// By the number of the operation.
    requests: [u64; 4],
    bytes: [u64; 4],
    failed: u64,
    /// By the number of the operation, of those that there were: each takes as much memory as all else of a part.
    latencies: [Option<Box<Spread>>; 4],
    /// The same as fio tells it, if that was asked for.
    fio: Option<Box<FioTally>>,
    /// When the last of them completed.
    pub last: SimTime,
}

impl Tally {
    /// With what fio would say of them, if that is asked for.
    pub fn new(tells_fio: bool) -> Self {
        Tally {
            requests: [0; 4],
            bytes: [0; 4],
            failed: 0,
            latencies: [const { None }; 4],
            fio: tells_fio.then(|| Box::new(FioTally::new(DIGITS_OF_JOB))),
            last: SimTime::ZERO,
        }
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        (self.requests, self.bytes, self.failed) = ([0; 4], [0; 4], 0);
        self.latencies.iter_mut().flatten().for_each(|spread| spread.clear());
        self.fio.iter_mut().for_each(|fio| fio.clear());
    }

    /// A request completed, which was sent at a time. Its latency, if it succeeded.
    #[inline]
    pub fn record(&mut self, completion: &Completion, sent: SimTime) -> Option<u64> {
        self.last = completion.completed;
        if let Some(fio) = &mut self.fio {
            fio.record(completion, sent);
        }
        let kind = completion.op as usize;
        self.requests[kind] += 1;
        if completion.status != Status::Ok {
            self.failed += 1;
            return None;
        }
        self.bytes[kind] += u64::from(completion.sectors) * SECTOR_BYTES;
        let latency = completion.completed.since(sent);
        self.latencies[kind].get_or_insert_with(|| Box::new(Spread::new())).record(latency);
        Some(latency)
    }

    /// Bytes of writes that succeeded.
    pub fn written(&self) -> u64 {
        self.bytes[OpCode::Write as usize]
    }

    /// All of it, of requests that took a time together; ns.
    pub fn told(&self, ns: u64) -> Share {
        let fio = self.fio.as_ref().map(|fio| Box::new(fio.told(ns)));
        let ns = ns as f64;
        let rate = |of: u64, scale: f64| (ns > 0.0).then(|| of as f64 * scale / ns);
        let rates = |of: [u64; 4], scale: f64| Rates {
            all: rate(of.iter().sum(), scale),
            read: rate(of[OpCode::Read as usize], scale),
            write: rate(of[OpCode::Write as usize], scale),
        };
        let mut all = Spread::new();
        self.latencies.iter().flatten().for_each(|kind| all.add(kind));
        let [reads, writes, trims, flushes] = KINDS.map(|op| self.requests[op as usize]);
        let [read_ns, write_ns, trim_ns, flush_ns] =
            KINDS.map(|op| self.latencies[op as usize].as_ref().map(|kind| kind.told()).unwrap_or_default());
        let (read, written) = (self.bytes[OpCode::Read as usize], self.written());
        let mut moved = [0; 4];
        (moved[OpCode::Read as usize], moved[OpCode::Write as usize]) = (read, written);
        Share {
            requests: self.requests.iter().sum(),
            requests_failed: self.failed,
            reads,
            writes,
            trims,
            flushes,
            bytes_read: read,
            bytes_written: written,
            iops: rates(self.requests, 1e9),
            bandwidth_mb_s: rates(moved, 1e3),
            latency_ns: ShareLatencies {
                all: all.told(),
                read: read_ns,
                write: write_ns,
                trim: trim_ns,
                flush: flush_ns,
            },
            fio,
        }
    }
}
