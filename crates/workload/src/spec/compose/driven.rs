//! Phases of which at least one is jobs that drive themselves: then all are driven, and each begins when the last
//! request of the one before has completed.

use super::member::{Done, OnPart, Running, Seen, names, told};
use crate::base::driven::{Driven, LaneTimes, Poll};
use crate::base::error::WorkloadError;
use crate::base::remark::Remark;
use crate::base::report::SourceReport;
use crate::base::request::{MemberNames, Request};
use crate::stack::stream::{Feed, Stream};
use std::sync::Arc;

/// Requests in flight of a phase without times that says nothing: as of a run's closed loop.
const DEPTH: u64 = 32;
impl Feed for Running {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        self.next()
    }

    fn end_ns(&self) -> u64 {
        self.end_ns()
    }

    fn len_hint(&self) -> Option<u64> {
        self.len_hint()
    }

    fn report(&self) -> SourceReport {
        SourceReport { notes: self.told(), ..SourceReport::default() }
    }
}

/// A phase of jobs, until a limit or their end.
struct Jobs {
    seen: Arc<Seen>,
    driven: Box<dyn Driven>,
    base: u64,
    drive_sectors: u64,
    /// When the present pass began.
    pass_ns: u64,
    done: Done,
    in_flight: u64,
    /// How far the lanes were when it began.
    before: Vec<LaneTimes>,
}

impl Jobs {
    fn open(
        seen: &Arc<Seen>,
        drive_sectors: u64,
        opened: Result<OnPart, WorkloadError>,
    ) -> Result<Self, WorkloadError> {
        let (driven, base) = opened?;
        Ok(Jobs {
            seen: Arc::clone(seen),
            before: vec![LaneTimes::default(); driven.lanes().len()],
            driven,
            base,
            drive_sectors,
            pass_ns: 0,
            done: Done::default(),
            in_flight: 0,
        })
    }

    /// Begins again.
    #[cold]
    fn again(&mut self, now_ns: u64) -> Result<(), WorkloadError> {
        let time_went_on = now_ns > self.pass_ns;
        self.done.again(self.seen.keys(), time_went_on).ok_or_else(|| self.seen.endless())?;
        self.before = (0..self.before.len()).map(|lane| self.times(lane as u32)).collect();
        self.pass_ns = now_ns;
        if let Some(opened) = self.seen.driven(self.drive_sectors) {
            (self.driven, self.base) = opened?;
        }
        Ok(())
    }
}

impl Driven for Jobs {
    fn lanes(&self) -> Vec<String> {
        self.driven.lanes()
    }

    fn poll(&mut self, now_ns: u64) -> Result<Poll, WorkloadError> {
        loop {
            let keys = self.seen.keys();
            let stop = keys.stop_ns();
            if now_ns >= stop || self.done.is_full(keys, self.drive_sectors) {
                return Ok(if self.in_flight == 0 { Poll::End } else { Poll::Waiting });
            }
            let polled = self.driven.poll(now_ns - self.pass_ns);
            return Ok(match polled.map_err(|error| self.seen.within(error))? {
                Poll::Request { lane, mut request } => {
                    request.arrival_ns = request.arrival_ns.saturating_add(self.pass_ns);
                    self.done.take(keys, self.base, &mut request);
                    self.in_flight += 1;
                    Poll::Request { lane, request }
                }
                Poll::Until(time) => Poll::Until(time.saturating_add(self.pass_ns).min(stop)),
                Poll::Waiting if stop < u64::MAX => Poll::Until(stop),
                Poll::Waiting => Poll::Waiting,
                Poll::End if keys.has_limit() => {
                    self.again(now_ns)?;
                    continue;
                }
                Poll::End => Poll::End,
            });
        }
    }

    fn completed(&mut self, lane: u32, now_ns: u64) -> bool {
        self.in_flight -= 1;
        // Only the first pass warms up.
        let was_measured = self.before[self.driven.lane_of(lane) as usize].measured_ns.is_some();
        self.driven.completed(lane, now_ns - self.pass_ns) || was_measured
    }

