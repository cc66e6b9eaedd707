//! A die with its channel: what moves from its line to the interface, to the array and out, and what is booked of that.

use super::channel::{Channel, line_of};
use super::die::{Die, Interface};
use super::dies::Rules;
use super::op::{Op, OpPool};
use super::preemption;
use super::rows::Joins;
use super::wordlines::Wordlines;
use super::{FlashCounts, Steps};
use crate::events::{EventKind, EventQueue};
use crate::units::{OpId, SimTime};

/// A die with its channel, and what else something that happens there may touch.
pub(super) struct At<'a> {
    pub number: u32,
    pub die: &'a mut Die,
    pub channel: &'a mut Channel,
    pub pool: &'a mut OpPool,
    pub rules: &'a Rules,
    pub preemption: &'a preemption::Policy,
    pub counts: &'a mut FlashCounts,
    pub steps: &'a mut Steps,
    /// Whether what reads wait for is watched ([`super::dies::Dies::watches`]).
    pub watches: bool,
    pub now: SimTime,
    pub events: &'a mut EventQueue,
}

impl At<'_> {
    /// Begins with an operation that no other waits with.
    #[inline(always)]
    pub(super) fn begin_alone(&mut self, id: OpId) {
        self.die.busy_since = self.now;
        (self.die.io, self.die.interface) = (id, Interface::WaitIn);
        self.ask_in();
    }

    /// An operation has left the queue for the interface, with those that join it.
    #[inline(always)]
    pub(super) fn take_in(&mut self, leader: OpId) {
        (self.die.io, self.die.interface) = (leader, Interface::WaitIn);
        if self.rules.pages_of_program > 1 {
            self.apart().gather_wordlines(leader);
        } else if self.rules.groups {
            self.gather_group(leader);
        }
        self.note_taken(leader);
        self.book_die_wait(leader, self.now);
    }

    /// An operation has left the queue for the interface, and none joins it.
    pub(super) fn take_alone(&mut self, leader: OpId) {
        (self.die.io, self.die.interface) = (leader, Interface::WaitIn);
        self.note_taken(leader);
        self.book_die_wait(leader, self.now);
    }

    /// For what is seldom done: where that is out of line, what is done always keeps all of this in registers.
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

    /// Lets operations join where chips program wordlines at once.
    #[cold]
    #[inline(never)]
    fn gather_wordlines(&mut self, leader: OpId) {
        let At { die, pool, counts, rules, .. } = self.apart();
        if !(Wordlines { die, pool, counts, rules }).gather(leader) && self.rules.groups {
            self.gather_group(leader);
        }
    }

    /// Lets operations at the head of the leader's queue join it: same kind, same page number, each another plane.
    #[inline(always)]
    fn gather_group(&mut self, leader: OpId) {
        let line = self.pool.get(leader).line();
        if self.die.lines[line].head.is_some() {
            Self::gather_more(self.die, self.pool, self.counts, (leader, line));
        }
    }

    /// Lets those that wait at the head of a line join.
    fn gather_more(
        die: &mut Die,
        pool: &mut OpPool,
        counts: &mut FlashCounts,
        (leader, line): (OpId, usize),
    ) {
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
            counts.note_joined(op);
            let id = die.pop(pool, line);
            pool.get_mut(last).follower = id;
            last = id;
        }
        counts.groups += u64::from(last != leader);
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
    pub(super) fn book_array(&mut self, leader: OpId) {
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
    pub(super) fn ask_out(&mut self) {
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
    pub(super) fn grant_in(&mut self) {
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
    pub(super) fn grant_out(&mut self) {
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
    pub(super) fn start_array(&mut self, start: SimTime) {
        let leader = self.die.io;
        if self.rules.independent && self.pool.get(leader).kind.reads() {
            return self.apart().start_sensing(start);
        }
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
    pub(super) fn send_out(&mut self) {
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

    /// The read on the interface senses from `start` on.
    #[cold]
    #[inline(never)]
    pub(super) fn start_sensing(&mut self, start: SimTime) {
        let id = std::mem::replace(&mut self.die.io, OpId::NONE);
        self.die.interface = Interface::Idle;
        let op = self.pool.get(id);
        let planes = &mut self.die.planes;
        if planes.sensing == 0 {
            self.die.array_since = start;
        }
        planes.reads[op.at.plane as usize] = id;
        planes.held |= 1 << op.at.plane;
        planes.sensing |= 1 << op.at.plane;
        self.steps.add(id, true);
        let end = SimTime(start.0 + self.rules.timing.array_ns(op));
        self.events.push(end, EventKind::Sensed, id.0);
        if self.rules.preempts {
            self.die.stops.gate = start;
        }
    }

    /// A plane has its page ready.
    pub(super) fn end_sensing(&mut self, id: OpId) {
        self.book_array(id);
        self.die.planes.sensing &= !(1 << self.pool.get(id).at.plane);
        // What has its command on the way does not work yet.
        let next = self.die.planes.first(self.pool).map(|(_, since)| since);
        if next.is_none_or(|since| since > self.now) {
            self.end_work();
            self.die.array_since = next.unwrap_or(self.now);
        }
        self.die.planes.ready.push(self.pool, id);
    }

    /// The page that was ready first wants to leave.
    pub(super) fn send_ready(&mut self) {
        let id = self.die.planes.ready.pop(self.pool);
        self.book_die_wait(id, self.now);
        (self.die.io, self.die.sending, self.die.interface) = (id, id, Interface::WaitOut);
        self.ask_out();
    }

    /// The page of a read has left its plane.
    #[cold]
    pub(super) fn release_plane(&mut self, id: OpId) {
        let plane = self.pool.get(id).at.plane;
        self.die.planes.reads[plane as usize] = OpId::NONE;
        self.die.planes.held &= !(1 << plane);
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
