//! What is measured of each phase of a workload of phases, and of each of several workloads together.

use crate::base::by::By;
use crate::result::MemberResult;
use crate::run::tally::Tally;
use ssd::counters::Count;
use ssd::flash::op::CAUSES;
use ssd::{Completion, SimTime, Stats};
use std::collections::BTreeMap;
use workload::MemberNames;

/// A member while it runs.
struct Member {
    tally: Tally,
    warm_up: u64,
    /// When its first request was handed to the drive.
    start: Option<SimTime>,
    /// Of a phase: what the drive had counted then; `None` if it counts from zero.
    before: Option<Stats>,
}

/// All members of a run's workload.
pub(crate) struct Members {
    names: MemberNames,
    all: Vec<Member>,
    /// One past the last that has begun: phases begin in order.
    begun: usize,
    /// When the measurement of the run began.
    since: SimTime,
}

impl Members {
    /// `None` for a workload of one piece. With what fio would say of them, if that is asked for.
    pub fn new(names: MemberNames, since: SimTime, tells_fio: bool) -> Option<Self> {
        let member =
            |_: &String| Member { tally: Tally::new(tells_fio), warm_up: 0, start: None, before: None };
        let all: Vec<Member> = names.names.iter().map(member).collect();
        (!all.is_empty()).then_some(Members { names, all, begun: 0, since })
    }

    /// Whether this is the first that is heard of a member.
    #[inline]
    pub fn is_new(&self, member: usize) -> bool {
        self.all[member].start.is_none()
    }

    /// The first request of a member is handed to the drive. A phase that had no requests begins with the next one.
    #[cold]
    pub fn begin(&mut self, member: usize, now: SimTime, stats: impl FnOnce() -> Stats) {
        self.all[member].start = Some(now);
        if self.names.in_turn {
            let stats = stats();
            for phase in self.begun..=member {
                self.all[phase].before = Some(stats.clone());
            }
            self.begun = member + 1;
        }
    }

    /// The measurement of the run begins, and the drive counts from zero.
    pub fn restart(&mut self, now: SimTime) {
        self.since = now;
        for member in &mut self.all {
            member.tally.clear();
            member.before = None;
        }
    }

    /// A request of a member completed.
    #[inline]
    pub fn record(&mut self, member: usize, completion: &Completion, counts: bool) {
        let member = &mut self.all[member];
        if counts {
            member.tally.record(completion, completion.arrival);
        } else {
            member.warm_up += 1;
            member.tally.last = completion.completed;
        }
    }

    /// What each got. `start` is the beginning of the run, `stats` what the drive has counted.
    pub fn results(&self, start: SimTime, stats: &Stats) -> Vec<MemberResult> {
        let of = |(number, member): (usize, &Member)| {
            let Member { tally, warm_up, start: began, before } = member;
            let share = tally.told(tally.last.since(began.unwrap_or(start).max(self.since)));
            let mut told = MemberResult {
                name: self.names.names[number].clone(),
                start_ns: began.map(|began| began.since(start)),
                end_ns: (share.requests + warm_up > 0).then(|| tally.last.since(start)),
                requests_warm_up: *warm_up,
                share,
                ..MemberResult::default()
            };
            if self.names.in_turn && began.is_some() {
                let zero = Stats::default();
                let until = match self.all[..self.begun].get(number + 1) {
                    Some(next) => next.before.as_ref().unwrap_or(&zero),
                    None => stats,
                };
                told.set_work(before.as_ref().unwrap_or(&zero), until, tally.written());
            }
            told
        };
        self.all.iter().enumerate().map(of).collect()
    }
}

impl MemberResult {
    /// Fills in what the drive did from one count to a later one, while so many bytes were written.
    fn set_work(&mut self, before: &Stats, after: &Stats, written: u64) {
        let (was, is) = (before.programmed_bytes(), after.programmed_bytes());
        let programmed: [u64; CAUSES] = std::array::from_fn(|cause| is[cause].saturating_sub(was[cause]));
        let all: u64 = programmed.iter().sum();
        let amplification = |bytes: u64| (written > 0 && all > 0).then(|| bytes as f64 / written as f64);
        self.write_amplification = amplification(all);
        self.write_amplification_by_cause = By::new(|cause| amplification(programmed[cause as usize]));
        let counts = before.counters().zip(after.counters()).filter(|((counter, _), _)| counter.adds_up());
        let delta =
            counts.map(|((counter, was), (_, is)): (_, (_, Count))| (counter.key.to_owned(), is.since(&was)));
        self.counters = delta.collect::<BTreeMap<String, Count>>();
    }
}
