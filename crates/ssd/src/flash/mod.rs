//! Channels, dies, planes and their queues: how long everything takes.
//!
//! Knows no logical page. The firmware issues operations; the flash queues them at their dies, forms multi-plane
//! groups of neighbours in a queue, shares the channel, and reports operations as done. In the functional executor
//! operations are applied at once and no time passes.

mod attempts;
mod channel;
mod die;
pub(crate) mod of_host;
pub mod op;
pub mod read_voltage;
mod restore;
pub mod timing;

use crate::events::{EventKind, EventQueue};
use crate::nand::{Chip, Layout, Outcome, PageAddress};
use crate::rng::{SPREAD, mix};
use crate::sections::{ChannelOrder, Sections};
use crate::units::{OpId, Ppn, SimTime};
use channel::Channel;
use die::{Die, Interface, Precedence};
use op::{CAUSES, Cause, KINDS, Op, OpKind, OpPool};
use serde::{Deserialize, Serialize};
use timing::Timing;

/// Attempts that a read can take at most, and one more.
pub const ATTEMPTS: usize = 32;

/// What the flash has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashCounts {
    /// Operations by kind and cause.
    pub ops: [[u64; CAUSES]; KINDS],
    /// Multi-plane groups of more than one operation.
    pub groups: u64,
    /// Programs that failed.
    pub program_fails: u64,
    /// Erases that failed.
    pub erase_fails: u64,
    /// Page reads by the number of attempts that failed before one succeeded (or none was left).
    pub retries: [u64; ATTEMPTS],
    /// Page reads that no attempt could correct, by cause.
    pub uncorrectable: [u64; CAUSES],
    /// Nanoseconds each die had work on it.
    pub die_busy_ns: Vec<u64>,
    /// Nanoseconds each channel carried something.
    pub channel_busy_ns: Vec<u64>,
}

/// Which of an operation's times a stretch belongs to.
#[derive(Clone, Copy)]
enum Stretch {
    DieWait,
    ChannelWait,
    Array,
    Transfer,
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
    timing: Timing,
    read_voltage: read_voltage::Policy,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    channel_of_die: Vec<u32>,
    precedence: Precedence,
    channel_order: ChannelOrder,
    multi_plane: bool,
    planes_per_die: u32,
    sequence: u64,
    hash: u64,
    instant: bool,
    /// Attempts of the page read last, where cells age.
    pub(crate) attempts: u8,
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
    /// Idle dies and channels around `chip`, with room for so many operations of the host and of moves.
    pub fn new(
        cfg: &Sections,
        read_voltage: &read_voltage::Config,
        layout: &Layout,
        chip: Chip,
        room: Room,
    ) -> Self {
        let mut read_voltage = read_voltage::Policy::build(read_voltage);
        if let Some(cells) = chip.cells() {
            read_voltage.learn(cells);
        }
        Flash {
            pool: OpPool::new(room.host, room.moves, layout.units_per_page),
            chip,
            counts: FlashCounts {
                die_busy_ns: vec![0; layout.dies as usize],
                channel_busy_ns: vec![0; layout.channels as usize],
                ..FlashCounts::default()
            },
            now: SimTime::ZERO,
            done: Vec::with_capacity(room.host + room.moves),
            timing: Timing::new(cfg),
            read_voltage,
            dies: vec![Die::new(); layout.dies as usize],
            channels: vec![Channel::new(layout.dies_per_channel); layout.channels as usize],
            channel_of_die: (0..layout.dies).map(|die| die / layout.dies_per_channel).collect(),
            precedence: Precedence {
                order: cfg.scheduling.order,
                bypass_limit: cfg.scheduling.read_bypass_limit,
                reclaim: cfg.scheduling.reclaim,
                due_bypass_limit: cfg.scheduling.due_bypass_limit,
            },
            channel_order: cfg.scheduling.channel,
            multi_plane: cfg.scheduling.multi_plane,
            planes_per_die: layout.planes_per_die,
            sequence: 0,
            hash: 0,
            instant: false,
            attempts: 0,
        }
    }

