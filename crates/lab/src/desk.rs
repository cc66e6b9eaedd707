//! Where a loop hands requests to a drive and what completes comes back, whichever loop it is.

use crate::books::{Books, PROGRESS_EVERY, Served};
use crate::error::Failure;
use crate::phase::{Phase, Progress};
use crate::spec::RunSpec;
use crate::stop::Stop;
use ssd::{Command, Drive, DriveConfig, Lba, SimTime, Status};
use workload::Request;

/// Bits of a command's tag that hold a mark of the loop's; the others number the request.
pub(crate) const MARK_BITS: u32 = 16;

/// The mark in a tag.
#[inline(always)]
pub(crate) fn mark_of(tag: u64) -> u64 {
    tag & ((1 << MARK_BITS) - 1)
}

/// A drive that serves requests, and the books on them.
pub(crate) struct Desk<'a> {
    pub drive: &'a mut Drive,
    pub books: Books,
    /// The workload's time zero.
    pub start: SimTime,
    /// Why no more requests are taken.
    pub ended: Option<Failure>,
    progress: &'a mut dyn FnMut(Progress),
    total: Option<u64>,
    /// Asked for from outside.
    stop: Stop,
}

impl<'a> Desk<'a> {
    /// Opens the request log. `total` is how many requests there will be, where that is known.
    pub fn open(
        drive: &'a mut Drive,
        config: &DriveConfig,
        spec: &RunSpec,
        total: Option<u64>,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, Failure> {
        let start = drive.now();
        let books = Books::open(start, config, spec)?;
        Ok(Desk { drive, books, start, ended: None, progress, total, stop: spec.stop.clone() })
    }

    /// A time of the workload on the drive's clock.
    #[inline(always)]
    pub fn at(&self, ns: u64) -> SimTime {
        SimTime(self.start.0.saturating_add(ns))
    }

    /// Whether no more requests are to be taken.
    #[inline(always)]
    pub fn is_over(&mut self) -> bool {
        if self.ended.is_none() && self.stop.is_asked() {
            self.ended = Some(Failure::Interrupted { phase: Phase::Running });
        }
        self.ended.is_some()
    }

    /// The first queue that has room, from one on.
    #[inline(always)]
    pub fn free_queue(&self, from: usize) -> Option<usize> {
        let queues = self.drive.queues();
        (0..queues).map(|i| (from + i) % queues).find(|&queue| self.drive.queue_has_room(queue))
    }

    /// Hands a request to a queue that has room.
    #[inline(always)]
    pub fn submit(&mut self, queue: usize, request: &Request, mark: u64, arrival: SimTime, now: SimTime) {
        let command = Command {
            op: request.op,
            fua: request.fua,
            lba: Lba(request.lba),
            sectors: request.sectors,
            hints: request.hints,
            tag: self.books.served.generated << MARK_BITS | mark,
            arrival,
        };
        let accepted = self.drive.submit(queue, &command, now);
        assert!(accepted.is_ok(), "queue {queue} had room and refused a command");
    }

    /// Whether completions are to come.
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        self.books.served.completed < self.books.served.generated
    }

    /// What follows a completion that was entered in the books.
    #[inline(always)]
    pub fn after_completion(&mut self, status: Status) {
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

    /// Nothing is due any more, and requests are still under way.
    #[cold]
    pub fn lost(&self) -> Failure {
        let Served { generated, completed, .. } = self.books.served;
        Failure::Lost { generated, completed }
    }
}
