//! A run whose requests come piece by piece, from whoever calls: fed, looked at, fed again.
//!
//! A session does what the run of the same requests would do, to the event, however they are cut: it never lets time
//! pass while the next request would have been sent before. So requests stay in flight between calls.

use crate::base::error::Failure;
use crate::measure::progress::Progress;
use crate::plan::spec::{LoopMode, RunSpec};
use crate::result::RunResult;
use crate::run::desk::{Desk, mark_of};
use crate::run::experiment::{Before, Measured, RunError, begin};
use ssd::{Completion, Drive, DriveConfig, SimTime};
use std::collections::VecDeque;
use workload::{FilesAtStart, Prepared, Request};

/// The latest that a request may arrive, in ns since its session began: 146 years, as in traces.
pub const ARRIVAL_NS_MAX: u64 = 1 << 62;

/// As far as time passes at most.
const MOST_NS: u64 = 100 * 31_557_600 * 1_000_000_000;

/// A run that is fed.
///
/// ```
/// use lab::{LoopMode, RunSpec, Session};
/// let spec = RunSpec { loop_mode: LoopMode::Closed { depth: 2 }, ..RunSpec::default() };
/// let mut session = Session::new(&ssd::DriveConfig::default(), None, &spec).unwrap();
/// let write = |lba| workload::Request { op: ssd::OpCode::Write, lba, sectors: 8, ..Default::default() };
/// session.feed(&[write(0), write(8), write(16)]).unwrap();
/// // Two are in flight; the third goes when one of them is done.
/// session.advance_to(1_000_000_000).unwrap();
/// assert_eq!(session.completions().count(), 3);
/// assert_eq!(session.finish().unwrap().requests_served, 3);
/// ```
pub struct Session {
    desk: Desk<Box<Drive>, fn(Progress)>,
    config: DriveConfig,
    spec: RunSpec,
    before: Before,
    /// Requests that were fed and are not sent.
    held: VecDeque<Request>,
    /// Completions that nobody has asked for.
    done: VecDeque<Completion>,
    /// No more requests will come.
    is_fed: bool,
    /// The latest arrival that was fed, and how far time was let pass ([`Session::advance_to`]); ns.
    latest_ns: u64,
    passed_ns: u64,
    way: Way,
}

/// How requests reach the drive.
enum Way {
    /// Queues that have room for one, in the order in which that came to be.
    Closed { free: VecDeque<usize> },
    /// The queue in which the next is tried first.
    Open { queue: usize },
}

impl Session {
    /// A new drive, aged as `spec` says; by a workload's own writes if that is wanted and one is given. What `spec`
    /// says of requests, of a request log and the like holds as in any run.
    pub fn new(config: &DriveConfig, past: Option<&Prepared>, spec: &RunSpec) -> Result<Self, Failure> {
        let policies = spec.policies.clone();
        let drive = Box::new(Drive::with_policies(config, policies).map_err(Failure::Config)?);
        Session::on(drive, config, past, spec).map_err(|(failure, _)| failure)
    }

    /// The same on a drive that exists, which comes back with the failure, or at the [end](Session::end).
    pub fn on(
        drive: Box<Drive>,
        config: &DriveConfig,
        past: Option<&Prepared>,
        spec: &RunSpec,
    ) -> Result<Self, (Failure, Box<Drive>)> {
        Session::on_telling(drive, config, past, spec, &mut |_| {})
    }

    /// The same, which tells how far the drive's past is made.
    pub fn on_telling(
        mut drive: Box<Drive>,
        config: &DriveConfig,
        past: Option<&Prepared>,
        spec: &RunSpec,
        told: &mut dyn FnMut(Progress),
    ) -> Result<Self, (Failure, Box<Drive>)> {
        let (before, way) = match Session::begin(&mut drive, config, past, spec, told) {
            Ok(begun) => begun,
            Err(failure) => return Err((failure, drive)),
        };
        // Nobody is told how far a session is but who calls it.
        let silent: fn(Progress) = |_| {};
        let desk = Desk::open(drive, config, spec, (spec.requests, &FilesAtStart::default()), silent)?;
        Ok(Session {
            desk,
            config: config.clone(),
            spec: spec.clone(),
            before,
            held: VecDeque::new(),
            done: VecDeque::new(),
            is_fed: false,
            latest_ns: 0,
            passed_ns: 0,
            way,
        })
    }

