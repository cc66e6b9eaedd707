//! A restored flash: every operation under way is somewhere once, and everything due belongs to one.

use super::die::{Die, IN_A_ROW, Interface, is_sorted};
use super::op::{Op, OpTimes, Spent};
use super::rows::{Outcomes, Stops};
use super::{Flash, OpPool};
use crate::events::EventKind;
use crate::restore::{MOST, Verdict, alike, distinct, ensure, keep_room, within};
use crate::units::{OpId, SimTime};

impl OpPool {
    fn restored(&mut self, fresh: &OpPool, check_place: &dyn Fn(&Op) -> Verdict) -> Verdict {
        alike("operations", &self.ops, &fresh.ops)?;
        alike("times of operations", &self.spent, &fresh.spent)?;
        alike("units of operations", &self.units, &fresh.units)?;
        self.stride = fresh.stride;
        distinct("free operations", self.free.iter().copied(), self.ops.len())?;
        keep_room(&mut self.free, &fresh.free);
        self.iter().try_for_each(|(id, op)| self.check_op(id, op, check_place))?;
        let host = self.iter().filter(|(_, op)| op.cause.is_for_host()).count();
        ensure(host + self.host_room == fresh.host_room, "operations that may be issued for the host")
    }

    fn check_op(&self, id: OpId, op: &Op, check_place: &dyn Fn(&Op) -> Verdict) -> Verdict {
        check_place(op)?;
        ensure(usize::from(op.units) <= self.stride, "an operation on more units than a page has")?;
        let attempts = if op.kind.reads() { op.attempts_due } else { 0 };
        ensure(op.attempts <= attempts, "more attempts than are due")?;
        let Spent { queued, times, mark } = *self.spent(id);
        let OpTimes { die_wait, channel_wait, array, transfer, decode, suspended } = times;
        let times =
            [die_wait, channel_wait, array, transfer, decode, suspended, queued.0, mark.0].into_iter();
        ensure(times.max() < Some(MOST), "times of an operation")
    }
}

impl Flash {
    /// Keeps what policies of another flash ask for. Ages of blocks are to be told anew.
    pub(crate) fn keep_as(&mut self, other: &Flash) {
        self.age_ranges = other.age_ranges.clone();
        // Nothing is under way that somebody would have to watch still.
        self.watches = other.watches;
        if let (Some(aging), Some(other)) = (self.chip.aging_mut(), other.chip.aging()) {
            aging.keep_as(other);
        }
    }

    /// Takes what follows from the configuration from a fresh flash, and checks the rest; who knows where pages are
    /// says whether an operation is at its page.
    pub(crate) fn restored(&mut self, fresh: Flash, check_place: &dyn Fn(&Op) -> Verdict) -> Verdict {
        (self.rules, self.read_voltage) = (fresh.rules, fresh.read_voltage);
        self.preemption = fresh.preemption;
        self.watches |= fresh.watches;
        self.chip.restored(fresh.chip)?;
        alike("ranges of blocks' ages", &self.age_ranges, &fresh.age_ranges)?;
        alike("dies", &self.dies, &fresh.dies)?;
        alike("channels", &self.channels, &fresh.channels)?;
        self.dies.iter_mut().zip(&fresh.dies).for_each(|(die, fresh)| die.channel = fresh.channel);
        let counts = self.counts.ops.iter().flatten().chain(&self.counts.retries);
        let of_stops = self.counts.suspends.iter().flatten().chain(&self.counts.suspends_per_erase);
        let counts = counts.chain(of_stops).chain(&self.counts.delayed_by_lower).chain([
            &self.counts.inversions,
            &self.counts.beyond_bound,
            &self.counts.bound_broken,
        ]);
        let counts = counts.chain(&self.counts.uncorrectable).copied();
        let counts = counts.chain(self.dies.iter().flat_map(|die| [die.busy_ns, die.array_ns]));
        let mut counts = counts.chain(self.channels.iter().map(|channel| channel.busy_ns));
        let lists = [&self.counts.die_busy_ns, &self.counts.die_array_ns, &self.counts.channel_busy_ns];
        ensure(lists.iter().all(|list| list.is_empty()), "counts of dies and channels")?;
        ensure(counts.all(|count| count < MOST), "counts of operations")?;
        let fails = [self.counts.program_fails, self.counts.erase_fails, self.counts.lock_fails];
        let others = fails.into_iter().chain([self.counts.groups, self.sequence]);
        ensure(others.max() < Some(MOST), "counts of operations")?;
        ensure(self.done.is_empty(), "operations that are done and not seen")?;
        keep_room(&mut self.done, &fresh.done);
        self.pool.restored(&fresh.pool, check_place)?;
        self.check_sources(&fresh.sources)?;
        let is_there = |op: &Op| !op.kind.reads() || op.at.page < self.chip.programmed_pages(op.at.block);
        ensure(self.pool.iter().all(|(_, op)| is_there(op)), "a read of an erased page")?;
        let types = self.rules.timing.page_types();
        let knows = |op: &Op| usize::from(op.page_type) < types && self.rules.timing.knows(op);
        ensure(self.pool.iter().all(|(_, op)| knows(op)), "type, mode or attempt of an operation")?;
        (0..self.channels.len()).try_for_each(|channel| self.check_channel(channel))
    }