    /// Operations that can still be issued for the host.
    #[inline]
    pub fn host_room(&self) -> usize {
        self.pool.host_room()
    }

    /// A hash of every operation done so far, with its time.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The counters at `now`, with what dies and channels are in the middle of up to then.
    pub fn counts_until(&self, now: SimTime) -> FlashCounts {
        let mut counts = self.counts.clone();
        for (ns, die) in counts.die_busy_ns.iter_mut().zip(&self.dies) {
            *ns += if die.is_busy() { now.since(die.busy_since) } else { 0 };
        }
        for (ns, channel) in counts.channel_busy_ns.iter_mut().zip(&self.channels) {
            // A transfer is counted when it begins.
            *ns = ns.saturating_sub(channel.free_at.since(now));
        }
        counts
    }

    /// Sets the counters back to zero; what dies and channels are in the middle of counts from `now` on.
    pub fn reset_counts(&mut self, now: SimTime) {
        let counts = std::mem::take(&mut self.counts);
        (self.counts.die_busy_ns, self.counts.channel_busy_ns) = (counts.die_busy_ns, counts.channel_busy_ns);
        for (ns, die) in self.counts.die_busy_ns.iter_mut().zip(&mut self.dies) {
            (*ns, die.busy_since) = (0, now);
        }
        for (ns, channel) in self.counts.channel_busy_ns.iter_mut().zip(&self.channels) {
            *ns = channel.free_at.since(now);
        }
    }

    /// Puts an operation in its die's queue; [`Flash::start`] follows when all that is issued together is there.
    #[inline]
    pub fn enqueue(&mut self, id: OpId, now: SimTime) {
        self.sequence += 1;
        let op = self.pool.get_mut(id);
        (op.queued, op.mark, op.sequence) = (now, now, self.sequence);
        let die = &mut self.dies[op.at.die as usize];
        die.queue(&mut self.pool, self.precedence.order, id, false);
        if self.chip.ages() {
            self.prepare(id);
        }
    }

    /// Lets the die of an operation just queued begin with it, if it is free.
    #[inline]
    pub fn start(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        self.start_next(self.pool.get(id).at.die, now, events);
    }

    /// Applies an operation at once: the functional executor.
    #[inline]
    pub fn apply(&mut self, id: OpId) {
        let op = self.pool.get_mut(id);
        (op.queued, op.times) = (self.now, op::OpTimes::default());
        self.finish(id);
    }

