//! The way of an operation: its die's queue, the channel inwards, the array, the channel outwards.
//!
//! A die has two places where an operation can be: on the interface and in the array. What goes from one to the next
//! does so in an event of its die, or of its channel if it had to wait for that.
//!
//! Cells that make errors are read attempt after attempt, until a page is decoded or nothing is left to try. Every
//! attempt senses the page, sends it over the channel and decodes it: tREAD = (tR + tDMA + tECC) for each (RealWear
//! Eq. 2.2). While the controller decodes, die and channel serve others; decoders are enough for all pages (assumed). A
//! read that comes back for another attempt goes before what else its die has to do.
//!
//! While a group is suspended (`suspend.rs`) the next read goes by it in an event of the die, or it goes on.

use super::Flash;
use super::at::At;
use super::counts::{BOUNDARY, READ};
use super::die::{Die, Interface};
use super::dies::Dies;
use super::op::{Cause, OTHERS, Op, OpPool, Turn};
use super::record::Record;
use super::rows::{Data, Outcomes};
use super::timing::Timing;
use super::wordlines::spans_planes;
use crate::events::{EventKind, EventQueue};
use crate::nand::Chip;
use crate::sections::{ChannelOrder, ReclaimOrder};
use crate::units::{OpId, SimTime};

impl Flash {
    #[inline(always)]
    pub(super) fn at<'a>(&'a mut self, number: u32, now: SimTime, events: &'a mut EventQueue) -> At<'a> {
        self.at_beside_chip(number, now, events).0
    }

