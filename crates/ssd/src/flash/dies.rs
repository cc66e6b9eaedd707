//! All dies and channels, and what governs them.

use super::channel::Channel;
use super::counts::FlashCounts;
use super::die::{Die, Precedence};
use super::op::{Cause, OTHERS, OpPool, Spent};
use super::preemption;
use super::rows::Outcomes;
use super::timing::Timing;
use crate::nand::Chip;
use crate::nand::order::PageOrder;
use crate::sections::{ChannelOrder, Sections};
use crate::signals::Priority;
use crate::units::{OpId, SimTime};
use serde::{Deserialize, Serialize};

/// Void events for which there is room at each die; beyond it the queue grows.
const MOST_VOID: u64 = 256;

/// What follows from the configuration alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rules {
    pub timing: Timing,
    pub precedence: Precedence,
    pub channel: ChannelOrder,
    /// Operations of several planes may go together.
    pub groups: bool,
    /// Pages of a wordline that are programmed at once.
    pub pages_of_program: u32,
    /// Something may be suspended.
    pub preempts: bool,
    /// Planes read on their own.
    pub independent: bool,
    /// A die may have something to begin or to send while it is busy.
    pub looks: bool,
    /// Where pages of a block lie, if programs are suspended.
    #[serde(skip)]
    pub places: Option<PageOrder>,
}

/// Dies and channels with their queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Dies {
    pub all: Vec<Die>,
    pub channels: Vec<Channel>,
    pub rules: Rules,
    pub preemption: preemption::Policy,
    sequence: u64,
    /// Whether it is told what reads wait for: a policy stops work for them, or one has come that is not medium.
    pub watches: bool,
}

impl Dies {
    /// Idle dies and channels.
    pub fn new(cfg: &Sections, preemption: &preemption::Config) -> Self {
        let g = &cfg.geometry;
        let dies_per_channel = g.chips_per_channel * g.dies_per_chip;
        let preemption = preemption::Policy::build(preemption);
        let independent = cfg.timing.independent_reads;
        let planes = if independent { g.planes_per_die } else { 0 };
        Dies {
            all: (0..g.dies()).map(|die| Die::new(die / dies_per_channel, planes)).collect(),
            channels: vec![Channel::new(dies_per_channel); g.channels as usize],
            rules: Rules {
                timing: Timing::new(cfg),
                precedence: Precedence::new(&cfg.scheduling, preemption.is_priority_aware()),
                channel: cfg.scheduling.channel,
                groups: cfg.scheduling.multi_plane && g.planes_per_die > 1,
                pages_of_program: cfg.pages_of_program(),
                preempts: preemption.acts(),
                independent,
                looks: preemption.acts() || independent || cfg.timing.cache_operations,
                places: preemption.acts().then(|| PageOrder::of(cfg)),
            },
            sequence: 0,
            watches: preemption.acts(),
            preemption,
        }
    }

    /// Operations that were given to dies so far.
    pub fn given(&self) -> u64 {
        self.sequence
    }

    /// Whether the array of its die has begun with an operation that carries data there and was given to it, or begins
    /// when the data has come (slow).
    pub fn has_begun(&self, id: OpId, pool: &OpPool) -> bool {
        let op = pool.get(id);
        let mut staged = self.all[op.at.die as usize].io;
        while staged.is_some() && staged != id {
            staged = pool.get(staged).follower;
        }
        staged != id && pool.spent(id).times.transfer > 0
    }

    /// Puts how long each die had work on it and how long its array worked, and how long each channel carried
    /// something, in place of what the lists hold; ns.
    pub fn read_busy(&self, now: SimTime, dies: &mut Vec<[u64; 2]>, channels_ns: &mut Vec<u64>) {
        dies.clear();
        dies.extend(self.all.iter().map(|die| [die.busy_until(now), die.worked_until(now)]));
        channels_ns.clear();
        channels_ns.extend(self.channels.iter().map(|channel| channel.busy_until(now)));
    }

