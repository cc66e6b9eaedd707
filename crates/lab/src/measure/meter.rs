//! What is measured of every request: counts, bytes, latency, and where the time went.

use crate::measure::latency_counts::LatencyCounts;
use crate::measure::steps::{STEPS, step_at};
use crate::measure::windows::Windows;
use ssd::signals::{PRIORITIES, Priority};
use ssd::units::SECTOR_BYTES;
use ssd::{Completion, OpCode, PARTS, SimTime, Status};
use std::collections::BTreeMap;

/// Kinds of requests, in the order of their numbers.
pub(crate) const KINDS: [OpCode; 4] = [OpCode::Read, OpCode::Write, OpCode::Trim, OpCode::Flush];

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Served {
    /// Taken from the workload for the drive.
    pub generated: u64,
    /// Completed, in success or with a status.
    pub completed: u64,
    /// Of these, before the measurement.
    pub warm_up: u64,
}

/// A ratio that means something.
pub fn ratio(of: f64, to: f64) -> Option<f64> {
    (to > 0.0).then(|| of / to).filter(|ratio| ratio.is_finite())
}

/// Requests of one kind that completed in success.
pub(crate) struct Kind {
    pub latencies: LatencyCounts,
    pub count: u64,
    pub bytes: u64,
    pub min: u64,
    pub max: u64,
    /// By steps of latency: what went where.
    alike: Box<[Alike]>,
    /// What was carried over from there.
    carried: Sums<u128>,
}

/// Requests whose latencies lie within 1/32 of each other, and their parts together.
#[derive(Clone, Copy, Default)]
struct Alike {
    count: u64,
    /// Of these, those whose sums were carried over: a few centuries fit in 64 bits.
    carried: u64,
    sums: Sums<u64>,
}

/// Sums of latencies and of their parts, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Sums<T> {
    latency: T,
    parts: [T; PARTS],
}

impl Kind {
    fn new() -> Self {
        let (latencies, alike) = (LatencyCounts::new(), vec![Alike::default(); STEPS].into());
        Kind { latencies, count: 0, bytes: 0, min: u64::MAX, max: 0, alike, carried: Sums::default() }
    }

    fn clear(&mut self) {
        self.latencies.clear();
        (self.count, self.bytes, self.min, self.max) = (0, 0, u64::MAX, 0);
        self.alike.fill(Alike::default());
        self.carried = Sums::default();
    }

    #[inline]
    fn record(&mut self, completion: &Completion, latency: u64, step: usize) {
        self.latencies.record(latency);
        self.count += 1;
        self.bytes += u64::from(completion.sectors) * SECTOR_BYTES;
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        if self.alike[step].sums.latency.checked_add(latency).is_none() {
            self.carry(step);
        }
        let Alike { count, sums, .. } = &mut self.alike[step];
        *count += 1;
        sums.latency += latency;
        // No part can run over: together they are the latencies.
        for (sum, ns) in sums.parts.iter_mut().zip(completion.breakdown.ns) {
            *sum = sum.wrapping_add(ns);
        }
    }

    #[cold]
    fn carry(&mut self, step: usize) {
        let Alike { count, carried, sums } = &mut self.alike[step];
        *carried = *count;
        let Sums { latency, parts } = std::mem::take(sums);
        self.carried.latency += u128::from(latency);
        for (sum, ns) in self.carried.parts.iter_mut().zip(parts) {
            *sum += u128::from(ns);
        }
    }

    /// A sum over the requests of all steps together.
    fn sum(&self, carried: u128, of: impl Fn(&Sums<u64>) -> u64) -> u128 {
        carried + self.alike.iter().map(|alike| u128::from(of(&alike.sums))).sum::<u128>()
    }

    /// The latencies of all requests together.
    pub fn latency_sum(&self) -> u128 {
        self.sum(self.carried.latency, |sums| sums.latency)
    }

