//! Another die, as simple as can be: time goes by in ticks of a microsecond, and at each the rules are applied to plain
//! lists. What becomes of random scripts must be the same, to the tick and in every count.

use super::*;
use crate::flash::preemption::{Loses, immediate, none, priority_aware, safe_point};
use crate::rng::Rng;

const READ_IN: u64 = 1;
const READ: u64 = 50;
const OUT: u64 = 4;
const WRITE_IN: u64 = 5;
const PROGRAM_US: u64 = 150;
const LOOP: u64 = 15;
const ERASE_CMD: u64 = 1;
const ERASE_US: u64 = 600;
const STEP: u64 = 50;
const SUSPEND: u64 = 7;
const RESUME: u64 = 9;
const MIN_RUN: u64 = 11;
const BYPASS: u32 = 3;
const SHARE: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Nothing,
    /// On the channel, and from a time on in the array.
    Array {
        op: usize,
        begins: u64,
    },
    Out {
        op: usize,
        ends: u64,
    },
    Stopping {
        op: usize,
        ends: u64,
    },
}

#[derive(Clone, Copy, Debug)]
struct StopAt {
    tick: u64,
    class: usize,
    at_once: bool,
}

struct Brute<'a> {
    policy: &'a str,
    loses: Loses,
    script: &'a [Given],
    /// Low, medium, high, others: numbers of the script.
    lines: [Vec<usize>; 4],
    doing: Doing,
    stop: Option<StopAt>,
    suspended: Option<usize>,
    /// Array time that each had before its last stop, but for what that lost.
    had: Vec<u64>,
    /// Array time that what was stopped last had then.
    reached: u64,
    /// Array time until which it is not stopped.
    floor: u64,
    /// Its turn has come although more urgent ones wait: it is not stopped.
    entitled: Vec<bool>,
    passed: u32,
    bypassed: u32,
    in_row: u32,
    came: [u64; 3],
    shares: [u64; 3],
    at_once: [u64; 3],
    suspends: [[u64; 3]; 6],
    ends: Vec<u64>,
}

