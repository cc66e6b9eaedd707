//! What bounds a run, judged from what came in, what went out, and how busy the drive's parts were: so that nobody
//! takes the length of a queue for the speed of a drive.

use crate::base::labels;
use crate::base::number::{digits, duration, percent, si};
use crate::measure::meter::KINDS;
use crate::measure::windows::Window;
use crate::plan::spec::LoopMode;
use crate::result::facts::Facts;
use crate::result::verdict::{CLOSED, OVERLOADED, Verdict};
use crate::result::{Busy, JobResult, RunResult, Utilisation};
use ssd::flash::op::Cause;
use ssd::{Executor, Part};

/// A run takes longer than its arrivals by so much: the drive cannot keep up (assumed).
const LONGER_PERCENT: u64 = 10;
/// And by at least so long, which no single request takes; ns (assumed).
const LONGER_NS: u64 = 20_000_000;
/// A window is of a burst if its requests take so many times as long as those of the median window (assumed).
const BURST_TIMES: f64 = 5.0;
/// Bursts take at most this share of the time, and hold at least this share of all latency (assumed).
const BURST_TIME: f64 = 0.5;
const BURST_LATENCY: f64 = 0.5;
/// A part that is busy for so much of the time bounds what a drive can do (assumed).
const BUSY: f64 = 0.8;
/// Windows from which on a burst can be told (assumed).
const WINDOWS_MIN: usize = 8;
/// A part is idle below this (assumed).
const IDLE: f64 = 0.3;

/// Judges a run.
pub(crate) fn of(facts: &Facts<'_>, result: &RunResult) -> Verdict {
    let mut verdict = Verdict::default();
    if facts.spec.executor != Executor::Timed || result.requests_measured == 0 || result.simulated_ns == 0 {
        return verdict;
    }
    let seconds = result.simulated_ns as f64 / 1e9;
    let part = busiest(&result.utilisation, around(facts, result, seconds));
    let served = result.requests_measured as f64 / seconds;
    verdict.served_per_second = Some(served);
    verdict.background_share = background(facts, result);
    let busy = part.busy;
    verdict.busy = Some(busy);
    verdict.bound_by = (busy >= BUSY).then(|| part.name.to_owned());
    // Jobs that all keep rates send requests when they are due: those arrive, whether the drive keeps up or not.
    let has_rate = |job: &JobResult| job.latency_from_due_ns.is_some();
    let all_have_rates = !result.jobs.is_empty() && result.jobs.iter().all(has_rate);
    let has_arrivals = facts.spec.loop_mode == LoopMode::Open || all_have_rates;
    if has_arrivals {
        let span = facts.meter.arrivals_ns();
        let arrived = |span: &u64| result.requests_measured as f64 * 1e9 / *span as f64;
        verdict.arrivals_per_second = span.filter(|span| *span > 0).as_ref().map(arrived);
        let longer = facts.meter.after_arrivals_ns();
        // A single request is no queue.
        if longer > LONGER_NS && span.is_some_and(|span| longer > span / 100 * LONGER_PERCENT) {
            verdict.state = OVERLOADED.to_owned();
            verdict.text = overloaded(&verdict, &part, result);
            return verdict;
        }
    }
    let late: Vec<&JobResult> = result.jobs.iter().filter(|job| is_late(job)).collect();
    if !late.is_empty() {
        verdict.state = OVERLOADED.to_owned();
        verdict.text = too_slow_for(&late, &verdict, &part, result);
    } else if has_arrivals {
        keeps_up(&mut verdict, &part, facts, result);
    } else {
        verdict.state = CLOSED.to_owned();
        verdict.text = closed(&verdict, &part, (facts.spec.loop_mode, result));
    }
    verdict
}

/// Whether a job with a rate falls ever further behind it: by a tenth of its time in the end, and not only once.
fn is_late(job: &JobResult) -> bool {
    let Some(due) = &job.latency_from_due_ns else { return false };
    let sent = &job.share.latency_ns.all;
    let begun = job.start_ns.max(job.measured_ns).unwrap_or(0);
    let Some(lasted) = job.end_ns.map(|end| end.saturating_sub(begun)) else { return false };
    let (Some(due_mean), Some(sent_mean), Some(most)) = (due.mean, sent.mean, due.max) else { return false };
    let behind = most.saturating_sub(sent.max.unwrap_or(0));
    // In a queue that grows, requests are half as late on average as the last one.
    let grows = due_mean - sent_mean >= behind as f64 / 4.0;
    behind > LONGER_NS && behind > lasted / 100 * LONGER_PERCENT && grows
}