    /// What was going on up to now counts no more.
    pub fn reset_busy(&mut self, now: SimTime) {
        for die in &mut self.all {
            (die.busy_ns, die.busy_since) = (0, now);
            // What is on its way to an array has not begun.
            (die.array_ns, die.array_since) = (0, die.array_since.max(now));
        }
        self.channels.iter_mut().for_each(|channel| channel.busy_ns = channel.free_at.since(now));
    }

    /// Whether a die that has done something may have more to begin with, or to send.
    #[inline(always)]
    pub fn may_begin(&self, number: u32) -> bool {
        self.all[number as usize].waiting > 0 || self.rules.looks
    }

    /// An operation begins: its time counts from now on.
    #[inline(always)]
    pub fn enter(&mut self, id: OpId, pool: &mut OpPool, chip: &Chip, now: SimTime) {
        self.sequence += 1;
        let op = pool.get_mut(id);
        op.sequence = self.sequence;
        op.line = self.rules.precedence.line_of(op);
        self.watches |= op.priority != Priority::Medium && op.cause == Cause::Host;
        *pool.spent_mut(id) = Spent { queued: now, mark: now, ..Spent::default() };
        if chip.ages() {
            prepare(id, pool, chip);
        } else {
            // Cells that do not age know of no modes.
            let op = pool.get_mut(id);
            op.mode = 0;
            chip.prefetch_block(op.at.block);
        }
        if self.rules.preempts {
            self.note_arrival(id, pool);
        }
    }

    /// A read comes to its die: how many come decides over shares, and one that is alone is promised something.
    #[cold]
    fn note_arrival(&mut self, id: OpId, pool: &mut OpPool) {
        let op = pool.get(id);
        let (line, class, is_host) = (op.line(), op.priority as usize, op.cause == Cause::Host);
        let die = &mut self.all[op.at.die as usize];
        let alone = line < OTHERS && die.lines[line..OTHERS].iter().all(|line| !line.head.is_some());
        die.stops.came[class] += u64::from(is_host && op.kind.reads());
        pool.get_mut(id).alone = alone;
    }

    /// A block is erased: it remembers how often it was stopped at once.
    #[cold]
    pub fn note_erased(&self, (number, block): (u32, u32), counts: &mut FlashCounts, chip: &mut Chip) {
        let stops = &self.all[number as usize].stops;
        let most = counts.suspends_per_erase.len() - 1;
        counts.suspends_per_erase[(stops.count as usize).min(most)] += 1;
        chip.note_suspends(block, stops.at_once.iter().sum());
    }

    /// Ends of array work that lie ahead beside one of each die: those that are void, and those of planes that read on
    /// their own.
    pub fn more_events_at_most(&self) -> usize {
        let void = self.void_events_at_most();
        self.all.iter().map(|die| void + die.planes.reads.len().saturating_sub(1)).sum()
    }

    /// Ends that were announced for each die, and are void: as many as there can be stops in the time of the longest
    /// operation, twice where a stop was put forward.
    fn void_events_at_most(&self) -> usize {
        if !self.rules.preempts {
            return 0;
        }
        let timing = &self.rules.timing;
        let cycle_ns = timing.suspend_ns() + timing.resume_ns() + self.preemption.min_run_ns();
        (2 * (timing.longest_ns() / cycle_ns.max(1)) + 2).min(MOST_VOID) as usize
    }
}

/// What an operation's durations depend on, for cells that age.
#[inline]
fn prepare(id: OpId, pool: &mut OpPool, chip: &Chip) {
    let op = pool.get_mut(id);
    // A block's mode is that of its first program; of programs the issuer's word counts: the chip may not have had the
    // first, or, where the block is erased once it is opened, may still hold what was there before.
    if op.kind.row().effect != Outcomes::Programs {
        op.mode = chip.mode(op.at.block);
    }
    if op.kind.reads() {
        chip.prefetch_sense(op.at.block, op.at.page);
    } else if !op.kind.hides() {
        let erase = op.kind.erases();
        op.slower_q12 = chip.time_scale_q12(op.at.block, erase).min(u32::from(u16::MAX)) as u16;
    }
}
