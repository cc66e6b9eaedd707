//! Channels, dies, planes and their queues: how long everything takes.
//!
//! Knows no logical page. The firmware issues operations; the flash queues them at their dies, forms multi-plane
//! groups of neighbours in a queue, shares the channel, and reports operations as done. In the functional executor
//! operations are applied at once and no time passes.

mod attempts;
mod channel;
mod copies;
mod counts;
mod cut;
mod die;
pub mod holders;
pub(crate) mod of_host;
pub mod op;
mod phases;
pub mod preemption;
pub mod read_voltage;
mod restore;
pub mod rows;
mod suspend;
pub mod timing;

use crate::events::{EventKind, EventQueue};
use crate::nand::order::PageOrder;
use crate::nand::{Chip, Outcome, PageAddress};
use crate::rng::{SPREAD, mix};
use crate::sections::{ChannelOrder, Sections};
use crate::signals::Priority;
use crate::snapshot::raw;
use crate::units::{OpId, Ppn, SimTime};
use channel::Channel;
pub use counts::{ATTEMPTS, FlashCounts, PER_ERASE, PROGRAM_MODES, SUSPENDS};
use die::{Die, Precedence};
use holders::Holders;
use op::{Cause, Op, OpKind, OpPool, Spent};
use rows::Outcomes;
use serde::{Deserialize, Serialize};
use timing::Timing;

/// What follows from the configuration alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rules {
    timing: Timing,
    precedence: Precedence,
    channel: ChannelOrder,
    /// Operations of several planes may go together.
    groups: bool,
    /// Something may be suspended.
    preempts: bool,
    /// Where pages of a block lie, if programs are suspended.
    #[serde(skip)]
    places: Option<PageOrder>,
}

/// All chips of a drive with their queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flash {
    /// Operations in flight.
    pub pool: OpPool,
    /// The chips' ground truth.
    pub chip: Chip,
    /// Counters.
    pub counts: FlashCounts,
    /// The time of what is being handled.
    pub now: SimTime,
    /// Operations that are done and not yet seen by the firmware.
    pub done: Vec<OpId>,
    rules: Rules,
    read_voltage: read_voltage::Policy,
    /// Range of each physical block's age, as the policy above tells them apart; empty where it does not go by ages.
    #[serde(with = "raw")]
    age_ranges: Vec<u8>,
    preemption: preemption::Policy,
    /// Page of the chips that each operation copies from; empty where pages do not carry errors.
    #[serde(with = "raw")]
    sources: Vec<u32>,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    sequence: u64,
    hash: u64,
    instant: bool,
    /// Whether it is told what reads wait for: a policy stops work for them, or one has come that is not medium.
    watches: bool,
    /// What chips have begun and ended since somebody looked, if anybody does.
    #[serde(skip)]
    pub steps: Steps,
    /// Whom operations wait for, if anybody asks.
    #[serde(skip)]
    pub(crate) holders: Option<Box<Holders>>,
    /// Whether somebody listens to what chips do, or asks whom operations wait for.
    #[serde(skip)]
    pub(crate) is_told: bool,
    /// The first read that was not as promised since counters were set to zero.
    #[serde(skip)]
    pub broken_bound: Option<BrokenBound>,
}

/// A page that none of the voltages read which a policy had promised to read it (`flash.read_voltage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenBound {
    /// Physical block.
    pub block: u32,
    /// Page of the block.
    pub page: u32,
    /// What wore the block, in cycles of the average block at the reference dwell.
    pub cycles: u32,
    /// Minutes since it was programmed.
    pub minutes: u32,
    /// Effective reads over what the wordline endures, in 1/4096.
    pub erc_q12: u32,
    /// Mean errors of a sector with the best voltages, in 1/256 bit.
    pub bits_q8: u32,
    /// Errors that are corrected, in 1/256 bit.
    pub limit_q8: u32,
}

impl core::fmt::Display for BrokenBound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { block, page, cycles, minutes, .. } = self;
        write!(
            f,
            "page {page} of block {block} was not read with the voltages by age that were promised to read it: worn \
             like {cycles} cycles, {minutes} minutes old, {} % of the reads it endures; {} bits of a sector are wrong \
             with the best voltages, {} are corrected",
            u64::from(self.erc_q12) * 100 / 4096,
            self.bits_q8.div_ceil(256),
            self.limit_q8 / 256
        )
    }
}

