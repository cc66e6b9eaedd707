//! What ends a job because of how its requests fare, or changes its depth: latencies above a limit, rates below one, a
//! latency that is to be kept. After fio 3.33 (`check_min_rate` of backend.c, `lat_target_*` of io_u.c).

use super::settings::{DIRECTION_NAMES, Job, LatencyTarget, Limits};
use crate::base::remark::Remark;

/// What follows from a request that completed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Nothing.
    Go,
    /// What is in flight completes first: the depth has changed.
    Drain,
    /// The job ends.
    End(Reason),
}

/// Why a job ends before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reason {
    /// A request of that direction took so long; ns.
    Slow { direction: usize, took_ns: u64, most_ns: u64 },
    /// A direction had a lower rate than it must have.
    Rate { direction: usize, found: u64, least: u64, unit: &'static str },
    /// One request at a time is too slow.
    NoDepth { most_ns: u64 },
    /// It found how many may be in flight. The job has done what it was for.
    Depth { found: u64, most_ns: u64 },
    /// Its rate no longer changes. The job has done what it was for.
    Steady,
}

impl Reason {
    /// Whether the job has failed.
    pub fn is_failure(self) -> bool {
        !matches!(self, Reason::Depth { .. } | Reason::Steady)
    }

    /// What a person should know of it.
    pub fn remark(self, job: &str, at_ns: u64) -> Remark {
        let at = format!("job {job} ended at {:.3} s", at_ns as f64 / 1e9);
        let us = |ns: u64| ns as f64 / 1e3;
        let text = match self {
            Reason::Slow { direction, took_ns, most_ns } => {
                let name = DIRECTION_NAMES[direction];
                format!("{at}: a {name} took {} us, max_latency is {} us", us(took_ns), us(most_ns))
            }
            Reason::Rate { direction, found, least, unit } => {
                format!("{at}: {found} {unit} of {}s, {least} is the least", DIRECTION_NAMES[direction])
            }
            Reason::NoDepth { most_ns } => {
                format!("{at}: one request at a time took longer than latency_target, {} us", us(most_ns))
            }
            Reason::Depth { found, most_ns } => {
                format!("{at}: {found} requests in flight keep latency_target, {} us", us(most_ns))
            }
            Reason::Steady => format!("{at}: its rate was steady"),
        };
        if self.is_failure() { Remark::caution(text) } else { Remark::note(text) }
    }
}

/// What is watched of a job.
pub(super) struct Watch {
    limits: Limits,
    done: [Done; 3],
    /// When a direction's rate was looked at last, and what was done by then.
    last: [(u64, Done); 3],
    depth: Option<Depth>,
}

/// What has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Done {
    bytes: u64,
    requests: u64,
}

/// In the first two seconds no rate is looked at.
const SETTLE_NS: u64 = 2_000_000_000;

impl Watch {
    /// Of a job; none if it wants nothing watched.
    pub fn of(job: &Job) -> Option<Self> {
        let limits = job.limits;
        let depth = (limits.target.latency_ns > 0).then(|| Depth::new(limits.target, job.iodepth));
        let Limits { latency_ns, bytes_per_s, requests_per_s, .. } = limits;
        let is_on = [latency_ns, bytes_per_s, requests_per_s].concat().iter().any(|limit| *limit > 0);
        (is_on || depth.is_some()).then(|| Watch {
            limits,
            done: Default::default(),
            last: Default::default(),
            depth,
        })
    }

    /// Requests that may be in flight.
    pub fn depth(&self) -> Option<u64> {
        self.depth.as_ref().map(|depth| depth.now)
    }

    /// The job begins.
    pub fn begin(&mut self, now: u64) {
        if let Some(depth) = &mut self.depth {
            depth.since = now;
        }
    }

    /// What was in flight has completed.
    pub fn has_drained(&mut self, now: u64) {
        if let Some(depth) = &mut self.depth {
            depth.begin(now);
        }
    }

    /// A request of a direction completed that was sent at a time. `start` is the job's; in its warm-up only latencies
    /// above the limit count.
    pub fn completed(
        &mut self,
        (direction, bytes): (usize, u64),
        sent: u64,
        now: u64,
        start: u64,
        is_measured: bool,
    ) -> Verdict {
        let took_ns = now - sent;
        self.done[direction].bytes += bytes;
        self.done[direction].requests += 1;
        let most_ns = self.limits.latency_ns[direction];
        if most_ns > 0 && took_ns > most_ns {
            return Verdict::End(Reason::Slow { direction, took_ns, most_ns });
        }
        let verdict = match &mut self.depth {
            Some(depth) => depth.completed(took_ns),
            None => Verdict::Go,
        };
        if verdict != Verdict::Go || !is_measured {
            return verdict;
        }
        if now - start >= SETTLE_NS
            && let Some(reason) = (0..3).find_map(|direction| self.is_below(direction, now))
        {
            return Verdict::End(reason);
        }
        self.depth.as_mut().map_or(Verdict::Go, |depth| depth.look(now))
    }

