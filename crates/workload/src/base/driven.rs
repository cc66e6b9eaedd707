//! Workloads whose requests depend on when earlier ones completed: several clients, each with so many requests in
//! flight, pauses and rates of its own.

use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use crate::base::request::{MemberNames, Request, Source};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a driven workload does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// A request of a lane, to be submitted now. Its arrival is when it was due: before now if the lane keeps a rate
    /// and its depth did not allow it then.
    Request {
        /// The lane, or a mark that stands for one ([`Driven::lane_of`]).
        lane: u32,
        /// The request.
        request: Request,
    },
    /// Nothing before that time, unless a request completes; ns.
    Until(u64),
    /// Nothing until a request completes.
    Waiting,
    /// Nothing any more, and nothing is in flight.
    End,
}

/// What is known of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneTimes {
    /// When it began; `None` if it has not yet. All times in ns.
    pub start_ns: Option<u64>,
    /// When its measurement began: after its warm-up.
    pub measured_ns: Option<u64>,
    /// When its last request had completed.
    pub end_ns: Option<u64>,
}

/// What one job writes at most, as far as it says so itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Bytes that it keeps in flight at most.
    pub depth_bytes: u64,
    /// Bytes of writes at most that may be on their way to flash, before it waits until they are there; `None` if it
    /// never does.
    pub unsynced_bytes: Option<u64>,
    /// Its rate, or that to which its pauses slow it down; `None` for as fast as it goes.
    pub bytes_per_s: Option<f64>,
}

/// A workload of lanes that are told when their requests complete.
pub trait Driven: Send {
    /// Names of the lanes, by number.
    fn lanes(&self) -> Vec<String>;

    /// What comes next at a time, which never goes back; ns from the beginning. Ask again at once after a request.
    fn poll(&mut self, now_ns: u64) -> Result<Poll, WorkloadError>;

    /// A request of a lane completed. Whether it counts: those of a warm-up do not.
    fn completed(&mut self, lane: u32, now_ns: u64) -> bool;

    /// How far a lane is.
    fn times(&self, lane: u32) -> LaneTimes;

    /// Whether the lane keeps a rate, so that its requests are due at times.
    fn has_rate(&self, lane: u32) -> bool;

    /// When the warm-up of the first lanes ends; ns. `None` if they have none.
    fn warm_up_ns(&self) -> Option<u64>;

    /// How many different marks its requests have: as many as lanes, unless it says otherwise.
    fn marks(&self) -> u64 {
        self.lanes().len() as u64
    }

    /// The lane of a request by its mark, which is what [`Poll::Request`] and [`Driven::completed`] tell.
    fn lane_of(&self, mark: u32) -> u32 {
        mark
    }

    /// Whether a lane goes past a page cache.
    fn is_direct(&self, _lane: u32) -> bool {
        false
    }

    /// Whether a lane is a job, with results of its own, and not a whole phase, whose results are the phase's.
    fn is_job(&self, _lane: u32) -> bool {
        true
    }

    /// The workloads that it is made of; none for one of one piece.
    fn members(&self) -> MemberNames {
        MemberNames::default()
    }

    /// Which of them the last request came from.
    fn member(&self) -> u16 {
        0
    }

    /// Names of the drives that it works on, if there are several.
    fn drives(&self) -> Vec<String> {
        Vec::new()
    }

    /// Which of them the last request goes to, by number.
    fn drive(&self) -> u16 {
        0
    }

    /// Whether requests of a lane go to a drive.
    fn is_on(&self, _lane: u32, _drive: u16) -> bool {
        true
    }

    /// Requests in flight at most, all lanes together.
    fn depth(&self) -> u64;

    /// How many requests there will be at most, where that is known.
    fn requests_at_most(&self) -> Option<u64>;

    /// What a person should know of the workload.
    fn report(&self) -> SourceReport;
}

/// Plays the lanes without a drive: each request completes after a fixed time.
pub struct Played {
    driven: Box<dyn Driven>,
    service_ns: u64,
    now_ns: u64,
    sent: u64,
    /// (time, number of the request, mark) of what is in flight.
    flight: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

impl Played {
    /// Plays `driven` with requests that take so long; ns.
    pub fn new(driven: Box<dyn Driven>, service_ns: u64) -> Self {
        let flight = BinaryHeap::with_capacity(driven.depth().min(1 << 20) as usize);
        Played { driven, service_ns, now_ns: 0, sent: 0, flight }
    }

    /// The next request with its lane. It is submitted at [`Played::now_ns`].
    pub fn next_of_lane(&mut self) -> Result<Option<(u32, Request)>, WorkloadError> {
        loop {
            let until = match self.driven.poll(self.now_ns)? {
                Poll::Request { lane: mark, request } => {
                    self.sent += 1;
                    self.flight.push(Reverse((self.now_ns.saturating_add(self.service_ns), self.sent, mark)));
                    return Ok(Some((self.driven.lane_of(mark), request)));
                }
                Poll::Until(time) => time,
                Poll::Waiting => u64::MAX,
                Poll::End => return Ok(None),
            };
            match self.flight.peek() {
                Some(&Reverse((time, _, mark))) if time <= until => {
                    self.flight.pop();
                    self.now_ns = self.now_ns.max(time);
                    self.driven.completed(mark, self.now_ns);
                }
                _ => self.now_ns = self.now_ns.max(until),
            }
        }
    }

    /// The time, in ns from the beginning.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl Source for Played {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        let next = self.next_of_lane()?;
        Ok(next.map(|(_, request)| Request { arrival_ns: self.now_ns, ..request }))
    }

    fn len_hint(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        self.driven.report()
    }
}