    /// What all requests together spent in a part.
    pub fn part_sum(&self, part: usize) -> u128 {
        self.sum(self.carried.parts[part], |sums| sums.parts[part])
    }

    /// What one request spent in each part, on average over those up to the step of latencies that so many of a
    /// million lie in, or from that step on; ns. None without requests, and where no time passes. Of centuries only the
    /// last count.
    pub fn part_means(&self, side: Side, of_million: u64) -> Option<[f64; PARTS]> {
        let at = self.step_at(of_million)?;
        let some = match side {
            Side::To => &self.alike[..=at],
            Side::From => &self.alike[at..],
        };
        let count: u64 = some.iter().map(|alike| alike.count - alike.carried).sum();
        let sum = |part: usize| some.iter().map(|alike| u128::from(alike.sums.parts[part])).sum::<u128>();
        Some(std::array::from_fn(|part| sum(part) as f64 / count as f64))
    }

    /// The step up to which so many of a million lie.
    fn step_at(&self, of_million: u64) -> Option<usize> {
        let counts = self.alike.iter().map(|alike| alike.count);
        step_at(counts, of_million).filter(|_| self.max > 0)
    }

    /// How many requests [`part_means`](Self::part_means) counts from such a step on; none likewise.
    pub fn slowest(&self, of_million: u64) -> Option<u64> {
        let at = self.step_at(of_million)?;
        Some(self.alike[at..].iter().map(|alike| alike.count).sum())
    }

    /// The parts of all requests must add up to their latencies, whatever happened to them.
    pub fn check(&self) {
        let parts: u128 = (0..PARTS).map(|part| self.part_sum(part)).sum();
        assert_eq!(parts, self.latency_sum(), "parts of {} latencies do not add up to them; ns", self.count);
    }
}

/// Which requests are meant by a percentile of their latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Those up to it.
    To,
    /// Those from it on.
    From,
}

/// Latencies of the reads of one priority.
struct Class {
    latencies: LatencyCounts,
    sum: u128,
    min: u64,
    max: u64,
}

impl Class {
    fn new() -> Self {
        Class { latencies: LatencyCounts::new(), sum: 0, min: u64::MAX, max: 0 }
    }

    fn clear(&mut self) {
        self.latencies.clear();
        (self.sum, self.min, self.max) = (0, u64::MAX, 0);
    }

    #[inline]
    fn record(&mut self, ns: u64) {
        self.latencies.record(ns);
        self.sum += u128::from(ns);
        (self.min, self.max) = (self.min.min(ns), self.max.max(ns));
    }
}

/// All of it, from the start of the measurement.
pub(crate) struct Meter {
    kinds: [Kind; KINDS.len()],
    /// Successful reads by priority. As long as all are medium they are not told apart.
    classes: [Class; PRIORITIES],
    tells_classes: bool,
    /// Requests that completed with another status than `Ok`, by its name.
    pub failed: BTreeMap<&'static str, u64>,
    /// Such requests by kind.
    failed_kinds: [u64; KINDS.len()],
    /// Successful writes that begin or end within a mapping unit.
    pub writes_in_part: u64,
    unit_sectors: u64,
    /// Bits of a sector's number that tell its place in its unit; all, where that is no power of two.
    within_unit: u64,
    /// Bytes of writes that completed before the measurement.
    pub bytes_before: u64,
    /// When the measurement began.
    pub since: SimTime,
    /// When the last request completed.
    pub until: SimTime,
    /// When the first and the last request arrived.
    arrivals: (SimTime, SimTime),
    /// All requests by the time of their arrival; empty where no time passes.
    windows: Windows,
}

/// Before any request has arrived.
const NO_ARRIVALS: (SimTime, SimTime) = (SimTime(u64::MAX), SimTime::ZERO);

