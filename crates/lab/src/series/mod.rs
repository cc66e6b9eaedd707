//! Time series of a run: what requests met and what the drive counted, in intervals of simulated time.
//!
//! Memory is fixed when the run begins: when all intervals are used, pairs of them become one and they are twice as
//! long from then on. Counts are kept as they stood at the end of each interval, so that nothing is lost by that, and
//! what intervals tell adds up to the run's counts. Nothing is allocated while requests are served.
//!
//! - **Memory.** For each interval [`STEPS`] x 2 counts of 32 bits and the drive's counts, 64 bits each: 11 KB
//!   with 16 dies; 20 MB at most in all ([`BYTES_MOST`]).
//! - **Error.** Percentiles are up to 1/32 too long; all else is exact.

mod table;

pub(crate) use table::NAMES_OF_TABLES;
pub use table::{SeriesColumn, SeriesValue, TimeSeries};

use crate::steps::{STEPS, step_of};
use ssd::flash::op::CAUSES;
use ssd::{Completion, Drive, OpCode, Reading, SimTime, Status};
use std::ops::Range;

/// Length of the first intervals: 1 ms.
const FIRST_NS: u64 = 1_000_000; // [A]
/// What all intervals may take together.
const BYTES_MOST: usize = 20_000_000; // [A]
/// Kinds of requests whose latencies are told: reads and writes.
const KINDS: usize = 2;
/// Values of a reading beside its totals, dies and channels: pages by cause, then what stands at its time.
const OTHERS: usize = CAUSES + 3;

/// The requests of an interval.
#[derive(Clone, Copy, Debug)]
struct Requests {
    /// Where their latencies are counted.
    slot: usize,
    /// Reads and writes that completed in success.
    counts: [u64; KINDS],
    /// The shortest and the longest of each; ns.
    spread_ns: [(u64, u64); KINDS],
}

/// Before any request.
const NO_SPREAD: (u64, u64) = (u64::MAX, 0);

impl Requests {
    fn none(slot: usize) -> Self {
        Requests { slot, counts: [0; KINDS], spread_ns: [NO_SPREAD; KINDS] }
    }

    /// The steps that may hold something of a kind.
    fn touched(&self, kind: usize) -> Range<usize> {
        let (shortest, longest) = self.spread_ns[kind];
        let first = (self.slot * KINDS + kind) * STEPS;
        if shortest > longest {
            first..first
        } else {
            first + step_of(shortest)..first + step_of(longest) + 1
        }
    }
}

/// All of it, from the start of the measurement.
pub(crate) struct Series {
    since: SimTime,
    interval_ns: u64,
    /// When the interval ends that is under way.
    pub until: SimTime,
    /// Intervals that there is room for, an even number.
    most: usize,
    /// Intervals that are over.
    over: usize,
    /// Latencies by interval and kind.
    steps: Vec<u32>,
    requests: Vec<Requests>,
    /// By interval: what the drive said at its end.
    said: Vec<u64>,
    /// Values of each.
    width: usize,
    reading: Reading,
}

impl Series {
    /// Of at most so many intervals, from now on.
    pub fn new(drive: &Drive, samples: u32) -> Self {
        let mut reading = Reading::default();
        reading.take(drive);
        let width = reading.totals.len() + OTHERS + 2 * reading.dies.len() + reading.channels_ns.len();
        let bytes = KINDS * STEPS * size_of::<u32>() + size_of::<Requests>() + width * size_of::<u64>();
        let most = (samples as usize).min(BYTES_MOST / bytes).max(2) & !1;
        Series {
            since: reading.at,
            interval_ns: FIRST_NS,
            until: SimTime(reading.at.0 + FIRST_NS),
            most,
            over: 0,
            steps: vec![0; most * KINDS * STEPS],
            requests: (0..most).map(Requests::none).collect(),
            said: vec![0; most * width],
            width,
            reading,
        }
    }

    /// Forgets everything: the measurement begins now.
    pub fn restart(&mut self, now: SimTime) {
        (self.since, self.interval_ns, self.over) = (now, FIRST_NS, 0);
        self.until = SimTime(now.0 + FIRST_NS);
        for at in 0..self.most {
            self.empty(at);
        }
    }

