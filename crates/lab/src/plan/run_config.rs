//! The `[run]` table: how a workload is run, as a user writes it.

use crate::past::age::AgeSteps;
use crate::past::precondition::{EraseCounts, Overwrite, PIECES, Past, Preconditioning, SteadyWay};
use crate::plan::settings::{Settings, value};
use crate::plan::sizing::SizeChoice;
use crate::plan::spec::{LoopMode, RunSpec};
use ssd::config::Table;
use ssd::{Executor, Pace};
use workload::Spec;

ssd::choice! {
    /// How the drive is overwritten before the measurement.
    pub enum OverwriteChoice {
        /// Not at all.
        None = "none",
        /// A given multiple of its logical space.
        Times = "times",
        /// Until its write amplification does not change any more.
        SteadyState = "steady_state",
    }
}

ssd::choice! {
    /// How fast the host is thought to be while the drive is overwritten.
    pub enum PaceChoice {
        /// `saturated` for closed loops where time passes, unless they are jobs whose depth, flushes, rates or pauses
        /// leave the drive time for garbage collection; `relaxed` for all else.
        Auto = "auto",
        /// Slower than garbage collection: the free blocks stay at the marks of ftl.gc_trigger.
        Relaxed = "relaxed",
        /// Faster than garbage collection: the host takes all free blocks but the reserve.
        Saturated = "saturated",
    }
}

ssd::choice! {
    /// How requests reach the drive.
    pub enum LoopChoice {
        /// `open` for traces and for generators with arrival times, `closed` for the others.
        Auto = "auto",
        /// `depth` requests are kept in flight; arrival times are not looked at.
        Closed = "closed",
        /// At their arrival times.
        Open = "open",
    }
}

ssd::choice! {
    /// Whether time passes.
    pub enum ExecutorChoice {
        /// Flash operations take their time.
        Timed = "timed",
        /// Flash operations are done at once: for counting.
        Functional = "functional",
    }
}

ssd::section! {
    /// `[run]`: how a workload is run on the drive.
    ///
    /// The defaults are in the manner of SNIA's Solid State Storage Performance Test Specification: written in order
    /// over the whole space, then overwritten at random to steady state.
    pub struct RunConfig {
        /// How small the drive is made if none is named.
        size: SizeChoice = SizeChoice::Auto;
        /// Share of the logical space that is written in order before the measurement.
        fill_percent: f64 = 100.0, unit "%", range 0..=100;
        /// How the filled space is overwritten at random after that.
        overwrite: OverwriteChoice = OverwriteChoice::SteadyState;
        /// What it is overwritten with: the workload's own writes and trims where they can be known, or random units.
        /// Drives of papers have `uniform` (docs/default-drive.md).
        past: Past = Past::Own;
        /// Pieces that each pass over the workload's own writes is cut into, in a new random order. With 1 all
        /// passes are alike, and garbage collection is almost free.
        past_pieces: u32 = PIECES, range 1..=1_000_000;
        /// How many times the filled space is overwritten: exactly for overwrite = "times", at most for
        /// steady_state, or so many times the over-provisioning if that is larger. A trace's own writes make the past:
        /// twice so many times the over-provisioning.
        overwrite_times: f64 = 10.0, range 0..=1_000;
        /// How fast the host is assumed to write that, compared with garbage collection, which decides how many blocks
        /// stay free.
        overwrite_pace: PaceChoice = PaceChoice::Auto;
        /// Steady state: the write amplification of four consecutive quarters of the filled space differs by less
        /// than this, or that of two passes over it by less than half of this, and each lane has erased as many blocks
        /// as it has beyond its data.
        steady_change_percent: f64 = 2.0, unit "%", range 0.01..=50;
        /// How a drive is brought to steady state: all of it, or by copying the state of one die that is overwritten
        /// separately.
        steady_way: SteadyWay = SteadyWay::Auto;
        /// Lowest erase count that blocks are given after that.
        erase_count_min: u32 = 0, unit "erases", range 0..=100_000_000;
        /// Highest erase count that blocks are given, uniformly from erase_count_min; 0 leaves them as they are.
        erase_count_max: u32 = 0, unit "erases", range 0..=100_000_000;
        /// Steps by which the cells are aged after that, in order; needs nand.errors.model = "cells". With
        /// --snapshot only those on the command line count: the saved drive already has its age.
        age: AgeSteps = AgeSteps::default();
        /// How requests reach the drive: at their arrival times, or a fixed number in flight. fio jobs define this
        /// themselves.
        loop_mode: LoopChoice = LoopChoice::Auto;
        /// Closed loop: requests in flight on each queue, which holds so many unless host.queues.depth is set; 0 for
        /// as many as a queue holds.
        depth: u32 = 32, unit "requests", range 0..=65_536;
        /// Maximum number of requests, the warm-up included; 0 for all.
        requests: u64 = 0, unit "requests";
        /// The measurement begins when this many requests have completed.
        warm_up_requests: u64 = 0, unit "requests";
        /// Maximum intervals of the time series; 0 for none. When a run outgrows them their length doubles.
        samples: u32 = 1_000, range 0..=1_000_000;
        /// Explains what requests waited for, from this percentile of latencies on; 0 for none.
        explain_tail: f64 = 0.0, unit "%", range 0..=99.999_9;
        /// Whether time is simulated.
        executor: ExecutorChoice = ExecutorChoice::Timed;
    }
}

