//! What happened in a run, and what of it a window shows.

use ssd::{Completion, Holder, OpCode, SimTime, Span, Told};
use std::collections::VecDeque;

/// A request that completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub op: OpCode,
    pub sectors: u32,
    pub lba: u64,
    pub arrival: SimTime,
    pub completed: SimTime,
    /// What held it longest, of equals the first, and how long; ns.
    pub held: Option<(Holder, u64)>,
    /// Number of the flash operation that it waited for last.
    pub last: Option<u64>,
    pub command: u32,
}

impl Served {
    pub fn new(completion: &Completion, told: &Told) -> Self {
        Served {
            op: completion.op,
            sectors: completion.sectors,
            lba: completion.lba.0,
            arrival: completion.arrival,
            completed: completion.completed,
            held: told.held.longest(),
            last: told.last.map(|last| last.number),
            command: told.command,
        }
    }
}

/// How full the drive was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub at: SimTime,
    pub free_blocks: u64,
    pub dirty_units: u64,
    pub commands: u64,
    /// Pages programmed so far, and bytes written by the host.
    pub programmed_pages: u64,
    pub written_bytes: u64,
}

/// What happened, in the order in which it was over.
#[derive(Default)]
pub(super) struct Events {
    pub spans: VecDeque<Span>,
    pub served: VecDeque<Served>,
    pub levels: VecDeque<Level>,
}

impl Events {
    /// Forgets what was over before.
    pub fn forget_before(&mut self, at: SimTime) {
        // Spans of one place are in order, and those of others not far from it.
        while self.spans.front().is_some_and(|span| span.to < at) {
            self.spans.pop_front();
        }
        while self.served.front().is_some_and(|served| served.completed < at) {
            self.served.pop_front();
        }
        while self.levels.front().is_some_and(|level| level.at < at) {
            self.levels.pop_front();
        }
    }

    /// What was going on in a window.
    pub fn within(&self, (from, to): Window) -> Slices {
        let lies_in = |begin: SimTime, end: SimTime| begin.max(from) < end.min(to);
        let spans = self.spans.iter().filter(|span| lies_in(span.from, span.to));
        let served = self.served.iter().filter(|served| lies_in(served.arrival, served.completed));
        let levels = self.levels.iter().filter(|level| from <= level.at && level.at <= to);
        Slices {
            spans: spans.copied().collect(),
            served: served.copied().collect(),
            levels: levels.copied().collect(),
        }
    }
}

/// What is shown of a window.
#[derive(Default)]
pub(super) struct Slices {
    pub spans: Vec<Span>,
    pub served: Vec<Served>,
    pub levels: Vec<Level>,
}

/// A window of the drive's time.
pub(super) type Window = (SimTime, SimTime);