/// Of a drive that serves what arrives.
fn keeps_up(verdict: &mut Verdict, part: &DrivePart, facts: &Facts<'_>, result: &RunResult) {
    let busy = part.busy;
    if let Some(burst) = Burst::find(&facts.meter.windows().all()) {
        verdict.state = "bursts".to_owned();
        verdict.burst_requests_share = Some(burst.requests);
        verdict.burst_time_share = Some(burst.time);
        verdict.burst_latency_share = Some(burst.latency);
        verdict.text = format!(
            "bursts: {} of the requests arrive in {} of the time, faster than they are served, and cause \
             {} of the mean latency{}",
            percent(burst.requests),
            percent(burst.time),
            percent(burst.latency),
            waits(result)
        );
        return;
    }
    verdict.state = if busy < IDLE { "idle" } else { "busy" }.to_owned();
    verdict.text = match (busy < IDLE, verdict.bound_by.is_some()) {
        (true, _) => {
            format!(
                "the drive keeps up: its busiest part, {}, is busy {} of the time",
                part.name,
                percent(busy)
            )
        }
        (false, true) => format!(
            "the drive keeps up, with little headroom: {} {} {} of the time{}{}",
            part.subject(),
            part.state(),
            percent(busy),
            part.beside(),
            for_whom(verdict)
        ),
        (false, false) => format!(
            "the drive keeps up: {} {} {} of the time{}",
            part.subject(),
            part.state(),
            percent(busy),
            for_whom(verdict)
        ),
    };
}

/// A part of a drive.
#[derive(Clone, Copy)]
struct DrivePart {
    name: &'static str,
    /// The share of the time for which it was busy.
    busy: f64,
    /// Of one that is the busiest of its kind: that of all on average.
    mean: Option<f64>,
    /// Of dies that are occupied: the share of the time for which they were busy.
    array: Option<f64>,
}

impl DrivePart {
    /// The part and its verb.
    fn subject(&self) -> &'static str {
        match self.name {
            DIES => "dies are",
            CHANNELS => "channels are",
            LINK => "the link is",
            FIRMWARE => "the firmware is",
            BUSIEST_DIE => "the busiest die is",
            _ => "the busiest channel is",
        }
    }

    /// Dies are busy while their arrays work, and occupied while an operation holds them.
    fn state(&self) -> &'static str {
        if self.array.is_some() { "occupied" } else { "busy" }
    }

    /// What is to be known beside how busy it is.
    fn beside(&self) -> String {
        let array = |share| format!("arrays busy {}", percent(share));
        let mean = |share| format!("{} on average over all", percent(share));
        let told: Vec<String> = self.mean.map(mean).into_iter().chain(self.array.map(array)).collect();
        if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
    }
}

const DIES: &str = "dies";
const CHANNELS: &str = "channels";
const LINK: &str = "link";
const FIRMWARE: &str = "firmware";
const BUSIEST_DIE: &str = "busiest die";
const BUSIEST_CHANNEL: &str = "busiest channel";

/// The part that bounds a drive, or else the busiest. Dies that only hold data for their channel do not bound it: so
/// they count by their arrays, and by all that they have to do where neither arrays nor channels are busy enough, as in
/// a drive of a die a channel. One die or channel bounds it where all of them together do not.
fn busiest(used: &Utilisation, (link, firmware): (f64, f64)) -> DrivePart {
    let share = |busy: Option<f64>| busy.unwrap_or(0.0);
    let part = |name, busy: f64| DrivePart { name, busy: busy.min(1.0), mean: None, array: None };
    let one = |name, of: &Busy| DrivePart { mean: of.mean, ..part(name, share(of.max)) };
    let all = [
        part(DIES, share(used.array.mean)),
        part(CHANNELS, share(used.channel.mean)),
        part(LINK, link),
        part(FIRMWARE, firmware),
    ];
    let held = [DrivePart { array: used.array.mean, ..part(DIES, share(used.die.mean)) }];
    let single = [one(BUSIEST_DIE, &used.array), one(BUSIEST_CHANNEL, &used.channel)];
    let single_held = [DrivePart { array: used.array.max, ..one(BUSIEST_DIE, &used.die) }];
    let most = |parts: &[DrivePart]| parts.iter().copied().max_by(|a, b| a.busy.total_cmp(&b.busy));
    let tried = [&all[..], &held, &single, &single_held].into_iter().filter_map(most);
    tried.clone().find(|part| part.busy >= BUSY).or_else(|| tried.clone().next()).unwrap_or(all[0])
}

