//! What is measured of each job of a workload of jobs.

use crate::result::JobResult;
use crate::run::tally::{Spread, Tally};
use ssd::{Completion, SimTime};
use workload::{Driven, LaneTimes};

/// A job while it runs.
struct Job {
    tally: Tally,
    warm_up: u64,
    /// From when it was due, if it keeps a rate.
    from_due: Option<Spread>,
}

/// All jobs of a run.
pub(crate) struct Jobs(Vec<Job>);

impl Jobs {
    /// For the lanes of a workload; with what fio would say of them, if that is asked for.
    pub fn new(driven: &dyn Driven, tells_fio: bool) -> Self {
        let job = |lane: usize| Job {
            tally: Tally::new(tells_fio),
            warm_up: 0,
            from_due: driven.has_rate(lane as u32).then(Spread::new),
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
        // A request that is late was not sent when it arrived, which is when it was due.
        let sent = if job.from_due.is_some() { completion.submitted } else { completion.arrival };
        let latency = job.tally.record(completion, sent);
        if let (Some(from_due), Some(_)) = (&mut job.from_due, latency) {
            from_due.record(completion.completed.since(completion.arrival));
        }
    }

    /// What each of some lanes got, but for phases that are no jobs. `start` is the beginning of the run.
    pub fn results(
        &self,
        driven: &dyn Driven,
        start: SimTime,
        is_asked: impl Fn(u32) -> bool,
    ) -> Vec<JobResult> {
        let names = driven.lanes();
        let is_job = |(lane, _): &(usize, String)| driven.is_job(*lane as u32) && is_asked(*lane as u32);
        let of = |(lane, name): (usize, String)| self.0[lane].told(name, driven.times(lane as u32), start);
        names.into_iter().enumerate().filter(is_job).map(of).collect()
    }
}

impl Job {
    fn told(&self, name: String, times: LaneTimes, start: SimTime) -> JobResult {
        let measured = times.measured_ns.unwrap_or(0);
        JobResult {
            name,
            start_ns: times.start_ns,
            measured_ns: times.measured_ns,
            end_ns: times.end_ns,
            requests_warm_up: self.warm_up,
            share: self.tally.told(self.tally.last.since(start).saturating_sub(measured)),
            latency_from_due_ns: self.from_due.as_ref().map(Spread::told),
        }
    }
}