    fn times(&self, lane: u32) -> LaneTimes {
        let (before, now) = (self.before[lane as usize], later(self.driven.times(lane), self.pass_ns));
        LaneTimes {
            start_ns: before.start_ns.or(now.start_ns),
            measured_ns: before.measured_ns.or(now.measured_ns),
            end_ns: if now.start_ns.is_some() { now.end_ns } else { before.end_ns },
        }
    }

    fn has_rate(&self, lane: u32) -> bool {
        self.driven.has_rate(lane)
    }

    fn is_job(&self, lane: u32) -> bool {
        self.driven.is_job(lane)
    }

    fn warm_up_ns(&self) -> Option<u64> {
        self.driven.warm_up_ns()
    }

    fn marks(&self) -> u64 {
        self.driven.marks()
    }

    fn lane_of(&self, mark: u32) -> u32 {
        self.driven.lane_of(mark)
    }

    fn depth(&self) -> u64 {
        self.driven.depth()
    }

    fn requests_at_most(&self) -> Option<u64> {
        if self.seen.keys().has_limit() { self.seen.len_hint() } else { self.driven.requests_at_most() }
    }

    fn report(&self) -> SourceReport {
        SourceReport { notes: self.seen.told(&self.driven.report()), ..SourceReport::default() }
    }
}

/// Times of a lane whose time zero is so much later.
fn later(times: LaneTimes, ns: u64) -> LaneTimes {
    let add = |time: Option<u64>| time.map(|time| time.saturating_add(ns));
    LaneTimes {
        start_ns: add(times.start_ns),
        measured_ns: add(times.measured_ns),
        end_ns: add(times.end_ns),
    }
}

/// A phase, whose times count from its beginning.
fn open(seen: &Arc<Seen>, drive_sectors: u64) -> Result<Box<dyn Driven>, WorkloadError> {
    Ok(match seen.driven(drive_sectors) {
        Some(opened) => Box::new(Jobs::open(seen, drive_sectors, opened)?),
        None => {
            let depth = match seen.keys().depth {
                0 => DEPTH,
                depth => depth,
            };
            let depth = (!seen.has_times()).then_some(depth);
            Box::new(Stream::new(Running::open(seen, drive_sectors, 0)?, depth))
        }
    })
}

/// What is known of a lane beforehand, and how far it was at the end of its phase.
struct Lane {
    name: String,
    has_rate: bool,
    is_job: bool,
    times: LaneTimes,
}

/// Phases at work, each driven.
pub(super) struct DrivenInTurn {
    members: Vec<Arc<Seen>>,
    drive_sectors: u64,
    /// The lanes of all phases, phase by phase.
    lanes: Vec<Lane>,
    /// Marks and depth of the phase with the most.
    marks: u64,
    depth: u64,
    requests_at_most: Option<u64>,
    warm_up_ns: Option<u64>,
    /// What jobs remark when they are opened, and when their phase has ended.
    notes: Vec<Vec<Remark>>,
    /// The phase that runs, its first lane, and when it began.
    at: usize,
    running: Box<dyn Driven>,
    first_lane: u32,
    start_ns: u64,
}

impl DrivenInTurn {
    /// All are opened, so that one that does not fit is told before the first request.
    pub(super) fn open(members: &[Arc<Seen>], drive_sectors: u64) -> Result<Self, WorkloadError> {
        let first = open(&members[0], drive_sectors)?;
        // A warm-up is that of the whole run: a phase that may end before it warms nothing up.
        let warm_up_ns = first.warm_up_ns().filter(|_| !members[0].keys().has_limit());
        let mut phases = DrivenInTurn {
            members: members.to_vec(),
            drive_sectors,
            lanes: Vec::new(),
            marks: 1,
            depth: 1,
            requests_at_most: Some(0),
            warm_up_ns,
            notes: Vec::new(),
            at: 0,
            running: first,
            first_lane: 0,
            start_ns: 0,
        };
        for (number, seen) in members.iter().enumerate() {
            let other = if number == 0 { None } else { Some(open(seen, drive_sectors)?) };
            phases.add(seen.title(), other);
        }
        Ok(phases)
    }

