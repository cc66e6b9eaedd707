//! The jobs of a file in time: when each lane begins, waits, and ends.

use super::jobs::JobFile;
use super::lane::{Lane, READ, WRITE, Want};
use super::parse::Wrong;
use super::settings::{Job, RateProcess};
use crate::driven::{Driven, LaneTimes, Poll};
use crate::error::WorkloadError;
use crate::record::Request;
use crate::remark::Remark;
use crate::report::SourceReport;
use crate::synthetic::zipf::{below, unit_above_0};
use ssd::rng::{Rng, mix};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Never.
const NEVER: u64 = u64::MAX;

/// A direction's rate.
#[derive(Clone, Debug, Default)]
struct Rate {
    /// Bytes a second; 0 for none.
    bytes_per_s: u64,
    /// Bytes that a request counts for on average (`poisson`).
    block: u64,
    /// Bytes issued.
    bytes: u64,
    /// When the next request is due, from the lane's start.
    due_ns: u64,
    /// Parts of a nanosecond that were cut off (`poisson`).
    fraction: f64,
}

impl Rate {
    fn new(job: &Job, direction: usize) -> Self {
        let block = job.sizes[direction].min();
        let bytes_per_s = match job.rate_iops[direction] {
            0 => job.rate[direction],
            // Of several sizes the smallest counts, as in fio.
            requests => requests.saturating_mul(block),
        };
        Rate { bytes_per_s, block, ..Rate::default() }
    }

    /// So many bytes were issued: when is the next request due?
    fn advance(&mut self, bytes: u64, arrivals: &mut Option<Rng>) {
        self.bytes += bytes;
        let per_s = u128::from(self.bytes_per_s);
        self.due_ns = match arrivals {
            None => (u128::from(self.bytes) * 1_000_000_000 / per_s).min(u128::from(NEVER)) as u64,
            Some(rng) => {
                let gap = -libm::log(unit_above_0(rng)) * self.block as f64 * 1e9 / self.bytes_per_s as f64
                    + self.fraction;
                self.fraction = gap - libm::floor(gap);
                self.due_ns.saturating_add(gap as u64)
            }
        };
    }
}

/// How far a lane is in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not begun: the jobs before have not ended.
    Blocked,
    /// Begun, or about to.
    Running,
    /// Draining for a pause.
    Pausing,
    /// All its requests have completed.
    Ended,
}

/// A lane in time. All times in ns.
struct Client {
    lane: Lane,
    name: String,
    /// Its job in the file, and the one that it waits for.
    job: usize,
    waits_for: Option<usize>,
    group: usize,
    state: State,
    depth: u64,
    in_flight: u64,
    flushing: bool,
    delay: u64,
    ramp: u64,
    /// From the end of the ramp; 0 for none.
    runtime: u64,
    start: u64,
    stop: u64,
    end: u64,
    pause: u64,
    pause_after: u64,
    pause_counts_issued: bool,
    pause_count: u64,
    paused_until: u64,
    rates: [Rate; 3],
    arrivals: Option<Rng>,
    /// When it ends, so do the others of its group, or all.
    exits: Option<Exit>,
    /// The flow whose requests it has a share of.
    flow: Option<usize>,
    flow_id: u64,
    flow_sleep: u64,
    /// Its share, and its requests so far.
    weight: u64,
    flowed: u64,
    /// It goes past a page cache.
    direct: bool,
    /// It is in the line of those that may send.
    is_queued: bool,
    /// The earliest time at which it will be looked at.
    timer: u64,
}

/// Who ends with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// Those of its group.
    Group,
    /// All.
    Run,
}

/// Requests of jobs that keep to shares of them (fio's `flow`).
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    id: u64,
    /// Shares of the clients that run.
    weights: u64,
    /// Requests of these.
    requests: u64,
}

/// What a client does when it is looked at.
enum Act {
    Send(Request),
    /// Nothing before one of its requests completes.
    Wait,
    Until(u64),
    End,
}

