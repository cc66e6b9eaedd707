//! The loop between a workload of jobs and its drives: each job sends when it may, and is told what has completed.
//! Several drives share one clock: the next event is that of whichever comes first. In a stripe each gets its pieces of
//! a request, which completes with the last of them.
//!
//! Times of the session count from its beginning, in ns: drives have clocks of their own, which their pasts left where
//! they are.
//!
//! Nothing here allocates or grows with the number of requests: what finds all queues full is held, and no job sends
//! more than its depth.

use crate::base::error::Failure;
use crate::measure::meter::Meter;
use crate::measure::progress::Progress;
use crate::plan::spec::RunSpec;
use crate::result::JobResult;
use crate::run::desk::{Counted, Desk, LentDesk, MARK_BITS, PATIENCE, mark_of};
use crate::run::jobs::Jobs;
use crate::run::volume::Volume;
use ssd::units::SECTOR_BYTES;
use ssd::{Completion, Drive, DriveConfig, SimTime};
use std::collections::VecDeque;
use workload::{Driven, FilesAtStart, Poll, Request, Stripe};

/// Never.
const NEVER: u64 = u64::MAX;

/// One of the drives.
struct Post<'a> {
    desk: LentDesk<'a>,
    jobs: Jobs,
    /// Requests that found all queues full, in order.
    held: VecDeque<(u32, Request)>,
    /// Where the next request is tried first.
    queue: usize,
}

/// A run of jobs in progress.
pub(crate) struct DrivenSession<'a> {
    posts: Vec<Post<'a>>,
    driven: &'a mut dyn Driven,
    /// Jobs on all drives together, if there are several.
    of_all: Option<Jobs>,
    /// The volume that they make, if they do.
    volume: Option<Volume>,
    /// Requests that may still be taken.
    left: u64,
    /// The end of the jobs' warm-up, if it has not come.
    warm_up_end: Option<u64>,
    /// Requests of the warm-up that the run itself asks for.
    warm_up: u64,
    /// Of several drives: the warm-up has not ended.
    is_cold: bool,
    /// Of several drives: the time. Those that have nothing to do are not asked to look at it.
    clock: u64,
    /// Of several drives: events that are still waited for once the run has ended.
    patience: u32,
}

/// What several drives got together.
#[derive(Default)]
pub(crate) struct Together {
    /// Jobs on all of them.
    pub jobs: Vec<JobResult>,
    /// What was measured of the requests of the volume that they make.
    pub volume: Option<Meter>,
}

/// A drive for a session, and who is told how far it is.
pub(crate) type AtPost<'a> = (&'a mut Drive, &'a mut dyn FnMut(Progress));

impl Post<'_> {
    #[inline]
    fn send(&mut self, driven: &dyn Driven, lane: u32, request: Request, now: u64) {
        let now = self.desk.at(now);
        self.desk.books.served.generated += 1;
        if !self.held.is_empty() || !self.submit(driven, lane, &request, now) {
            self.held.push_back((lane, request));
        }
    }

    /// Sends what was held, as far as there is room.
    #[inline]
    fn send_held(&mut self, driven: &dyn Driven, now: u64) {
        let now = self.desk.at(now);
        while let Some(&(lane, request)) = self.held.front() {
            if !self.submit(driven, lane, &request, now) {
                return;
            }
            self.held.pop_front();
        }
    }

    /// Hands a request to the next queue that has room; false if none has. The tag of its command tells the lane.
    #[inline]
    fn submit(&mut self, driven: &dyn Driven, lane: u32, request: &Request, now: SimTime) -> bool {
        let Some(queue) = self.desk.free_queue(self.queue) else { return false };
        self.queue = (queue + 1) % self.desk.drive.queues();
        let arrival = self.desk.at(request.arrival_ns);
        let tag = self.desk.tag(driven.member(), u64::from(lane), now);
        self.desk.submit(queue, request, tag, arrival, now);
        true
    }

    /// Lets the next event happen. What completes by it is told before others of its time happen.
    fn step(&mut self) {
        self.desk.drive.advance_to_completion_within(&mut 1);
    }

    /// Lets time pass, if it has not.
    fn pass_to(&mut self, time: u64) {
        let time = self.desk.at(time);
        if self.desk.drive.now() < time {
            self.desk.drive.advance_to(time);
        }
    }

    /// The measurement begins.
    fn begin_measurement(&mut self) {
        let now = self.desk.drive.now();
        self.desk.books.meter.restart(now);
        self.desk.begin_measurement();
    }
}