    /// Forgets the requests of an interval.
    fn empty(&mut self, at: usize) {
        let requests = self.requests[at];
        (0..KINDS).for_each(|kind| self.steps[requests.touched(kind)].fill(0));
        self.requests[at] = Requests::none(requests.slot);
    }

    /// A request completed, in the interval that is under way.
    #[inline]
    pub fn record(&mut self, completion: &Completion) {
        let kind = match completion.op {
            OpCode::Read => 0,
            OpCode::Write => 1,
            OpCode::Trim | OpCode::Flush => return,
        };
        if completion.status != Status::Ok {
            return;
        }
        let latency = completion.completed.since(completion.arrival);
        let requests = &mut self.requests[self.over];
        self.steps[(requests.slot * KINDS + kind) * STEPS + step_of(latency)] += 1;
        requests.counts[kind] += 1;
        let (shortest, longest) = &mut requests.spread_ns[kind];
        (*shortest, *longest) = ((*shortest).min(latency), (*longest).max(latency));
    }

    /// Time has come to the end of an interval: what the drive says now is what it said then. In those that have gone
    /// by since nothing happened.
    #[cold]
    pub fn turn(&mut self, drive: &Drive) {
        self.reading.take(drive);
        while self.reading.at >= self.until {
            self.close();
            if self.over == self.most {
                self.merge();
            }
            self.until = SimTime(self.since.0.saturating_add((self.over as u64 + 1) * self.interval_ns));
        }
    }

    /// The interval under way is over.
    fn close(&mut self) {
        let said = &mut self.said[self.over * self.width..][..self.width];
        let Reading {
            totals, programmed_pages, free_blocks, dirty_units, commands, dies, channels_ns, ..
        } = &self.reading;
        let standing = [*free_blocks, u64::from(*dirty_units), u64::from(*commands)];
        let all = totals
            .iter()
            .chain(programmed_pages)
            .chain(&standing)
            .chain(dies.as_flattened())
            .chain(channels_ns);
        said.iter_mut().zip(all).for_each(|(said, value)| *said = *value);
        self.over += 1;
    }

    /// Two intervals become one, and there is room again.
    fn merge(&mut self) {
        for at in 0..self.most / 2 {
            self.add_second(2 * at);
            self.requests.swap(at, 2 * at);
            self.said.copy_within((2 * at + 1) * self.width..(2 * at + 2) * self.width, at * self.width);
        }
        self.over = self.most / 2;
        for at in self.over..self.most {
            self.empty(at);
        }
        self.interval_ns *= 2;
    }

    /// The requests of an interval and of the one behind it are the first's.
    fn add_second(&mut self, at: usize) {
        let [mut sum, more] = [at, at + 1].map(|at| self.requests[at]);
        for kind in 0..KINDS {
            let (into, from) = ((sum.slot * KINDS + kind) * STEPS, (more.slot * KINDS + kind) * STEPS);
            for step in more.touched(kind) {
                let into = into + (step - from);
                self.steps[into] = self.steps[into].saturating_add(self.steps[step]);
            }
            sum.counts[kind] += more.counts[kind];
            let ((shortest, longest), (least, most)) = (sum.spread_ns[kind], more.spread_ns[kind]);
            sum.spread_ns[kind] = (shortest.min(least), longest.max(most));
        }
        self.requests[at] = sum;
    }

    /// All intervals that are over.
    pub fn so_far(&self, drive: &Drive) -> TimeSeries {
        TimeSeries::of(self, drive)
    }

    /// The run is over. The last interval ends with it.
    pub fn finish(mut self, drive: &Drive) -> TimeSeries {
        self.turn(drive);
        let begun = self.since.0 + self.over as u64 * self.interval_ns;
        let something = self.requests[self.over].counts != [0; KINDS] || self.reading.at.0 > begun;
        if something {
            self.close();
        }
        TimeSeries::of(&self, drive)
    }
}