impl Client {
    fn new(job: &Job, lane: Lane, name: String, group: usize, number: u64, seed: u64) -> Self {
        let sequence = |what| Rng::named(mix(seed ^ job.randseed), &format!("workload/fio/{number}/{what}"));
        let (low, high) = job.startdelay_ns;
        let rates = [0, 1, 2].map(|direction| Rate::new(job, direction));
        Client {
            lane,
            name,
            job: 0,
            waits_for: None,
            group,
            state: State::Blocked,
            depth: job.iodepth,
            in_flight: 0,
            flushing: false,
            delay: low + below(&mut sequence("delay"), high - low + 1),
            ramp: job.ramp_ns,
            runtime: job.runtime_ns,
            start: NEVER,
            stop: NEVER,
            end: NEVER,
            pause: job.thinktime_ns,
            pause_after: job.thinktime_blocks,
            pause_counts_issued: job.thinktime_at_issue,
            pause_count: 0,
            paused_until: 0,
            rates,
            arrivals: (job.rate_process == RateProcess::Poisson).then(|| sequence("arrival")),
            exits: job.others.exits.then_some(if job.others.exits_run { Exit::Run } else { Exit::Group }),
            flow: None,
            flow_id: job.others.flow_id,
            flow_sleep: job.others.flow_sleep_ns,
            weight: job.others.flow,
            flowed: 0,
            direct: job.direct,
            is_queued: false,
            timer: NEVER,
        }
    }

    /// The jobs before have ended. Delays count from the beginning of the run, as in fio.
    fn begin(&mut self, now: u64) {
        self.state = State::Running;
        self.start = now.max(self.delay);
        if self.runtime > 0 {
            self.stop = self.start.saturating_add(self.ramp).saturating_add(self.runtime);
        }
    }

    #[inline]
    fn act(&mut self, now: u64, flows: &mut [Flow]) -> Act {
        if now < self.start {
            return Act::Until(self.start);
        }
        if now >= self.stop {
            self.lane.stop();
        }
        if self.flushing {
            return Act::Wait;
        }
        if self.state == State::Pausing {
            if self.in_flight > 0 {
                return Act::Wait;
            }
            self.state = State::Running;
            self.pause_count = 0;
            self.paused_until = now.saturating_add(self.pause);
        }
        if now < self.paused_until && now < self.stop {
            return Act::Until(self.paused_until.min(self.stop));
        }
        loop {
            match self.lane.want() {
                Want::Over if self.in_flight > 0 => return Act::Wait,
                Want::Over => return Act::End,
                Want::Flush if self.in_flight > 0 => return Act::Wait,
                Want::Flush => {
                    self.flushing = true;
                    return Act::Send(Request { arrival_ns: now, ..self.lane.take_flush() });
                }
                Want::Rest if self.in_flight > 0 => return Act::Wait,
                Want::Rest => self.lane.has_rested(),
                Want::Request(_) | Want::ReadBack if self.in_flight >= self.depth => return Act::Wait,
                // At no rate, and without pauses.
                Want::ReadBack => {
                    if let Some(request) = self.lane.take_read_back() {
                        return Act::Send(Request { arrival_ns: now, ..request });
                    }
                }
                Want::Request(direction) => {
                    let (direction, due) = self.choose(direction, now);
                    if due > now {
                        return Act::Until(due.min(self.stop));
                    }
                    if let Some(flow) = self.flow.map(|flow| &mut flows[flow]) {
                        // As fio compares them: its share of the requests so far with its share of the weights.
                        let is_ahead = u128::from(self.flowed) * u128::from(flow.weights)
                            > u128::from(self.weight) * u128::from(flow.requests);
                        if is_ahead {
                            return self.fall_back(now);
                        }
                    }
                    if let Some(request) = self.lane.take(direction) {
                        self.count(direction, &request);
                        if let Some(flow) = self.flow.map(|flow| &mut flows[flow]) {
                            (flow.requests, self.flowed) = (flow.requests + 1, self.flowed + 1);
                        }
                        let arrival_ns = if self.rates[direction].bytes_per_s > 0 { due } else { now };
                        return Act::Send(Request { arrival_ns, ..request });
                    }
                }
            }
        }
    }