    /// Operations that are linked from one on, each under way, at this die and not seen before.
    fn walk(
        &self,
        die: u32,
        from: OpId,
        by: fn(&Op) -> OpId,
        seen: &mut [bool],
    ) -> Result<Vec<OpId>, String> {
        let (mut at, mut found) = (from, Vec::new());
        while at.is_some() {
            let is_new = seen.get_mut(at.index()).is_some_and(|seen| !std::mem::replace(seen, true));
            ensure(is_new, "an operation is in two places, or in none")?;
            ensure(self.pool.get(at).at.die == die, "an operation is at another die than its page")?;
            found.push(at);
            at = by(self.pool.get(at));
        }
        Ok(found)
    }

    fn check_die(&self, number: u32, seen: &mut [bool]) -> Verdict {
        let die = &self.dies[number as usize];
        let (mut due, mut waiting, mut sorted) = (0, 0, 0);
        ensure(die.above_lower <= IN_A_ROW, "reads in a row")?;
        for (line, list) in die.lines.iter().enumerate() {
            let found = self.walk(number, list.head, |op| op.next, seen)?;
            let by = &self.rules.precedence;
            let is_here = |op: &Op| usize::from(op.line) == line && by.line_of(op) == op.line;
            let are_here = found.iter().all(|&id| is_here(self.pool.get(id)));
            ensure(are_here, "an operation in another line than its own")?;
            ensure(list.ends_with(found.last()), "the end of a die's queue")?;
            waiting += found.len();
            due += found.iter().filter(|&&id| self.pool.get(id).due).count();
            sorted += if is_sorted(line) { found.len() } else { 0 };
            let are_alone = found.iter().all(|&id| !self.pool.get(id).follower.is_some());
            ensure(are_alone, "operations are grouped before their turn")?;
        }
        ensure(die.due_is(due), "operations that are due at a die")?;
        ensure(die.sorted_is(sorted), "reads that are not medium at a die")?;
        ensure(die.waiting as usize == waiting, "operations that wait at a die")?;
        ensure(die.busy_since.max(die.array_since).0 < MOST, "since when a die is busy")?;
        let now = self.now.max(die.array_since);
        ensure(die.worked_until(now) <= die.busy_until(now), "how long an array has worked")?;
        let inward = matches!(die.interface, Interface::WaitIn | Interface::In | Interface::Staged);
        let outward = matches!(die.interface, Interface::WaitOut | Interface::Out);
        ensure(die.sending.is_some() == outward, "a die sends, or does not")?;
        ensure(die.io.is_some() == (inward || outward), "a die's interface holds something, or does not")?;
        let group = if outward { die.sending } else { die.io };
        let on_interface = self.walk(number, group, |op| op.follower, seen)?;
        let in_array = self.walk(number, die.array, |op| op.follower, seen)?;
        let alike = |ids: &[OpId]| ids.iter().all(|&id| self.pool.get(id).kind == self.pool.get(ids[0]).kind);
        ensure(alike(&on_interface) && alike(&in_array), "operations of several kinds in a group")?;
        let is_read = |id: OpId| self.pool.get(id).kind.reads();
        ensure(!outward || is_read(die.sending), "a die sends what it did not read")?;
        ensure(!die.array_done || (die.array.is_some() && is_read(die.array)), "an array has no page ready")?;
        self.check_stops(number, seen)?;
        let may_stage = self.rules.timing.cache_operations();
        ensure(may_stage || die.interface != Interface::Staged, "cache operations are off")
    }

