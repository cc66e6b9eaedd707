//! A clone of a job in time: what its process does when it is looked at.

use super::flight::{Flight, Sent};
use super::lane::{Lane, Want};
use super::rate::Rate;
use super::settings::{Job, RateProcess};
use super::value::{READ, WRITE};
use super::watch::{Reason, Verdict, Watch};
use crate::base::draw::below;
use crate::base::request::Request;
use ssd::rng::{Rng, mix};

/// Never.
pub(super) const NEVER: u64 = u64::MAX;

/// How far a lane is in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not begun: the jobs before have not ended.
    Blocked,
    /// Begun, or about to.
    Running,
    /// Draining for a pause.
    Pausing,
    /// All its requests have completed.
    Ended,
}

/// Pauses of a client.
struct Pause {
    /// How long; 0 for none.
    ns: u64,
    /// Requests until the next one; [`NEVER`] if only time counts.
    after: u64,
    counts_issued: bool,
    count: u64,
    /// Requests are sent for so long between two; 0 if only requests count.
    every: u64,
    /// When the last one was due by time.
    last: u64,
    until: u64,
    /// Rates do not catch up on it.
    is_forgiven: bool,
}

/// A lane in time. All times in ns.
pub(super) struct Client {
    pub lane: Lane,
    pub name: String,
    /// Its job in the file, and the one that it waits for.
    pub job: usize,
    pub waits_for: Option<usize>,
    pub group: usize,
    pub state: State,
    depth: u64,
    pub in_flight: u64,
    /// Requests in flight from which on it sends again, once its queue was full; and whether it waits for that.
    refill_at: u64,
    is_refilling: bool,
    /// What is in flight completes before it sends again.
    drains: bool,
    pub flushing: bool,
    delay: u64,
    pub ramp: u64,
    /// From the end of the ramp; 0 for none.
    runtime: u64,
    pub start: u64,
    pub stop: u64,
    pub end: u64,
    pause: Pause,
    pub rates: [Rate; 3],
    rate_process: RateProcess,
    arrivals: Option<Rng>,
    /// When it ends, so do the others of its group, or all; and what does so if it fails.
    pub exits: Option<Exit>,
    on_failure: Option<Exit>,
    /// The flow whose requests it has a share of.
    pub flow: Option<usize>,
    pub flow_id: u64,
    flow_sleep: u64,
    /// Its share, and its requests so far.
    pub weight: u64,
    pub flowed: u64,
    /// It goes past a page cache.
    pub direct: bool,
    /// It is in the line of those that may send.
    pub is_queued: bool,
    /// The earliest time at which it will be looked at.
    pub timer: u64,
    /// Its requests in flight, if they are told apart.
    pub flight: Option<Flight>,
    /// A request that waits for another one, with which it overlaps.
    held: Option<Request>,
    /// The direction of the last request, if it has one.
    direction: Option<usize>,
    watch: Option<Watch>,
    /// The rate whose steadiness ends it.
    pub steady: Option<usize>,
    /// Why it ended before its time, and when.
    pub ended: Option<(u64, Reason)>,
}

/// Who ends with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Those of its group.
    Group,
    /// All.
    Run,
}

/// Requests of jobs that keep to shares of them (fio's `flow`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub id: u64,
    /// Shares of the clients that run.
    pub weights: u64,
    /// Requests of these.
    pub requests: u64,
}

/// What a client does when it is looked at.
pub(super) enum Act {
    Send(Request),
    /// Nothing before one of its requests completes.
    Wait,
    Until(u64),
    End,
}

impl Pause {
    fn of(job: &Job) -> Self {
        let every = job.pauses.iotime_ns;
        // Where time counts, requests do so only if their number is said.
        let after = if every > 0 && !job.pauses.has_blocks { NEVER } else { job.thinktime_blocks };
        Pause {
            ns: job.thinktime_ns,
            after,
            counts_issued: job.thinktime_at_issue,
            count: 0,
            every,
            last: 0,
            until: 0,
            is_forgiven: job.pauses.is_forgiven,
        }
    }
}