    /// Makes the drive ready.
    fn begin(
        drive: &mut Drive,
        config: &DriveConfig,
        past: Option<&Prepared>,
        spec: &RunSpec,
        told: &mut dyn FnMut(Progress),
    ) -> Result<(Before, Way), Failure> {
        let most = config.queues.depth;
        let way = match spec.loop_mode {
            LoopMode::Closed { depth } if depth > most => return Err(Failure::depth(depth, most)),
            LoopMode::Closed { depth } => {
                let depth = if depth == 0 { most } else { depth };
                let free = (0..depth).flat_map(|_| 0..drive.queues()).collect();
                Way::Closed { free }
            }
            LoopMode::Open => Way::Open { queue: 0 },
            LoopMode::Jobs => {
                let (found, allowed) = ("jobs, in a session".to_owned(), "closed or open".to_owned());
                return Err(Failure::Setting { key: "run.loop_mode", found, allowed });
            }
        };
        Ok((begin(drive, config, (past, None), spec, told)?, way))
    }

    /// The result's costs count from now on, of this thread: for whoever began the session in another.
    pub fn restart_clock(&mut self) {
        self.before.restart_clock();
    }

    /// Requests to come, behind those that were fed before; in an open loop with arrival times that do not go back.
    /// Time passes as far as they decide what happens. None is taken if one arrives too early.
    pub fn feed(&mut self, requests: &[Request]) -> Result<(), Failure> {
        if self.is_open() {
            let mut latest = self.earliest_ns();
            for request in requests {
                let allowed = match request.arrival_ns {
                    ns if ns < latest => self.from_when(latest),
                    ns if ns > ARRIVAL_NS_MAX => format!("up to {ARRIVAL_NS_MAX} ns, 146 years"),
                    _ => {
                        latest = request.arrival_ns;
                        continue;
                    }
                };
                let found = format!("{} ns", request.arrival_ns);
                return Err(Failure::Setting { key: "arrival_ns", found, allowed });
            }
            self.latest_ns = latest;
        }
        let taken = self.desk.books.served.generated + self.held.len() as u64;
        let room = self.spec.requests.map_or(u64::MAX, |most| most.saturating_sub(taken));
        self.held.extend(requests.iter().take(room.min(requests.len() as u64) as usize));
        self.go_on()
    }

    /// Whether requests reach the drive at their arrival times.
    pub fn is_open(&self) -> bool {
        matches!(self.way, Way::Open { .. })
    }

    /// When another request may arrive at the earliest, in ns since the session began: not before one that was fed, and
    /// not in time that has passed.
    pub fn earliest_ns(&self) -> u64 {
        if self.is_open() { self.latest_ns.max(self.passed_ns) } else { 0 }
    }

    /// Times from there on, and why.
    pub fn from_when(&self, ns: u64) -> String {
        let why = if ns == self.passed_ns && ns > self.latest_ns {
            "the session's clock was advanced to there (advance_to)"
        } else {
            "the request before arrives then"
        };
        format!("{ns} ns or later: {why}")
    }

    /// Lets time pass to there, ns since the session began: nobody sends anything before that but what was fed.
    pub fn advance_to(&mut self, ns: u64) -> Result<(), Failure> {
        if ns > MOST_NS {
            let (found, allowed) = (format!("{ns} ns"), format!("up to {MOST_NS} ns, a hundred years"));
            return Err(Failure::Setting { key: "advance_to", found, allowed });
        }
        let until = self.desk.at(ns);
        self.take_completions();
        while let Some(at) = self.desk.drive.next_event_at().filter(|at| *at <= until) {
            self.desk.pass_to(at);
            self.desk.drive.advance_to(at);
            self.take_completions();
        }
        if self.desk.drive.now() < until {
            self.desk.pass_to(until);
            self.desk.drive.advance_to(until);
        }
        self.passed_ns = self.passed_ns.max(ns);
        Ok(())
    }

    /// How far [`Session::advance_to`] has let time pass; ns since the session began.
    pub fn passed_ns(&self) -> u64 {
        self.passed_ns
    }

    /// What has completed since this was last asked, in order.
    pub fn completions(&mut self) -> impl ExactSizeIterator<Item = Completion> {
        std::mem::take(&mut self.done).into_iter()
    }

    /// Simulated time since the session began; ns.
    pub fn now_ns(&self) -> u64 {
        self.desk.drive.now().since(self.desk.start)
    }