/// Programs and erases that begin and end in the chips, in order, for an observer.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Whether they are kept.
    pub on: bool,
    /// The operation, and whether it begins.
    pub list: Vec<(OpId, bool)>,
}

impl Steps {
    #[inline(always)]
    fn add(&mut self, id: OpId, begins: bool) {
        if self.on {
            self.list.push((id, begins));
        }
    }
}

/// Operations that there is room for.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Of the host.
    pub host: usize,
    /// Of moves.
    pub moves: usize,
}

impl Flash {
    /// Idle dies and channels around `chip`, with room for so many operations of the host and of moves. The policy of
    /// voltages has been told of the cells.
    pub fn new(
        cfg: &Sections,
        (read_voltage, preemption): (read_voltage::Policy, &preemption::Config),
        chip: Chip,
        room: Room,
    ) -> Self {
        let g = &cfg.geometry;
        let dies_per_channel = g.chips_per_channel * g.dies_per_chip;
        let preemption = preemption::Policy::build(preemption);
        let mut chip = chip;
        if preemption.acts() {
            chip.remember_suspends();
        }
        let aged = if read_voltage.goes_by_age() { chip.blocks() as usize } else { 0 };
        let sources = vec![0; if chip.carries() { room.host + room.moves } else { 0 }];
        Flash {
            pool: OpPool::new(room.host, room.moves, cfg.units_per_page()),
            chip,
            counts: FlashCounts::default(),
            now: SimTime::ZERO,
            done: Vec::with_capacity(room.host + room.moves),
            rules: Rules {
                timing: Timing::new(cfg),
                precedence: Precedence::new(&cfg.scheduling, preemption.is_priority_aware()),
                channel: cfg.scheduling.channel,
                groups: cfg.scheduling.multi_plane && g.planes_per_die > 1,
                preempts: preemption.acts(),
                places: preemption.acts().then(|| PageOrder::of(cfg)),
            },
            read_voltage,
            age_ranges: vec![0; aged],
            sources,
            dies: (0..g.dies()).map(|die| Die::new(die / dies_per_channel)).collect(),
            channels: vec![Channel::new(dies_per_channel); g.channels as usize],
            sequence: 0,
            hash: 0,
            instant: false,
            watches: preemption.acts(),
            preemption,
            steps: Steps::default(),
            holders: None,
            is_told: false,
            broken_bound: None,
        }
    }

    /// Operations that can still be issued for the host.
    #[inline]
    pub fn host_room(&self) -> usize {
        self.pool.host_room()
    }

    /// Whether the array of its die has begun with an operation that carries data there and was given to it, or begins
    /// when the data has come (slow).
    pub fn has_begun(&self, id: OpId) -> bool {
        let op = self.pool.get(id);
        let mut staged = self.dies[op.at.die as usize].io;
        while staged.is_some() && staged != id {
            staged = self.pool.get(staged).follower;
        }
        staged != id && self.pool.spent(id).times.transfer > 0
    }

    /// A hash of every operation done so far, with its time.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The counters at `now`, with what dies and channels are in the middle of up to then.
    pub fn counts_until(&self, now: SimTime) -> FlashCounts {
        FlashCounts {
            die_busy_ns: self.dies.iter().map(|die| die.busy_until(now)).collect(),
            die_array_ns: self.dies.iter().map(|die| die.worked_until(now)).collect(),
            channel_busy_ns: self.channels.iter().map(|channel| channel.busy_until(now)).collect(),
            ..self.counts.clone()
        }
    }

    /// The same of each die and channel alone, in place of what the lists hold: how long a die had work on it and how
    /// long its array worked, how long a channel carried something; ns.
    pub fn read_busy(&self, now: SimTime, dies: &mut Vec<[u64; 2]>, channels_ns: &mut Vec<u64>) {
        dies.clear();
        dies.extend(self.dies.iter().map(|die| [die.busy_until(now), die.worked_until(now)]));
        channels_ns.clear();
        channels_ns.extend(self.channels.iter().map(|channel| channel.busy_until(now)));
    }

