//! What is counted of requests to tell it as fio does.
//!
//! Names are fio's (its HOWTO, "Interpreting the output"): `slat_ns` is from when a request was to be sent until a
//! queue of the drive had it, `clat_ns` from there until it was complete, `lat_ns` both together.

use crate::measure::latency_counts::histogram_of;
use crate::measure::meter::{KINDS, ratio};
use hdrhistogram::Histogram;
use serde::ser::{Serialize, SerializeMap, Serializer};
use ssd::units::SECTOR_BYTES;
use ssd::{Completion, OpCode, SimTime, Status};

/// fio's default of `percentile_list`.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

const NS_PER_MS: u64 = 1_000_000;

/// Significant decimal digits of the latencies of a run.
pub(crate) const DIGITS_OF_RUN: u8 = 3;
/// Those of one of its jobs, of which there may be thousands.
pub(crate) const DIGITS_OF_JOB: u8 = 2;

/// Count, sum and squares of times, each as its distance from the first, so that equal ones have no deviation at all.
#[derive(Clone, Copy)]
struct Moments {
    count: u64,
    first: u64,
    min: u64,
    max: u64,
    sum: i128,
    squares: u128,
}

impl Moments {
    const NONE: Moments = Moments { count: 0, first: 0, min: u64::MAX, max: 0, sum: 0, squares: 0 };

    fn record(&mut self, ns: u64) {
        if self.count == 0 {
            self.first = ns;
        }
        self.count += 1;
        (self.min, self.max) = (self.min.min(ns), self.max.max(ns));
        self.sum += i128::from(ns) - i128::from(self.first);
        let distance = u128::from(ns.abs_diff(self.first));
        self.squares = self.squares.saturating_add(distance * distance);
    }

    /// As fio tells them: all 0 where there are none.
    fn told(&self, percentile: Option<Percentiles>) -> FioTimes {
        if self.count == 0 {
            return FioTimes::default();
        }
        let (count, sum) = (self.count as f64, self.sum as f64);
        let variance = (self.squares as f64 - sum * sum / count) / (count - 1.0).max(1.0);
        FioTimes {
            min: self.min,
            max: self.max,
            mean: self.first as f64 + sum / count,
            stddev: variance.max(0.0).sqrt(),
            n: self.count,
            percentile,
        }
    }
}

/// Requests of one kind that completed in success.
struct Direction {
    bytes: u64,
    slat: Moments,
    clat: Moments,
    lat: Moments,
    steps: Histogram<u64>,
}

impl Direction {
    fn new(digits: u8) -> Self {
        let [slat, clat, lat] = [Moments::NONE; 3];
        Direction { bytes: 0, slat, clat, lat, steps: histogram_of(digits) }
    }

    fn clear(&mut self) {
        self.steps.reset();
        [self.slat, self.clat, self.lat] = [Moments::NONE; 3];
        self.bytes = 0;
    }

    fn percentiles(&self) -> Option<Percentiles> {
        let within = |ns: u64| ns.clamp(self.clat.min, self.clat.max);
        let all = || PERCENTILES.map(|percent| within(self.steps.value_at_percentile(percent)));
        (self.clat.count > 0).then(|| Percentiles(all()))
    }

    /// Of a measurement of so many ns.
    fn told(&self, ns: u64) -> FioDirection {
        let whole = |count: u64| u128::from(count) * 1_000_000_000 / u128::from(ns.max(1));
        let bw_bytes = u64::try_from(whole(self.bytes)).unwrap_or(u64::MAX);
        FioDirection {
            io_bytes: self.bytes,
            io_kbytes: self.bytes / 1024,
            total_ios: self.clat.count,
            time: Some(FioTime {
                bw_bytes,
                bw: bw_bytes / 1024,
                iops: ratio(self.clat.count as f64 * 1e9, ns as f64).unwrap_or(0.0),
                runtime: ns / NS_PER_MS,
                slat_ns: self.slat.told(None),
                clat_ns: self.clat.told(self.percentiles()),
                lat_ns: self.lat.told(None),
            }),
        }
    }
}

