//! The jobs of a file in time: when each lane begins, waits, and ends.

use super::client::{Act, Client, Exit, Flow, NEVER, State};
use super::jobs::JobFile;
use super::lane::Lane;
use super::layout::Worker;
use super::parse::Wrong;
use super::rate::Rate;
use super::steady::Steady;
use super::watch::Reason;
use crate::base::driven::{Driven, LaneTimes, Poll};
use crate::base::error::WorkloadError;
use crate::base::remark::Remark;
use crate::base::report::SourceReport;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Requests in flight that can be told apart, those of all clones together.
const MARKS_MAX: u64 = 1 << 16;

/// The jobs of a file, running.
pub(crate) struct Run {
    clients: Vec<Client>,
    /// Those that may send, in line.
    ready: VecDeque<u32>,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Clients of the groups between stonewalls that have not ended.
    open: Vec<u64>,
    /// Some wait for a job of their group: with each that ends they may begin.
    are_some_waiting: bool,
    /// The group that runs.
    group: usize,
    flows: Vec<Flow>,
    /// Rates whose steadiness ends those that have them.
    steadies: Vec<Steady>,
    remarks: Vec<Remark>,
    /// Names of the drives, if there are several.
    drives: Vec<String>,
    /// The one that the last request goes to.
    drive: u16,
}

impl JobFile {
    /// The jobs on a drive of so many 512-byte sectors.
    pub fn open(&self, drive_sectors: u64, seed: u64) -> Result<Box<dyn Driven>, WorkloadError> {
        Ok(Box::new(self.run(drive_sectors, seed)?))
    }

    fn run(&self, drive_sectors: u64, seed: u64) -> Result<Run, WorkloadError> {
        let workers = self.workers(drive_sectors)?;
        self.check_maps(&workers)?;
        let (mut clients, mut group) = (Vec::new(), 0);
        // Each drive gets what it would get by itself.
        let mut numbers = vec![0; self.drives().len().max(1)];
        for worker in &workers {
            let job = &self.jobs[worker.job];
            group += usize::from(job.stonewall && worker.job > 0 && worker.number == 0);
            let of_drive = &mut numbers[worker.spans.first().map_or(0, |span| usize::from(span.drive))];
            let number = *of_drive;
            *of_drive += 1;
            let lane = Lane::new(job, worker, number, seed).map_err(|found| {
                Wrong::new(found, "zones within the job's space").at(&job.place, "random_distribution")
            })?;
            let name = self.name(worker.job, worker.number);
            let mut client = Client::new(job, lane, name, group, number, seed);
            (client.job, client.waits_for) = (worker.job, self.waits_for(worker.job));
            clients.push(client);
        }
        let mut open = vec![0; group + 1];
        clients.iter().for_each(|client| open[client.group] += 1);
        let lanes = clients.len();
        let remarks = self.remarks().to_vec();
        let steadies = self.steadies(&workers, &mut clients);
        let (ready, timers) = (VecDeque::with_capacity(lanes), BinaryHeap::with_capacity(4 * lanes));
        let (flows, drives) = (Vec::new(), self.drives());
        let are_some_waiting = clients.iter().any(|client| client.waits_for.is_some());
        let mut run = Run {
            clients,
            ready,
            timers,
            open,
            are_some_waiting,
            group: 0,
            flows,
            steadies,
            remarks,
            drives,
            drive: 0,
        };
        run.check_marks(self)?;
        run.begin_group(0);
        Ok(run)
    }

    /// The rates that are looked at: one for each clone, or one for all that are reported together.
    fn steadies(&self, workers: &[Worker], clients: &mut [Client]) -> Vec<Steady> {
        let (mut steadies, mut group, mut of_group) = (Vec::new(), 0, None);
        for (worker, client) in workers.iter().zip(clients) {
            let job = &self.jobs[worker.job];
            group += usize::from((job.stonewall || job.others.new_group) && worker.number == 0);
            if job.steady.seconds == 0 {
                continue;
            }
            let known = of_group.filter(|(of, _)| job.others.reports_group && *of == group).map(|(_, at)| at);
            let at = known.unwrap_or_else(|| {
                steadies.push(Steady::new(job.steady));
                steadies.len() - 1
            });
            of_group = Some((group, at));
            client.steady = Some(at);
        }
        steadies
    }
}

