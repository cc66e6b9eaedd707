//! Jobs below a page cache, as fio's with `direct=0`: a request is answered from memory, or waits for what the drive
//! must read, or write because too much is dirty. What is written back beside that has a lane of its own, and nobody
//! waits for it. Jobs with `direct=1` go past the cache.

use crate::base::driven::{Driven, LaneTimes, Poll};
use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use crate::base::request::Request;
use crate::stack::cached::Filter;
use ssd::signals::OpCode;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The mark of what is written back; those of requests of jobs come behind.
const WRITE_BACK: u32 = 0;

/// Requests that jobs may have in flight: each has a mark of its own.
const DEPTH_MAX: u64 = 1 << 16;

/// A request of a job that is under way.
struct Pending {
    /// Its mark among the jobs' own.
    of_job: u32,
    /// Requests on the drive that it waits for.
    left: u32,
    /// A flush that follows when they have completed.
    flush: Option<Request>,
}

/// Jobs below a page cache.
pub(crate) struct CachedJobs {
    inner: Box<dyn Driven>,
    filter: Filter,
    /// How long a request takes that the drive hears nothing of.
    hit_ns: u64,
    jobs: u32,
    pending: Vec<Pending>,
    free: Vec<u32>,
    /// Requests for the drive, with their marks.
    out: VecDeque<(u32, Request)>,
    /// (time, mark) of requests that are answered from memory.
    hits: BinaryHeap<Reverse<(u64, u32)>>,
    written_back: LaneTimes,
    in_flight: u64,
}

impl CachedJobs {
    /// Below a cache; a hit takes so long.
    pub(crate) fn new(inner: Box<dyn Driven>, filter: Filter, hit_ns: u64) -> Result<Self, WorkloadError> {
        if inner.depth() >= DEPTH_MAX {
            let found = format!("found one in front of jobs that keep {} requests in flight", inner.depth());
            let allowed = format!("less than {DEPTH_MAX} of them (iodepth of all clones)");
            return Err(WorkloadError::setting("page_cache_mib", found, allowed));
        }
        Ok(CachedJobs {
            jobs: inner.lanes().len() as u32,
            inner,
            filter,
            hit_ns: hit_ns.max(1),
            pending: Vec::new(),
            free: Vec::new(),
            out: VecDeque::new(),
            hits: BinaryHeap::new(),
            written_back: LaneTimes::default(),
            in_flight: 0,
        })
    }

    /// A request of a job comes.
    fn serve(&mut self, of_job: u32, request: Request, now_ns: u64) {
        let new = Pending { of_job, left: 0, flush: None };
        let mark = match self.free.pop() {
            Some(mark) => {
                self.pending[mark as usize - 1] = new;
                mark
            }
            None => {
                self.pending.push(new);
                self.pending.len() as u32
            }
        };
        let request = Request { arrival_ns: now_ns, ..request };
        if self.inner.is_direct(self.inner.lane_of(of_job)) {
            self.filter.queue.push_back((request, true));
        } else {
            self.filter.serve(request);
        }
        self.hand_out(mark);
        if self.pending[mark as usize - 1].left == 0 {
            self.hits.push(Reverse((now_ns.saturating_add(self.hit_ns), mark)));
        }
    }

    /// What the cache lets through goes to the drive, for a request of a job or beside it.
    fn hand_out(&mut self, mark: u32) {
        while let Some((request, is_waited_for)) = self.filter.queue.pop_front() {
            if !is_waited_for || mark == WRITE_BACK {
                self.out.push_back((WRITE_BACK, request));
                let begun = self.written_back.start_ns.unwrap_or(request.arrival_ns);
                self.written_back =
                    LaneTimes { start_ns: Some(begun), measured_ns: Some(begun), end_ns: None };
                continue;
            }
            let pending = &mut self.pending[mark as usize - 1];
            if request.op == OpCode::Flush && pending.left > 0 {
                pending.flush = Some(request);
            } else {
                pending.left += 1;
                self.out.push_back((mark, request));
            }
        }
    }

    /// A request of a job has ended; whether it counts.
    fn finish(&mut self, mark: u32, now_ns: u64) -> bool {
        self.free.push(mark);
        self.inner.completed(self.pending[mark as usize - 1].of_job, now_ns)
    }
}

impl Driven for CachedJobs {
    fn lanes(&self) -> Vec<String> {
        self.inner.lanes().into_iter().chain(["page cache".to_string()]).collect()
    }

    fn marks(&self) -> u64 {
        self.inner.depth() + 1
    }

    fn lane_of(&self, mark: u32) -> u32 {
        match mark {
            WRITE_BACK => self.jobs,
            _ => self.inner.lane_of(self.pending[mark as usize - 1].of_job),
        }
    }

    fn poll(&mut self, now_ns: u64) -> Result<Poll, WorkloadError> {
        loop {
            if let Some((mark, request)) = self.out.pop_front() {
                self.in_flight += 1;
                return Ok(Poll::Request { lane: mark, request });
            }
            if let Some(&Reverse((time, mark))) = self.hits.peek()
                && time <= now_ns
            {
                self.hits.pop();
                self.finish(mark, now_ns);
                continue;
            }
            let due = self.filter.due_at();
            if due.is_some_and(|due| due <= now_ns) {
                self.filter.catch_up(now_ns);
                self.hand_out(WRITE_BACK);
                continue;
            }
            let wake = due.filter(|due| *due < u64::MAX);
            let wake = wake.into_iter().chain(self.hits.peek().map(|Reverse((time, _))| *time)).min();
            return Ok(match (self.inner.poll(now_ns)?, wake) {
                (Poll::Request { lane, request }, _) => {
                    self.serve(lane, request, now_ns);
                    continue;
                }
                (Poll::Until(time), wake) => Poll::Until(wake.map_or(time, |wake| wake.min(time))),
                (Poll::Waiting | Poll::End, Some(wake)) => Poll::Until(wake),
                // A plain cache keeps what is dirty until it falls out, or to the end.
                (Poll::End, None) if due.is_some() => {
                    self.filter.write_all();
                    self.hand_out(WRITE_BACK);
                    continue;
                }
                (Poll::End, None) if self.in_flight > 0 => Poll::Waiting,
                (poll, None) => poll,
            });
        }
    }

    fn completed(&mut self, mark: u32, now_ns: u64) -> bool {
        self.in_flight -= 1;
        if mark == WRITE_BACK {
            self.written_back.end_ns = Some(now_ns);
            return true;
        }
        let pending = &mut self.pending[mark as usize - 1];
        pending.left -= 1;
        let lane = self.inner.lane_of(pending.of_job);
        let counts = || self.inner.times(lane).measured_ns.is_some_and(|begin| begin <= now_ns);
        if pending.left > 0 {
            return counts();
        }
        if let Some(flush) = pending.flush.take() {
            pending.left = 1;
            let counts = counts();
            self.out.push_back((mark, Request { arrival_ns: now_ns, ..flush }));
            return counts;
        }
        self.finish(mark, now_ns)
    }

    fn times(&self, lane: u32) -> LaneTimes {
        if lane == self.jobs { self.written_back } else { self.inner.times(lane) }
    }

    fn has_rate(&self, _: u32) -> bool {
        // What reaches the drive is due when the cache asks for it.
        false
    }

    fn warm_up_ns(&self) -> Option<u64> {
        self.inner.warm_up_ns()
    }

    fn depth(&self) -> u64 {
        self.inner.depth()
    }

    fn requests_at_most(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        self.inner.report()
    }
}