impl Meter {
    /// Nothing yet, of a drive whose mapping units have so many sectors.
    pub fn new(since: SimTime, unit_sectors: u64) -> Self {
        let kinds = std::array::from_fn(|_| Kind::new());
        let (failed, failed_kinds) = (BTreeMap::new(), [0; KINDS.len()]);
        Meter {
            kinds,
            classes: std::array::from_fn(|_| Class::new()),
            tells_classes: false,
            failed,
            failed_kinds,
            writes_in_part: 0,
            unit_sectors,
            within_unit: if unit_sectors.is_power_of_two() { unit_sectors - 1 } else { u64::MAX },
            bytes_before: 0,
            since,
            until: since,
            arrivals: NO_ARRIVALS,
            windows: Windows::new(since),
        }
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
        self.classes.iter_mut().for_each(Class::clear);
        self.tells_classes = false;
        self.failed.clear();
        self.failed_kinds = [0; KINDS.len()];
        self.writes_in_part = 0;
        (self.since, self.until, self.arrivals) = (since, since, NO_ARRIVALS);
        self.windows.restart(since);
    }

    /// A request completed. Its latency lies in that [step](crate::measure::steps::step_of).
    #[inline(always)]
    pub fn record(&mut self, completion: &Completion, latency: u64, step: usize) {
        self.until = completion.completed;
        let (first, last) = self.arrivals;
        self.arrivals = (first.min(completion.arrival), last.max(completion.arrival));
        if latency > 0 {
            self.windows.record(completion.arrival, latency);
        }
        if completion.status == Status::Ok {
            if self.tells_classes || completion.priority != Priority::Medium {
                self.record_class(completion);
            }
            if (completion.lba.0 | u64::from(completion.sectors)) & self.within_unit != 0 {
                self.count_in_part(completion);
            }
            self.kinds[completion.op as usize].record(completion, latency, step);
        } else {
            self.record_failed(completion);
        }
    }

    #[cold]
    fn count_in_part(&mut self, completion: &Completion) {
        let bounds = [completion.lba.0, completion.lba.0 + u64::from(completion.sectors)];
        let is_in_part = bounds.iter().any(|at| !at.is_multiple_of(self.unit_sectors));
        self.writes_in_part += u64::from(is_in_part && completion.op == OpCode::Write);
    }

    #[cold]
    fn record_class(&mut self, completion: &Completion) {
        if completion.op != OpCode::Read {
            return;
        }
        if !self.tells_classes {
            self.tells_classes = true;
            self.copy_medium();
        }
        let latency = completion.completed.since(completion.arrival);
        self.classes[completion.priority as usize].record(latency);
    }

    /// All reads so far were medium.
    fn copy_medium(&mut self) {
        let (all, medium) =
            (&self.kinds[OpCode::Read as usize], &mut self.classes[Priority::Medium as usize]);
        medium.latencies.add(&all.latencies);
        (medium.sum, medium.min, medium.max) = (all.latency_sum(), all.min, all.max);
    }

    /// The successful reads of a priority.
    pub fn class(&self, priority: Priority) -> (&LatencyCounts, u128, u64, u64) {
        if !self.tells_classes && priority == Priority::Medium {
            let reads = self.kind(OpCode::Read);
            return (&reads.latencies, reads.latency_sum(), reads.min, reads.max);
        }
        let Class { latencies, sum, min, max } = &self.classes[priority as usize];
        (latencies, *sum, *min, *max)
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

    /// All requests by the time of their arrival; empty where no time passes.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    /// From the first arrival to the last; `None` for fewer than two requests.
    pub fn arrivals_ns(&self) -> Option<u64> {
        let (first, last) = self.arrivals;
        let several = KINDS.iter().map(|&op| self.requests(op)).sum::<u64>() > 1;
        several.then(|| last.since(first))
    }

    /// From the last arrival to the end; ns.
    pub fn after_arrivals_ns(&self) -> u64 {
        self.until.since(self.arrivals.1)
    }

    /// The length of the measurement in simulated time; ns.
    pub fn simulated_ns(&self) -> u64 {
        self.until.since(self.since)
    }
}
