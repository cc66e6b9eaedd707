//! The loops between a workload and a drive: closed (so many in flight) and open (by arrival times).
//!
//! Nothing here allocates or grows with the number of requests: in an open loop the requests that wait outside a full
//! drive wait in the workload, which is not read on until there is room.

use crate::books::{Books, PROGRESS_EVERY, Served};
use crate::error::Failure;
use crate::lookahead::Lookahead;
use crate::meter::Meter;
use crate::phase::{Phase, Progress};
use crate::spec::{LoopMode, RunSpec};
use crate::stop::Stop;
use ssd::{Breakdown, Command, Completion, Drive, DriveConfig, Executor, Lba, OpCode, SimTime, Status};
use workload::{Request, Source};

/// Bits of a command's tag that hold its queue; the others number the request.
const QUEUE_BITS: u32 = 16;

/// A run in progress.
pub(crate) struct Session<'a, S: ?Sized> {
    drive: &'a mut Drive,
    requests: Lookahead<'a, S>,
    books: Books,
    progress: &'a mut dyn FnMut(Progress),
    total: Option<u64>,
    /// Commands that each queue of the drive holds.
    queue_depth: u32,
    /// The workload's time zero.
    start: SimTime,
    /// Why no more requests are submitted.
    ended: Option<Failure>,
    /// Asked for from outside.
    stop: Stop,
}

