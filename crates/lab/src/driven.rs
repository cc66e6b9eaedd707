//! The loop between a workload of jobs and a drive: each job sends when it may, and is told what has completed.
//!
//! Nothing here allocates or grows with the number of requests: what finds all queues full is held, and no job sends
//! more than its depth.

use crate::desk::{Counted, Desk, LentDesk, MARK_BITS, mark_of};
use crate::error::Failure;
use crate::jobs::Jobs;
use crate::phase::Progress;
use crate::result::JobResult;
use crate::spec::RunSpec;
use ssd::{Drive, DriveConfig, SimTime};
use std::collections::VecDeque;
use workload::{Driven, FilesAtStart, Poll, Request};

/// A run of jobs in progress.
pub(crate) struct DrivenSession<'a> {
    desk: LentDesk<'a>,
    driven: &'a mut dyn Driven,
    jobs: Jobs,
    /// Requests that found all queues full, in order.
    held: VecDeque<(u32, Request)>,
    /// Where the next request is tried first.
    queue: usize,
    /// Requests that may still be taken.
    left: u64,
    /// The end of the jobs' warm-up, if it has not come.
    warm_up_end: Option<SimTime>,
    /// Requests of the warm-up that the run itself asks for.
    warm_up: u64,
}

impl<'a> DrivenSession<'a> {
    /// Opens the request log.
    pub fn new(
        drive: &'a mut Drive,
        config: &DriveConfig,
        driven: &'a mut dyn Driven,
        spec: &RunSpec,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, Failure> {
        let jobs = Jobs::new(driven, spec.tells_fio);
        assert!(driven.marks() <= 1 << MARK_BITS, "more lanes than a tag can name");
        let total = spec.total(driven.requests_at_most());
        let mut desk = Desk::open(drive, config, spec, (total, &FilesAtStart::default()), progress)
            .map_err(|(failure, _)| failure)?;
        desk.set_members(&driven.members());
        let warm_up_end = driven.warm_up_ns().map(|ns| desk.at(ns));
        if warm_up_end.is_some() {
            desk.books.warm_up = u64::MAX;
        }
        Ok(DrivenSession {
            held: VecDeque::with_capacity(driven.depth().min(1 << 20) as usize),
            desk,
            driven,
            jobs,
            queue: 0,
            left: spec.requests.unwrap_or(u64::MAX),
            warm_up_end,
            warm_up: spec.warm_up,
        })
    }

    /// Runs to the end of all jobs.
    pub fn run(&mut self) -> Result<(), Failure> {
        loop {
            self.send_held();
            let until = self.take_requests();
            if !self.desk.is_waiting() && until.is_none() {
                break;
            }
            if !self.go_on(until.unwrap_or(SimTime(u64::MAX)))? {
                break;
            }
        }
        self.desk.ended.take().map_or(Ok(()), Err)
    }

    /// Closes the log and gives back what was counted.
    pub fn finish(self, failure: &mut Option<Failure>) -> (Counted, Vec<JobResult>) {
        let results = self.jobs.results(self.driven, self.desk.start);
        (self.desk.finish(failure).0, results)
    }

    /// Takes all requests that jobs send now; when there will be more, if that is known. `None` if nothing comes by
    /// itself any more.
    #[inline]
    fn take_requests(&mut self) -> Option<SimTime> {
        while self.left > 0 && !self.desk.is_over() {
            let now = self.desk.drive.now().since(self.desk.start);
            match self.driven.poll(now) {
                Ok(Poll::Request { lane, request }) => {
                    self.left -= 1;
                    self.desk.books.served.generated += 1;
                    self.send(lane, request);
                }
                Ok(Poll::Until(ns)) => return Some(self.desk.at(ns)),
                Ok(Poll::Waiting) => return Some(SimTime(u64::MAX)),
                Ok(Poll::End) => return None,
                Err(error) => self.desk.ended = Some(Failure::Workload(error)),
            }
        }
        None
    }

    #[inline]
    fn send(&mut self, lane: u32, request: Request) {
        if !self.held.is_empty() || !self.submit(lane, &request) {
            self.held.push_back((lane, request));
        }
    }

    /// Sends what was held, as far as there is room.
    #[inline]
    fn send_held(&mut self) {
        while let Some(&(lane, request)) = self.held.front() {
            if !self.submit(lane, &request) {
                return;
            }
            self.held.pop_front();
        }
    }

    /// Hands a request to the next queue that has room; false if none has. The tag of its command tells the lane.
    #[inline]
    fn submit(&mut self, lane: u32, request: &Request) -> bool {
        let Some(queue) = self.desk.free_queue(self.queue) else { return false };
        self.queue = (queue + 1) % self.desk.drive.queues();
        let (arrival, now) = (self.desk.at(request.arrival_ns), self.desk.drive.now());
        let tag = self.desk.tag(self.driven.member(), u64::from(lane), now);
        self.desk.submit(queue, request, tag, arrival, now);
        true
    }

    /// Lets time pass to the next completion, or to `until`. False if what is under way is not waited for.
    #[inline]
    fn go_on(&mut self, until: SimTime) -> Result<bool, Failure> {
        if until.0 == u64::MAX && self.warm_up_end.is_none() || self.desk.ended.is_some() {
            let goes_on = self.desk.advance()?;
            while self.take_completion() {}
            return Ok(goes_on);
        }
        let warm_up_end = self.warm_up_end.unwrap_or(SimTime(u64::MAX));
        let next = self.desk.drive.next_event_at().unwrap_or(SimTime(u64::MAX));
        // What happens at the end of the warm-up is part of the measurement.
        if warm_up_end <= next.min(until) && warm_up_end.0 < u64::MAX {
            self.desk.drive.advance_to(warm_up_end.max(self.desk.drive.now()));
            self.begin_measurement();
        } else if next <= until && next.0 < u64::MAX {
            self.desk.drive.advance_to(next);
        } else if until.0 < u64::MAX {
            self.desk.drive.advance_to(until.max(self.desk.drive.now()));
        } else {
            return Err(self.desk.lost());
        }
        while self.take_completion() {}
        Ok(true)
    }

    #[cold]
    fn begin_measurement(&mut self) {
        self.warm_up_end = None;
        self.desk.books.warm_up = self.warm_up.max(self.desk.books.served.completed);
        if self.desk.books.is_warm() {
            self.desk.books.meter.restart(self.desk.drive.now());
            self.desk.begin_measurement();
        }
    }

    /// Takes a completion, if one waits.
    #[inline]
    fn take_completion(&mut self) -> bool {
        let (start, driven, jobs) = (self.desk.start, &mut self.driven, &mut self.jobs);
        let taken = self.desk.take_completion(|completion| {
            let mark = mark_of(completion.tag) as u32;
            let lane = driven.lane_of(mark);
            let counts = driven.completed(mark, completion.completed.since(start));
            jobs.record(lane, completion, counts);
        });
        taken.is_some()
    }
}