    /// Requests sent to the drive and not yet completed.
    pub fn in_flight(&self) -> usize {
        self.desk.drive.outstanding()
    }

    /// The drive, to be looked at.
    pub fn drive(&self) -> &Drive {
        &self.desk.drive
    }

    /// No more requests come: serves what was fed, and tells what was measured.
    pub fn finish(self) -> Result<RunResult, RunError> {
        self.end().0
    }

    /// The same, and gives back the drive.
    pub fn end(mut self) -> (Result<RunResult, RunError>, Box<Drive>) {
        self.is_fed = true;
        let mut failure = self.go_on().err().or_else(|| self.desk.ended.take());
        let total = Some(self.desk.books.served.generated + self.held.len() as u64);
        let (counted, drive) = self.desk.finish(&mut failure);
        let measured = Measured { total, counted, jobs: Vec::new(), failure };
        (self.before.end(&drive, &self.config, &self.spec, measured, Vec::new()), drive)
    }

    /// Goes on as far as what was fed decides.
    fn go_on(&mut self) -> Result<(), Failure> {
        match self.way {
            Way::Closed { .. } => self.closed()?,
            Way::Open { .. } => self.open()?,
        }
        // A drive that takes no more writes, say: `finish` tells what was measured until then.
        self.desk.ended.clone().map_or(Ok(()), Err)
    }

    /// The next request that was fed; none if nobody wants more.
    fn next(&mut self) -> Option<Request> {
        if self.desk.is_over() {
            self.is_fed = true;
            return None;
        }
        self.held.pop_front()
    }

    fn closed(&mut self) -> Result<(), Failure> {
        loop {
            while let Way::Closed { free } = &self.way
                && let Some(&queue) = free.front()
            {
                let Some(request) = self.next() else {
                    if self.is_fed {
                        break;
                    }
                    // Whoever feeds decides what happens now.
                    return Ok(());
                };
                if let Way::Closed { free } = &mut self.way {
                    free.pop_front();
                }
                let now = self.desk.drive.now();
                self.submit(queue, &request, now, now);
            }
            // One completion, and the next request goes before the next one.
            if self.take_completion() {
                continue;
            }
            if !self.desk.is_waiting() || !self.desk.advance()? {
                return Ok(());
            }
        }
    }

    fn open(&mut self) -> Result<(), Failure> {
        let queues = self.desk.drive.queues();
        'requests: while let Some(request) = self.next() {
            let arrival = self.desk.at(request.arrival_ns);
            while self.desk.is_waiting()
                && let Some(at) = self.desk.drive.next_event_at().filter(|at| *at <= arrival)
            {
                self.desk.drive.advance_to(at);
                self.take_completions();
            }
            if !self.desk.is_waiting() {
                self.desk.pass_to(arrival);
            }
            let first = if let Way::Open { queue } = self.way { queue } else { 0 };
            let queue = loop {
                if let Some(free) = self.desk.free_queue(first) {
                    break free;
                }
                if !self.desk.advance()? {
                    break 'requests;
                }
                // All that is due now happens before the next request.
                let now = self.desk.drive.now();
                self.desk.drive.advance_to(now);
                self.take_completions();
            };
            let now = arrival.max(self.desk.drive.now());
            self.submit(queue, &request, arrival, now);
            self.way = Way::Open { queue: (queue + 1) % queues };
        }
        while self.is_fed && self.desk.is_waiting() && self.desk.advance()? {
            self.take_completions();
        }
        Ok(())
    }

    fn submit(&mut self, queue: usize, request: &Request, arrival: SimTime, now: SimTime) {
        let tag = self.desk.tag(0, queue as u64, now);
        self.desk.submit(queue, request, tag, arrival, now);
        self.desk.books.served.generated += 1;
    }

    fn take_completions(&mut self) {
        while self.take_completion() {}
    }

    /// Takes a completion, if one waits.
    fn take_completion(&mut self) -> bool {
        let done = &mut self.done;
        let taken = self.desk.take_completion(|completion| done.push_back(*completion));
        if let (Some(tag), Way::Closed { free }) = (taken, &mut self.way) {
            free.push_back(mark_of(tag) as usize);
        }
        taken.is_some()
    }
}

#[cfg(test)]
mod tests {
    /// A session may go on in another thread.
    #[test]
    fn sessions_are_sent() {
        fn is_sent<T: Send>() {}
        is_sent::<super::Session>();
    }
}