    /// It is ahead of its share: it waits for others, or drains and sleeps.
    #[cold]
    fn fall_back(&self, now: u64) -> Act {
        match self.flow_sleep {
            0 => Act::Wait,
            _ if self.in_flight > 0 => Act::Wait,
            sleep => Act::Until(now.saturating_add(sleep).min(self.stop)),
        }
    }

    /// When a request of that direction is due.
    fn due(&self, direction: usize) -> u64 {
        if self.rates[direction].bytes_per_s == 0 {
            0
        } else {
            self.start.saturating_add(self.rates[direction].due_ns)
        }
    }

    /// The direction that is taken where one is wanted, and when it is due: of a mix, the other one if that is due and
    /// the one wanted is not.
    #[inline]
    fn choose(&self, wanted: usize, now: u64) -> (usize, u64) {
        let due = self.due(wanted);
        if due <= now || !self.lane.is_mixed() {
            return (wanted, due);
        }
        let other = if wanted == READ { WRITE } else { READ };
        let due_of_other = self.due(other);
        if due_of_other < due { (other, due_of_other) } else { (wanted, due) }
    }

    #[inline]
    fn count(&mut self, direction: usize, request: &Request) {
        if self.rates[direction].bytes_per_s > 0 {
            self.rates[direction].advance(request.bytes(), &mut self.arrivals);
        }
        if self.pause > 0 && self.pause_counts_issued {
            self.count_for_pause();
        }
    }

    fn count_for_pause(&mut self) {
        self.pause_count += 1;
        if self.pause_count >= self.pause_after {
            self.state = State::Pausing;
        }
    }

    fn measured(&self) -> u64 {
        self.start.saturating_add(self.ramp)
    }
}

/// The jobs of a file, running.
pub(crate) struct Run {
    clients: Vec<Client>,
    /// Those that may send, in line.
    ready: VecDeque<u32>,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Clients of the groups between stonewalls that have not ended.
    open: Vec<u64>,
    /// The group that runs.
    group: usize,
    flows: Vec<Flow>,
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
            let client = Client::new(job, lane, name, group, number, seed);
            clients.push(Client { job: worker.job, waits_for: self.waits_for(worker.job), ..client });
        }
        let mut open = vec![0; group + 1];
        clients.iter().for_each(|client| open[client.group] += 1);
        let lanes = clients.len();
        let remarks = self.remarks().to_vec();
        let (ready, timers) = (VecDeque::with_capacity(lanes), BinaryHeap::with_capacity(4 * lanes));
        let (flows, drives) = (Vec::new(), self.drives());
        let mut run = Run { clients, ready, timers, open, group: 0, flows, remarks, drives, drive: 0 };
        run.begin_group(0);
        Ok(run)
    }
}

impl Run {
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
                self.clients[number].begin(now);
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
        if self.clients.iter().any(|client| client.waits_for.is_some()) {
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
                    client.in_flight += 1;
                    self.drive = client.lane.drive();
                    let (may_send_more, flow) =
                        (!client.flushing && client.in_flight < client.depth, client.flow);
                    if may_send_more {
                        self.queue(lane);
                    }
                    if let Some(at) = flow {
                        self.wake_flow(at);
                    }
                    return Ok(Poll::Request { lane, request });
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
    fn completed(&mut self, lane: u32, now_ns: u64) -> bool {
        let client = &mut self.clients[lane as usize];
        client.in_flight -= 1;
        if client.flushing {
            client.flushing = false;
        } else if client.pause > 0
            && !client.pause_counts_issued
            && client.state == State::Running
            && !client.lane.reads_back()
        {
            client.count_for_pause();
        }
        let counts = now_ns >= client.measured();
        self.queue(lane);
        counts
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
        self.clients[lane as usize].rates.iter().any(|rate| rate.bytes_per_s > 0)
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
        groups.map(|group| group.iter().map(|client| client.depth).sum()).max().unwrap_or(0)
    }

    fn requests_at_most(&self) -> Option<u64> {
        self.clients
            .iter()
            .map(|client| client.lane.requests_at_most())
            .try_fold(0u64, |sum, requests| requests.map(|requests| sum.saturating_add(requests)))
    }

    fn report(&self) -> SourceReport {
        SourceReport { notes: self.remarks.clone(), ..SourceReport::default() }
    }
}