/// The shares of the time for which the link to the host and the firmware were busy.
fn around(facts: &Facts<'_>, result: &RunResult, seconds: f64) -> (f64, f64) {
    let megabytes = result.bytes_read.max(result.bytes_written) as f64 / 1e6;
    let link = facts.config.link.bandwidth_mb_s;
    let link = if link > 0.0 { megabytes / seconds / link } else { 0.0 };
    let worked = |op| facts.meter.kind(op).part_sum(Part::Firmware as usize) as f64;
    (link, KINDS.map(worked).iter().sum::<f64>() / 1e9 / seconds)
}

/// The share of what is no host's work in the time of programs and reads.
fn background(facts: &Facts<'_>, result: &RunResult) -> Option<f64> {
    let timing = &facts.config.timing;
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
    let read = if timing.t_read_us.is_empty() {
        timing.t_read_base_us + timing.t_sense_us
    } else {
        mean(&timing.t_read_us)
    };
    let program = facts.config.program_us_per_page(&timing.t_program_us);
    let time = |reads: u64, programs: u64, erases: u64| {
        reads as f64 * read + programs as f64 * program + erases as f64 * timing.t_erase_us
    };
    let flash = &result.flash;
    let all = time(flash.reads.sum(), flash.programs.sum(), flash.erases.sum());
    let host = time(flash.reads[Cause::Host], flash.programs[Cause::Host], 0);
    (all > 0.0).then(|| 1.0 - host / all)
}

/// For whom dies are busy, where it is mostly not the host.
fn for_whom(verdict: &Verdict) -> String {
    let share =
        verdict.background_share.filter(|share| *share >= 0.5 && verdict.bound_by.as_deref() == Some(DIES));
    share.map_or(String::new(), |share| {
        format!(", {} of that for garbage collection and other moves", percent(share))
    })
}

/// Of a drive for whose answers requests wait.
fn closed(verdict: &Verdict, part: &DrivePart, (mode, result): (LoopMode, &RunResult)) -> String {
    let busy = percent(verdict.busy.unwrap_or(0.0));
    match verdict.bound_by {
        Some(_) => {
            format!(
                "bounded by its {}, {busy} {}{}{}",
                part.name,
                part.state(),
                part.beside(),
                for_whom(verdict)
            )
        }
        // How many jobs keep in flight their pauses, rates and flushes say, too.
        None if mode == LoopMode::Jobs => {
            let in_flight = result.in_flight_mean.map_or(String::new(), digits);
            format!(
                "limited by its jobs, which keep {in_flight} requests in flight on average: its busiest part, {}, is \
                 {busy} busy",
                part.name
            )
        }
        None => format!(
            "limited by the number of requests in flight: its busiest part, {}, is {busy} busy",
            part.name
        ),
    }
}

/// Jobs whose rates are more than is served.
fn too_slow_for(late: &[&JobResult], verdict: &Verdict, part: &DrivePart, result: &RunResult) -> String {
    let most = late.iter().filter_map(|job| job.latency_from_due_ns.as_ref()?.max).max().unwrap_or(0);
    let who = match late {
        [job] => format!("job {} cannot keep its rate, and ends", job.name),
        [job, ..] => format!("job {} and {} more cannot keep their rates, and end", job.name, late.len() - 1),
        [] => String::new(),
    };
    format!(
        "overloaded: {who} up to {} late; {}. Latencies from when such requests were due are those of a queue that \
         grows as long as the run lasts: they do not show how fast the drive is",
        duration(most as f64),
        bound(verdict, part, result)
    )
}

/// What keeps a drive from serving more.
fn bound(verdict: &Verdict, part: &DrivePart, result: &RunResult) -> String {
    let busy = percent(verdict.busy.unwrap_or(0.0));
    match verdict.bound_by {
        Some(_) => {
            format!("{} {busy} {}{}{}", part.subject(), part.state(), part.beside(), for_whom(verdict))
        }
        None => format!("no part is busy all the time ({}: {busy}){}", part.name, waits(result)),
    }
}