impl<'a, S: Source + ?Sized> Session<'a, S> {
    /// Opens the request log and reads the first requests.
    pub fn new(
        drive: &'a mut Drive,
        config: &DriveConfig,
        source: &'a mut S,
        spec: &RunSpec,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, Failure> {
        let start = drive.now();
        let total = spec.total(source.len_hint());
        let requests = Lookahead::new(source, spec.requests.unwrap_or(u64::MAX), drive);
        Ok(Session {
            drive,
            requests,
            books: Books::open(start, config, spec)?,
            progress,
            total,
            queue_depth: config.queues.depth,
            start,
            ended: None,
            stop: spec.stop.clone(),
        })
    }

    /// Runs to the end of the workload.
    pub fn run(&mut self, mode: LoopMode) -> Result<(), Failure> {
        match mode {
            LoopMode::Closed { depth: 0 } => self.closed(self.queue_depth)?,
            LoopMode::Closed { depth } if depth > self.queue_depth => {
                return Err(Failure::depth(depth, self.queue_depth));
            }
            LoopMode::Closed { depth } => self.closed(depth)?,
            LoopMode::Open => self.open()?,
            LoopMode::Jobs => unreachable!("jobs are driven by themselves"),
        }
        self.ended.take().map_or(Ok(()), Err)
    }

    /// Closes the log and gives back what was counted.
    pub fn finish(self, failure: &mut Option<Failure>) -> (Served, Meter) {
        self.books.finish(failure)
    }

    /// One request after the other, those that need no command without it.
    fn one_by_one(&mut self) -> Result<(), Failure> {
        while let Some(request) = self.next_request() {
            if request.op == OpCode::Read
                && let Some(status) = self.drive.read_at_once(Lba(request.lba), request.sectors)
            {
                let now = self.drive.now();
                let tag = self.books.served.generated << QUEUE_BITS;
                self.books.served.generated += 1;
                let Request { op, lba, sectors, .. } = request;
                let (lba, breakdown) = (Lba(lba), Breakdown::default());
                let (arrival, submitted, completed) = (now, now, now);
                self.books.enter(&Completion {
                    tag,
                    op,
                    status,
                    lba,
                    sectors,
                    arrival,
                    submitted,
                    completed,
                    breakdown,
                });
                self.after_completion(status);
                continue;
            }
            self.submit(0, &request, self.drive.now(), self.drive.now());
            while self.is_waiting() {
                if !self.drive.advance_to_completion() {
                    return Err(self.lost());
                }
                while self.take_completion().is_some() {}
            }
        }
        Ok(())
    }

    fn closed(&mut self, depth: u32) -> Result<(), Failure> {
        if depth == 1 && self.drive.queues() == 1 && self.drive.executor() == Executor::Functional {
            return self.one_by_one();
        }
        'fill: for _ in 0..depth {
            for queue in 0..self.drive.queues() {
                let Some(request) = self.next_request() else { break 'fill };
                self.submit(queue, &request, self.drive.now(), self.drive.now());
            }
        }
        while self.is_waiting() {
            if !self.drive.advance_to_completion() {
                return Err(self.lost());
            }
            while let Some(queue) = self.take_completion() {
                if let Some(request) = self.next_request() {
                    // The completion has made room in its queue.
                    self.submit(queue, &request, self.drive.now(), self.drive.now());
                }
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Failure> {
        let queues = self.drive.queues();
        let mut queue = 0;
        while let Some(request) = self.next_request() {
            let arrival = SimTime(self.start.0.saturating_add(request.arrival_ns));
            while self.is_waiting() && self.drive.next_event_at().is_some_and(|at| at <= arrival) {
                self.step()?;
            }
            loop {
                if let Some(free) =
                    (0..queues).map(|i| (queue + i) % queues).find(|&q| self.drive.queue_has_room(q))
                {
                    queue = free;
                    break;
                }
                self.step()?;
            }
            self.submit(queue, &request, arrival, arrival.max(self.drive.now()));
            queue = (queue + 1) % queues;
        }
        while self.is_waiting() {
            self.step()?;
        }
        Ok(())
    }

    /// Whether completions are to come.
    #[inline]
    fn is_waiting(&self) -> bool {
        self.books.served.completed < self.books.served.generated
    }

    /// Everything happens that is due at the time of the next event.
    #[inline]
    fn step(&mut self) -> Result<(), Failure> {
        let Some(at) = self.drive.next_event_at() else { return Err(self.lost()) };
        self.drive.advance_to(at);
        while self.take_completion().is_some() {}
        Ok(())
    }

    #[inline(always)]
    fn next_request(&mut self) -> Option<Request> {
        if self.ended.is_some() {
            return None;
        }
        if self.stop.is_asked() {
            self.ended = Some(Failure::Interrupted { phase: Phase::Running });
            return None;
        }
        match self.requests.take(self.drive) {
            Ok(request) => request,
            Err(error) => {
                self.ended = Some(Failure::Workload(error));
                None
            }
        }
    }

    /// Hands a request to a queue that has room.
    #[inline(always)]
    fn submit(&mut self, queue: usize, request: &Request, arrival: SimTime, now: SimTime) {
        let command = Command {
            op: request.op,
            fua: request.fua,
            lba: Lba(request.lba),
            sectors: request.sectors,
            hints: request.hints,
            tag: self.books.served.generated << QUEUE_BITS | queue as u64,
            arrival,
        };
        self.books.served.generated += 1;
        let accepted = self.drive.submit(queue, &command, now);
        assert!(accepted.is_ok(), "queue {queue} had room and refused a command");
    }

    /// Takes a completion, if one waits; the queue that its command was in.
    #[inline(always)]
    fn take_completion(&mut self) -> Option<usize> {
        let completion = self.drive.next_completion()?;
        let (tag, status) = (completion.tag, completion.status);
        self.books.enter(completion);
        self.after_completion(status);
        Some((tag & ((1 << QUEUE_BITS) - 1)) as usize)
    }

    #[inline(always)]
    fn after_completion(&mut self, status: Status) {
        if self.books.is_warm() {
            self.drive.reset_stats();
        }
        if self.books.failure.is_some() && self.ended.is_none() {
            self.ended = self.books.failure.take();
        }
        if status == Status::ReadOnly {
            self.on_read_only();
        }
        let done = self.books.served.completed;
        if done.is_multiple_of(PROGRESS_EVERY) {
            let simulated_ns = self.drive.now().since(self.start);
            (self.progress)(Progress { phase: Phase::Running, done, total: self.total, simulated_ns });
        }
    }

    #[cold]
    fn on_read_only(&mut self) {
        if self.ended.is_none() {
            self.ended = self.drive.health().read_only.map(|reason| Failure::ReadOnly { reason });
        }
    }

    #[cold]
    fn lost(&self) -> Failure {
        let Served { generated, completed, .. } = self.books.served;
        Failure::Lost { generated, completed }
    }
}
