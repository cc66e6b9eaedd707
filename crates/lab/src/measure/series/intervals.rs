//! What requests met and the drive counted, interval by interval, while a run goes on.

use crate::measure::steps::{STEPS, step_of};
use ssd::flash::op::CAUSES;
use ssd::{Completion, Drive, OpCode, Reading, SimTime, Status};
use std::ops::Range;

/// Length of the first intervals: 1 ms.
const FIRST_NS: u64 = 1_000_000; // [A]
/// What all intervals may take together.
const BYTES_MOST: usize = 20_000_000; // [A]
/// Kinds of requests whose latencies are told: reads, writes and flushes.
pub(super) const KINDS: usize = 3;
/// Values of a reading beside its totals, dies and channels: pages by cause, then what stands at its time, then how
/// many units were dirty at all looks together.
pub(super) const OTHERS: usize = CAUSES + 4;
/// Looks at the buffer in each interval.
const LOOKS: u64 = 8; // [A]

/// Looks that would be made in that time if they were as close as the first.
pub(super) fn looks_in(ns: u64) -> u64 {
    ns / (FIRST_NS / LOOKS)
}

/// The requests of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requests {
    /// Where their latencies are counted.
    pub slot: usize,
    /// Those of each kind that completed in success.
    pub counts: [u64; KINDS],
    /// The shortest and the longest of each; ns.
    pub spread_ns: [(u64, u64); KINDS],
    /// How long all commands that were in the drive were in it, within this interval; ns.
    pub inside_ns: u64,
}

/// Before any request.
const NO_SPREAD: (u64, u64) = (u64::MAX, 0);

impl Requests {
    fn none(slot: usize) -> Self {
        Requests { slot, counts: [0; KINDS], spread_ns: [NO_SPREAD; KINDS], inside_ns: 0 }
    }