fn overloaded(verdict: &Verdict, part: &DrivePart, result: &RunResult) -> String {
    let bound = bound(verdict, part, result);
    let mean = result.latency_ns.all.mean.map_or(String::new(), |mean| format!(" (mean {})", duration(mean)));
    let arrive = match verdict.arrivals_per_second {
        Some(arrive) => format!("{} requests/s arrive", si(arrive, "")),
        None => "all requests arrive at once".to_owned(),
    };
    format!(
        "overloaded: {arrive}, {} are served; {bound}. Latencies{mean} are those of a queue \
         that grows as long as the run lasts: they do not show how fast the drive is",
        si(verdict.served_per_second.unwrap_or(0.0), ""),
    )
}

/// Where requests wait most, where that is most of their time.
fn waits(result: &RunResult) -> String {
    let latency = &result.latency_ns;
    let is_read = latency.read.count > 0;
    let (spent, mean) = if is_read {
        (&result.breakdown_ns.read, latency.read.mean)
    } else {
        (&result.breakdown_ns.write, latency.write.mean)
    };
    let Some(mean) = mean.filter(|mean| *mean > 0.0) else { return String::new() };
    let share = |part: Part| spent[part].mean.unwrap_or(0.0) / mean;
    let most = Part::ALL.into_iter().max_by(|a, b| share(*a).total_cmp(&share(*b)));
    let kind = if is_read { "reads" } else { "writes" };
    most.map_or(String::new(), |part| {
        format!("; {kind} spend {} % of their time {}", digits(100.0 * share(part)), labels::spent(part))
    })
}

/// Windows in which requests take far longer than in the others.
struct Burst {
    requests: f64,
    time: f64,
    latency: f64,
}

impl Burst {
    fn find(windows: &[Window]) -> Option<Self> {
        let mean = |window: &Window| window.latency as f64 / window.requests as f64;
        let used = || windows.iter().filter(|window| window.requests > 0);
        let mut means: Vec<f64> = used().map(mean).collect();
        if means.len() < WINDOWS_MIN {
            return None;
        }
        means.sort_by(f64::total_cmp);
        let slow = BURST_TIMES * means[means.len() / 2];
        let sum = |windows: &mut dyn Iterator<Item = &Window>| {
            windows.fold((0.0, 0.0, 0.0), |(count, requests, latency), window| {
                (count + 1.0, requests + window.requests as f64, latency + window.latency as f64)
            })
        };
        let all = sum(&mut used());
        let burst = sum(&mut used().filter(|window| mean(window) >= slow));
        let (time, latency) = (burst.0 / windows.len() as f64, burst.2 / all.2);
        let is_burst = time <= BURST_TIME && latency >= BURST_LATENCY;
        is_burst.then(|| Burst { requests: burst.1 / all.1, time, latency })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: what holds data is not what bounds, and one alone is if all are not.
    #[test]
    fn what_bounds_is_what_works() {
        let busy = |mean, max| Busy { mean: Some(mean), max: Some(max) };
        let named = |die, array, channel, around| {
            let used = Utilisation { die, array, waiting: busy(0.0, 0.0), channel };
            busiest(&used, around).name
        };
        let (none, idle) = ((0.1, 0.2), busy(0.3, 0.4));
        assert_eq!(named(busy(0.99, 1.0), busy(0.4, 0.4), busy(0.96, 0.96), none), CHANNELS);
        assert_eq!(named(busy(0.99, 1.0), busy(0.97, 1.0), busy(0.96, 0.96), none), DIES);
        assert_eq!(named(busy(0.99, 1.0), busy(0.4, 0.4), busy(0.5, 0.5), none), DIES);
        assert_eq!(named(busy(0.3, 1.0), busy(0.2, 0.99), idle, none), BUSIEST_DIE);
        assert_eq!(named(idle, idle, busy(0.3, 0.99), none), BUSIEST_CHANNEL);
        assert_eq!(named(idle, idle, idle, (0.99, 0.2)), LINK);
        assert_eq!(named(idle, idle, idle, (0.1, 0.98)), FIRMWARE);
    }

    #[test]
    fn a_burst_is_told_from_an_even_load() {
        let even = vec![Window { requests: 100, latency: 10_000 }; 100];
        assert!(Burst::find(&even).is_none());
        let mut burst = even.clone();
        burst[50] = Window { requests: 1_000, latency: 10_000_000 };
        let found = Burst::find(&burst).unwrap();
        assert_eq!(found.time, 0.01);
        assert!((found.requests - 1_000.0 / 10_900.0).abs() < 1e-9 && found.latency > 0.9);
        // More requests that are as fast as the others are none.
        burst[50] = Window { requests: 100_000, latency: 10_000_000 };
        assert!(Burst::find(&burst).is_none());
    }
}
