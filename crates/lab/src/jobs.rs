//! What is measured of each job of a workload of jobs.

use crate::meter::histogram_of;
use crate::result::{Distribution, JobLatencies, JobResult, Rates};
use hdrhistogram::Histogram;
use ssd::units::SECTOR_BYTES;
use ssd::{Completion, OpCode, SimTime, Status};
use workload::{Driven, LaneTimes};

/// Significant decimal digits of a job's latencies: there may be thousands of jobs.
const DIGITS: u8 = 2;

/// Latencies of one kind.
struct Latencies {
    steps: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Latencies {
    fn new() -> Self {
        Latencies { steps: histogram_of(DIGITS), sum: 0, min: u64::MAX, max: 0 }
    }

    #[inline]
    fn record(&mut self, ns: u64) {
        self.steps.saturating_record(ns);
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    fn add(&mut self, other: &Latencies) {
        // Both have the same bounds.
        let added = self.steps.add(&other.steps);
        debug_assert!(added.is_ok());
        (self.sum, self.min, self.max) =
            (self.sum + other.sum, self.min.min(other.min), self.max.max(other.max));
    }

    fn told(&self) -> Distribution {
        let whole = Distribution::of(&self.steps, self.sum, self.min, self.max);
        Distribution { percentiles: Vec::new(), ..whole }
    }
}

/// A job while it runs.
struct Job {
    /// By the number of the operation.
    requests: [u64; 4],
    bytes: [u64; 4],
    failed: u64,
    warm_up: u64,
    reads: Latencies,
    writes: Latencies,
    others: Latencies,
    /// From when it was due, if it keeps a rate.
    from_due: Option<Latencies>,
    last: SimTime,
}

/// All jobs of a run.
pub(crate) struct Jobs(Vec<Job>);

impl Jobs {
    /// For the lanes of a workload.
    pub fn new(driven: &dyn Driven) -> Self {
        let job = |lane: usize| Job {
            requests: [0; 4],
            bytes: [0; 4],
            failed: 0,
            warm_up: 0,
            reads: Latencies::new(),
            writes: Latencies::new(),
            others: Latencies::new(),
            from_due: driven.has_rate(lane as u32).then(Latencies::new),
            last: SimTime::ZERO,
        };
        Jobs((0..driven.lanes().len()).map(job).collect())
    }

    /// A request of a lane completed.
    #[inline]
    pub fn record(&mut self, lane: u32, completion: &Completion, counts: bool) {
        let job = &mut self.0[lane as usize];
        if !counts {
            job.warm_up += 1;
            return;
        }
        job.last = completion.completed;
        let kind = completion.op as usize;
        job.requests[kind] += 1;
        if completion.status != Status::Ok {
            job.failed += 1;
            return;
        }
        job.bytes[kind] += u64::from(completion.sectors) * SECTOR_BYTES;
        // A request that is late was not sent when it arrived, which is when it was due.
        let sent = if job.from_due.is_some() { completion.submitted } else { completion.arrival };
        let latency = completion.completed.since(sent);
        match completion.op {
            OpCode::Read => job.reads.record(latency),
            OpCode::Write => job.writes.record(latency),
            OpCode::Trim | OpCode::Flush => job.others.record(latency),
        }
        if let Some(from_due) = &mut job.from_due {
            from_due.record(completion.completed.since(completion.arrival));
        }
    }

    /// What each got. `start` is the beginning of the run.
    pub fn results(&self, driven: &dyn Driven, start: SimTime) -> Vec<JobResult> {
        let names = driven.lanes();
        let of = |(lane, name): (usize, String)| self.0[lane].told(name, driven.times(lane as u32), start);
        names.into_iter().enumerate().map(of).collect()
    }
}

impl Job {
    fn told(&self, name: String, times: LaneTimes, start: SimTime) -> JobResult {
        let measured = times.measured_ns.unwrap_or(0);
        let ns = self.last.since(start).saturating_sub(measured) as f64;
        let rate = |of: u64, scale: f64| (ns > 0.0).then(|| of as f64 * scale / ns);
        let rates = |of: [u64; 4], scale: f64| Rates {
            all: rate(of.iter().sum(), scale),
            read: rate(of[OpCode::Read as usize], scale),
            write: rate(of[OpCode::Write as usize], scale),
        };
        let mut all = Latencies::new();
        [&self.reads, &self.writes, &self.others].into_iter().for_each(|kind| all.add(kind));
        let [reads, writes, trims, flushes] =
            [OpCode::Read, OpCode::Write, OpCode::Trim, OpCode::Flush].map(|op| self.requests[op as usize]);
        let (read, written) = (self.bytes[OpCode::Read as usize], self.bytes[OpCode::Write as usize]);
        let mut moved = [0; 4];
        (moved[OpCode::Read as usize], moved[OpCode::Write as usize]) = (read, written);
        JobResult {
            name,
            start_ns: times.start_ns,
            measured_ns: times.measured_ns,
            end_ns: times.end_ns,
            requests: self.requests.iter().sum(),
            requests_warm_up: self.warm_up,
            requests_failed: self.failed,
            reads,
            writes,
            trims,
            flushes,
            bytes_read: read,
            bytes_written: written,
            iops: rates(self.requests, 1e9),
            bandwidth_mb_s: rates(moved, 1e3),
            latency_ns: JobLatencies { all: all.told(), read: self.reads.told(), write: self.writes.told() },
            latency_from_due_ns: self.from_due.as_ref().map(Latencies::told),
        }
    }
}
