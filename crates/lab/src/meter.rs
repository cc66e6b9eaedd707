//! What is measured of every request: counts, bytes, latency, and where the time went.

use hdrhistogram::Histogram;
use ssd::units::SECTOR_BYTES;
use ssd::{Completion, OpCode, PARTS, SimTime, Status};
use std::collections::BTreeMap;

/// Kinds of requests, in the order of their numbers.
pub(crate) const KINDS: [OpCode; 4] = [OpCode::Read, OpCode::Write, OpCode::Trim, OpCode::Flush];

/// Significant decimal digits of a latency in a histogram: a percentile is at most 0.1 % above the true one.
const DIGITS: u8 = 3;
/// Longest latency told apart: 146 years.
const LONGEST_NS: u64 = 1 << 62;

/// An empty histogram for latencies in nanoseconds.
pub(crate) fn histogram() -> Histogram<u64> {
    let bounded = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
    bounded.unwrap_or_else(|error| unreachable!("constant bounds are valid: {error}"))
}

/// Requests of one kind that completed in success.
pub(crate) struct Kind {
    pub latencies: Histogram<u64>,
    pub count: u64,
    pub bytes: u64,
    pub latency_sum: u128,
    pub min: u64,
    pub max: u64,
    /// Time by part.
    pub parts: [u128; PARTS],
}

impl Kind {
    fn new() -> Self {
        let latencies = histogram();
        Kind { latencies, count: 0, bytes: 0, latency_sum: 0, min: u64::MAX, max: 0, parts: [0; PARTS] }
    }

    fn clear(&mut self) {
        self.latencies.reset();
        (self.count, self.bytes, self.latency_sum) = (0, 0, 0);
        (self.min, self.max, self.parts) = (u64::MAX, 0, [0; PARTS]);
    }

    #[inline]
    fn record(&mut self, completion: &Completion) {
        let latency = completion.completed.since(completion.arrival);
        self.latencies.saturating_record(latency);
        self.count += 1;
        self.bytes += u64::from(completion.sectors) * SECTOR_BYTES;
        self.latency_sum += u128::from(latency);
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        for (sum, ns) in self.parts.iter_mut().zip(completion.breakdown.ns) {
            *sum += u128::from(ns);
        }
    }

    /// The parts of all requests must add up to their latencies, whatever happened to them.
    pub fn check(&self) {
        let parts: u128 = self.parts.iter().sum();
        assert_eq!(parts, self.latency_sum, "parts of {} latencies do not add up to them; ns", self.count);
    }
}

/// All of it, from the start of the measurement.
pub(crate) struct Meter {
    kinds: [Kind; KINDS.len()],
    /// Requests that completed with another status than `Ok`, by its name.
    pub failed: BTreeMap<&'static str, u64>,
    /// Such requests by kind.
    failed_kinds: [u64; KINDS.len()],
    /// Bytes of writes that completed before the measurement.
    pub bytes_before: u64,
    /// When the measurement began.
    pub since: SimTime,
    /// When the last request completed.
    pub until: SimTime,
    /// When the first and the last request arrived.
    arrivals: (SimTime, SimTime),
}

/// Before any request has arrived.
const NO_ARRIVALS: (SimTime, SimTime) = (SimTime(u64::MAX), SimTime::ZERO);

impl Meter {
    pub fn new(since: SimTime) -> Self {
        let kinds = std::array::from_fn(|_| Kind::new());
        let (failed, failed_kinds) = (BTreeMap::new(), [0; KINDS.len()]);
        Meter { kinds, failed, failed_kinds, bytes_before: 0, since, until: since, arrivals: NO_ARRIVALS }
    }

    /// A request of the warm-up completed: only what it wrote counts, for the drive's lifetime.
    pub fn record_before(&mut self, completion: &Completion) {
        if completion.op == OpCode::Write && completion.status == Status::Ok {
            self.bytes_before += u64::from(completion.sectors) * SECTOR_BYTES;
        }
    }

    /// Forgets everything: the measurement begins at `since`.
    pub fn restart(&mut self, since: SimTime) {
        self.kinds.iter_mut().for_each(Kind::clear);
        self.failed.clear();
        self.failed_kinds = [0; KINDS.len()];
        (self.since, self.until, self.arrivals) = (since, since, NO_ARRIVALS);
    }

    #[inline]
    pub fn record(&mut self, completion: &Completion) {
        self.until = completion.completed;
        let (first, last) = self.arrivals;
        self.arrivals = (first.min(completion.arrival), last.max(completion.arrival));
        if completion.status == Status::Ok {
            self.kinds[completion.op as usize].record(completion);
        } else {
            self.record_failed(completion);
        }
    }

    #[cold]
    fn record_failed(&mut self, completion: &Completion) {
        self.failed_kinds[completion.op as usize] += 1;
        *self.failed.entry(completion.status.name()).or_default() += 1;
    }

    /// The successful requests of a kind.
    pub fn kind(&self, op: OpCode) -> &Kind {
        &self.kinds[op as usize]
    }

    /// All requests of a kind, failed ones included.
    pub fn requests(&self, op: OpCode) -> u64 {
        self.kinds[op as usize].count + self.failed_kinds[op as usize]
    }

    /// Failed requests.
    pub fn requests_failed(&self) -> u64 {
        self.failed_kinds.iter().sum()
    }

    /// From the first arrival to the last; `None` for fewer than two requests.
    pub fn arrivals_ns(&self) -> Option<u64> {
        let (first, last) = self.arrivals;
        let several = KINDS.iter().map(|&op| self.requests(op)).sum::<u64>() > 1;
        several.then(|| last.since(first))
    }

    /// The length of the measurement in simulated time; ns.
    pub fn simulated_ns(&self) -> u64 {
        self.until.since(self.since)
    }
}