impl<'a> DrivenSession<'a> {
    /// Opens the request log. The drives are alike, have one past, and are in the order of the workload's
    /// ([`Driven::drives`]), or those of a stripe.
    pub fn new(
        drives: Vec<AtPost<'a>>,
        config: &DriveConfig,
        (driven, stripe): (&'a mut dyn Driven, Option<Stripe>),
        spec: &RunSpec,
    ) -> Result<Self, Failure> {
        assert!(driven.marks() <= 1 << MARK_BITS, "more lanes than a tag can name");
        let of_stripe = stripe.map(|stripe| usize::from(stripe.drives()));
        assert_eq!(of_stripe.unwrap_or(driven.drives().len().max(1)), drives.len(), "a drive for each name");
        let total = spec.total(driven.requests_at_most());
        let are_several = drives.len() > 1;
        let mut posts = Vec::with_capacity(drives.len());
        for (drive, progress) in drives {
            let mut desk = Desk::open(drive, config, spec, (total, &FilesAtStart::default()), progress)
                .map_err(|(failure, _)| failure)?;
            desk.set_members(&driven.members());
            let held = VecDeque::with_capacity(driven.depth().min(1 << 20) as usize);
            posts.push(Post { desk, jobs: Jobs::new(driven, spec.tells_fio), held, queue: 0 });
        }
        let warm_up_end = driven.warm_up_ns();
        let is_cold = are_several && (warm_up_end.is_some() || spec.warm_up > 0);
        if warm_up_end.is_some() || is_cold {
            posts.iter_mut().for_each(|post| post.desk.books.warm_up = u64::MAX);
        }
        let unit_sectors = u64::from(config.unit_bytes()) / SECTOR_BYTES;
        let volume = |stripe| Volume::new(stripe, 1 << MARK_BITS, Meter::new(SimTime::ZERO, unit_sectors));
        Ok(DrivenSession {
            posts,
            volume: stripe.map(volume),
            of_all: are_several.then(|| Jobs::new(driven, false)),
            driven,
            left: spec.requests.unwrap_or(u64::MAX),
            warm_up_end,
            warm_up: spec.warm_up,
            is_cold,
            clock: 0,
            patience: PATIENCE,
        })
    }

    /// Runs to the end of all jobs.
    pub fn run(&mut self) -> Result<(), Failure> {
        loop {
            let (driven, now) = (&*self.driven, self.now());
            self.posts.iter_mut().for_each(|post| post.send_held(driven, now));
            let until = self.take_requests();
            if until.is_none() && !self.posts.iter().any(|post| post.desk.is_waiting()) {
                break;
            }
            if !self.go_on(until.unwrap_or(NEVER))? {
                break;
            }
        }
        let ended = self.posts.iter_mut().find_map(|post| post.desk.ended.take());
        ended.map_or(Ok(()), Err)
    }

    /// Closes the log and gives back what was counted, drive by drive, and what all got together where there are
    /// several.
    pub fn finish(self, failure: &mut Option<Failure>) -> (Vec<(Counted, Vec<JobResult>)>, Together) {
        let driven = &*self.driven;
        let jobs = self.of_all.map_or(Vec::new(), |jobs| jobs.results(driven, SimTime::ZERO, |_| true));
        // Jobs of a volume know nothing of its drives.
        let is_volume = self.volume.is_some();
        let of_drive = |(number, post): (usize, Post)| {
            let is_on = |lane| !is_volume && driven.is_on(lane, number as u16);
            let jobs = post.jobs.results(driven, post.desk.start, is_on);
            (post.desk.finish(failure).0, jobs)
        };
        let of_drives = self.posts.into_iter().enumerate().map(of_drive).collect();
        (of_drives, Together { jobs, volume: self.volume.map(|volume| volume.meter) })
    }

    /// The drive that the last request goes to.
    #[inline]
    fn post_of_last(&self) -> usize {
        if self.posts.len() == 1 { 0 } else { usize::from(self.driven.drive()) }
    }

    /// The time.
    #[inline]
    fn now(&self) -> u64 {
        if let [post] = &self.posts[..] { post.desk.drive.now().since(post.desk.start) } else { self.clock }
    }

    /// Sends a request to its drive, or its pieces to theirs.
    #[inline]
    fn send(&mut self, mark: u32, request: &Request, now: u64) {
        let Some(volume) = &mut self.volume else {
            let number = self.post_of_last();
            return self.posts[number].send(&*self.driven, mark, *request, now);
        };
        let (posts, driven) = (&mut self.posts, &*self.driven);
        volume.begin(mark, request, |drive, number, piece| {
            posts[usize::from(drive)].send(driven, number, piece, now);
        });
    }

    /// Takes all requests that jobs send now; when there will be more, if that is known. `None` if nothing comes by
    /// itself any more.
    #[inline]
    fn take_requests(&mut self) -> Option<u64> {
        while self.left > 0 && !self.posts.iter_mut().any(|post| post.desk.is_over()) {
            let now = self.now();
            if self.volume.as_ref().is_some_and(|volume| !volume.has_room()) {
                return Some(NEVER);
            }
            match self.driven.poll(now) {
                Ok(Poll::Request { lane, request }) => {
                    self.left -= 1;
                    self.send(lane, &request, now);
                }
                Ok(Poll::Until(ns)) => return Some(ns),
                Ok(Poll::Waiting) => return Some(NEVER),
                Ok(Poll::End) => return None,
                Err(error) => self.posts[0].desk.ended = Some(Failure::Workload(error)),
            }
        }
        None
    }

    /// Lets time pass to the next completion, or to `until`. False if what is under way is not waited for.
    #[inline]
    fn go_on(&mut self, until: u64) -> Result<bool, Failure> {
        if let [post] = &mut self.posts[..]
            && (until == NEVER && self.warm_up_end.is_none() || post.desk.ended.is_some())
        {
            let goes_on = post.desk.advance()?;
            self.take_completions(0);
            return Ok(goes_on);
        }
        if self.posts.len() > 1 {
            if self.is_given_up() {
                return Ok(false);
            }
            // Where no time passes, no event comes before them.
            let mut has_any = false;
            for number in 0..self.posts.len() {
                has_any |= self.take_completions(number);
            }
            if has_any {
                return Ok(true);
            }
        }
        // A drive that owes nothing is let be until it is asked again, as at the end of a run of its own.
        let is_alone = self.posts.len() == 1;
        let next_of = |post: &Post| match post.desk.drive.next_event_at() {
            Some(at) if is_alone || post.desk.is_waiting() => at.since(post.desk.start),
            _ => NEVER,
        };
        let all = self.posts.iter().map(next_of).enumerate();
        let (number, next) = all.min_by_key(|(_, next)| *next).unwrap_or((0, NEVER));
        let warm_up_end = self.warm_up_end.unwrap_or(NEVER);
        // What happens at the end of the warm-up is part of the measurement.
        if warm_up_end <= next.min(until) && warm_up_end < NEVER {
            self.clock = self.clock.max(warm_up_end);
            self.posts.iter_mut().for_each(|post| post.pass_to(warm_up_end));
            self.end_warm_up();
        } else if next <= until && next < NEVER {
            self.posts[number].step();
            self.clock = self.clock.max(next);
            self.take_completions(number);
            return Ok(true);
        } else if until < NEVER {
            self.clock = self.clock.max(until);
            if let [post] = &mut self.posts[..] {
                post.pass_to(until);
            }
        } else {
            return Err(self.posts[number].desk.lost());
        }
        for number in 0..self.posts.len() {
            self.take_completions(number);
        }
        Ok(true)
    }

    /// Whether what is under way on one of several drives takes too long for who has asked to end.
    fn is_given_up(&mut self) -> bool {
        if self.posts.iter().all(|post| post.desk.ended.is_none()) {
            return false;
        }
        self.patience = self.patience.saturating_sub(1);
        self.patience == 0
    }

    /// The jobs' warm-up is over.
    #[cold]
    fn end_warm_up(&mut self) {
        self.warm_up_end = None;
        let [post] = &mut self.posts[..] else { return self.look_at_warm_up() };
        post.desk.books.warm_up = self.warm_up.max(post.desk.books.served.completed);
        if post.desk.books.is_warm() {
            post.begin_measurement();
        }
    }

    /// The measurement of several drives begins when the warm-up of the jobs is over and all together have completed
    /// the requests of the run's.
    fn look_at_warm_up(&mut self) {
        let completed = |post: &Post| post.desk.books.served.completed;
        let of_volume = self.volume.as_ref().map(|volume| volume.completed);
        let of_all = of_volume.unwrap_or_else(|| self.posts.iter().map(completed).sum());
        if self.warm_up_end.is_some() || of_all < self.warm_up {
            return;
        }
        self.is_cold = false;
        let now = self.now();
        if let Some(volume) = &mut self.volume {
            volume.meter.restart(SimTime(now));
        }
        for post in &mut self.posts {
            post.pass_to(now);
            post.desk.books.warm_up = completed(post);
            post.begin_measurement();
        }
    }

    /// Takes the completions of a drive that wait. Whether there were any.
    #[inline]
    fn take_completions(&mut self, number: usize) -> bool {
        let mut has_any = false;
        loop {
            let (driven, of_all, is_cold) = (&mut self.driven, &mut self.of_all, self.is_cold);
            let volume = &mut self.volume;
            let Post { desk, jobs, .. } = &mut self.posts[number];
            let start = desk.start;
            let taken = desk.take_completion(|completion| {
                let mark = mark_of(completion.tag) as u32;
                let ended = completion.completed.since(start);
                let Some(of_all) = of_all else {
                    let counts = driven.completed(mark, ended);
                    return jobs.record(driven.lane_of(mark), completion, counts);
                };
                let of_session = from_start(completion, start);
                let Some(volume) = volume else {
                    let (lane, counts) = (driven.lane_of(mark), driven.completed(mark, ended));
                    jobs.record(lane, completion, counts);
                    return of_all.record(lane, &of_session, counts);
                };
                let Some((mark, whole)) = volume.completed(mark, &of_session) else { return };
                let counts = driven.completed(mark, ended);
                of_all.record(driven.lane_of(mark), &whole, counts);
                if !is_cold {
                    volume.record(&whole);
                }
            });
            if taken.is_none() {
                return has_any;
            }
            has_any = true;
            if is_cold {
                self.look_at_warm_up();
            }
        }
    }
}

/// A completion with times that count from that of a drive's.
fn from_start(completion: &Completion, start: SimTime) -> Completion {
    let from = |time: SimTime| SimTime(time.since(start));
    Completion {
        arrival: from(completion.arrival),
        submitted: from(completion.submitted),
        completed: from(completion.completed),
        ..*completion
    }
}