    /// Takes down what is known of a phase; `None` for the one that runs.
    fn add(&mut self, title: &str, other: Option<Box<dyn Driven>>) {
        let phase = other.as_ref().unwrap_or(&self.running);
        let lane = |(lane, name): (usize, String)| Lane {
            name: if name.is_empty() { title.to_string() } else { format!("{title}: {name}") },
            has_rate: phase.has_rate(lane as u32),
            is_job: phase.is_job(lane as u32),
            times: LaneTimes::default(),
        };
        let lanes = phase.lanes().into_iter().enumerate().map(lane);
        self.marks = self.marks.max(phase.marks());
        self.depth = self.depth.max(phase.depth());
        self.requests_at_most =
            self.requests_at_most.zip(phase.requests_at_most()).and_then(|(all, more)| all.checked_add(more));
        self.lanes.extend(lanes);
        self.notes.push(phase.report().notes);
    }

    /// The next phase begins, if there is one.
    #[cold]
    fn next_phase(&mut self, now_ns: u64) -> Result<bool, WorkloadError> {
        let Some(next) = self.members.get(self.at + 1) else { return Ok(false) };
        let running = open(next, self.drive_sectors)?;
        let lanes = self.running.lanes().len() as u32;
        for lane in 0..lanes {
            self.lanes[(self.first_lane + lane) as usize].times =
                later(self.running.times(lane), self.start_ns);
        }
        // Why jobs ended is known now.
        if self.members[self.at].is_driven() {
            self.notes.push(self.running.report().notes);
        }
        self.first_lane += lanes;
        self.at += 1;
        (self.running, self.start_ns) = (running, now_ns);
        Ok(true)
    }
}

impl Driven for DrivenInTurn {
    fn lanes(&self) -> Vec<String> {
        self.lanes.iter().map(|lane| lane.name.clone()).collect()
    }

    fn poll(&mut self, now_ns: u64) -> Result<Poll, WorkloadError> {
        loop {
            return Ok(match self.running.poll(now_ns - self.start_ns)? {
                Poll::Request { lane, mut request } => {
                    request.arrival_ns = request.arrival_ns.saturating_add(self.start_ns);
                    Poll::Request { lane, request }
                }
                Poll::Until(time) => Poll::Until(time.saturating_add(self.start_ns)),
                Poll::Waiting => Poll::Waiting,
                Poll::End if self.next_phase(now_ns)? => continue,
                Poll::End => Poll::End,
            });
        }
    }

    fn completed(&mut self, mark: u32, now_ns: u64) -> bool {
        self.running.completed(mark, now_ns - self.start_ns)
    }

    fn times(&self, lane: u32) -> LaneTimes {
        let lanes = self.running.lanes().len() as u32;
        match lane.checked_sub(self.first_lane) {
            Some(own) if own < lanes => later(self.running.times(own), self.start_ns),
            _ => self.lanes[lane as usize].times,
        }
    }

    fn has_rate(&self, lane: u32) -> bool {
        self.lanes[lane as usize].has_rate
    }

    fn is_job(&self, lane: u32) -> bool {
        self.lanes[lane as usize].is_job
    }

    fn members(&self) -> MemberNames {
        MemberNames { names: names(&self.members), in_turn: true }
    }

    fn member(&self) -> u16 {
        self.at as u16
    }

    fn warm_up_ns(&self) -> Option<u64> {
        self.warm_up_ns
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    fn lane_of(&self, mark: u32) -> u32 {
        self.first_lane + self.running.lane_of(mark)
    }

    fn depth(&self) -> u64 {
        self.depth
    }

    fn requests_at_most(&self) -> Option<u64> {
        self.requests_at_most
    }

    fn report(&self) -> SourceReport {
        // What jobs say before they are opened is of runs without a drive.
        let streams = self.members.iter().filter(|member| !member.is_driven());
        let seen = streams.map(|member| member.told(&member.report()));
        told(seen.chain(self.notes.iter().cloned()).chain([self.running.report().notes]))
    }
}