    /// The steps that may hold something of a kind.
    pub fn touched(&self, kind: usize) -> Range<usize> {
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
    pub(super) since: SimTime,
    pub(super) interval_ns: u64,
    /// When the drive is looked at next: the interval under way may end then.
    pub until: SimTime,
    /// When the interval under way began.
    begun: SimTime,
    /// Intervals that there is room for, an even number.
    most: usize,
    /// Intervals that are over.
    pub(super) over: usize,
    /// Latencies by interval and kind.
    pub(super) steps: Vec<u32>,
    pub(super) requests: Vec<Requests>,
    /// Of these, the interval's that is under way; it is put back when the interval is over.
    under_way: Requests,
    /// By interval: what the drive said at its end.
    pub(super) said: Vec<u64>,
    /// Values of each.
    pub(super) width: usize,
    pub(super) reading: Reading,
    /// Dirty units when the measurement began.
    pub(super) dirty_before: u32,
    /// Dirty units of all looks together, each as often as the first looks would have been made until the next.
    dirty_sum: u64,
    /// The run is over: the last interval ended with it.
    pub(super) is_over: bool,
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
            until: SimTime(reading.at.0 + FIRST_NS / LOOKS),
            begun: reading.at,
            most,
            over: 0,
            steps: vec![0; most * KINDS * STEPS],
            requests: (0..most).map(Requests::none).collect(),
            under_way: Requests::none(0),
            said: vec![0; most * width],
            width,
            dirty_before: reading.dirty_units,
            dirty_sum: 0,
            is_over: false,
            reading,
        }
    }

    /// Forgets everything: the measurement begins now.
    pub fn restart(&mut self, drive: &Drive) {
        let now = drive.now();
        self.requests[self.over] = self.under_way;
        (self.since, self.begun, self.interval_ns, self.over) = (now, now, FIRST_NS, 0);
        self.until = SimTime(now.0 + FIRST_NS / LOOKS);
        (self.dirty_before, self.dirty_sum) = (Reading::dirty_units_of(drive), 0);
        for at in 0..self.most {
            self.empty(at);
        }
        self.under_way = self.requests[0];
    }

    /// Forgets the requests of an interval.
    fn empty(&mut self, at: usize) {
        let requests = self.requests[at];
        (0..KINDS).for_each(|kind| self.steps[requests.touched(kind)].fill(0));
        self.requests[at] = Requests::none(requests.slot);
    }

    /// A request completed, in the interval that is under way. Its latency lies in that [step](step_of).
    #[inline]
    pub fn record(&mut self, completion: &Completion, latency: u64, step: usize) {
        let requests = &mut self.under_way;
        requests.inside_ns += completion.completed.since(completion.submitted.max(self.begun));
        if completion.status == Status::Ok && completion.op != OpCode::Trim {
            let op = completion.op as usize;
            let kind = op - usize::from(op > OpCode::Trim as usize);
            self.steps[(requests.slot * KINDS + kind) * STEPS + step] += 1;
            requests.counts[kind] += 1;
            let (shortest, longest) = &mut requests.spread_ns[kind];
            (*shortest, *longest) = ((*shortest).min(latency), (*longest).max(latency));
        }
        if completion.submitted < self.begun {
            self.record_before(completion.submitted.max(self.since), completion.completed);
        }
    }

    /// A command was in the drive from one time to the other, in intervals that are over, too.
    #[cold]
    fn record_before(&mut self, submitted: SimTime, completed: SimTime) {
        let mut end = self.begun;
        for requests in self.requests[..self.over].iter_mut().rev() {
            let begun = SimTime(end.0 - self.interval_ns);
            requests.inside_ns += end.min(completed).since(submitted.max(begun));
            if submitted >= begun {
                break;
            }
            end = begun;
        }
    }

    /// Time has come to a look, or to the end of an interval: what the drive says now is what it said then. In those
    /// that have gone by since nothing happened.
    #[cold]
    pub fn turn(&mut self, drive: &Drive) {
        let (now, dirty) = (drive.now(), u64::from(Reading::dirty_units_of(drive)));
        let mut is_read = false;
        while now >= self.until {
            self.dirty_sum += dirty * looks_in(self.interval_ns / LOOKS);
            if self.until.since(self.begun) >= self.interval_ns {
                if !std::mem::replace(&mut is_read, true) {
                    self.reading.take(drive);
                }
                self.end_interval();
            }
            let looks = self.until.since(self.begun) * LOOKS / self.interval_ns;
            let next = (looks + 1) * (self.interval_ns / LOOKS);
            self.until = SimTime(self.begun.0.saturating_add(next));
        }
    }

    /// The interval under way is over, and the next begins.
    fn end_interval(&mut self) {
        self.close();
        if self.over == self.most {
            self.merge();
        }
        self.under_way = self.requests[self.over];
        self.begun = SimTime(self.since.0 + self.over as u64 * self.interval_ns);
        self.until = self.until.max(self.begun);
    }

    /// The interval under way is over.
    fn close(&mut self) {
        let said = &mut self.said[self.over * self.width..][..self.width];
        let Reading {
            totals, programmed_pages, free_blocks, dirty_units, commands, dies, channels_ns, ..
        } = &self.reading;
        let standing = [*free_blocks, u64::from(*dirty_units), u64::from(*commands), self.dirty_sum];
        let all = totals
            .iter()
            .chain(programmed_pages)
            .chain(&standing)
            .chain(dies.as_flattened())
            .chain(channels_ns);
        said.iter_mut().zip(all).for_each(|(said, value)| *said = *value);
        self.requests[self.over] = self.under_way;
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
        sum.inside_ns += more.inside_ns;
        self.requests[at] = sum;
    }

    /// The run is over. The last interval ends with it, and is longer than the others rather than shorter.
    pub(super) fn end(&mut self, drive: &Drive) {
        self.turn(drive);
        self.reading.take(drive);
        self.is_over = true;
        let left = self.reading.at.since(self.begun);
        let something = self.under_way.counts != [0; KINDS] || left > 0;
        if something {
            let since_look = self.interval_ns / LOOKS - self.until.since(self.reading.at);
            self.dirty_sum += u64::from(self.reading.dirty_units) * looks_in(since_look);
            self.close();
            if self.over > 1 && left < self.interval_ns {
                self.add_second(self.over - 2);
                let width = self.width;
                self.said.copy_within((self.over - 1) * width..self.over * width, (self.over - 2) * width);
                self.over -= 1;
            }
        }
    }
}
