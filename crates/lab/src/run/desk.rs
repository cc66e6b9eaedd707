//! Where a loop hands requests to a drive and what completes comes back, whichever loop it is.

use crate::base::columns::Table;
use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::measure::fio_tally::FioJob;
use crate::measure::meter::{Meter, Served};
use crate::measure::progress::{Progress, SoFar};
use crate::measure::series::{Series, TimeSeries};
use crate::measure::stalls::{StallWatch, Stalls};
use crate::measure::tail::TailTold;
use crate::measure::versions::{Observer, Versions};
use crate::plan::spec::RunSpec;
use crate::result::MemberResult;
use crate::run::books::{Books, PROGRESS_EVERY};
use crate::run::members::Members;
use ssd::{Command, Completion, Drive, DriveConfig, Executor, Lba, SimTime, Status};
use std::ops::DerefMut;
use workload::{FilesAtStart, MemberNames, Request};

/// Events between two looks at whether somebody has asked to end, where no command is complete for so long.
const EVENTS_AT_ONCE: u32 = 1 << 14;
/// The same where the drive is looked at in intervals: what happens between the end of one and the look counts to it.
const EVENTS_OF_A_LOOK: u32 = 1 << 6;
/// Events that what is under way may take to its end after somebody has asked: some tenths of a second.
pub(crate) const PATIENCE: u32 = 1 << 18;

/// Bits of a command's tag that hold a mark of the loop's.
pub(crate) const MARK_BITS: u32 = 16;
/// Bits above it that hold the member of the workload; the others number the request.
const MEMBER_BITS: u32 = 8;

/// The mark in a tag.
#[inline(always)]
pub(crate) fn mark_of(tag: u64) -> u64 {
    tag & ((1 << MARK_BITS) - 1)
}

/// The member in a tag.
#[inline(always)]
fn member_of(tag: u64) -> usize {
    (tag >> MARK_BITS & ((1 << MEMBER_BITS) - 1)) as usize
}

/// What was counted of a run.
pub(crate) struct Counted {
    pub served: Served,
    pub meter: Meter,
    pub members: Vec<MemberResult>,
    /// Versions of files, if they are to be told.
    pub versions: Option<Versions>,
    /// Time series, if they were asked for.
    pub series: Option<TimeSeries>,
    /// Whom the slowest requests waited for, likewise.
    pub tail: Option<TailTold>,
    pub stalls: Stalls,
    /// What fio would say of it, if that was asked for.
    pub fio: Option<Box<FioJob>>,
    /// All requests, if they were to be kept.
    pub requests: Option<Table>,
}

/// A drive that serves requests, lent or its own, and the books on them; who is told how far it is.
pub(crate) struct Desk<D, P> {
    pub drive: D,
    pub books: Books,
    stalls: StallWatch,
    /// Who is told what becomes of data in flash.
    observer: Option<Box<Observer>>,
    /// What is kept of each workload that the run's is made of.
    members: Option<Members>,
    /// The workload's time zero.
    pub start: SimTime,
    /// Why no more requests are taken.
    pub ended: Option<Failure>,
    progress: P,
    total: Option<u64>,
    /// Asked for from outside.
    stop: Stop,
    /// Events that are still waited for once somebody has asked to end.
    patience: u32,
    /// A policy from outside decides something: it may fail.
    asks_outside: bool,
}

/// One for a run on a drive that somebody else has.
pub(crate) type LentDesk<'a> = Desk<&'a mut Drive, &'a mut dyn FnMut(Progress)>;

impl<D: DerefMut<Target = Drive>, P: FnMut(Progress)> Desk<D, P> {
    /// Opens the request log. `total` is how many requests there will be, where that is known; the files are those that
    /// lie on the drive, which comes back with a failure.
    pub fn open(
        mut drive: D,
        config: &DriveConfig,
        spec: &RunSpec,
        (total, files): (Option<u64>, &FilesAtStart),
        progress: P,
    ) -> Result<Self, (Failure, D)> {
        let start = drive.now();
        let mut books = match Books::open(start, config, spec) {
            Ok(books) => books,
            Err(failure) => return Err((failure, drive)),
        };
        if spec.samples > 0 && spec.executor == Executor::Timed {
            books.series = Some(Box::new(Series::new(&drive, spec.samples)));
        }
        drive.tracing().tell_holders(books.more.as_ref().is_some_and(|more| more.tells_holders()));
        drive.tracing().tell_spans(books.more.as_ref().is_some_and(|more| more.timeline.is_some()));
        let observer = match Observer::listen(&mut drive, config, &spec.versions, files) {
            Ok(observer) => observer,
            Err(failure) => return Err((failure, drive)),
        };
        let stop = spec.stop.clone();
        let asks_outside = drive.external().decides();
        Ok(Desk {
            drive,
            books,
            stalls: StallWatch::new(start),
            observer,
            members: None,
            start,
            ended: None,
            progress,
            total,
            stop,
            patience: PATIENCE,
            asks_outside,
        })
    }

