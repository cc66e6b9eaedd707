//! The loop between a workload of jobs and a drive: each job sends when it may, and is told what has completed.
//!
//! Nothing here allocates or grows with the number of requests: what finds all queues full is held, and no job sends
//! more than its depth.

use crate::books::{Books, PROGRESS_EVERY, Served};
use crate::error::Failure;
use crate::jobs::Jobs;
use crate::meter::Meter;
use crate::phase::{Phase, Progress};
use crate::result::JobResult;
use crate::spec::RunSpec;
use crate::stop::Stop;
use ssd::{Command, Drive, DriveConfig, Lba, SimTime, Status};
use std::collections::VecDeque;
use workload::{Driven, Poll, Request};

/// Bits of a command's tag that hold its lane; the others number the request.
const LANE_BITS: u32 = 16;

/// A run of jobs in progress.
pub(crate) struct DrivenSession<'a> {
    drive: &'a mut Drive,
    driven: &'a mut dyn Driven,
    books: Books,
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
    progress: &'a mut dyn FnMut(Progress),
    total: Option<u64>,
    /// The workload's time zero.
    start: SimTime,
    /// Why no more requests are taken.
    ended: Option<Failure>,
    stop: Stop,
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
        let start = drive.now();
        let jobs = Jobs::new(driven);
        assert!(driven.lanes().len() <= 1 << LANE_BITS, "more lanes than a tag can name");
        let mut books = Books::open(start, config, spec)?;
        let warm_up_end = driven.warm_up_ns().map(|ns| SimTime(start.0.saturating_add(ns)));
        if warm_up_end.is_some() {
            books.warm_up = u64::MAX;
        }
        Ok(DrivenSession {
            held: VecDeque::with_capacity(driven.depth().min(1 << 20) as usize),
            total: spec.total(driven.requests_at_most()),
            drive,
            driven,
            books,
            jobs,
            queue: 0,
            left: spec.requests.unwrap_or(u64::MAX),
            warm_up_end,
            warm_up: spec.warm_up,
            progress,
            start,
            ended: None,
            stop: spec.stop.clone(),
        })
    }

    /// Runs to the end of all jobs.
    pub fn run(&mut self) -> Result<(), Failure> {
        loop {
            self.send_held();
            let until = self.take_requests();
            if !self.is_waiting() && until.is_none() {
                break;
            }
            self.go_on(until.unwrap_or(SimTime(u64::MAX)))?;
        }
        self.ended.take().map_or(Ok(()), Err)
    }

    /// Closes the log and gives back what was counted.
    pub fn finish(self, failure: &mut Option<Failure>) -> (Served, Meter, Vec<JobResult>) {
        let results = self.jobs.results(self.driven, self.start);
        let (served, meter) = self.books.finish(failure);
        (served, meter, results)
    }

    /// Takes all requests that jobs send now; when there will be more, if that is known. `None` if nothing comes by
    /// itself any more.
    #[inline]
    fn take_requests(&mut self) -> Option<SimTime> {
        while self.left > 0 && self.ended.is_none() {
            if self.stop.is_asked() {
                self.ended = Some(Failure::Interrupted { phase: Phase::Running });
                return None;
            }
            let now = self.drive.now().since(self.start);
            match self.driven.poll(now) {
                Ok(Poll::Request { lane, request }) => {
                    self.left -= 1;
                    self.books.served.generated += 1;
                    self.send(lane, request);
                }
                Ok(Poll::Until(ns)) => return Some(SimTime(self.start.0.saturating_add(ns))),
                Ok(Poll::Waiting) => return Some(SimTime(u64::MAX)),
                Ok(Poll::End) => return None,
                Err(error) => self.ended = Some(Failure::Workload(error)),
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

    /// Hands a request to the next queue that has room; false if none has.
    #[inline]
    fn submit(&mut self, lane: u32, request: &Request) -> bool {
        let queues = self.drive.queues();
        let free =
            (0..queues).map(|i| (self.queue + i) % queues).find(|&queue| self.drive.queue_has_room(queue));
        let Some(queue) = free else { return false };
        self.queue = (queue + 1) % queues;
        let command = Command {
            op: request.op,
            fua: request.fua,
            lba: Lba(request.lba),
            sectors: request.sectors,
            hints: request.hints,
            tag: self.books.served.generated << LANE_BITS | u64::from(lane),
            arrival: SimTime(self.start.0.saturating_add(request.arrival_ns)),
        };
        let accepted = self.drive.submit(queue, &command, self.drive.now());
        assert!(accepted.is_ok(), "queue {queue} had room and refused a command");
        true
    }

    /// Whether completions are to come.
    #[inline]
    fn is_waiting(&self) -> bool {
        self.books.served.completed < self.books.served.generated
    }

    /// Lets time pass to the next completion, or to `until`.
    #[inline]
    fn go_on(&mut self, until: SimTime) -> Result<(), Failure> {
        if until.0 == u64::MAX && self.warm_up_end.is_none() {
            if !self.drive.advance_to_completion() {
                return Err(self.lost());
            }
            while self.take_completion() {}
            return Ok(());
        }
        let warm_up_end = self.warm_up_end.unwrap_or(SimTime(u64::MAX));
        let next = self.drive.next_event_at().unwrap_or(SimTime(u64::MAX));
        // What happens at the end of the warm-up is part of the measurement.
        if warm_up_end <= next.min(until) && warm_up_end.0 < u64::MAX {
            self.drive.advance_to(warm_up_end.max(self.drive.now()));
            self.begin_measurement();
        } else if next <= until && next.0 < u64::MAX {
            self.drive.advance_to(next);
        } else if until.0 < u64::MAX {
            self.drive.advance_to(until.max(self.drive.now()));
        } else {
            return Err(self.lost());
        }
        while self.take_completion() {}
        Ok(())
    }

    #[cold]
    fn begin_measurement(&mut self) {
        self.warm_up_end = None;
        self.books.warm_up = self.warm_up.max(self.books.served.completed);
        if self.books.is_warm() {
            self.books.meter.restart(self.drive.now());
            self.drive.reset_stats();
        }
    }

    /// Takes a completion, if one waits.
    #[inline]
    fn take_completion(&mut self) -> bool {
        let Some(completion) = self.drive.next_completion() else { return false };
        let lane = (completion.tag & ((1 << LANE_BITS) - 1)) as u32;
        let (now, status) = (completion.completed.since(self.start), completion.status);
        let counts = self.driven.completed(lane, now);
        self.jobs.record(lane, completion, counts);
        self.books.enter(completion);
        self.after_completion(status);
        true
    }

    #[inline]
    fn after_completion(&mut self, status: Status) {
        if self.books.is_warm() {
            self.drive.reset_stats();
        }
        if self.books.failure.is_some() && self.ended.is_none() {
            self.ended = self.books.failure.take();
        }
        if status == Status::ReadOnly && self.ended.is_none() {
            self.ended = self.drive.health().read_only.map(|reason| Failure::ReadOnly { reason });
        }
        let done = self.books.served.completed;
        if done.is_multiple_of(PROGRESS_EVERY) {
            let simulated_ns = self.drive.now().since(self.start);
            (self.progress)(Progress { phase: Phase::Running, done, total: self.total, simulated_ns });
        }
    }

    #[cold]
    fn lost(&self) -> Failure {
        let Served { generated, completed, .. } = self.books.served;
        Failure::Lost { generated, completed }
    }
}