impl Run {
    /// Refuses more requests in flight than can be told apart.
    fn check_marks(&self, jobs: &JobFile) -> Result<(), WorkloadError> {
        let marks = self.marks();
        if marks <= MARKS_MAX {
            return Ok(());
        }
        let client =
            self.clients.iter().filter(|client| client.flight.is_some()).max_by_key(|c| c.depth_at_most());
        let job = &jobs.jobs[client.map_or(0, |client| client.job)];
        let found = format!(
            "{} clones with {} requests in flight, to be told apart",
            self.clients.len(),
            job.iodepth
        );
        Err(Wrong::new(found, format!("up to {MARKS_MAX} of all clones")).at(&job.place, "iodepth"))
    }

    /// What follows from a request that was told apart.
    #[cold]
    fn landed(&mut self, lane: u32, slot: u32, now: u64) {
        let client = &mut self.clients[lane as usize];
        let bytes = client.landed(slot, now);
        let (Some(bytes), Some(at), None) = (bytes, client.steady, client.ended) else { return };
        if !self.steadies[at].completed(bytes, now) {
            return;
        }
        for number in 0..self.clients.len() {
            let client = &mut self.clients[number];
            if client.steady == Some(at) && !matches!(client.state, State::Blocked | State::Ended) {
                client.end_early(now, Reason::Steady);
                self.queue(number as u32);
            }
        }
    }

    /// The clients of the group that runs begin, but for those that wait for a job of it.
    fn begin_group(&mut self, now: u64) {
        for number in 0..self.clients.len() {
            let client = &self.clients[number];
            let waits_for =
                |job: usize| self.clients.iter().any(|other| other.job == job && other.state != State::Ended);
            if client.group == self.group
                && client.state == State::Blocked
                && !client.waits_for.is_some_and(waits_for)
            {
                let client = &mut self.clients[number];
                client.begin(now);
                if let Some(at) = client.steady {
                    self.steadies[at].begin(client.start);
                }
                self.join_flow(number);
                self.queue(number as u32);
            }
        }
    }

    /// A client that begins has a share of its flow.
    fn join_flow(&mut self, number: usize) {
        let client = &mut self.clients[number];
        if client.weight == 0 {
            return;
        }
        let id = client.flow_id;
        let known = self.flows.iter().position(|flow| flow.id == id);
        let at = known.unwrap_or_else(|| {
            self.flows.push(Flow { id, ..Flow::default() });
            self.flows.len() - 1
        });
        self.flows[at].weights += client.weight;
        client.flow = Some(at);
    }

    /// A client that ends leaves its flow, and who ends with it does.
    #[cold]
    fn leave(&mut self, lane: u32, now: u64) {
        let client = &mut self.clients[lane as usize];
        let (group, exits) = (client.group, client.exits);
        if let Some(at) = client.flow.take() {
            let (weight, flowed) = (client.weight, client.flowed);
            let flow = &mut self.flows[at];
            (flow.weights, flow.requests) = (flow.weights - weight, flow.requests - flowed);
            self.wake_flow(at);
        }
        let Some(exit) = exits else { return };
        for number in 0..self.clients.len() {
            let client = &mut self.clients[number];
            let is_concerned = exit == Exit::Run || client.group == group;
            if !is_concerned || client.state == State::Ended {
                continue;
            }
            client.stop = client.stop.min(now);
            if client.state == State::Blocked {
                // It never begins.
                (client.exits, client.state, client.start, client.end) = (None, State::Ended, now, now);
                self.open[client.group] -= 1;
            } else {
                client.start = client.start.min(now);
                self.queue(number as u32);
            }
        }
    }

    /// Those of a flow that wait for others may go on.
    fn wake_flow(&mut self, at: usize) {
        for number in 0..self.clients.len() {
            let client = &self.clients[number];
            if client.flow == Some(at) && client.timer == NEVER {
                self.queue(number as u32);
            }
        }
    }

    #[inline]
    fn queue(&mut self, lane: u32) {
        let client = &mut self.clients[lane as usize];
        if !client.is_queued {
            client.is_queued = true;
            self.ready.push_back(lane);
        }
    }

    fn end(&mut self, lane: u32, now: u64) {
        let client = &mut self.clients[lane as usize];
        (client.state, client.end) = (State::Ended, now);
        self.open[client.group] -= 1;
        if client.exits.is_some() || client.flow.is_some() {
            self.leave(lane, now);
        }
        if self.are_some_waiting {
            self.begin_group(now);
        }
        while self.open[self.group] == 0 && self.group + 1 < self.open.len() {
            self.group += 1;
            self.begin_group(now);
        }
    }