    /// Whether a direction had less than its least rate since it was looked at, if a cycle is over.
    fn is_below(&mut self, direction: usize, now: u64) -> Option<Reason> {
        let (bytes_per_s, requests_per_s) =
            (self.limits.bytes_per_s[direction], self.limits.requests_per_s[direction]);
        let done = self.done[direction];
        if (bytes_per_s == 0 && requests_per_s == 0) || done == Done::default() {
            return None;
        }
        let (then, before) = self.last[direction];
        let spent_ms = (now - then) / 1_000_000;
        if before != Done::default() {
            if spent_ms < self.limits.cycle_ms || spent_ms == 0 {
                return None;
            }
            let (found, least, unit) = match bytes_per_s {
                0 => (done.requests - before.requests, requests_per_s, "IOPS"),
                least => (done.bytes - before.bytes, least, "bytes/s"),
            };
            let found = (u128::from(found) * 1000 / u128::from(spent_ms)) as u64;
            if found < least {
                return Some(Reason::Rate { direction, found, least, unit });
            }
        }
        self.last[direction] = (now, done);
        None
    }
}

/// A search for the number of requests in flight that keeps a latency.
struct Depth {
    target: LatencyTarget,
    most: u64,
    now: u64,
    low: u64,
    high: u64,
    /// Looks in a row that found room for no more.
    stable: u64,
    /// When this look began, and what has completed since, and took too long.
    since: u64,
    done: u64,
    failed: u64,
    /// What is in flight completes first.
    drains: bool,
    /// The depth is found, and is looked at once more.
    is_last: bool,
}

impl Depth {
    fn new(target: LatencyTarget, most: u64) -> Self {
        let (low, high) = (1, most);
        let (stable, since, done, failed) = (0, 0, 0, 0);
        Depth { target, most, now: 1, low, high, stable, since, done, failed, drains: false, is_last: false }
    }

    fn completed(&mut self, took_ns: u64) -> Verdict {
        self.done += 1;
        if took_ns <= self.target.latency_ns || self.drains {
            return Verdict::Go;
        }
        self.failed += 1;
        // Where all have to keep it, the first that does not is one too many.
        match self.target.percent >= 100.0 {
            true if self.now == 1 => Verdict::End(Reason::NoDepth { most_ns: self.target.latency_ns }),
            true => self.lower(),
            false => Verdict::Go,
        }
    }

    /// What is in flight has completed, at that time, or the window is over: another look begins.
    fn begin(&mut self, now: u64) {
        (self.since, self.done, self.failed, self.drains) = (now, 0, 0, false);
    }

    fn look(&mut self, now: u64) -> Verdict {
        if self.drains || now - self.since < self.target.window_ns {
            return Verdict::Go;
        }
        if (self.done - self.failed) as f64 * 100.0 >= self.target.percent * self.done as f64 {
            return self.raise(now);
        }
        // Fewer than one are not possible: the look goes on.
        if self.now == 1 { Verdict::Go } else { self.lower() }
    }

    fn lower(&mut self) -> Verdict {
        self.high = self.now;
        if self.now == self.low {
            self.low -= 1;
        }
        self.now = ((self.now + self.low) / 2).max(1);
        (self.stable, self.drains) = (0, true);
        Verdict::Drain
    }

    fn raise(&mut self, now: u64) -> Verdict {
        let before = self.now;
        self.low = before;
        if before + 1 == self.high {
            self.stable += 1;
            if self.stable == 3 {
                (self.high, self.stable) = (self.high + 1, 0);
            }
        }
        let next = if self.high == self.most { 2 * before } else { (before + self.high) / 2 };
        self.now = next.min(self.most);
        self.begin(now);
        if self.now != before || self.target.goes_on {
            return Verdict::Go;
        }
        if self.is_last {
            return Verdict::End(Reason::Depth { found: self.now, most_ns: self.target.latency_ns });
        }
        (self.is_last, self.drains) = (true, true);
        Verdict::Drain
    }
}
