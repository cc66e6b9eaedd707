//! Requests that do not know of each other, as a workload that is told when they complete: at their own times, or so
//! many at a time.

use crate::base::driven::{Driven, LaneTimes, Poll};
use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use crate::base::request::{Request, Source};

/// Requests in flight of a stream with times, which wait for nobody, before later ones wait to be read.
const DEPTH_OPEN: u64 = 1 << 16;

/// Where they come from.
pub(crate) trait Feed: Send {
    /// The next one; `None` at the end.
    fn next(&mut self) -> Result<Option<Request>, WorkloadError>;

    /// When the stream ends that gives no more, if that is after its last request; ns.
    fn end_ns(&self) -> u64 {
        0
    }

    /// How many are still to come, where that is known.
    fn len_hint(&self) -> Option<u64>;

    /// What a person should know of them.
    fn report(&self) -> SourceReport;
}

impl Feed for Box<dyn Source> {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        (**self).next()
    }

    fn len_hint(&self) -> Option<u64> {
        (**self).len_hint()
    }

    fn report(&self) -> SourceReport {
        (**self).report()
    }
}

/// Requests as one lane.
pub(crate) struct Stream<F> {
    feed: F,
    next: Option<Request>,
    is_read: bool,
    has_times: bool,
    depth: u64,
    in_flight: u64,
    times: LaneTimes,
}

impl<F: Feed> Stream<F> {
    /// So many at a time; `None`: at their own times.
    pub fn new(feed: F, depth: Option<u64>) -> Self {
        let times = LaneTimes::default();
        let (has_times, depth) = (depth.is_none(), depth.unwrap_or(DEPTH_OPEN));
        Stream { feed, next: None, is_read: false, has_times, depth, in_flight: 0, times }
    }
}

impl<F: Feed> Driven for Stream<F> {
    fn lanes(&self) -> Vec<String> {
        vec![String::new()]
    }

    fn poll(&mut self, now_ns: u64) -> Result<Poll, WorkloadError> {
        self.times.start_ns.get_or_insert(now_ns);
        if self.in_flight >= self.depth {
            return Ok(Poll::Waiting);
        }
        if self.next.is_none() && !self.is_read {
            self.next = self.feed.next()?;
            self.is_read = self.next.is_none();
        }
        let Some(request) = self.next else {
            let end = self.feed.end_ns();
            return Ok(match self.in_flight {
                _ if now_ns < end => Poll::Until(end),
                0 => Poll::End,
                _ => Poll::Waiting,
            });
        };
        let arrival_ns = if self.has_times { request.arrival_ns } else { now_ns };
        if arrival_ns > now_ns {
            return Ok(Poll::Until(arrival_ns));
        }
        self.next = None;
        self.in_flight += 1;
        Ok(Poll::Request { lane: 0, request: Request { arrival_ns, ..request } })
    }

    fn completed(&mut self, _: u32, now_ns: u64) -> bool {
        self.in_flight -= 1;
        self.times.end_ns = Some(now_ns);
        true
    }

    fn times(&self, _: u32) -> LaneTimes {
        LaneTimes { measured_ns: self.times.start_ns, ..self.times }
    }

    fn has_rate(&self, _: u32) -> bool {
        false
    }

    fn is_job(&self, _: u32) -> bool {
        false
    }

    fn warm_up_ns(&self) -> Option<u64> {
        None
    }

    fn depth(&self) -> u64 {
        self.depth
    }

    fn requests_at_most(&self) -> Option<u64> {
        self.feed.len_hint()
    }

    fn report(&self) -> SourceReport {
        self.feed.report()
    }
}