impl Client {
    pub fn new(job: &Job, lane: Lane, name: String, group: usize, number: u64, seed: u64) -> Self {
        let sequence = |what| Rng::named(mix(seed ^ job.randseed), &format!("workload/fio/{number}/{what}"));
        let (low, high) = job.startdelay_ns;
        let rates = [0, 1, 2].map(|direction| Rate::new(job, direction));
        let exit = if job.others.exits_run { Exit::Run } else { Exit::Group };
        let watch = Watch::of(job);
        let is_told_apart =
            watch.is_some() || job.queue.is_serial || job.checks.every > 0 || job.steady.seconds > 0;
        Client {
            lane,
            name,
            job: 0,
            waits_for: None,
            group,
            state: State::Blocked,
            depth: job.iodepth,
            in_flight: 0,
            refill_at: job.refill_at(),
            is_refilling: false,
            drains: false,
            flushing: false,
            delay: low + below(&mut sequence("delay"), high - low + 1),
            ramp: job.ramp_ns,
            runtime: job.runtime_ns,
            start: NEVER,
            stop: NEVER,
            end: NEVER,
            pause: Pause::of(job),
            rates,
            rate_process: job.rate_process,
            arrivals: (job.rate_process == RateProcess::Poisson).then(|| sequence("arrival")),
            exits: job.others.exits.then_some(exit),
            on_failure: job.others.exits_on_error.then_some(exit),
            flow: None,
            flow_id: job.others.flow_id,
            flow_sleep: job.others.flow_sleep_ns,
            weight: job.others.flow,
            flowed: 0,
            direct: job.direct,
            is_queued: false,
            timer: NEVER,
            flight: is_told_apart.then(|| Flight::new(job.queue.is_serial)),
            held: None,
            direction: None,
            watch,
            steady: None,
            ended: None,
        }
    }

    /// The jobs before have ended. Delays count from the beginning of the run, as in fio.
    pub fn begin(&mut self, now: u64) {
        self.state = State::Running;
        self.start = now.max(self.delay);
        self.pause.last = self.start;
        if let Some(watch) = &mut self.watch {
            watch.begin(self.start);
        }
        if self.runtime > 0 {
            self.stop = self.start.saturating_add(self.ramp).saturating_add(self.runtime);
        }
    }

    /// Requests that it keeps in flight.
    pub fn depth(&self) -> u64 {
        self.watch.as_ref().and_then(Watch::depth).unwrap_or(self.depth)
    }

    /// Those that it keeps at most.
    pub fn depth_at_most(&self) -> u64 {
        self.depth
    }

    /// Whether it waits for completions before it does anything else.
    #[inline]
    fn is_waiting(&mut self, now: u64) -> bool {
        if self.flushing {
            return true;
        }
        if self.drains {
            if self.in_flight > 0 {
                return true;
            }
            self.drains = false;
            if let Some(watch) = &mut self.watch {
                watch.has_drained(now);
            }
        }
        if self.is_refilling {
            self.is_refilling = self.in_flight > self.refill_at;
        }
        self.is_refilling
    }

    #[inline]
    pub fn act(&mut self, now: u64, flows: &mut [Flow]) -> Act {
        if now < self.start {
            return Act::Until(self.start);
        }
        if now >= self.stop {
            self.lane.stop();
            self.held = None;
        }
        if self.is_waiting(now) {
            return Act::Wait;
        }
        if self.state == State::Pausing {
            if self.in_flight > 0 {
                return Act::Wait;
            }
            self.pause(now);
        }
        if now < self.pause.until && now < self.stop {
            return Act::Until(self.pause.until.min(self.stop));
        }
        if let Some(request) = self.held.take() {
            return self.send(request);
        }
        loop {
            match self.lane.want() {
                Want::Over if self.in_flight > 0 => return Act::Wait,
                Want::Over => return Act::End,
                Want::Flush if self.in_flight > 0 => return Act::Wait,
                Want::Flush => {
                    (self.flushing, self.direction) = (true, None);
                    return Act::Send(Request { arrival_ns: now, ..self.lane.take_flush() });
                }
                Want::Rest if self.in_flight > 0 => return Act::Wait,
                Want::Rest => self.lane.has_rested(),
                Want::Request(_) | Want::ReadBack if self.in_flight >= self.depth() => return Act::Wait,
                // At no rate, and without pauses.
                Want::ReadBack => {
                    if let Some(request) = self.lane.take_read_back() {
                        self.direction = None;
                        return self.send(Request { arrival_ns: now, ..request });
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
                        self.count(direction, &request, now);
                        if let Some(flow) = self.flow.map(|flow| &mut flows[flow]) {
                            (flow.requests, self.flowed) = (flow.requests + 1, self.flowed + 1);
                        }
                        let arrival_ns = if self.rates[direction].is_on() { due } else { now };
                        return self.send(Request { arrival_ns, ..request });
                    }
                }
            }
        }
    }