    /// Applies an operation that is in no queue at once.
    #[inline]
    pub fn do_at_once(&mut self, op: &mut Op) {
        self.attempts = 0;
        op.outcome = self.perform(op.kind, op.cause, op.ppn, op.at);
        op.attempts = self.attempts;
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
    #[inline]
    pub fn perform(&mut self, kind: OpKind, cause: Cause, ppn: Ppn, at: PageAddress) -> Outcome {
        let outcome = match kind {
            OpKind::Read => {
                self.chip.read(at.block, at.page);
                if self.chip.ages() { self.sense(at).1 } else { Outcome::Pass }
            }
            OpKind::Program | OpKind::Copyback => self.chip.program(at.block, at.page),
            OpKind::Erase => self.chip.erase(at.block),
        };
        if outcome == Outcome::Fail && kind != OpKind::Read {
            let fails = if kind == OpKind::Erase {
                &mut self.counts.erase_fails
            } else {
                &mut self.counts.program_fails
            };
            *fails += 1;
        }
        self.record(kind, cause, ppn, outcome);
        outcome
    }

    /// Counts an operation that is over, and adds it to the hash.
    #[inline]
    fn record(&mut self, kind: OpKind, cause: Cause, ppn: Ppn, outcome: Outcome) {
        self.counts.ops[kind as usize][cause as usize] += 1;
        if kind == OpKind::Read && self.chip.ages() {
            self.count_attempts(cause, outcome);
        }
        let lost = u64::from(kind == OpKind::Read && outcome == Outcome::Fail);
        let what = lost << 63 | u64::from(ppn.0) << 8 | (kind as u64) << 4 | cause as u64;
        self.hash = (self.hash ^ self.now.0.rotate_left(20) ^ mix(what)).wrapping_mul(SPREAD).rotate_left(29);
    }

    /// Handles an event of a die or a channel.
    #[inline]
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

    /// Gives the next operation (with those that can join it in other planes) to a die that can take one.
    fn start_next(&mut self, die_index: u32, now: SimTime, events: &mut EventQueue) {
        let die = &mut self.dies[die_index as usize];
        if die.interface != Interface::Idle
            || (die.array.is_some() && !Self::may_stage(&self.timing, die, &self.pool))
        {
            return;
        }
        let leader = die.take_next(&self.pool, self.precedence);
        if !leader.is_some() {
            return;
        }
        if !die.array.is_some() {
            die.busy_since = now;
        }
        (die.io, die.interface) = (leader, Interface::WaitIn);
        if self.multi_plane && self.planes_per_die > 1 {
            self.gather_group(die_index, leader);
        }
        self.account(leader, now, Stretch::DieWait);
        self.ask_channel(die_index, now, events);
    }

    /// With cache operations the next of the same kind may be sent: the data of a program while the array works, the
    /// command of a read when the array has the page and before its data leaves (ONFI: 15h needs the cache register,
    /// 31h a ready chip).
    fn may_stage(timing: &Timing, die: &Die, pool: &OpPool) -> bool {
        if !timing.cache_operations() {
            return false;
        }
        let busy = pool.get(die.array).kind;
        let heads = [die.reads.head, die.others.head];
        let waiting = heads.iter().filter(|id| id.is_some());
        matches!((busy, die.array_done), (OpKind::Read, true) | (OpKind::Program, false))
            && waiting.clone().count() > 0
            && waiting.clone().all(|&id| pool.get(id).kind == busy)
    }

    /// Lets operations at the head of the leader's queue join it: same kind, same page number, each another plane.
    fn gather_group(&mut self, die_index: u32, leader: OpId) {
        let first = *self.pool.get(leader);
        let die = &mut self.dies[die_index as usize];
        let from_reads = Die::is_read(self.precedence.order, &first);
        let (mut planes, mut last) = (1u64 << first.at.plane, leader);
        // An erase must not pass a read that was issued before it: the read may be of the block it erases.
        let oldest_read = die.reads.head;
        let limit = if oldest_read.is_some() { self.pool.get(oldest_read).sequence } else { u64::MAX };
        loop {
            let head = if from_reads { die.reads.head } else { die.others.head };
            if !head.is_some() {
                break;
            }
            let op = self.pool.get(head);
            if op.kind == OpKind::Erase && op.sequence > limit {
                break;
            }
            let fits = op.kind == first.kind && (op.at.page == first.at.page || op.kind == OpKind::Erase);
            if !fits || planes >> op.at.plane & 1 == 1 || op.kind == OpKind::Copyback {
                break;
            }
            planes |= 1 << op.at.plane;
            let id = die.pop(&self.pool, from_reads);
            self.pool.get_mut(last).follower = id;
            last = id;
        }
        self.counts.groups += u64::from(last != leader);
    }

    /// Books the time since each group member's last mark.
    #[inline]
    fn account(&mut self, leader: OpId, until: SimTime, stretch: Stretch) {
        let mut id = leader;
        while id.is_some() {
            let op = self.pool.get_mut(id);
            let ns = until.since(op.mark);
            op.mark = until;
            match stretch {
                Stretch::DieWait => op.times.die_wait += ns,
                Stretch::ChannelWait => op.times.channel_wait += ns,
                Stretch::Array => op.times.array += ns,
                Stretch::Transfer => op.times.transfer += ns,
            }
            id = op.follower;
        }
    }

    #[inline]
    fn ask_channel(&mut self, die_index: u32, now: SimTime, events: &mut EventQueue) {
        let channel_index = self.channel_of_die[die_index as usize];
        let channel = &mut self.channels[channel_index as usize];
        if channel.free_at <= now && !channel.has_waiting() {
            self.grant_channel(channel_index, die_index, now, events);
            return;
        }
        let die = &self.dies[die_index as usize];
        let command = || self.pool.get(die.io).kind;
        channel.wait(die_index, channel::goes_first(self.channel_order, die.interface, command));
        if !channel.wake {
            channel.wake = true;
            events.push(channel.free_at, EventKind::ChannelFree, channel_index);
        }
    }

    fn grant_channel(&mut self, channel_index: u32, die_index: u32, now: SimTime, events: &mut EventQueue) {
        let die = &self.dies[die_index as usize];
        let (leader, sending, outward) = (die.io, die.sending, die.interface == Interface::WaitOut);
        let ns = if outward {
            self.timing.out_ns(self.pool.get(sending))
        } else {
            self.group(leader).map(|op| self.timing.in_ns(op)).sum()
        };
        let end = SimTime(now.0 + ns);
        self.channels[channel_index as usize].free_at = end;
        self.counts.channel_busy_ns[channel_index as usize] += ns;
        let die = &mut self.dies[die_index as usize];
        if outward {
            die.interface = Interface::Out;
            self.account(sending, now, Stretch::ChannelWait);
            let op = self.pool.get_mut(sending);
            (op.times.transfer, op.mark) = (op.times.transfer + ns, end);
            events.push(end, EventKind::OutDone, die_index);
            return;
        }
        die.interface = Interface::In;
        self.account(leader, now, Stretch::ChannelWait);
        self.account(leader, end, Stretch::Transfer);
        if self.timing.cache_operations() {
            events.push(end, EventKind::InDone, die_index);
        } else {
            self.start_array(die_index, end, events);
        }
    }

    fn group(&self, leader: OpId) -> impl Iterator<Item = &Op> {
        let first = leader.is_some().then(|| self.pool.get(leader));
        std::iter::successors(first, |op| op.follower.is_some().then(|| self.pool.get(op.follower)))
    }

    /// Moves the group on the interface to the array, which works from `start` on.
    fn start_array(&mut self, die_index: u32, start: SimTime, events: &mut EventQueue) {
        let leader = self.dies[die_index as usize].io;
        let ns = self.group(leader).map(|op| self.timing.array_ns(op)).max().unwrap_or(0);
        let end = SimTime(start.0 + ns);
        let die = &mut self.dies[die_index as usize];
        (die.array, die.array_done) = (leader, false);
        (die.io, die.interface) = (OpId::NONE, Interface::Idle);
        self.account(leader, start, Stretch::DieWait);
        self.account(leader, end, Stretch::Array);
        events.push(end, EventKind::ArrayDone, die_index);
    }

    fn on_in_done(&mut self, die_index: u32, now: SimTime, events: &mut EventQueue) {
        let die = &mut self.dies[die_index as usize];
        if die.array.is_some() {
            die.interface = Interface::Staged;
            if die.array_done {
                self.send_out(die_index, now, events);
            }
            return;
        }
        self.start_array(die_index, now, events);
        self.start_next(die_index, now, events);
    }

    fn on_array_done(&mut self, die_index: u32, now: SimTime, events: &mut EventQueue) {
        let die = &mut self.dies[die_index as usize];
        let leader = die.array;
        if self.pool.get(leader).kind == OpKind::Read {
            die.array_done = true;
            if self.timing.cache_operations() {
                self.start_next(die_index, now, events);
            }
            if self.dies[die_index as usize].interface == Interface::Idle {
                self.send_out(die_index, now, events);
            }
            return;
        }
        die.array = OpId::NONE;
        let staged = die.interface == Interface::Staged;
        if staged {
            self.start_array(die_index, now, events);
        } else if self.dies[die_index as usize].interface == Interface::Idle {
            self.end_busy(die_index, now);
        }
        let mut id = leader;
        while id.is_some() {
            let follower = self.pool.get(id).follower;
            self.finish(id);
            id = follower;
        }
        self.start_next(die_index, now, events);
    }

    /// The array's data moves to the interface; a read command staged there starts in the array.
    fn send_out(&mut self, die_index: u32, now: SimTime, events: &mut EventQueue) {
        let die = &mut self.dies[die_index as usize];
        let sender = die.array;
        (die.array, die.array_done) = (OpId::NONE, false);
        if die.interface == Interface::Staged {
            self.start_array(die_index, now, events);
        }
        self.account(sender, now, Stretch::DieWait);
        let die = &mut self.dies[die_index as usize];
        (die.io, die.sending, die.interface) = (sender, sender, Interface::WaitOut);
        self.ask_channel(die_index, now, events);
    }

    fn on_out_done(&mut self, die_index: u32, now: SimTime, events: &mut EventQueue) {
        let die = &mut self.dies[die_index as usize];
        let sent = die.sending;
        let next = self.pool.get(sent).follower;
        if next.is_some() {
            (die.sending, die.interface) = (next, Interface::WaitOut);
            self.on_sent(sent, now, events);
            self.ask_channel(die_index, now, events);
            return;
        }
        (die.io, die.sending, die.interface) = (OpId::NONE, OpId::NONE, Interface::Idle);
        if !die.array.is_some() {
            self.end_busy(die_index, now);
        }
        self.on_sent(sent, now, events);
        // A cache read whose page the array has ready lets the next command in first: the array works during output.
        self.start_next(die_index, now, events);
        let die = &self.dies[die_index as usize];
        if die.array_done && die.interface == Interface::Idle {
            self.send_out(die_index, now, events);
        }
    }

    #[inline]
    fn end_busy(&mut self, die_index: u32, now: SimTime) {
        let since = self.dies[die_index as usize].busy_since;
        self.counts.die_busy_ns[die_index as usize] += now.since(since);
    }

    fn on_channel_free(&mut self, channel_index: u32, now: SimTime, events: &mut EventQueue) {
        let channel = &mut self.channels[channel_index as usize];
        channel.wake = false;
        if let Some(die_index) = channel.next() {
            if self.channel_order == ChannelOrder::DataFirst {
                self.choose_again(die_index, now);
            }
            self.grant_channel(channel_index, die_index, now, events);
        }
        let channel = &mut self.channels[channel_index as usize];
        if channel.has_waiting() && !channel.wake {
            channel.wake = true;
            events.push(channel.free_at, EventKind::ChannelFree, channel_index);
        }
    }

    /// With data first a die decides what it sends when the channel is there (MQSim looks at a chip's queues only
    /// then): reads that came meanwhile go before programs and erases.
    fn choose_again(&mut self, die_index: u32, now: SimTime) {
        let die = &mut self.dies[die_index as usize];
        let count = die.put_back(&mut self.pool, self.precedence);
        if count == 0 {
            return;
        }
        // Counted when it was gathered; the counters may have been reset since.
        self.counts.groups = self.counts.groups.saturating_sub(u64::from(count > 1));
        let leader = die.pop(&self.pool, true);
        (die.io, die.interface) = (leader, Interface::WaitIn);
        if self.multi_plane && self.planes_per_die > 1 {
            self.gather_group(die_index, leader);
        }
        self.account(leader, now, Stretch::DieWait);
    }

    /// What the chip says of an operation, once it is over.
    #[inline]
    fn finish(&mut self, id: OpId) {
        let Op { kind, cause, ppn, at, attempts, outcome, .. } = *self.pool.get(id);
        let outcome = if attempts > 0 {
            // The first attempt has told what becomes of it.
            self.chip.read(at.block, at.page);
            self.attempts = attempts;
            self.record(kind, cause, ppn, outcome);
            outcome
        } else {
            self.attempts = 0;
            self.perform(kind, cause, ppn, at)
        };
        let tried = self.attempts;
        let op = self.pool.get_mut(id);
        op.attempts = op.attempts.max(if kind == OpKind::Read { tried } else { 0 });
        (op.follower, op.outcome) = (OpId::NONE, outcome);
        self.done.push(id);
    }
}
