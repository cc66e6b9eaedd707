//! The way of an operation: its die's queue, the channel inwards, the array, the channel outwards.
//!
//! A die has two places where an operation can be: on the interface and in the array. What goes from one to the next
//! does so in an event of its die, or of its channel if it had to wait for that.
//!
//! Cells that make errors are read attempt after attempt, until a page is decoded or nothing is left to try. Every
//! attempt senses the page, sends it over the channel and decodes it: tREAD = (tR + tDMA + tECC) for each (RealWear
//! Eq. 2.2). While the controller decodes, die and channel serve others; decoders are enough for all pages (assumed). A
//! read that comes back for another attempt goes before what else its die has to do.

use super::channel::{Channel, line_of};
use super::counts::{BOUNDARY, READ};
use super::die::{Die, Interface};
use super::dies::{Dies, Rules};
use super::op::{Cause, Op, OpPool, Turn};
use super::preemption;
use super::record::Record;
use super::rows::{Data, Joins};
use super::timing::Timing;
use super::{Flash, FlashCounts, Steps};
use crate::events::{EventKind, EventQueue};
use crate::nand::Chip;
use crate::sections::ChannelOrder;
use crate::units::{OpId, SimTime};

/// A die with its channel, and what else something that happens there may touch.
pub(super) struct At<'a> {
    pub number: u32,
    pub die: &'a mut Die,
    channel: &'a mut Channel,
    pub pool: &'a mut OpPool,
    pub rules: &'a Rules,
    pub preemption: &'a preemption::Policy,
    pub counts: &'a mut FlashCounts,
    steps: &'a mut Steps,
    /// Whether what reads wait for is watched ([`Dies::watches`]).
    watches: bool,
    pub now: SimTime,
    pub events: &'a mut EventQueue,
}

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
        if die.is_busy() && !rules.preempts && !rules.timing.cache_operations() {
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
        if self.dies.all[number as usize].waiting > 0 || self.dies.rules.preempts {
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
        if !at.die.array.is_some() {
            at.end_busy();
        }
        self.on_sent(sent, now, events);
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
        if self.dies.rules.channel == ChannelOrder::DataFirst {
            self.at(die, now, events).choose_again();
        }
        let mut at = self.at(die, now, events);
        if at.die.interface == Interface::WaitOut {
            at.grant_out()
        } else {
            at.grant_in()
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

    /// Begins with an operation that no other waits with.
    #[inline(always)]
    fn begin_alone(&mut self, id: OpId) {
        self.die.busy_since = self.now;
        (self.die.io, self.die.interface) = (id, Interface::WaitIn);
        self.ask_in();
    }

    /// An operation has left the queue for the interface, with those that join it.
    #[inline(always)]
    pub(super) fn take_in(&mut self, leader: OpId) {
        (self.die.io, self.die.interface) = (leader, Interface::WaitIn);
        if self.rules.groups {
            self.gather_group(leader);
        }
        self.note_taken(leader);
        self.book_die_wait(leader, self.now);
    }

    /// The same, for what is seldom done: where that is out of line, what is done always keeps all of it in registers.
    #[inline(always)]
    pub(super) fn apart(&mut self) -> At<'_> {
        At {
            number: self.number,
            die: self.die,
            channel: self.channel,
            pool: self.pool,
            rules: self.rules,
            preemption: self.preemption,
            counts: self.counts,
            steps: self.steps,
            watches: self.watches,
            now: self.now,
            events: self.events,
        }
    }

    /// An operation has left the line, with those that join it.
    #[inline(always)]
    pub(super) fn note_taken(&mut self, leader: OpId) {
        if self.watches {
            self.apart().watch_taken(leader);
        }
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

    /// Lets operations at the head of the leader's queue join it: same kind, same page number, each another plane.
    #[inline(always)]
    fn gather_group(&mut self, leader: OpId) {
        let line = self.pool.get(leader).line();
        if self.die.lines[line].head.is_some() {
            self.counts.groups += u64::from(Self::gather_more(self.die, self.pool, leader, line));
        }
    }

    /// The same where others wait; says whether any joined.
    fn gather_more(die: &mut Die, pool: &mut OpPool, leader: OpId, line: usize) -> bool {
        // Of blocks with different bits a cell none join: of one page number there is else but one type.
        let &Op { kind, at, page_type, .. } = pool.get(leader);
        let (mut planes, mut last) = (1u64 << at.plane, leader);
        // An erase must not pass a read that was issued before it: the read may be of the block it erases. What hides
        // data joins nothing.
        loop {
            let head = die.lines[line].head;
            if !head.is_some() {
                break;
            }
            let op = pool.get(head);
            if op.kind.erases() && die.has_older_read(pool, op.sequence) {
                break;
            }
            let joins = match kind.row().joins {
                Joins::Never => false,
                Joins::SamePage => op.at.page == at.page && op.page_type == page_type,
                Joins::Any => op.page_type == page_type,
            };
            if op.kind != kind || !joins || planes >> op.at.plane & 1 == 1 {
                break;
            }
            planes |= 1 << op.at.plane;
            let id = die.pop(pool, line);
            pool.get_mut(last).follower = id;
            last = id;
        }
        last != leader
    }

    /// Books the time since each group member's last mark as waiting for the die.
    #[inline(always)]
    pub(super) fn book_die_wait(&mut self, leader: OpId, until: SimTime) {
        let mut id = leader;
        while id.is_some() {
            let spent = self.pool.spent_mut(id);
            spent.times.die_wait += until.since(spent.mark);
            spent.mark = until;
            id = self.pool.get(id).follower;
        }
    }

    /// Books the array's work, which ends now, for each group member.
    #[inline(always)]
    fn book_array(&mut self, leader: OpId) {
        let mut id = leader;
        while id.is_some() {
            let spent = self.pool.spent_mut(id);
            spent.times.array += self.now.since(spent.mark);
            spent.mark = self.now;
            id = self.pool.get(id).follower;
        }
    }

    /// The interface wants to take something in.
    #[inline(always)]
    pub(super) fn ask_in(&mut self) {
        if self.channel.free_at <= self.now && !self.channel.has_waiting() {
            self.grant_in();
        } else {
            self.wait();
        }
    }

    /// The interface wants to send something out.
    #[inline(always)]
    fn ask_out(&mut self) {
        if self.channel.free_at <= self.now && !self.channel.has_waiting() {
            self.grant_out();
        } else {
            self.wait();
        }
    }

    /// Puts the die in the channel's line.
    #[inline(always)]
    fn wait(&mut self) {
        let op = self.pool.get(self.die.io);
        let line = line_of(self.rules.channel, self.die.interface, op.kind, op.line());
        self.channel.wait(self.number, line);
        if !self.channel.wake {
            self.channel.wake = true;
            self.events.push(self.channel.free_at, EventKind::ChannelFree, self.die.channel);
        }
    }

    /// The channel carries what goes into the die.
    #[inline(always)]
    fn grant_in(&mut self) {
        let leader = self.die.io;
        let (mut id, mut ns) = (leader, 0);
        while id.is_some() {
            let op = self.pool.get(id);
            ns += self.rules.timing.in_ns(op);
            id = op.follower;
        }
        let end = self.channel.carry(self.now, ns);
        let mut id = leader;
        while id.is_some() {
            let spent = self.pool.spent_mut(id);
            spent.times.channel_wait += self.now.since(spent.mark);
            spent.times.transfer += ns;
            spent.mark = end;
            id = self.pool.get(id).follower;
        }
        if self.rules.timing.cache_operations() {
            self.die.interface = Interface::In;
            self.events.push(end, EventKind::InDone, self.number);
        } else {
            self.start_array(end);
        }
    }

    /// The channel carries the data of one operation out of the die.
    #[inline(always)]
    fn grant_out(&mut self) {
        let sending = self.die.sending;
        let ns = self.rules.timing.out_ns(self.pool.get(sending));
        let end = self.channel.carry(self.now, ns);
        self.die.interface = Interface::Out;
        // Those of its group that are sent later wait for the channel meanwhile.
        let mut id = sending;
        while id.is_some() {
            let spent = self.pool.spent_mut(id);
            spent.times.channel_wait += self.now.since(spent.mark);
            spent.mark = self.now;
            id = self.pool.get(id).follower;
        }
        let spent = self.pool.spent_mut(sending);
        (spent.times.transfer, spent.mark) = (spent.times.transfer + ns, end);
        self.events.push(end, EventKind::OutDone, self.number);
    }

    /// Moves the group on the interface to the array, which works from `start` on.
    #[inline(always)]
    fn start_array(&mut self, start: SimTime) {
        let leader = self.die.io;
        let (mut id, mut ns) = (leader, 0);
        while id.is_some() {
            let op = self.pool.get(id);
            ns = ns.max(self.rules.timing.array_ns(op));
            self.steps.add(id, true);
            id = op.follower;
        }
        (self.die.array, self.die.array_done, self.die.array_since) = (leader, false, start);
        (self.die.io, self.die.interface) = (OpId::NONE, Interface::Idle);
        if self.rules.timing.cache_operations() {
            // What was staged has waited for the array.
            self.book_die_wait(leader, start);
        }
        let id = self.die.end_of_array(self.number);
        self.die.ends = SimTime(start.0 + ns);
        self.events.push(self.die.ends, EventKind::ArrayDone, id);
        if self.rules.preempts {
            self.apart().note_start(leader, start, ns);
        }
    }

    /// The array's data moves to the interface; a read command staged there starts in the array.
    #[inline(always)]
    fn send_out(&mut self) {
        let sender = self.die.array;
        (self.die.array, self.die.array_done) = (OpId::NONE, false);
        if self.rules.timing.cache_operations() {
            if self.die.interface == Interface::Staged {
                self.start_array(self.now);
            }
            // Its page was there before the interface was.
            self.book_die_wait(sender, self.now);
        }
        (self.die.io, self.die.sending, self.die.interface) = (sender, sender, Interface::WaitOut);
        self.ask_out();
    }

    #[inline(always)]
    pub(super) fn end_busy(&mut self) {
        self.die.busy_ns += self.now.since(self.die.busy_since);
    }

    /// The array's work ends now, or is stopped.
    #[inline(always)]
    pub(super) fn end_work(&mut self) {
        self.die.array_ns += self.now.since(self.die.array_since);
    }
}

#[cfg(test)]
mod tests;