    /// Somebody listens to what chips do, or asks whom operations wait for, or nobody does any more.
    pub(crate) fn note_listeners(&mut self) {
        self.is_told = self.steps.on || self.holders.is_some();
    }

    /// Sets the counters back to zero; what dies and channels are in the middle of counts from `now` on.
    pub fn reset_counts(&mut self, now: SimTime) {
        (self.counts, self.broken_bound) = (FlashCounts::default(), None);
        for die in &mut self.dies {
            (die.busy_ns, die.busy_since) = (0, now);
            // What is on its way to an array has not begun.
            (die.array_ns, die.array_since) = (0, die.array_since.max(now));
        }
        self.channels.iter_mut().for_each(|channel| channel.busy_ns = channel.free_at.since(now));
    }

    /// Gives operations that are issued together to their dies, so that they can form multi-plane groups.
    #[inline]
    pub fn give(&mut self, ids: &[OpId], now: SimTime, events: &mut EventQueue) {
        if let &[id] = ids {
            return self.give_alone(id, now, events);
        }
        for &id in ids {
            self.enter(id, now);
            self.dies[self.pool.get(id).at.die as usize].queue(&mut self.pool, id, false);
        }
        for &id in ids {
            self.start_waiting(self.pool.get(id).at.die, now, events);
        }
    }

    /// An operation begins: its time counts from now on.
    #[inline(always)]
    fn enter(&mut self, id: OpId, now: SimTime) {
        self.sequence += 1;
        let op = self.pool.get_mut(id);
        op.sequence = self.sequence;
        op.line = self.rules.precedence.line_of(op);
        self.watches |= op.priority != Priority::Medium && op.cause == Cause::Host;
        *self.pool.spent_mut(id) = Spent { queued: now, mark: now, ..Spent::default() };
        if self.chip.ages() {
            self.prepare(id);
        } else {
            // Cells that do not age know of no modes.
            self.pool.get_mut(id).mode = 0;
        }
        if self.rules.preempts {
            self.note_arrival(id);
        }
    }

    /// Applies an operation at once: the functional executor.
    #[inline]
    pub fn apply(&mut self, id: OpId) {
        *self.pool.spent_mut(id) = Spent { queued: self.now, ..Spent::default() };
        self.steps.add(id, true);
        self.finish(id);
    }

    /// Applies an operation that is in no queue at once.
    #[inline(always)]
    pub fn do_at_once(&mut self, op: &mut Op) {
        (op.outcome, op.attempts) = self.perform(op);
    }

    /// Whether operations are applied at once: the functional executor.
    #[inline]
    pub fn is_instant(&self) -> bool {
        self.instant
    }

    /// Switches between operations that take time and operations applied at once; nothing may be in flight.
    pub fn set_instant(&mut self, instant: bool) {
        self.instant = instant;
    }

    /// Lets the chip do something, counts it and adds it to the hash: the end of every operation, and all of it where
    /// no time passes.
    #[inline(always)]
    fn perform(&mut self, op: &Op) -> (Outcome, u8) {
        if !op.kind.reads() {
            return (self.change(op.kind, op.cause, op.mode, (op.at, op.ppn)), 0);
        }
        self.chip.read(op.at.block, op.at.page);
        let is_lost = self.chip.is_lost(op.at.block, op.at.page, self.now);
        let (attempts, outcome) = match self.chip.ages() {
            _ if is_lost => self.sense_lost(op.at, op.cause),
            true => self.sense(op.at),
            false => (0, Outcome::Pass),
        };
        self.record_read(op, outcome, attempts);
        (outcome, attempts)
    }

    /// The same of what changes what a chip holds.
    #[inline(always)]
    fn change(&mut self, kind: OpKind, cause: Cause, mode: u8, (at, ppn): (PageAddress, Ppn)) -> Outcome {
        if kind.ends_data() {
            return self.end_data(kind, cause, (at, ppn));
        }
        let outcome = self.chip.program_in(at.block, at.page, mode);
        self.counts.program_fails += u64::from(outcome == Outcome::Fail);
        self.record(kind, cause, ppn, false);
        outcome
    }