    /// The chips beside it, for what happens to them.
    #[inline(always)]
    fn at_beside_chip<'a>(
        &'a mut self,
        number: u32,
        now: SimTime,
        events: &'a mut EventQueue,
    ) -> (At<'a>, &'a mut Chip) {
        let Flash { pool, chip, record: Record { counts, .. }, dies, steps, .. } = self;
        let &mut Dies { watches, .. } = dies;
        let Dies { all, channels, rules, preemption, .. } = dies;
        let die = &mut all[number as usize];
        let channel = &mut channels[die.channel as usize];
        (At { number, die, channel, pool, rules, preemption, counts, steps, watches, now, events }, chip)
    }

    /// Gives an operation to its die, which begins with it at once if it has nothing else to do.
    #[inline]
    pub(crate) fn give_alone(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        self.dies.enter(id, &mut self.pool, &self.chip, now);
        let op = self.pool.get(id);
        let number = op.at.die;
        let die = &mut self.dies.all[number as usize];
        if die.is_idle() {
            die.pass_by(op);
            self.at(number, now, events).begin_alone(id);
        } else {
            die.queue(&mut self.pool, id, false);
            self.start_waiting(number, now, events);
        }
    }

    /// Something was put in line: the die begins with what is next if it is free; if not, a read may stop its work.
    #[inline(always)]
    pub(super) fn start_waiting(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        let (die, rules) = (&self.dies.all[number as usize], &self.dies.rules);
        if die.is_busy() && !rules.looks {
            return;
        }
        self.start_or_ask(number, now, events);
    }

    fn start_or_ask(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        let mut at = self.at(number, now, events);
        at.start_next();
        if at.rules.preempts {
            at.apart().ask();
        }
    }

    /// A die has done something: it begins with what is next.
    #[inline(always)]
    pub(super) fn start_next(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        if self.dies.may_begin(number) {
            self.start_or_go_on(number, now, events);
        }
    }

    fn start_or_go_on(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        self.at(number, now, events).start_next();
    }

    pub(super) fn on_in_done(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        let mut at = self.at(number, now, events);
        if at.die.array.is_some() {
            at.die.interface = Interface::Staged;
            if at.die.array_done {
                at.send_out();
            }
            return;
        }
        at.start_array(now);
        at.start_next();
    }

    #[cold]
    #[inline(never)]
    fn on_stopped(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        let (mut at, chip) = self.at_beside_chip(number, now, events);
        at.on_stopped(chip);
    }

    #[inline]
    pub(super) fn on_array_done(&mut self, id: u32, now: SimTime, events: &mut EventQueue) {
        let (number, generation) = Die::of_event(id);
        let mut at = self.at(number, now, events);
        if at.die.generation != generation {
            // What would end now was taken out of the array.
            return;
        }
        if at.rules.preempts {
            if at.die.ends != now {
                return;
            }
            if at.die.stops.stop.is_some() {
                return self.on_stopped(number, now, events);
            }
        }
        let leader = at.die.array;
        at.book_array(leader);
        at.end_work();
        if at.pool.get(leader).kind.reads() {
            at.die.array_done = true;
            if at.rules.timing.cache_operations() {
                at.start_next();
            }
            if at.die.interface == Interface::Idle {
                at.send_out();
            }
            return;
        }
        at.die.array = OpId::NONE;
        if at.die.interface == Interface::Staged {
            at.start_array(now);
        } else if at.die.interface == Interface::Idle {
            at.end_busy();
        }
        let mut id = leader;
        while id.is_some() {
            let &Op { follower, kind, at, .. } = self.pool.get(id);
            self.finish(id);
            if self.dies.rules.preempts && kind.erases() {
                self.dies.note_erased((number, at.block), &mut self.record.counts, &mut self.chip);
            }
            id = follower;
        }
        self.start_next(number, now, events);
    }

    /// Stops what the array of a die does before its end (ONFI's RESET). It goes back to the head of its queue, to be
    /// done again from its beginning, and its end, already announced, is void; so does, behind it, what was staged to
    /// follow it: pages are programmed in order. The time they took counts. Returns the operations that were in the
    /// array; none where it has not begun, or has done its work, or the die is taking in what follows.
    pub fn stop_array(&mut self, number: u32, now: SimTime, events: &mut EventQueue) -> u32 {
        let mut at = self.at(number, now, events);
        let leader = at.die.array;
        let takes_in = matches!(at.die.interface, Interface::WaitIn | Interface::In);
        if !leader.is_some() || at.die.array_done || takes_in || at.pool.spent(leader).mark > now {
            return 0;
        }
        at.book_array(leader);
        at.end_work();
        at.die.array = OpId::NONE;
        at.die.stops.stop = None;
        at.die.generation = at.die.generation.wrapping_add(1);
        if at.die.interface == Interface::Staged {
            at.die.give_back(at.pool, at.die.io);
            (at.die.io, at.die.interface) = (OpId::NONE, Interface::Idle);
        }
        let count = at.die.give_back(at.pool, leader);
        if at.die.interface == Interface::Idle {
            at.end_busy();
            at.start_next();
        }
        count
    }

    #[inline]
    pub(super) fn on_out_done(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        let mut at = self.at(number, now, events);
        let sent = at.die.sending;
        if at.watches {
            note_sent(at.die, at.pool.get(sent), now);
        }
        let next = at.pool.get(sent).follower;
        if next.is_some() {
            (at.die.sending, at.die.interface) = (next, Interface::WaitOut);
            self.on_sent(sent, now, events);
            self.at(number, now, events).ask_out();
            return;
        }
        (at.die.io, at.die.sending, at.die.interface) = (OpId::NONE, OpId::NONE, Interface::Idle);
        if at.rules.independent {
            at.release_plane(sent);
        }
        if !at.die.is_busy() {
            at.end_busy();
        }
        self.on_sent(sent, now, events);
        if !self.dies.may_begin(number) {
            return;
        }
        // A cache read whose page the array has ready lets the next command in first: the array works during output.
        let mut at = self.at(number, now, events);
        at.start_next();
        if at.die.array_done && at.die.interface == Interface::Idle {
            at.send_out();
        }
    }

    pub(super) fn on_channel_free(&mut self, number: u32, now: SimTime, events: &mut EventQueue) {
        let channel = &mut self.dies.channels[number as usize];
        channel.wake = false;
        let Some(die) = channel.next(self.dies.rules.channel) else { return };
        // Planes that read on their own have chosen for good: the next choice depends on what is held then.
        if self.dies.rules.channel == ChannelOrder::DataFirst && !self.dies.rules.independent {
            self.at(die, now, events).choose_again();
        }
        let mut at = self.at(die, now, events);
        if at.die.interface == Interface::WaitOut {
            at.grant_out();
        } else {
            at.grant_in();
            if at.rules.independent {
                at.apart().start_planes();
            }
        }
        let At { channel, events, .. } = at;
        if channel.has_waiting() && !channel.wake {
            channel.wake = true;
            events.push(channel.free_at, EventKind::ChannelFree, number);
        }
    }

    /// The data of an attempt is in the controller.
    #[inline(always)]
    pub(super) fn on_sent(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        if self.chip.ages() { self.on_attempt(id, now, events) } else { self.finish_read(id) }
    }

    fn on_attempt(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        let &Op { at, cause, attempts, .. } = self.pool.get(id);
        let is_lost = self.chip.is_lost(at.block, at.page, self.now);
        if attempts == 0 {
            let (due, outcome) = self.sense(at, cause, is_lost);
            let op = self.pool.get_mut(id);
            (op.attempts_due, op.outcome) = (due, outcome);
        }
        let op = self.pool.get_mut(id);
        op.attempts += 1;
        op.turn = Turn::First;
        self.dies.all[at.die as usize].returning += u32::from(op.attempts < op.attempts_due);
        let decode_ns = self.dies.rules.timing.decode_ns(op);
        let spent = self.pool.spent_mut(id);
        spent.times.decode += decode_ns;
        spent.mark = SimTime(now.0 + decode_ns);
        if decode_ns == 0 {
            self.on_decoded(id, now, events);
        } else {
            events.push(spent.mark, EventKind::Decoded, id.0);
        }
    }

    /// A plane has sensed the page of a read.
    pub(super) fn on_sensed(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        let mut at = self.at(self.pool.get(id).at.die, now, events);
        at.end_sensing(id);
        at.start_planes();
    }

    /// An attempt is decoded, or has failed: the read is over, or the page is read again.
    pub(super) fn on_decoded(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        let &Op { at, attempts, attempts_due, .. } = self.pool.get(id);
        if attempts >= attempts_due {
            return self.finish(id);
        }
        let attempt = self.chip.attempt(self.pool.get(id).mode, attempts);
        let op = self.pool.get_mut(id);
        op.attempt_kind = Timing::kind_of(attempt);
        op.follower = OpId::NONE;
        let die = &mut self.dies.all[at.die as usize];
        die.returning -= 1;
        die.queue(&mut self.pool, id, true);
        if let Some(by) = die.more_urgent_than(self.pool.get(id)) {
            self.record.counts.suspends[READ + BOUNDARY][by as usize] += 1;
        }
        self.start_waiting(at.die, now, events);
    }
}