    /// A request goes out, or waits for one with which it overlaps.
    #[inline]
    fn send(&mut self, request: Request) -> Act {
        let drive = self.lane.drive();
        if self.flight.as_ref().is_some_and(|flight| flight.holds_back(drive, &request)) {
            self.held = Some(request);
            return Act::Wait;
        }
        Act::Send(request)
    }

    /// A request was sent: the slot that tells it apart, and whether another one may follow.
    #[inline]
    pub fn sent(&mut self, request: Request, now: u64) -> (u32, bool) {
        self.in_flight += 1;
        let may_send_more = !self.flushing && self.in_flight < self.depth();
        self.is_refilling = self.in_flight >= self.depth && self.refill_at + 1 < self.depth;
        let Some(flight) = &mut self.flight else { return (0, may_send_more) };
        let (drive, file) = (self.lane.drive(), self.lane.file());
        let slot = flight.send(Sent { request, drive, file, direction: self.direction, at_ns: now });
        (slot, may_send_more)
    }

    /// A request completed.
    #[inline]
    pub fn completed(&mut self, now: u64) {
        self.in_flight -= 1;
        if self.flushing {
            self.flushing = false;
        } else if self.pause.ns > 0
            && !self.pause.counts_issued
            && self.state == State::Running
            && !self.lane.reads_back()
        {
            self.count_for_pause(now);
        }
    }

    /// What is to be known of the one that completed, where requests are told apart; its bytes, if it is one of the
    /// job's own.
    #[cold]
    pub fn landed(&mut self, slot: u32, now: u64) -> Option<u64> {
        let sent = self.flight.as_mut()?.land(slot);
        self.lane.landed(sent.file, &sent.request);
        let bytes = sent.request.bytes();
        let direction = sent.direction?;
        if let Some(watch) = self.watch.as_mut().filter(|_| self.ended.is_none()) {
            let is_measured = now >= self.start.saturating_add(self.ramp);
            match watch.completed((direction, bytes), sent.at_ns, now, self.start, is_measured) {
                Verdict::Go => {}
                Verdict::Drain => self.drains = true,
                Verdict::End(reason) => self.end_early(now, reason),
            }
        }
        Some(bytes)
    }

    /// It sends nothing any more.
    #[cold]
    pub fn end_early(&mut self, now: u64, reason: Reason) {
        self.ended = Some((now, reason));
        self.stop = self.stop.min(now);
        if reason.is_failure() {
            self.exits = self.exits.or(self.on_failure);
        }
    }

    /// A pause begins.
    fn pause(&mut self, now: u64) {
        self.state = State::Running;
        self.pause.count = 0;
        self.pause.until = now.saturating_add(self.pause.ns);
        if self.pause.is_forgiven
            && let Some(rate) =
                self.direction.map(|direction| &mut self.rates[direction]).filter(|rate| rate.is_on())
        {
            rate.forgive(self.pause.ns, self.rate_process);
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
        let rate = &self.rates[direction];
        if rate.is_on() { self.start.saturating_add(rate.due_ns()) } else { 0 }
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
    fn count(&mut self, direction: usize, request: &Request, now: u64) {
        self.direction = Some(direction);
        if self.rates[direction].is_on() {
            self.rates[direction].advance(request.bytes(), &mut self.arrivals);
        }
        if self.pause.ns == 0 {
            return;
        }
        if self.pause.counts_issued {
            self.count_for_pause(now);
        }
        // As in fio, the first time lasts as long as one and a pause.
        if self.pause.every > 0 && now - self.pause.last >= self.pause.every + self.pause.ns {
            (self.state, self.pause.last) = (State::Pausing, now);
        }
    }

    fn count_for_pause(&mut self, now: u64) {
        self.pause.count += 1;
        if self.pause.count >= self.pause.after {
            (self.state, self.pause.last) = (State::Pausing, now);
        }
    }

    pub fn measured(&self) -> u64 {
        self.start.saturating_add(self.ramp)
    }
}