    /// Times that have come.
    #[inline]
    fn wake(&mut self, now: u64) {
        while let Some(&Reverse((time, lane))) = self.timers.peek()
            && time <= now
        {
            self.timers.pop();
            let client = &mut self.clients[lane as usize];
            if client.timer == time {
                client.timer = NEVER;
                if client.state != State::Ended {
                    self.queue(lane);
                }
            }
        }
    }
}

impl Driven for Run {
    fn lanes(&self) -> Vec<String> {
        self.clients.iter().map(|client| client.name.clone()).collect()
    }

    #[inline]
    fn poll(&mut self, now_ns: u64) -> Result<Poll, WorkloadError> {
        self.wake(now_ns);
        while let Some(lane) = self.ready.pop_front() {
            let client = &mut self.clients[lane as usize];
            client.is_queued = false;
            match client.act(now_ns, &mut self.flows) {
                Act::Send(request) => {
                    let (slot, may_send_more) = client.sent(request, now_ns);
                    self.drive = client.lane.drive();
                    let flow = client.flow;
                    if may_send_more {
                        self.queue(lane);
                    }
                    if let Some(at) = flow {
                        self.wake_flow(at);
                    }
                    let mark = lane + slot * self.clients.len() as u32;
                    return Ok(Poll::Request { lane: mark, request });
                }
                Act::Wait => {}
                Act::Until(time) => {
                    if time < client.timer {
                        client.timer = time;
                        self.timers.push(Reverse((time, lane)));
                    }
                }
                Act::End => self.end(lane, now_ns),
            }
        }
        // Groups end in order: an empty one that runs is the last. Times of lanes that have ended are nobody's.
        if self.open[self.group] == 0 {
            return Ok(Poll::End);
        }
        Ok(match self.timers.peek() {
            Some(Reverse((time, _))) => Poll::Until(*time),
            None => Poll::Waiting,
        })
    }

    #[inline]
    fn completed(&mut self, mark: u32, now_ns: u64) -> bool {
        let lane = self.lane_of(mark);
        let client = &mut self.clients[lane as usize];
        client.completed(now_ns);
        let counts = now_ns >= client.measured();
        if client.flight.is_some() {
            self.landed(lane, mark / self.clients.len() as u32, now_ns);
        }
        self.queue(lane);
        counts
    }

    fn marks(&self) -> u64 {
        let told_apart = self.clients.iter().filter(|client| client.flight.is_some());
        self.clients.len() as u64 * told_apart.map(Client::depth_at_most).max().unwrap_or(1)
    }

    /// Each lane has every so many marks.
    #[inline]
    fn lane_of(&self, mark: u32) -> u32 {
        let lanes = self.clients.len() as u32;
        if mark < lanes { mark } else { mark % lanes }
    }

    fn times(&self, lane: u32) -> LaneTimes {
        let client = &self.clients[lane as usize];
        let known = |time: u64| (time != NEVER).then_some(time);
        LaneTimes {
            start_ns: known(client.start),
            measured_ns: known(client.measured()),
            end_ns: known(client.end),
        }
    }

    fn has_rate(&self, lane: u32) -> bool {
        self.clients[lane as usize].rates.iter().any(Rate::is_on)
    }

    fn is_direct(&self, lane: u32) -> bool {
        self.clients[lane as usize].direct
    }

    fn drives(&self) -> Vec<String> {
        self.drives.clone()
    }

    fn drive(&self) -> u16 {
        self.drive
    }

    fn is_on(&self, lane: u32, drive: u16) -> bool {
        self.clients[lane as usize].lane.is_on(drive)
    }

    fn warm_up_ns(&self) -> Option<u64> {
        let first = || self.clients.iter().filter(|client| client.group == 0);
        first().any(|client| client.ramp > 0).then(|| first().map(Client::measured).max().unwrap_or(0))
    }

    fn depth(&self) -> u64 {
        let groups = self.clients.chunk_by(|a, b| a.group == b.group);
        groups.map(|group| group.iter().map(Client::depth_at_most).sum()).max().unwrap_or(0)
    }

    fn requests_at_most(&self) -> Option<u64> {
        self.clients
            .iter()
            .map(|client| client.lane.requests_at_most())
            .try_fold(0u64, |sum, requests| requests.map(|requests| sum.saturating_add(requests)))
    }

    fn report(&self) -> SourceReport {
        let mut notes = self.remarks.clone();
        for client in &self.clients {
            notes.extend(client.ended.map(|(at_ns, reason)| reason.remark(&client.name, at_ns)));
        }
        SourceReport { notes, ..SourceReport::default() }
    }
}