    /// A time of the workload on the drive's clock.
    #[inline(always)]
    pub fn at(&self, ns: u64) -> SimTime {
        SimTime(self.start.0.saturating_add(ns))
    }

    /// Whether no more requests are to be taken.
    #[inline(always)]
    pub fn is_over(&mut self) -> bool {
        if self.ended.is_some() || self.asks_outside && self.has_failed() {
            return true;
        }
        let is_asked = self.stop.is_asked();
        if is_asked {
            self.ended = Some(Failure::Interrupted { phase: Phase::Running });
        }
        is_asked
    }

    /// Lets time pass to the next completion. False if that is not waited for: somebody has asked to end, and what is
    /// under way takes too long.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Failure> {
        if self.asks_outside && self.has_failed() {
            return Ok(false);
        }
        let at_once = if self.books.series.is_some() { EVENTS_OF_A_LOOK } else { EVENTS_AT_ONCE };
        loop {
            let is_asked = self.stop.is_asked();
            let mut left = if is_asked { self.patience } else { at_once };
            let found = self.drive.advance_to_completion_within(&mut left);
            if is_asked {
                self.patience = left;
            }
            if found {
                return Ok(true);
            }
            self.look_at_clock();
            if left > 0 {
                return Err(self.lost());
            }
            if is_asked {
                self.ended.get_or_insert(Failure::Interrupted { phase: Phase::Running });
                return Ok(false);
            }
        }
    }

    /// The interval under way may be over.
    #[inline(always)]
    fn look_at_clock(&mut self) {
        if let Some(series) = &mut self.books.series
            && self.drive.now() >= series.until
        {
            series.turn(&self.drive);
        }
    }

    /// Nothing is asked of the drive before that time: what it does until then is told in the intervals it does it in.
    #[inline(always)]
    pub fn pass_to(&mut self, to: SimTime) {
        while let Some(series) = &mut self.books.series
            && series.until < to
        {
            let now = self.drive.now();
            self.drive.advance_to(series.until.max(now));
            series.turn(&self.drive);
        }
    }

    /// The first queue that has room, from one on.
    #[inline(always)]
    pub fn free_queue(&self, from: usize) -> Option<usize> {
        let queues = self.drive.queues();
        (0..queues).map(|i| (from + i) % queues).find(|&queue| self.drive.queue_has_room(queue))
    }

    /// The workload is made of others, of which each is counted for itself.
    pub fn set_members(&mut self, names: &MemberNames) {
        assert!(names.names.len() <= 1 << MEMBER_BITS, "more members than a tag can name");
        self.members = Members::new(
            names.clone(),
            self.start,
            self.books.more.as_ref().is_some_and(|more| more.fio.is_some()),
        );
    }

    /// Whether it is of one piece.
    pub fn is_of_one_piece(&self) -> bool {
        self.members.is_none()
    }

    /// The tag of the next request, from a member of the workload, with a mark of the loop's.
    #[inline(always)]
    pub fn tag(&mut self, member: u16, mark: u64, now: SimTime) -> u64 {
        if let Some(members) = &mut self.members
            && members.is_new(usize::from(member))
        {
            members.begin(usize::from(member), now, || self.drive.stats());
        }
        self.tag_of_one_piece(u64::from(member) << MARK_BITS | mark)
    }

    /// The same where there are no members.
    #[inline(always)]
    pub fn tag_of_one_piece(&self, mark: u64) -> u64 {
        self.books.served.generated << (MARK_BITS + MEMBER_BITS) | mark
    }

    /// Hands a request to a queue that has room; its tag is from [`Desk::tag`].
    #[inline(always)]
    pub fn submit(&mut self, queue: usize, request: &Request, tag: u64, arrival: SimTime, now: SimTime) {
        let command = Command {
            op: request.op,
            fua: request.fua,
            lba: Lba(request.lba),
            sectors: request.sectors,
            hints: request.hints,
            tag,
            arrival,
        };
        let accepted = self.drive.submit(queue, &command, now);
        assert!(accepted.is_ok(), "queue {queue} had room and refused a command");
        if self.drive.outstanding() == 1 {
            self.stalls.begin(now);
        }
        // Behind it, where nothing of the request is needed any more: a call before it would cost runs without.
        if self.observer.is_some() {
            self.observe(&command, now);
        }
    }

    /// Hands the next request, from a member of the workload, to a queue that has room; the tag of its command tells
    /// the queue.
    #[inline(always)]
    pub fn submit_next(
        &mut self,
        queue: usize,
        (request, member): (&Request, u16),
        arrival: SimTime,
        now: SimTime,
    ) {
        let tag = self.tag(member, queue as u64, now);
        self.submit(queue, request, tag, arrival, now);
        self.books.served.generated += 1;
    }

    /// Tells who watches the drive of a command that was handed to it.
    #[cold]
    #[inline(never)]
    fn observe(&mut self, command: &Command, now: SimTime) {
        let Some(observer) = &mut self.observer else { return };
        if let Err(failure) = observer.after(&mut self.drive, command, now) {
            self.ended.get_or_insert(failure);
        }
    }

    /// Whether completions are to come.
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        self.books.served.completed < self.books.served.generated
    }

    /// Takes a completion, if one waits, shows it and enters it in the books; its tag.
    #[inline(always)]
    pub fn take_completion(&mut self, show: impl FnOnce(&Completion)) -> Option<u64> {
        self.look_at_clock();
        let inside = self.drive.outstanding();
        let completion = self.drive.next_completion()?;
        show(completion);
        let (tag, status) = (completion.tag, completion.status);
        self.stalls.completed(completion, inside, self.books.served.completed >= self.books.warm_up);
        let matters = self.books.enter(completion);
        if let Some(members) = &mut self.members {
            let counts = self.books.served.completed > self.books.warm_up;
            members.record(member_of(tag), completion, counts);
        }
        self.after_completion(status, matters);
        Some(tag)
    }

    /// Enters a read that was served without a command in the books, of a workload of one piece.
    #[inline(always)]
    pub fn enter(&mut self, completion: &Completion) {
        let matters = self.books.enter(completion);
        self.after_entry(matters);
    }

    /// What follows a completion that was entered in the books.
    #[inline(always)]
    fn after_completion(&mut self, status: Status, matters: bool) {
        self.after_entry(matters);
        if status == Status::ReadOnly {
            self.on_read_only();
        }
    }

    /// What follows an entry in the books, `matters` if something comes of it.
    #[inline(always)]
    fn after_entry(&mut self, matters: bool) {
        if matters {
            self.look_at_books();
        }
        let done = self.books.served.completed;
        if done.is_multiple_of(PROGRESS_EVERY) {
            self.look_at_bound();
            let simulated_ns = self.drive.now().since(self.start);
            let so_far = self.books.series.as_deref().map(|series| SoFar { series, drive: &self.drive });
            (self.progress)(Progress {
                phase: Phase::Running,
                done,
                total: self.total,
                simulated_ns,
                so_far,
            });
        }
    }

    /// The measurement begins, the log has failed, or it is to be told whom a request has waited for.
    #[cold]
    fn look_at_books(&mut self) {
        self.books.enter_told(&mut self.drive, self.stalls.last);
        if self.books.is_warm() {
            self.begin_measurement();
        }
        if self.books.failure.is_some() && self.ended.is_none() {
            self.ended = self.books.failure.take();
        }
    }

    /// The measurement begins now.
    #[cold]
    pub fn begin_measurement(&mut self) {
        self.look_at_bound();
        self.drive.reset_stats();
        self.stalls.begin(self.drive.now());
        if let Some(members) = &mut self.members {
            members.restart(self.drive.now());
        }
        if let Some(series) = &mut self.books.series {
            series.restart(&self.drive);
        }
        let Some(more) = self.books.more.as_deref_mut() else { return };
        if let Some(tail) = &mut more.tail {
            tail.restart(self.drive.now());
        }
        if let Some(timeline) = &mut more.timeline {
            timeline.restart(self.drive.now());
        }
    }

    /// Closes the log and gives back what was counted, and the drive.
    pub fn finish(self, failure: &mut Option<Failure>) -> (Counted, D) {
        let Desk { mut drive, mut books, stalls, observer, members, start, .. } = self;
        let series = books.series.take().map(|series| series.finish(&drive));
        let (tail, fio) =
            books.more.as_mut().map_or((None, None), |more| (more.tail.take(), more.fio.take()));
        let tail = tail.map(|tail| tail.finish());
        let timeline = books.more.as_mut().and_then(|more| more.timeline.take());
        if let Some(Err(error)) = timeline.map(|timeline| timeline.finish(&mut drive)) {
            Failure::unwritten(failure, error);
        }
        drive.tracing().tell_holders(false);
        let told = |members: &Members| members.results(start, &drive.stats());
        let members = members.as_ref().map(told).unwrap_or_default();
        let versions =
            observer.map_or(Ok(None), |observer| observer.finish(&mut drive)).unwrap_or_else(|error| {
                Failure::unwritten(failure, error);
                None
            });
        let (served, meter, requests) = books.finish(failure);
        let fio = fio.map(|fio| Box::new(fio.told(meter.simulated_ns())));
        let stalls = stalls.told(meter.since);
        (Counted { served, meter, members, versions, series, tail, stalls, fio, requests }, drive)
    }

    /// The run ends if voltages have not read what they promised to.
    #[cold]
    fn look_at_bound(&mut self) {
        if self.ended.is_none() {
            self.ended = Failure::of_bound(&self.drive);
        }
    }

    /// Whether a policy from outside has failed: nobody waits for what is under way then.
    #[inline(never)]
    fn has_failed(&mut self) -> bool {
        let fault = Failure::of_policy(&self.drive);
        let has_failed = fault.is_some();
        if self.ended.is_none() {
            self.ended = fault;
        }
        has_failed
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
