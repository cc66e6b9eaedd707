//! A restored flash: every operation under way is somewhere once, and everything due belongs to one.

use super::die::{Die, IN_A_ROW, Interface, is_sorted};
use super::dies::Dies;
use super::op::OpPool;
use super::op::{Op, OpTimes, Spent};
use super::rows::{Outcomes, Stops};
use crate::events::EventKind;
use crate::restore::{MOST, Verdict, alike, distinct, ensure, keep_room, within};
use crate::units::{OpId, SimTime};

impl OpPool {
    pub(super) fn restored(&mut self, fresh: &OpPool, check_place: &dyn Fn(&Op) -> Verdict) -> Verdict {
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

/// Operations that are linked from one on, each under way, at this die and not seen before.
fn walk(
    pool: &OpPool,
    die: u32,
    from: OpId,
    by: fn(&Op) -> OpId,
    seen: &mut [bool],
) -> Result<Vec<OpId>, String> {
    let (mut at, mut found) = (from, Vec::new());
    while at.is_some() {
        let is_new = seen.get_mut(at.index()).is_some_and(|seen| !std::mem::replace(seen, true));
        ensure(is_new, "an operation is in two places, or in none")?;
        ensure(pool.get(at).at.die == die, "an operation is at another die than its page")?;
        found.push(at);
        at = by(pool.get(at));
    }
    Ok(found)
}

/// Whether planes of a die are held by reads of theirs that sense, are ready or leave, and nothing else goes on then.
fn check_planes(die: &Die, number: u32, pool: &OpPool, seen: &mut [bool]) -> Verdict {
    let planes = &die.planes;
    let held = planes.reads.iter().filter(|id| id.is_some()).count();
    ensure(planes.held.count_ones() as usize == held, "planes that are held")?;
    ensure(planes.sensing & !planes.held == 0, "a plane senses for nobody")?;
    let ready = walk(pool, number, planes.ready.head, |op| op.next, seen)?;
    ensure(planes.ready.ends_with(ready.last()), "the end of the pages that are ready")?;
    let sensing = planes.sensing.count_ones() as usize;
    let sends = usize::from(die.sending.is_some() && held > 0);
    ensure(held == sensing + ready.len() + sends, "a plane is held, and does nothing")?;
    ensure(held == 0 || !die.array.is_some(), "a plane reads beside the array")?;
    for (plane, &id) in planes.reads.iter().enumerate().filter(|(_, id)| id.is_some()) {
        ensure(planes.held >> plane & 1 == 1 && id.index() < seen.len(), "planes that are held")?;
        let op = pool.get(id);
        ensure(
            op.kind.reads() && (op.at.die, op.at.plane as usize) == (number, plane),
            "a read of its plane",
        )?;
        let is_at_work = planes.sensing >> plane & 1 == 1;
        let is_known = is_at_work || ready.contains(&id) || die.sending == id;
        ensure(is_known && (!is_at_work || !seen[id.index()]), "a read is in two places, or in none")?;
    }
    Ok(())
}

impl Dies {
    /// Takes what follows from the configuration from fresh ones, and checks the rest.
    pub fn restored(&mut self, fresh: Dies) -> Verdict {
        alike("dies", &self.all, &fresh.all)?;
        alike("channels", &self.channels, &fresh.channels)?;
        let planes = |die: &Die| die.planes.reads.len();
        let are_alike = self.all.iter().zip(&fresh.all).all(|(die, fresh)| planes(die) == planes(fresh));
        ensure(are_alike, "planes that read on their own")?;
        self.all.iter_mut().zip(&fresh.all).for_each(|(die, fresh)| die.channel = fresh.channel);
        (self.rules, self.preemption) = (fresh.rules, fresh.preemption);
        self.watches |= fresh.watches;
        let times = self.all.iter().flat_map(|die| [die.busy_ns, die.array_ns]);
        let mut times = times.chain(self.channels.iter().map(|channel| channel.busy_ns));
        ensure(times.all(|ns| ns < MOST) && self.given() < MOST, "counts of operations")?;
        (0..self.channels.len()).try_for_each(|channel| self.check_channel(channel))
    }

    /// Whether types, modes and attempts of operations are such as there are.
    pub fn check_known(&self, pool: &OpPool) -> Verdict {
        let types = self.rules.timing.page_types();
        let knows = |op: &Op| usize::from(op.page_type) < types && self.rules.timing.knows(op);
        ensure(pool.iter().all(|(_, op)| knows(op)), "type, mode or attempt of an operation")
    }

    fn check_die(&self, number: u32, pool: &OpPool, now: SimTime, seen: &mut [bool]) -> Verdict {
        let die = &self.all[number as usize];
        let (mut due, mut waiting, mut sorted) = (0, 0, 0);
        ensure(die.above_lower <= IN_A_ROW, "reads in a row")?;
        for (line, list) in die.lines.iter().enumerate() {
            let found = walk(pool, number, list.head, |op| op.next, seen)?;
            let by = &self.rules.precedence;
            let is_here = |op: &Op| usize::from(op.line) == line && by.is_own_line(op);
            let are_here = found.iter().all(|&id| is_here(pool.get(id)));
            ensure(are_here, "an operation in another line than its own")?;
            ensure(list.ends_with(found.last()), "the end of a die's queue")?;
            waiting += found.len();
            due += found.iter().filter(|&&id| pool.get(id).due).count();
            sorted += if is_sorted(line) { found.len() } else { 0 };
            let are_alone = found.iter().all(|&id| !pool.get(id).follower.is_some());
            ensure(are_alone, "operations are grouped before their turn")?;
        }
        ensure(die.due_is(due), "operations that are due at a die")?;
        ensure(die.sorted_is(sorted), "reads that are not medium at a die")?;
        ensure(die.waiting as usize == waiting, "operations that wait at a die")?;
        ensure(die.busy_since.max(die.array_since).0 < MOST, "since when a die is busy")?;
        let now = now.max(die.array_since);
        ensure(die.worked_until(now) <= die.busy_until(now), "how long an array has worked")?;
        let inward = matches!(die.interface, Interface::WaitIn | Interface::In | Interface::Staged);
        let outward = matches!(die.interface, Interface::WaitOut | Interface::Out);
        ensure(die.sending.is_some() == outward, "a die sends, or does not")?;
        ensure(die.io.is_some() == (inward || outward), "a die's interface holds something, or does not")?;
        let group = if outward { die.sending } else { die.io };
        let on_interface = walk(pool, number, group, |op| op.follower, seen)?;
        let in_array = walk(pool, number, die.array, |op| op.follower, seen)?;
        let alike = |ids: &[OpId]| ids.iter().all(|&id| pool.get(id).kind == pool.get(ids[0]).kind);
        ensure(alike(&on_interface) && alike(&in_array), "operations of several kinds in a group")?;
        let is_read = |id: OpId| pool.get(id).kind.reads();
        ensure(!outward || is_read(die.sending), "a die sends what it did not read")?;
        ensure(!die.array_done || (die.array.is_some() && is_read(die.array)), "an array has no page ready")?;
        self.check_stops(number, pool, seen)?;
        check_planes(die, number, pool, seen)?;
        let may_stage = self.rules.timing.cache_operations();
        ensure(may_stage || die.interface != Interface::Staged, "cache operations are off")
    }

    /// What is suspended at a die, and what is to be stopped.
    fn check_stops(&self, number: u32, pool: &OpPool, seen: &mut [bool]) -> Verdict {
        let die = &self.all[number as usize];
        let stops = &die.stops;
        let suspended = walk(pool, number, stops.suspended, |op| op.follower, seen)?;
        ensure(self.rules.preempts || stops.is_idle(), "something is suspended, and nothing can be")?;
        let row = |id: OpId| pool.get(id).kind.row();
        let first = suspended.first().map(|&id| row(id));
        ensure(first.is_none_or(|first| first.stops != Stops::Never), "what is suspended cannot be")?;
        ensure(suspended.iter().all(|&id| Some(row(id)) == first), "operations of several kinds in a group")?;
        let is_other = |leader: OpId| leader.is_some() && row(leader).effect != Outcomes::Reads;
        // What dies send are reads, and the first of them may be over, and its number another's.
        let inward = matches!(die.interface, Interface::WaitIn | Interface::In | Interface::Staged);
        let is_twice = stops.suspended.is_some() && (is_other(die.array) || inward && is_other(die.io));
        ensure(!is_twice, "a program or an erase beside what is suspended")?;
        let waits = stops.suspended.is_some() && !die.is_busy();
        ensure(!waits || die.returning > 0, "what is suspended does not go on")?;
        ensure(stops.stop.is_none() || die.array.is_some() && !die.array_done, "nothing is there to stop")?;
        let stop_at = stops.stop.map_or(SimTime::ZERO, |stop| stop.at);
        ensure(stop_at <= die.ends && die.ends.0 < MOST, "when an array is stopped")?;
        let times = [stops.work, stops.sensing]
            .into_iter()
            .flat_map(|it| [it.total_ns, it.done_ns, it.floor_ns, it.since.0, it.reached_ns]);
        let others = [stops.gate.0, stops.read_stopped.0, stops.patience_ns]
            .into_iter()
            .chain(die.left.map(|left| left.0));
        let counts = stops.shares.into_iter().chain(stops.came);
        ensure(times.chain(others).chain(counts).all(|it| it < MOST), "times of what is stopped")?;
        let fits = [stops.work, stops.sensing]
            .iter()
            .all(|it| it.done_ns <= it.reached_ns && it.reached_ns <= it.total_ns);
        ensure(fits && stops.at_once.iter().all(|&count| count <= stops.count), "suspends of an erase")
    }

    fn check_channel(&self, number: usize) -> Verdict {
        let channel = &self.channels[number];
        ensure(channel.free_at.0 < MOST, "until when a channel is taken")?;
        let of_channel = self.all.iter().filter(|die| die.channel as usize == number).count();
        let mut waiting = channel.waiting(of_channel)?;
        waiting.sort_unstable();
        let waits = |die: &Die| matches!(die.interface, Interface::WaitIn | Interface::WaitOut);
        let expected = (0u32..).zip(&self.all);
        let expected = expected.filter(|(_, die)| die.channel as usize == number && waits(die));
        let expected: Vec<u32> = expected.map(|(die, _)| die).collect();
        ensure(waiting == expected, "dies that wait for a channel")?;
        ensure(waiting.is_empty() || channel.wake, "dies wait for a channel that never wakes")
    }

    /// Checks what is due of dies, channels and reads being decoded against what they do; `due` are all events.
    pub fn check_due(&self, due: &[(SimTime, EventKind, u32)], pool: &OpPool, now: SimTime) -> Verdict {
        let of = |kind: EventKind| due.iter().filter(move |event| event.1 == kind).map(|event| event.2);
        // The end of what was taken out of an array before may still be due, and is void.
        let ends = due.iter().filter(|event| event.1 == EventKind::ArrayDone);
        let ends = ends.map(|event| (event.0, Die::of_event(event.2)));
        within("arrays due", ends.clone().map(|(_, end)| end.0), self.all.len())?;
        let ends = ends.filter(|&(at, (die, generation))| {
            let die = &self.all[die as usize];
            (die.generation, die.ends) == (generation, at)
        });
        let ends = ends.map(|(_, end)| end);
        let arrays = distinct("arrays due", ends.map(|end| end.0), self.all.len())?;
        let ins = distinct("commands due", of(EventKind::InDone), self.all.len())?;
        let outs = distinct("pages due", of(EventKind::OutDone), self.all.len())?;
        for (number, die) in self.all.iter().enumerate() {
            ensure(arrays[number] == (die.array.is_some() && !die.array_done), "an array's end")?;
            ensure(ins[number] == (die.interface == Interface::In), "a command's end")?;
            ensure(outs[number] == (die.interface == Interface::Out), "a page's end")?;
        }
        let wakes = distinct("channels due", of(EventKind::ChannelFree), self.channels.len())?;
        let agree = wakes.iter().zip(&self.channels).all(|(&due, channel)| due == channel.wake);
        ensure(agree, "a channel's end")?;
        // What is under way and at no die is being decoded.
        let decoded = distinct("pages being decoded", of(EventKind::Decoded), pool.capacity())?;
        // What senses on its own is in its plane only.
        let sensed = distinct("planes due", of(EventKind::Sensed), pool.capacity())?;
        let of_planes = self.all.iter().flat_map(|die| die.planes.sensing());
        let sensing = distinct("planes that sense", of_planes.map(|id| id.0), pool.capacity())?;
        ensure(sensed == sensing, "the end of what a plane senses")?;
        let mut returning = vec![0; self.all.len()];
        let mut seen: Vec<bool> = pool.used().into_iter().map(|used| !used).collect();
        for number in 0..self.all.len() {
            self.check_die(number as u32, pool, now, &mut seen)?;
        }
        for (id, (&decoded, seen)) in (0..).map(OpId).zip(decoded.iter().zip(seen)) {
            let places = [decoded, sensed[id.index()], seen];
            ensure(places.into_iter().filter(|&is_there| is_there).count() == 1, "an operation is nowhere")?;
            if decoded {
                let op = pool.get(id);
                ensure(op.kind.reads() && op.attempts > 0, "what is decoded was not read")?;
                returning[op.at.die as usize] += u32::from(op.attempts < op.attempts_due);
            }
        }
        let agree = self.all.iter().zip(returning).all(|(die, count)| die.returning == count);
        ensure(agree, "reads that come back to a die")
    }
}
