//! The loops between a workload and a drive: closed (so many in flight) and open (by arrival times).
//!
//! Nothing here allocates or grows with the number of requests: in an open loop the requests that wait outside a full
//! drive wait in the workload, which is not read on until there is room.

use crate::base::error::Failure;
use crate::measure::progress::Progress;
use crate::plan::spec::{LoopMode, RunSpec};
use crate::run::desk::{Counted, Desk, LentDesk, mark_of};
use crate::run::lookahead::Lookahead;
use ssd::{Breakdown, Completion, Drive, DriveConfig, Executor, Lba, OpCode};
use workload::{Request, Source};

/// A run in progress.
pub(crate) struct Session<'a, S: ?Sized> {
    desk: LentDesk<'a>,
    requests: Lookahead<'a, S>,
    /// Commands that each queue of the drive holds.
    queue_depth: u32,
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
        let total = spec.total(source.len_hint());
        // Nothing is read of it yet.
        let files = source.files_at_start();
        let requests = Lookahead::new(source, spec.requests.unwrap_or(u64::MAX), drive);
        let mut desk =
            Desk::open(drive, config, spec, (total, &files), progress).map_err(|(failure, _)| failure)?;
        desk.set_members(requests.names());
        Ok(Session { desk, requests, queue_depth: config.queues.depth })
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
            LoopMode::Jobs => {
                let found = "jobs, of a workload that has none".to_owned();
                return Err(Failure::Setting {
                    key: "run.loop_mode",
                    found,
                    allowed: "closed or open".to_owned(),
                });
            }
        }
        self.desk.ended.take().map_or(Ok(()), Err)
    }

    /// Closes the log and gives back what was counted.
    pub fn finish(self, failure: &mut Option<Failure>) -> Counted {
        self.desk.finish(failure).0
    }

    /// One request after the other, those that need no command without it.
    fn one_by_one(&mut self) -> Result<(), Failure> {
        let is_of_one_piece = self.desk.is_of_one_piece();
        while let Some((request, member)) = self.next_request() {
            // What is hinted goes with a command: only that can carry it.
            if request.op == OpCode::Read
                && is_of_one_piece
                && !request.hints.one_time
                && request.hints.are_valid()
                && let Some(status) = self.desk.drive.read_at_once(Lba(request.lba), request.sectors)
            {
                let now = self.desk.drive.now();
                let tag = self.desk.tag_of_one_piece(0);
                self.desk.books.served.generated += 1;
                let Request { op, lba, sectors, .. } = request;
                let (lba, breakdown) = (Lba(lba), Breakdown::default());
                let (arrival, submitted, completed) = (now, now, now);
                self.desk.enter(&Completion {
                    tag,
                    op,
                    status,
                    priority: request.hints.class(),
                    lba,
                    sectors,
                    arrival,
                    submitted,
                    completed,
                    breakdown,
                });
                continue;
            }
            let now = self.desk.drive.now();
            self.desk.submit_next(0, (&request, member), now, now);
            while self.desk.is_waiting() {
                if !self.desk.advance()? {
                    return Ok(());
                }
                while self.take_completion().is_some() {}
            }
        }
        Ok(())
    }

    fn closed(&mut self, depth: u32) -> Result<(), Failure> {
        if depth == 1 && self.desk.drive.queues() == 1 && self.desk.drive.executor() == Executor::Functional {
            return self.one_by_one();
        }
        'fill: for _ in 0..depth {
            for queue in 0..self.desk.drive.queues() {
                if !self.submit_next(queue) {
                    break 'fill;
                }
            }
        }
        while self.desk.is_waiting() && self.desk.advance()? {
            while let Some(queue) = self.take_completion() {
                // The completion has made room in its queue.
                self.submit_next(queue);
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Failure> {
        let queues = self.desk.drive.queues();
        let mut queue = 0;
        'requests: while let Some((request, member)) = self.next_request() {
            let arrival = self.desk.at(request.arrival_ns);
            while self.desk.is_waiting() && self.desk.drive.next_event_at().is_some_and(|at| at <= arrival) {
                self.step()?;
            }
            if !self.desk.is_waiting() {
                self.desk.pass_to(arrival);
            }
            loop {
                if let Some(free) = self.desk.free_queue(queue) {
                    queue = free;
                    break;
                }
                if !self.desk.advance()? {
                    break 'requests;
                }
                // All that is due now happens before the next request.
                self.desk.drive.advance_to(self.desk.drive.now());
                while self.take_completion().is_some() {}
            }
            let now = arrival.max(self.desk.drive.now());
            self.desk.submit_next(queue, (&request, member), arrival, now);
            queue = (queue + 1) % queues;
        }
        while self.desk.is_waiting() && self.desk.advance()? {
            while self.take_completion().is_some() {}
        }
        Ok(())
    }

    /// Everything happens that is due at the time of the next event.
    #[inline]
    fn step(&mut self) -> Result<(), Failure> {
        let Some(at) = self.desk.drive.next_event_at() else { return Err(self.desk.lost()) };
        self.desk.drive.advance_to(at);
        while self.take_completion().is_some() {}
        Ok(())
    }

    /// The next request, where it was read ahead, and the member of the workload that it is from.
    #[inline(always)]
    fn next<'r>(desk: &mut LentDesk<'_>, requests: &'r mut Lookahead<'a, S>) -> Option<(&'r Request, u16)> {
        if desk.is_over() {
            return None;
        }
        match requests.take(desk.drive) {
            Ok(next) => next,
            Err(error) => {
                desk.ended = Some(Failure::Workload(error));
                None
            }
        }
    }

    /// The same, taken from there.
    #[inline(always)]
    fn next_request(&mut self) -> Option<(Request, u16)> {
        Self::next(&mut self.desk, &mut self.requests).map(|(request, member)| (*request, member))
    }

    /// Hands the next request to a queue that has room, now. False if there is none.
    #[inline(always)]
    fn submit_next(&mut self, queue: usize) -> bool {
        let Some(next) = Self::next(&mut self.desk, &mut self.requests) else { return false };
        let now = self.desk.drive.now();
        self.desk.submit_next(queue, next, now, now);
        true
    }

    /// Takes a completion, if one waits; the queue that its command was in.
    #[inline(always)]
    fn take_completion(&mut self) -> Option<usize> {
        self.desk.take_completion(|_| {}).map(|tag| mark_of(tag) as usize)
    }
}