impl<'a> Brute<'a> {
    fn new((policy, loses): (&'a str, Loses), script: &'a [Given]) -> Self {
        Brute {
            policy,
            loses,
            reached: 0,
            script,
            lines: Default::default(),
            doing: Doing::Nothing,
            stop: None,
            suspended: None,
            had: vec![0; script.len()],
            floor: 0,
            entitled: vec![false; script.len()],
            passed: 0,
            bypassed: 0,
            in_row: 0,
            came: [0; 3],
            shares: [0; 3],
            at_once: [0; 3],
            suspends: [[0; 3]; 6],
            ends: vec![0; script.len()],
        }
    }

    fn total(&self, op: usize) -> u64 {
        match self.script[op].kind {
            OpKind::Read => READ,
            OpKind::Program => PROGRAM_US,
            _ => ERASE_US,
        }
    }

    fn first_read(&self) -> Option<usize> {
        (0..3).rev().find_map(|class| self.lines[class].first().copied())
    }

    fn begin(&mut self, op: usize, now: u64) {
        let kind = self.script[op].kind;
        let in_us = match kind {
            OpKind::Read => READ_IN,
            OpKind::Program => WRITE_IN,
            _ => ERASE_CMD,
        };
        self.doing = Doing::Array { op, begins: now + in_us };
        self.had[op] = 0;
        if kind != OpKind::Read {
            self.floor = if self.first_read().is_some() { MIN_RUN } else { 0 };
            self.at_once = [0; 3];
            if kind == OpKind::Erase {
                self.shares = std::mem::take(&mut self.came);
            }
            self.ask(now);
        }
    }

    /// Takes the next read by class; after sixteen above a lower one that one.
    fn take_read(&mut self) -> Option<usize> {
        let high = (0..3).rev().find(|&class| !self.lines[class].is_empty())?;
        let low = (0..3).find(|&class| !self.lines[class].is_empty())?;
        if low == high {
            self.in_row = 0;
            return Some(self.lines[high].remove(0));
        }
        if self.in_row < 16 {
            self.in_row += 1;
            return Some(self.lines[high].remove(0));
        }
        self.in_row = 0;
        let op = self.lines[low].remove(0);
        self.entitled[op] = true;
        Some(op)
    }

    fn next(&mut self, now: u64) {
        if self.doing != Doing::Nothing {
            return;
        }
        if let Some(op) = self.suspended {
            if self.passed < BYPASS
                && let Some(read) = self.take_read()
            {
                self.passed += 1;
                return self.begin(read, now);
            }
            self.suspended = None;
            self.floor = self.reached + MIN_RUN;
            self.doing = Doing::Array { op, begins: now + RESUME };
            return self.ask(now);
        }
        let Some(&other) = self.lines[3].first() else {
            if let Some(read) = self.take_read() {
                self.begin(read, now);
            }
            return;
        };
        // Numbers of the script are in order of time.
        let older = self.first_read().is_some_and(|read| read < other);
        let any_older = self.lines[..3].iter().flatten().any(|&read| read < other);
        let erase_waits = self.script[other].kind == OpKind::Erase && any_older;
        if self.first_read().is_some() && (erase_waits || older || self.bypassed < BYPASS) {
            self.bypassed += u32::from(!older);
            if let Some(read) = self.take_read() {
                self.begin(read, now);
            }
            return;
        }
        self.bypassed = 0;
        self.lines[3].remove(0);
        self.begin(other, now);
    }

    /// Array time that the operation has had by now.
    fn had_by(&self, op: usize, begins: u64, now: u64) -> u64 {
        self.had[op] + now.saturating_sub(begins)
    }

    fn may_at_once(&self, class: usize) -> bool {
        let (low, medium) = (self.shares[0], self.shares[1]);
        let both = low + medium;
        let of_medium = (SHARE * medium + both / 2).checked_div(both).unwrap_or(SHARE / 2);
        let share = [SHARE - of_medium, of_medium, u64::MAX][class];
        class == 2 || self.at_once.iter().sum::<u64>() < SHARE && self.at_once[class] < share
    }

    fn step(&self, op: usize) -> u64 {
        if self.script[op].kind == OpKind::Program { LOOP } else { STEP }
    }

    fn ask(&mut self, now: u64) {
        let (Doing::Array { op, begins }, Some(read)) = (self.doing, self.first_read()) else { return };
        if self.stop.is_some_and(|stop| stop.at_once || stop.tick <= now) {
            return;
        }
        let (work, class) = (self.script[op], self.script[read].priority as usize);
        let is_read = work.kind == OpKind::Read;
        let at_once = match self.policy {
            "none" => return,
            _ if is_read => {
                let may = self.policy == "priority_aware" && class == 2 && (work.priority as usize) < 2;
                if !may || self.entitled[op] {
                    return;
                }
                true
            }
            "immediate" => true,
            "safe_point" => false,
            _ => work.kind == OpKind::Erase && !work.critical && self.may_at_once(class),
        };
        let floor = if is_read { 0 } else { self.floor };
        let mut had = self.had_by(op, begins, now).max(floor);
        if !at_once {
            had = had.max(1).next_multiple_of(self.step(op));
        }
        let tick = begins + had - self.had[op];
        if had + SUSPEND < self.total(op) && self.stop.is_none_or(|stop| tick < stop.tick) {
            self.stop = Some(StopAt { tick, class, at_once });
        }
    }

    fn stopped(&mut self, op: usize, stop: StopAt) {
        let row = match self.script[op].kind {
            OpKind::Erase => 0,
            OpKind::Read => 4,
            _ => 2,
        };
        self.suspends[row + usize::from(!stop.at_once)][stop.class] += 1;
        if row == 0 && stop.at_once {
            self.at_once[stop.class] += 1;
        }
        if row == 4 {
            self.passed = self.passed.saturating_sub(1);
            self.lines[self.script[op].priority as usize].insert(0, op);
        } else {
            (self.suspended, self.passed, self.reached) = (Some(op), 0, self.had[op]);
            self.had[op] = match self.loses {
                Loses::Nothing => self.had[op],
                Loses::Step => self.had[op] / self.step(op) * self.step(op),
                Loses::Operation => 0,
            };
        }
    }

    /// One tick: what comes, then what ends.
    fn tick(&mut self, now: u64, came: core::ops::Range<usize>) {
        for op in came {
            let given = self.script[op];
            let is_read = given.kind == OpKind::Read;
            self.lines[if is_read { given.priority as usize } else { 3 }].push(op);
            self.came[given.priority as usize] += u64::from(is_read);
            self.next(now);
            self.ask(now);
        }
        // A stop may take no time to begin; what begins now does not end now.
        if let (Doing::Array { op, begins }, Some(stop)) = (self.doing, self.stop)
            && stop.tick == now
        {
            self.had[op] = self.had_by(op, begins, now);
            self.doing = Doing::Stopping { op, ends: now + SUSPEND };
        }
        match self.doing {
            Doing::Array { op, begins } if self.had_by(op, begins, now) == self.total(op) => {
                self.doing = if self.script[op].kind == OpKind::Read {
                    Doing::Out { op, ends: now + OUT }
                } else {
                    self.ends[op] = now;
                    Doing::Nothing
                };
            }
            Doing::Out { op, ends } if ends == now => {
                (self.ends[op], self.doing) = (now, Doing::Nothing);
            }
            Doing::Stopping { op, ends } if ends == now => {
                self.doing = Doing::Nothing;
                if let Some(stop) = self.stop.take() {
                    self.stopped(op, stop);
                }
            }
            _ => {}
        }
        self.next(now);
    }

    /// Lets all of it happen.
    fn run(&mut self) {
        let (mut next, mut now) = (0, 0);
        while next < self.script.len() || self.ends.contains(&0) {
            let from = next;
            while self.script.get(next).is_some_and(|given| given.at == now * US) {
                next += 1;
            }
            self.tick(now, from..next);
            now += 1;
        }
    }
}

fn config((policy, loses): (&str, Loses)) -> DriveConfig {
    let mut cfg = psr("none", 1);
    cfg.timing.t_read_us = vec![READ as f64];
    (cfg.timing.t_program_us, cfg.timing.t_erase_us) = (vec![PROGRAM_US as f64], ERASE_US as f64);
    cfg.timing.program_steps = (PROGRAM_US / LOOP) as u32;
    cfg.timing.erase_steps = (ERASE_US / STEP) as u32;
    (cfg.timing.t_suspend_us, cfg.timing.t_resume_us) = (SUSPEND as f64, RESUME as f64);
    // 4 000 bytes take 4 us.
    cfg.channel.bandwidth_mb_s = 1_000.0;
    (cfg.channel.t_read_command_ns, cfg.channel.t_data_out_command_ns) = (1_000, 0);
    (cfg.channel.t_program_command_ns, cfg.channel.t_erase_command_ns) = (1_000, 1_000);
    cfg.geometry.page_bytes = 4_000;
    cfg.scheduling.read_bypass_limit = BYPASS;
    let min_run_us = MIN_RUN as f64;
    cfg.preemption = match policy {
        "none" => none::Params::default().into(),
        "immediate" => immediate::Params { loses, min_run_us }.into(),
        "safe_point" => safe_point::Params { min_run_us }.into(),
        _ => priority_aware::Params { min_run_us, at_once_per_erase: SHARE as u32 }.into(),
    };
    cfg
}

/// Reads, programs and erases at random; blocks 2 and 4 to 7 are programmed or erased, and never read.
fn script(rng: &mut Rng, count: u32) -> Vec<Given> {
    let (mut at, mut pages, mut erases) = (0, 0, 0);
    let gap = [20, 60, 150][rng.below(3) as usize];
    let mut one = |_| {
        at += u64::from(rng.below(2 * gap)) * US;
        match rng.below(20) {
            0 => {
                erases += 1;
                Given { at, critical: rng.below(3) == 0, block: 4 + erases % 4, ..ERASE }
            }
            1..4 => {
                pages += 1;
                Given { at, page: pages - 1, ..PROGRAM }
            }
            _ => Given { page: rng.below(9), ..read(at, Priority::ALL[rng.below(3) as usize]) },
        }
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn every_policy_does_as_the_simple_die() {
    let mut seen = [[0; 3]; 6];
    for seed in 0..210 {
        let rng = &mut Rng::named(seed, "brute");
        let policies = [
            ("none", Loses::Nothing),
            ("immediate", Loses::Nothing),
            ("safe_point", Loses::Nothing),
            ("priority_aware", Loses::Nothing),
            ("priority_aware", Loses::Nothing),
            ("immediate", Loses::Step),
            ("immediate", Loses::Operation),
        ];
        let policy = policies[(seed % 7) as usize];
        let script = script(rng, 300);
        let mut brute = Brute::new(policy, &script);
        brute.run();
        let (ends, flash) = run_one_by_one(&config(policy), &script);
        let ends: Vec<u64> = ends.iter().map(|end| end / US).collect();
        let differs = (0..ends.len()).find(|&at| ends[at] != brute.ends[at]);
        assert_eq!(
            differs.map(|at| (at, script[at], ends[at], brute.ends[at])),
            None,
            "seed {seed}, {policy:?}"
        );
        assert_eq!(flash.record.counts.suspends, brute.suspends, "seed {seed}, {policy:?}");
        for (all, count) in seen.iter_mut().flatten().zip(brute.suspends.iter().flatten()) {
            *all += count;
        }
    }
    // Erases and programs for reads of each priority, at once and at boundaries; reads for high ones.
    assert!(seen[..4].iter().flatten().chain([&seen[4][2]]).all(|&count| count > 0), "{seen:?}");
}