impl RunConfig {
    /// What is done to the drive before the measurement of a workload, if there is one.
    pub fn preconditioning(&self, workload: Option<&Spec>) -> Preconditioning {
        Preconditioning {
            fill_percent: self.fill_percent,
            overwrite: match self.overwrite {
                OverwriteChoice::None => Overwrite::None,
                OverwriteChoice::Times => Overwrite::Times(self.overwrite_times),
                OverwriteChoice::SteadyState => Overwrite::SteadyState {
                    change_percent: self.steady_change_percent,
                    times_at_most: self.overwrite_times,
                },
            },
            pace: self.pace(workload),
            past: self.past,
            past_pieces: self.past_pieces,
            steady_way: self.steady_way,
            erase_counts: match (self.erase_count_min, self.erase_count_max) {
                (0, 0) => EraseCounts::AsIs,
                (min, max) if max <= min => EraseCounts::Equal(min),
                (min, max) => EraseCounts::Uniform { min, max },
            },
        }
    }

    /// A closed loop writes as fast as it may; arrival times are taken to leave cleaning the time it needs.
    fn pace(&self, workload: Option<&Spec>) -> Pace {
        match self.overwrite_pace {
            PaceChoice::Relaxed => Pace::Relaxed,
            PaceChoice::Saturated => Pace::Saturated,
            PaceChoice::Auto => {
                let closed = workload.is_some_and(|spec| self.loop_mode(spec) != LoopMode::Open);
                let timed = self.executor == ExecutorChoice::Timed;
                if closed && timed { Pace::Saturated } else { Pace::Relaxed }
            }
        }
    }

    /// How requests of this workload reach the drive.
    pub fn loop_mode(&self, workload: &Spec) -> LoopMode {
        if workload.is_driven() {
            return LoopMode::Jobs;
        }
        let is_closed = match self.loop_mode {
            LoopChoice::Closed => true,
            LoopChoice::Open => false,
            LoopChoice::Auto => !workload.has_times(),
        };
        if is_closed { LoopMode::Closed { depth: self.depth } } else { LoopMode::Open }
    }

    /// The keys of this table and of the workload, with their values.
    fn settings(&self, workload: &Spec) -> Settings {
        let show = |key: &str| self.show(key).unwrap_or_default();
        let run = self.fields().iter().map(|field| (format!("run.{}", field.key), value(&show(field.key))));
        let workload =
            workload.entries().into_iter().map(|(key, text)| (format!("workload.{key}"), value(&text)));
        run.chain(workload).collect()
    }

    /// All of it, for a workload. Name, request log and the workload's hash are the caller's to fill in.
    pub fn spec(&self, workload: &Spec) -> RunSpec {
        RunSpec {
            preconditioning: self.preconditioning(Some(workload)),
            age: self.age.clone(),
            loop_mode: self.loop_mode(workload),
            warm_up: self.warm_up_requests,
            requests: (self.requests > 0).then_some(self.requests),
            executor: match self.executor {
                ExecutorChoice::Timed => Executor::Timed,
                ExecutorChoice::Functional => Executor::Functional,
            },
            samples: self.samples,
            explain_tail: self.explain_tail,
            settings: self.settings(workload),
            ..RunSpec::default()
        }
    }
}