/// The data of a read has left its die.
#[cold]
#[inline(never)]
fn note_sent(die: &mut Die, op: &Op, now: SimTime) {
    die.stops.gate = now;
    if op.cause == Cause::Host {
        die.left[op.priority as usize] = now;
    }
}

impl At<'_> {
    /// Gives the next operation (with those that can join it in other planes) to the die, if it can take one.
    #[inline(always)]
    pub(super) fn start_next(&mut self) {
        let may_start = !self.die.array.is_some() || Self::may_stage(self.die, self.pool, &self.rules.timing);
        if self.die.interface != Interface::Idle || !may_start {
            return;
        }
        if self.rules.independent {
            return self.apart().start_planes();
        }
        if self.rules.preempts && self.die.stops.suspended.is_some() {
            return self.apart().go_on();
        }
        let leader = self.die.take_next(self.pool, &self.rules.precedence);
        if !leader.is_some() {
            return;
        }
        if !self.die.array.is_some() {
            self.die.busy_since = self.now;
        }
        self.take_in(leader);
        self.ask_in();
    }

    /// The array of a die stands still: reads go by what it did.
    #[cold]
    fn on_stopped(&mut self, chip: &mut Chip) {
        let Some(stop) = self.die.stops.stop.take() else { return };
        let leader = std::mem::replace(&mut self.die.array, OpId::NONE);
        self.book_stop(leader, stop.at);
        self.end_work();
        let kind = self.pool.get(leader).kind;
        let row = self.note_stop(kind, stop);
        self.counts.suspends[row][stop.by as usize] += 1;
        if kind.reads() {
            let mut id = leader;
            while id.is_some() {
                let op = self.pool.get_mut(id);
                op.turn = Turn::Again;
                let &mut Op { follower, at: page, priority, cause, .. } = op;
                if cause == Cause::Host {
                    self.die.left[priority as usize] = self.now;
                }
                // What was sensed so far disturbs as a read does (RealWear section 4.2.3).
                chip.break_off(page.block, page.page);
                id = follower;
            }
            self.die.give_back(self.pool, leader);
            self.die.stops.read_stopped = self.now;
            // Who stopped it goes in its place.
            self.die.stops.passed = self.die.stops.passed.saturating_sub(1);
        } else {
            self.note_progress(leader, stop);
            (self.die.stops.suspended, self.die.stops.passed) = (leader, 0);
        }
        self.end_busy();
        self.start_next();
    }

    /// With something suspended and the die free: the next read goes by, or it goes on.
    #[cold]
    fn go_on(&mut self) {
        let leader = self.die.stops.suspended;
        let programs = self.pool.get(leader).kind.row().effect == Outcomes::Programs;
        if self.die.stops.passed < self.may_pass(leader) && !self.die.pressed {
            let read = match programs {
                false if self.die.first_read().is_some() => self.die.pop_read(self.pool),
                false => OpId::NONE,
                true => self.free_read(leader),
            };
            if read.is_some() {
                self.die.stops.passed += 1;
                return self.begin_past(read, programs);
            }
            if self.die.returning > 0 {
                // It comes back at once.
                return;
            }
        }
        self.resume();
    }

    /// Begins with a read that goes by what is suspended, in a group of its own if others may be held up.
    fn begin_past(&mut self, leader: OpId, alone: bool) {
        self.die.busy_since = self.now;
        if alone {
            self.take_alone(leader);
        } else {
            self.take_in(leader);
        }
        self.ask_in();
    }

    /// Reads that may go by what is suspended.
    fn may_pass(&self, leader: OpId) -> u32 {
        let by = &self.rules.precedence;
        let is_due = self.die.has_due() || self.pool.get(leader).due;
        let limit =
            if is_due && by.reclaim == ReclaimOrder::Urgent { by.due_bypass_limit } else { by.bypass_limit };
        limit.max(1)
    }

    /// Takes the next read that is of no wordline in work: the most urgent, and of these the oldest.
    fn free_read(&mut self, leader: OpId) -> OpId {
        if !self.die.first_read().is_some() {
            return OpId::NONE;
        }
        if !self.is_any_held(leader) {
            return self.die.pop_read(self.pool);
        }
        for line in (0..OTHERS).rev() {
            let (mut before, mut id) = (OpId::NONE, self.die.lines[line].head);
            while id.is_some() {
                if !self.is_held(self.pool.get(id), leader) {
                    self.die.take_out(self.pool, line, before, id);
                    return id;
                }
                let held = self.pool.get_mut(id);
                held.alone = false;
                (before, id) = (id, held.next);
            }
        }
        OpId::NONE
    }

    /// Whether a read that waits is of a wordline in work.
    fn is_any_held(&self, leader: OpId) -> bool {
        let mut lines = self.die.lines[..OTHERS].iter();
        lines.any(|line| {
            let mut id = line.head;
            while id.is_some() {
                let op = self.pool.get(id);
                if self.is_held(op, leader) {
                    return true;
                }
                id = op.next;
            }
            false
        })
    }

    /// Begins with all for which there are planes, or lets a page out; the array does nothing else.
    #[cold]
    #[inline(never)]
    fn start_planes(&mut self) {
        while self.die.interface == Interface::Idle && !self.die.array.is_some() {
            let leader = if self.die.stops.suspended.is_some() {
                self.take_past()
            } else {
                self.die.take_next_of_planes(self.pool, &self.rules.precedence)
            };
            if leader.is_some() {
                self.begin_of_planes(leader);
            } else if self.die.planes.ready.head.is_some() {
                self.send_ready();
            } else {
                return self.resume_when_free();
            }
        }
    }

    /// Begins with an operation for which there are planes.
    fn begin_of_planes(&mut self, leader: OpId) {
        if !self.die.is_busy() {
            self.die.busy_since = self.now;
        }
        if self.pool.get(leader).kind.reads() {
            self.take_alone(leader);
        } else {
            self.take_in(leader);
        }
        self.ask_in();
    }

    /// Takes a read that goes by what is suspended.
    fn take_past(&mut self) -> OpId {
        let leader = self.die.stops.suspended;
        let programs = self.pool.get(leader).kind.row().effect == Outcomes::Programs;
        if self.die.stops.passed >= self.may_pass(leader) {
            return OpId::NONE;
        }
        let found = self.die.first_that(self.pool, |op| !programs || !self.is_held(op, leader));
        let Some(found) = found else { return OpId::NONE };
        self.die.stops.passed += 1;
        self.die.take_found(self.pool, &found)
    }

    /// What is suspended goes on, unless a plane is held, or a read that may go by comes back at once.
    fn resume_when_free(&mut self) {
        let leader = self.die.stops.suspended;
        if !leader.is_some() || self.die.planes.held != 0 {
            return;
        }
        if self.die.returning == 0 || self.die.stops.passed >= self.may_pass(leader) {
            self.resume();
        }
    }

    /// What is suspended goes on.
    fn resume(&mut self) {
        let leader = std::mem::replace(&mut self.die.stops.suspended, OpId::NONE);
        let since = SimTime(self.now.0 + self.rules.timing.resume_ns());
        let stops = &mut self.die.stops;
        stops.work.resume(since, self.preemption.min_run_ns());
        let end = stops.work.at(stops.work.total_ns);
        let mut id = leader;
        while id.is_some() {
            let spent = self.pool.spent_mut(id);
            spent.times.suspended += since.since(spent.mark);
            spent.mark = since;
            id = self.pool.get(id).follower;
        }
        (self.die.array, self.die.array_done) = (leader, false);
        (self.die.busy_since, self.die.array_since) = (self.now, self.now);
        self.announce(end);
        self.ask();
    }

    /// With data first a die decides what it sends when the channel is there (MQSim looks at a chip's queues only
    /// then): reads that came meanwhile go before programs and erases.
    #[cold]
    #[inline(never)]
    fn choose_again(&mut self) {
        let is_group = spans_planes(self.pool, self.die.io);
        let count = self.die.put_back(self.pool, &self.rules.precedence);
        if count == 0 {
            return;
        }
        // Counted when it was gathered; the counters may have been reset since.
        self.counts.groups = self.counts.groups.saturating_sub(u64::from(is_group));
        let leader = self.die.pop_read(self.pool);
        self.take_in(leader);
    }

    /// With cache operations the next of the same kind may be sent: the data of a program while the array works, the
    /// command of a read when the array has the page and before its data leaves (ONFI: 15h needs the cache register,
    /// 31h a ready chip).
    fn may_stage(die: &Die, pool: &OpPool, timing: &Timing) -> bool {
        if !timing.cache_operations() {
            return false;
        }
        let busy = pool.get(die.array).kind;
        let has_room = match busy.row().data {
            Data::Out => die.array_done,
            Data::In => !die.array_done,
            Data::None => false,
        };
        let heads = die.lines.map(|line| line.head);
        let waiting = heads.iter().filter(|id| id.is_some());
        has_room && waiting.clone().count() > 0 && waiting.clone().all(|&id| pool.get(id).kind == busy)
    }
}

#[cfg(test)]
mod tests;
