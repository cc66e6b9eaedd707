//! Stalls: times in which requests wait in the drive and nothing completes.

use crate::base::by::Axis;
use crate::measure::meter::ratio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{Completion, Part, SimTime};

/// From how long on it is a stall that nothing completes; ns. Assumed: as long as the longest erase of the
/// presets takes, of which some take less.
pub(crate) const STALL_NS: u64 = 5_000_000;
/// Stalls that are told one by one; assumed.
pub(crate) const LONGEST: usize = 16;

/// One of the longest stalls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// When it began, from the start of the measurement, in ns: at a completion, or when an idle drive received a
    /// request.
    pub start_ns: u64,
    /// How long it lasted, until the next completion, in ns.
    pub ns: u64,
    /// Requests in the drive at its end, including the one that ended it.
    pub waiting: u64,
    /// The part in which the request that ended it had spent most of its time (the parts of `breakdown_ns`).
    pub part: String,
    /// That part's share of the request's latency, 0 to 1.
    pub part_share: Option<f64>,
}

/// Periods of 5 ms (assumed) or more in which requests were in the drive and none completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stalls {
    /// Number of stalls: periods of 5 ms (assumed) or more in which at least one request was in the drive and none
    /// completed. 0 if no time is simulated.
    pub count: u64,
    /// Total length of all stalls, in ns.
    pub total_ns: u64,
    /// The 16 longest, in order of length.
    pub longest: Vec<Stall>,
}

/// A stall as it is kept while the run goes on; one of no time is none.
#[derive(Clone, Copy)]
struct Kept {
    start: SimTime,
    ns: u64,
    waiting: u64,
    part: Part,
    part_ns: u64,
    latency_ns: u64,
}

const NOTHING: Kept =
    Kept { start: SimTime::ZERO, ns: 0, waiting: 0, part: Part::Link, part_ns: 0, latency_ns: 0 };

/// What finds stalls.
pub(crate) struct StallWatch {
    /// Since when something could have completed: the last completion, the first request that an empty drive was
    /// handed, or the start of the measurement.
    since: SimTime,
    /// From when to when nothing completed before the last completion.
    pub last: (SimTime, SimTime),
    count: u64,
    total_ns: u64,
    /// The longest so far, in no order.
    longest: [Kept; LONGEST],
}

impl StallWatch {
    pub fn new(since: SimTime) -> Self {
        StallWatch { since, last: (since, since), count: 0, total_ns: 0, longest: [NOTHING; LONGEST] }
    }

    /// A request was handed to a drive that was empty, or the measurement begins: what nothing completed in before is
    /// not told.
    #[inline(always)]
    pub fn begin(&mut self, now: SimTime) {
        self.since = now;
    }

    /// A request that was handed to the drive completed, with which so many were `inside`; `counts` if it is one of the
    /// measurement.
    #[inline(always)]
    pub fn completed(&mut self, completion: &Completion, inside: usize, counts: bool) {
        let ns = completion.completed.since(self.since);
        if ns >= STALL_NS && counts {
            self.keep(completion, ns, inside as u64);
        }
        self.last = (self.since, completion.completed);
        self.since = completion.completed;
    }

    #[cold]
    fn keep(&mut self, completion: &Completion, ns: u64, waiting: u64) {
        self.count += 1;
        self.total_ns += ns;
        let shortest = self.longest.iter_mut().min_by_key(|kept| (kept.ns, std::cmp::Reverse(kept.start)));
        let Some(shortest) = shortest.filter(|kept| kept.ns < ns) else { return };
        let parts = &completion.breakdown.ns;
        // Of equal parts the first.
        let part = Part::ALL.into_iter().rev().max_by_key(|part| parts[part.index()]).unwrap_or(Part::Link);
        *shortest = Kept {
            start: self.since,
            ns,
            waiting,
            part,
            part_ns: parts[part.index()],
            latency_ns: completion.completed.since(completion.arrival),
        };
    }

    /// What was found in a measurement that began then.
    pub fn told(&self, measured_since: SimTime) -> Stalls {
        let mut longest: Vec<&Kept> = self.longest.iter().filter(|kept| kept.ns > 0).collect();
        longest.sort_unstable_by_key(|kept| (std::cmp::Reverse(kept.ns), kept.start));
        let told = |kept: &Kept| Stall {
            start_ns: kept.start.since(measured_since),
            ns: kept.ns,
            waiting: kept.waiting,
            part: kept.part.name().to_owned(),
            part_share: ratio(kept.part_ns as f64, kept.latency_ns as f64),
        };
        Stalls {
            count: self.count,
            total_ns: self.total_ns,
            longest: longest.into_iter().map(told).collect(),
        }
    }
}