/// What is counted of requests to tell it as fio does.
pub(crate) struct FioTally {
    kinds: [Direction; KINDS.len()],
    failed: u64,
}

impl FioTally {
    /// With so many significant decimal digits of latencies.
    pub fn new(digits: u8) -> Self {
        FioTally { kinds: std::array::from_fn(|_| Direction::new(digits)), failed: 0 }
    }

    pub fn clear(&mut self) {
        self.kinds.iter_mut().for_each(Direction::clear);
        self.failed = 0;
    }

    /// A request completed that was to be sent at a time. Not a part of what is done for each request of runs that are
    /// not told so.
    #[inline(never)]
    pub fn record(&mut self, completion: &Completion, sent: SimTime) {
        if completion.status != Status::Ok {
            self.failed += 1;
            return;
        }
        let Completion { submitted, completed, .. } = *completion;
        let kind = &mut self.kinds[completion.op as usize];
        kind.bytes += u64::from(completion.sectors) * SECTOR_BYTES;
        kind.slat.record(submitted.since(sent));
        kind.clat.record(completed.since(submitted));
        kind.lat.record(completed.since(sent));
        kind.steps.saturating_record(completed.since(submitted));
    }

    /// As a job, whose measurement took so long; ns.
    pub fn told(&self, ns: u64) -> FioJob {
        let kind = |op: OpCode| &self.kinds[op as usize];
        let flushes = kind(OpCode::Flush);
        FioJob {
            jobname: String::new(),
            error: (self.failed == 0).then_some(0),
            total_err: self.failed,
            job_runtime: Some(ns / NS_PER_MS),
            read: kind(OpCode::Read).told(ns),
            write: kind(OpCode::Write).told(ns),
            trim: kind(OpCode::Trim).told(ns),
            sync: FioSync {
                total_ios: flushes.lat.count,
                lat_ns: Some(flushes.lat.told(flushes.percentiles())),
            },
        }
    }
}

/// The values of [`PERCENTILES`].
#[derive(Clone, Debug, PartialEq)]
struct Percentiles([u64; PERCENTILES.len()]);

impl Serialize for Percentiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(PERCENTILES.len()))?;
        for (percent, ns) in PERCENTILES.iter().zip(self.0) {
            map.serialize_entry(&format!("{percent:.6}"), &ns)?;
        }
        map.end()
    }
}

/// Times; ns.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
struct FioTimes {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Percentiles>,
}

/// One direction of data of a job.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct FioDirection {
    io_bytes: u64,
    io_kbytes: u64,
    total_ios: u64,
    #[serde(flatten)]
    time: Option<FioTime>,
}

/// What there is of it where time passes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct FioTime {
    /// Bytes a second.
    bw_bytes: u64,
    /// KiB a second.
    bw: u64,
    iops: f64,
    /// In ms.
    runtime: u64,
    slat_ns: FioTimes,
    clat_ns: FioTimes,
    lat_ns: FioTimes,
}

/// Flushes of a job.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct FioSync {
    total_ios: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_ns: Option<FioTimes>,
}

/// One job as fio tells it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FioJob {
    jobname: String,
    /// 0 if no request failed; what errno fio would say of one is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<u32>,
    total_err: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_runtime: Option<u64>,
    read: FioDirection,
    write: FioDirection,
    trim: FioDirection,
    sync: FioSync,
}

impl FioJob {
    /// The same under a name.
    pub(crate) fn named(&self, name: &str) -> Self {
        FioJob { jobname: name.to_owned(), ..self.clone() }
    }

    /// Without what makes sense only where time passes.
    pub(crate) fn without_time(mut self) -> Self {
        for direction in [&mut self.read, &mut self.write, &mut self.trim] {
            direction.time = None;
        }
        (self.job_runtime, self.sync.lat_ns) = (None, None);
        self
    }
}