    /// What is suspended at a die, and what is to be stopped.
    fn check_stops(&self, number: u32, seen: &mut [bool]) -> Verdict {
        let die = &self.dies[number as usize];
        let stops = &die.stops;
        let suspended = self.walk(number, stops.suspended, |op| op.follower, seen)?;
        ensure(self.rules.preempts || stops.is_idle(), "something is suspended, and nothing can be")?;
        let row = |id: OpId| self.pool.get(id).kind.row();
        let first = suspended.first().map(|&id| row(id));
        ensure(first.is_none_or(|first| first.stops != Stops::Never), "what is suspended cannot be")?;
        ensure(suspended.iter().all(|&id| Some(row(id)) == first), "operations of several kinds in a group")?;
        let is_other = |leader: OpId| leader.is_some() && row(leader).effect != Outcomes::Reads;
        let is_twice = stops.suspended.is_some() && (is_other(die.array) || is_other(die.io));
        ensure(!is_twice, "a program or an erase beside what is suspended")?;
        let waits = stops.suspended.is_some() && !die.is_busy();
        ensure(!waits || die.returning > 0, "what is suspended does not go on")?;
        ensure(stops.stop.is_none() || die.array.is_some() && !die.array_done, "nothing is there to stop")?;
        let stop_at = stops.stop.map_or(SimTime::ZERO, |stop| stop.at);
        ensure(stop_at <= die.ends && die.ends.0 < MOST, "when an array is stopped")?;
        let times = [stops.work, stops.sensing].into_iter().flat_map(|it| {
            [it.total_ns, it.done_ns, it.floor_ns, it.since.0, it.total_ns.saturating_sub(it.done_ns)]
        });
        let others = [stops.gate.0, stops.patience_ns].into_iter().chain(die.left.map(|left| left.0));
        let counts = stops.shares.into_iter().chain(stops.came);
        ensure(times.chain(others).chain(counts).all(|it| it < MOST), "times of what is stopped")?;
        let fits = [stops.work, stops.sensing].iter().all(|it| it.done_ns <= it.total_ns);
        ensure(fits && stops.at_once.iter().all(|&count| count <= stops.count), "suspends of an erase")
    }

    fn check_channel(&self, number: usize) -> Verdict {
        let channel = &self.channels[number];
        ensure(channel.free_at.0 < MOST, "until when a channel is taken")?;
        let of_channel = self.dies.iter().filter(|die| die.channel as usize == number).count();
        let mut waiting = channel.waiting(of_channel)?;
        waiting.sort_unstable();
        let waits = |die: &Die| matches!(die.interface, Interface::WaitIn | Interface::WaitOut);
        let expected = (0u32..).zip(&self.dies);
        let expected = expected.filter(|(_, die)| die.channel as usize == number && waits(die));
        let expected: Vec<u32> = expected.map(|(die, _)| die).collect();
        ensure(waiting == expected, "dies that wait for a channel")?;
        ensure(waiting.is_empty() || channel.wake, "dies wait for a channel that never wakes")
    }

    /// Checks what is due of dies, channels and reads being decoded against what they do; `due` are all events.
    pub(crate) fn check_due(&self, due: &[(SimTime, EventKind, u32)]) -> Verdict {
        let of = |kind: EventKind| due.iter().filter(move |event| event.1 == kind).map(|event| event.2);
        // The end of what was taken out of an array before may still be due, and is void.
        let ends = due.iter().filter(|event| event.1 == EventKind::ArrayDone);
        let ends = ends.map(|event| (event.0, Die::of_event(event.2)));
        within("arrays due", ends.clone().map(|(_, end)| end.0), self.dies.len())?;
        let ends = ends.filter(|&(at, (die, generation))| {
            let die = &self.dies[die as usize];
            (die.generation, die.ends) == (generation, at)
        });
        let ends = ends.map(|(_, end)| end);
        let arrays = distinct("arrays due", ends.map(|end| end.0), self.dies.len())?;
        let ins = distinct("commands due", of(EventKind::InDone), self.dies.len())?;
        let outs = distinct("pages due", of(EventKind::OutDone), self.dies.len())?;
        for (number, die) in self.dies.iter().enumerate() {
            ensure(arrays[number] == (die.array.is_some() && !die.array_done), "an array's end")?;
            ensure(ins[number] == (die.interface == Interface::In), "a command's end")?;
            ensure(outs[number] == (die.interface == Interface::Out), "a page's end")?;
        }
        let wakes = distinct("channels due", of(EventKind::ChannelFree), self.channels.len())?;
        let agree = wakes.iter().zip(&self.channels).all(|(&due, channel)| due == channel.wake);
        ensure(agree, "a channel's end")?;
        // What is under way and at no die is being decoded.
        let decoded = distinct("pages being decoded", of(EventKind::Decoded), self.pool.capacity())?;
        let mut returning = vec![0; self.dies.len()];
        let mut seen: Vec<bool> = self.pool.used().into_iter().map(|used| !used).collect();
        for number in 0..self.dies.len() {
            self.check_die(number as u32, &mut seen)?;
        }
        for (id, (&decoded, seen)) in (0..).map(OpId).zip(decoded.iter().zip(seen)) {
            ensure(decoded != seen, "an operation is nowhere")?;
            if decoded {
                let op = self.pool.get(id);
                ensure(op.kind.reads() && op.attempts > 0, "what is decoded was not read")?;
                returning[op.at.die as usize] += u32::from(op.attempts < op.attempts_due);
            }
        }
        let agree = self.dies.iter().zip(returning).all(|(die, count)| die.returning == count);
        ensure(agree, "reads that come back to a die")
    }
}