    /// What a page or a block holds is erased, or kept from being read.
    #[inline(never)]
    fn end_data(&mut self, kind: OpKind, cause: Cause, (at, ppn): (PageAddress, Ppn)) -> Outcome {
        let (outcome, fails) = match kind.row().effect {
            Outcomes::HidesBlock => (self.chip.lock_block(at.block, self.now), &mut self.counts.lock_fails),
            Outcomes::HidesPage => {
                (self.chip.sanitize_page(at.block, at.page, self.now), &mut self.counts.lock_fails)
            }
            _ => (self.chip.erase(at.block), &mut self.counts.erase_fails),
        };
        *fails += u64::from(outcome == Outcome::Fail);
        self.record(kind, cause, ppn, false);
        outcome
    }

    /// Counts a read that is over, and adds it to the hash.
    #[inline(always)]
    fn record_read(&mut self, op: &Op, outcome: Outcome, attempts: u8) {
        if self.chip.ages() {
            self.count_attempts(op, outcome, attempts);
        }
        self.record(op.kind, op.cause, op.ppn, outcome == Outcome::Fail);
    }

    /// Counts an operation that is over, and adds it to the hash.
    #[inline(always)]
    fn record(&mut self, kind: OpKind, cause: Cause, ppn: Ppn, lost: bool) {
        self.counts.ops[kind as usize][cause as usize] += 1;
        let what = u64::from(lost) << 63 | u64::from(ppn.0) << 8 | (kind as u64) << 4 | cause as u64;
        self.hash = (self.hash ^ self.now.0.rotate_left(20) ^ mix(what)).wrapping_mul(SPREAD).rotate_left(29);
    }

    /// Handles an event of a die or a channel.
    #[inline(always)]
    pub fn on_event(&mut self, kind: EventKind, id: u32, now: SimTime, events: &mut EventQueue) {
        match kind {
            EventKind::ArrayDone => self.on_array_done(id, now, events),
            EventKind::OutDone => self.on_out_done(id, now, events),
            EventKind::InDone => self.on_in_done(id, now, events),
            EventKind::ChannelFree => self.on_channel_free(id, now, events),
            EventKind::Decoded => self.on_decoded(OpId(id), now, events),
            _ => unreachable!("not an event of the flash"),
        }
    }

    /// What the chip says of an operation, once it is over.
    #[inline]
    fn finish(&mut self, id: OpId) {
        let &Op { kind, cause, mode, at, ppn, .. } = self.pool.get(id);
        if kind.reads() {
            return self.finish_read(id);
        }
        let outcome =
            if kind.copies() { self.copy_in_flight(id) } else { self.change(kind, cause, mode, (at, ppn)) };
        self.steps.add(id, false);
        let op = self.pool.get_mut(id);
        (op.follower, op.outcome) = (OpId::NONE, outcome);
        self.done.push(id);
    }

    #[inline(always)]
    fn finish_read(&mut self, id: OpId) {
        let op = self.pool.get_mut(id);
        op.follower = OpId::NONE;
        let &mut Op { kind, cause, at, ppn, .. } = op;
        self.chip.read(at.block, at.page);
        if self.chip.ages() {
            self.finish_attempts(id);
        } else {
            let is_lost = self.chip.is_lost(at.block, at.page, self.now);
            if is_lost {
                self.note_lost(id);
            }
            self.record(kind, cause, ppn, is_lost);
        }
        self.done.push(id);
    }

    /// A read of cells that do not age has found a page that is lost.
    #[cold]
    fn note_lost(&mut self, id: OpId) {
        let &Op { at, cause, .. } = self.pool.get(id);
        self.pool.get_mut(id).outcome = self.sense_lost(at, cause).1;
    }

    /// What became of a read of cells that age: where time passes the first attempt has told that.
    #[inline(always)]
    fn finish_attempts(&mut self, id: OpId) {
        let mut op = *self.pool.get(id);
        if op.attempts == 0 {
            let is_lost = self.chip.is_lost(op.at.block, op.at.page, self.now);
            (op.attempts, op.outcome) =
                if is_lost { self.sense_lost(op.at, op.cause) } else { self.sense(op.at) };
            let in_pool = self.pool.get_mut(id);
            (in_pool.attempts, in_pool.outcome) = (op.attempts, op.outcome);
        }
        self.record_read(&op, op.outcome, op.attempts);
    }
}
