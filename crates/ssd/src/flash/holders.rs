//! Whom operations wait for: each nanosecond that one waits for its die or its channel, or stands suspended, is booked
//! to what holds that.
//!
//! Each die and channel has a clock for each [`Holder`]; of these one runs at a time. A wait is the difference of what
//! the clocks show at its end and at its beginning, so that many who wait at once each have all of it, and nothing is
//! counted twice. Nobody looks at the flash for it where it is not asked for: events come here first where it is, and
//! what they have changed is seen by the operations that stood at the die before or stand there after.

use super::Flash;
use super::die::{Die, Interface};
use super::op::{CAUSES, Cause, Op, OpKind, OpPool, OpTimes};
use super::rows::{Data, Outcomes};
use crate::events::{EventKind, EventQueue};
use crate::units::{OpId, SimTime};

/// What the array of a die does, as far as it matters to those who wait.
const WORKS: [&str; 4] = ["read", "program", "erase", "lock"];
/// Directions of data.
const WAYS: [&str; 2] = ["in", "out"];
const TRANSFERS: usize = WORKS.len() * CAUSES;
const SWITCHING: usize = TRANSFERS + WAYS.len() * CAUSES;
/// Number of [`Holder`]s.
pub const HOLDERS: usize = SWITCHING + 6;

/// Who holds what a request waits for: an index, below [`HOLDERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder(u8);

impl Holder {
    /// The array is being stopped for a read, or goes on after it.
    pub const SWITCHING: Holder = Holder(SWITCHING as u8);
    /// A read that comes back for another attempt.
    pub const RETURNING: Holder = Holder(SWITCHING as u8 + 1);
    /// Nobody: the order of operations keeps it waiting.
    pub const NOBODY: Holder = Holder(SWITCHING as u8 + 2);
    /// No page is free: cleaning, or what else makes room, has not made it yet.
    pub const PAGE: Holder = Holder(SWITCHING as u8 + 5);
    /// What it waits for has not been issued yet: it waits for its turn, or for more to share a page with.
    pub const ROOM: Holder = Holder(SWITCHING as u8 + 3);
    /// What has died must not be readable first (`ftl.sanitize.acknowledge`).
    pub const LOCKS: Holder = Holder(SWITCHING as u8 + 4);

    /// All of them.
    pub fn all() -> impl Iterator<Item = Holder> {
        (0..HOLDERS as u8).map(Holder)
    }

    /// Its index.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The array at work on an operation.
    pub fn array(kind: OpKind, cause: Cause) -> Self {
        let work = match kind.row().effect {
            Outcomes::Reads => 0,
            Outcomes::Programs => 1,
            Outcomes::Erases => 2,
            Outcomes::HidesPage | Outcomes::HidesBlock => 3,
        };
        Holder((work * CAUSES + cause as usize) as u8)
    }

    /// Command or data of an operation on the channel, or waiting for it.
    pub fn transfer(kind: OpKind, cause: Cause) -> Self {
        let way = usize::from(kind.row().data == Data::Out);
        Holder((TRANSFERS + way * CAUSES + cause as usize) as u8)
    }

    /// Name in results: `array.program.cleaning`, `transfer.out.host`.
    pub fn name(self) -> String {
        let cause = |at: usize| Cause::ALL[at % CAUSES].name();
        match self.index() {
            at if at < TRANSFERS => format!("array.{}.{}", WORKS[at / CAUSES], cause(at)),
            at if at < SWITCHING => {
                let at = at - TRANSFERS;
                format!("transfer.{}.{}", WAYS[at / CAUSES], cause(at))
            }
            _ => match self {
                Self::SWITCHING => "switching",
                Self::RETURNING => "returning",
                Self::NOBODY => "nobody",
                Self::ROOM => "room",
                Self::PAGE => "page",
                _ => "locks",
            }
            .to_owned(),
        }
    }
}

/// Nanoseconds by [`Holder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// By [`Holder::index`].
    pub ns: [u64; HOLDERS],
}

impl Held {
    /// None.
    pub const NOTHING: Held = Held { ns: [0; HOLDERS] };

    /// All of it.
    pub fn total(&self) -> u64 {
        self.ns.iter().sum()
    }

    /// Adds to one.
    #[inline]
    pub fn add(&mut self, holder: Holder, ns: u64) {
        self.ns[holder.index()] += ns;
    }

    /// Adds all of another.
    pub fn add_all(&mut self, more: &Held) {
        self.ns.iter_mut().zip(&more.ns).for_each(|(ns, more)| *ns += more);
    }

    /// Adds what clocks show beyond what they showed; returns how much that is.
    fn add_since(&mut self, now: &Held, from: &Held) -> u64 {
        let mut sum = 0;
        for ((ns, now), from) in self.ns.iter_mut().zip(&now.ns).zip(&from.ns) {
            *ns += now - from;
            sum += now - from;
        }
        sum
    }

    /// What is left of it without the first `skip`. Which of it came first is not known: each has its share.
    pub(crate) fn without_first(&self, skip: u64) -> Held {
        let (total, mut left) = (self.total(), *self);
        let mut over = skip.min(total);
        if total == 0 || over == 0 {
            return left;
        }
        for ns in &mut left.ns {
            let part = (u128::from(*ns) * u128::from(skip.min(total)) / u128::from(total)) as u64;
            (*ns, over) = (*ns - part, over - part);
        }
        // What rounding has left.
        for ns in &mut left.ns {
            let part = over.min(*ns);
            (*ns, over) = (*ns - part, over - part);
        }
        left
    }
}

/// The clocks of a die or a channel. What will hold it up to its next event is known ahead: up to three, one after the
/// other.
#[derive(Clone, Copy, Debug)]
struct Clock {
    shown: Held,
    at: SimTime,
    plan: [(SimTime, Holder); 3],
}

impl Clock {
    const IDLE: Clock =
        Clock { shown: Held::NOTHING, at: SimTime::ZERO, plan: [(SimTime::ZERO, Holder::NOBODY); 3] };

    /// What it shows at a time, from which on it goes by another plan.
    fn turn(&mut self, now: SimTime, plan: [(SimTime, Holder); 3]) {
        for (index, &(from, holder)) in self.plan.iter().enumerate() {
            let to = self.plan.get(index + 1).map_or(now, |next| next.0.min(now));
            self.shown.add(holder, to.since(from.max(self.at)));
        }
        (self.at, self.plan) = (now, plan);
    }

    fn turn_to(&mut self, now: SimTime) {
        self.turn(now, self.plan);
    }
}

/// What is known of an operation that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Its times when it was looked at last, and its mark.
    times: OpTimes,
    mark: SimTime,
    /// What the clocks of its die and its channel showed then.
    die: Held,
    channel: Held,
}

/// Who holds what, and whom operations have waited for.
#[derive(Clone, Debug)]
pub struct Holders {
    dies: Vec<Clock>,
    channels: Vec<Clock>,
    /// The dies of each channel.
    dies_of: Vec<Vec<u32>>,
    /// By operation.
    waiting: Vec<Waiting>,
    held: Vec<Held>,
    /// Operations at a die before an event.
    before: Vec<OpId>,
    /// Since when it is told.
    began: SimTime,
    /// How long the host has lacked a page, up to when; ns.
    lacked: u64,
    lacked_at: SimTime,
    /// The program of data of the host that ended last.
    last: Ended,
    /// What has kept such programs from ending sooner: from one end to the next, what the life of the latter went to.
    programs: Held,
}

/// What somebody knows who waits for room in the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    since: SimTime,
    /// How long the host had lacked a page, and what had kept programs, when the wait began; ns.
    lacked: u64,
    programs: Held,
}

impl Room {
    /// Nobody waits.
    pub const NONE: Room = Room { since: SimTime::ZERO, lacked: 0, programs: Held::NOTHING };
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    at: SimTime,
    /// Whom it waited for.
    held: Held,
    /// How long it was itself in the array, and before that on the channel.
    own: [(Holder, u64); 2],
}

impl Ended {
    const NOTHING: Ended = Ended { at: SimTime::ZERO, held: Held::NOTHING, own: [(Holder::NOBODY, 0); 2] };

    /// The last of its time, so much of it as there is.
    fn last_of(&self, ns: u64) -> Held {
        let [array, transfer] = self.own.map(|(_, ns)| ns);
        let own = [array.min(ns), transfer.min(ns.saturating_sub(array))];
        let waited = ns.saturating_sub(array.saturating_add(transfer)).min(self.held.total());
        let mut held = self.held.without_first(self.held.total() - waited);
        for ((holder, _), ns) in self.own.into_iter().zip(own) {
            held.add(holder, ns);
        }
        held
    }
}

impl Flash {
    /// Tells from now on whom operations wait for, or no more. What those in flight have waited before is nobody's.
    pub(crate) fn tell_holders(&mut self, on: bool, now: SimTime) {
        let dies_of = |channel| {
            let of = (0..).zip(&self.dies).filter(move |(_, die)| die.channel == channel);
            of.map(|(number, _)| number).collect()
        };
        let nothing = Waiting {
            times: OpTimes::default(),
            mark: SimTime::ZERO,
            die: Held::NOTHING,
            channel: Held::NOTHING,
        };
        let holders = on.then(|| {
            Box::new(Holders {
                dies: vec![Clock::IDLE; self.dies.len()],
                channels: vec![Clock::IDLE; self.channels.len()],
                dies_of: (0..self.channels.len() as u32).map(dies_of).collect(),
                waiting: vec![nothing; self.pool.capacity()],
                held: vec![Held::NOTHING; self.pool.capacity()],
                before: Vec::with_capacity(self.pool.capacity()),
                began: now,
                lacked: 0,
                lacked_at: now,
                last: Ended::NOTHING,
                programs: Held::NOTHING,
            })
        });
        self.holders = holders.map(|mut holders| {
            for (id, op) in self.pool.iter() {
                let (spent, die) = (self.pool.spent(id), op.at.die as usize);
                holders.waiting[id.index()].times = spent.times;
                holders.begin(id, spent.mark, (die, self.dies[die].channel as usize));
            }
            (0..self.dies.len() as u32).for_each(|number| holders.look(self, number, now));
            holders.before.clear();
            holders
        });
        self.note_listeners();
    }

    /// Somebody listens to what chips do, or to whom operations wait for, or nobody does any more.
    pub(crate) fn note_listeners(&mut self) {
        self.is_told = self.steps.on || self.holders.is_some();
    }

    /// The same as [`Flash::give`] where somebody listens.
    #[cold]
    #[inline(never)]
    pub(crate) fn give_told(&mut self, ids: &[OpId], now: SimTime, events: &mut EventQueue) {
        let Some(mut holders) = self.holders.take() else { return self.give(ids, now, events) };
        for &id in ids {
            holders.before.push(id);
            holders.stand_before(&self.dies[self.pool.get(id).at.die as usize], &self.pool);
        }
        self.give(ids, now, events);
        for &id in ids {
            let op = self.pool.get(id);
            let number = op.at.die as usize;
            (holders.held[id.index()], holders.waiting[id.index()].times) =
                (Held::NOTHING, OpTimes::default());
            let channel = self.dies[number].channel as usize;
            holders.channels[channel].turn_to(now);
            holders.dies[number].turn_to(now);
            holders.begin(id, self.pool.spent(id).mark.min(now), (number, channel));
        }
        for &id in ids {
            holders.look(self, self.pool.get(id).at.die, now);
        }
        holders.before.clear();
        self.holders = Some(holders);
    }

    /// The same as [`Flash::on_event`] where somebody listens.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_event_told(&mut self, kind: EventKind, id: u32, now: SimTime, events: &mut EventQueue) {
        let Some(mut holders) = self.holders.take() else { return self.on_event(kind, id, now, events) };
        let number = match kind {
            EventKind::ArrayDone => Die::of_event(id).0,
            EventKind::Decoded => self.pool.get(OpId(id)).at.die,
            _ => id,
        };
        if kind == EventKind::Decoded {
            holders.before.push(OpId(id));
        }
        let dies = match kind {
            EventKind::ChannelFree => std::mem::take(&mut holders.dies_of[number as usize]),
            _ => Vec::new(),
        };
        let touched = if dies.is_empty() { std::slice::from_ref(&number) } else { &dies[..] };
        for &die in touched {
            holders.stand_before(&self.dies[die as usize], &self.pool);
        }
        self.on_event(kind, id, now, events);
        for &die in touched {
            holders.look(self, die, now);
        }
        if !dies.is_empty() {
            holders.dies_of[number as usize] = dies;
        }
        holders.before.clear();
        self.holders = Some(holders);
    }

    /// Whom an operation has waited for that has just ended.
    pub(crate) fn held(&self, id: OpId) -> Held {
        self.holders.as_ref().map_or(Held::NOTHING, |holders| holders.held[id.index()])
    }

    /// A program of data of the host has ended.
    #[cold]
    pub(crate) fn keep_last(&mut self, id: OpId) {
        let spent = *self.pool.spent(id);
        let Op { kind, cause, .. } = *self.pool.get(id);
        let Some(holders) = &mut self.holders else { return };
        let own = [
            (Holder::array(kind, cause), spent.times.array),
            (Holder::transfer(kind, cause), spent.times.transfer),
        ];
        let ended = Ended { at: self.now, held: holders.held[id.index()], own };
        let life = ended.last_of(u64::MAX);
        let since_last = self.now.since(holders.last.at);
        holders.programs.add_all(&life.without_first(life.total().saturating_sub(since_last)));
        holders.last = ended;
    }

    /// Whom the program of data of the host has waited for that ended last.
    pub(crate) fn held_by_last_program(&self) -> Held {
        self.holders.as_ref().map_or(Held::NOTHING, |holders| holders.last.held)
    }

    /// Whether the host has lacked a page since this was last told, and until now.
    #[cold]
    pub(crate) fn tell_lack(&mut self, is_lacking: bool, now: SimTime) {
        if let Some(holders) = &mut self.holders {
            holders.lacked += if is_lacking { now.since(holders.lacked_at) } else { 0 };
            holders.lacked_at = now;
        }
    }

    /// From now on somebody may wait for room.
    pub(crate) fn begin_room(&self, now: SimTime) -> Room {
        let holders = self.holders.as_ref();
        holders.map_or(Room { since: now, lacked: 0, programs: Held::NOTHING }, |holders| Room {
            since: now,
            lacked: holders.lacked,
            programs: holders.programs,
        })
    }

    /// How long the host has lacked a page since somebody began to wait; ns.
    pub(crate) fn lacked_since(&self, room: &Room) -> u64 {
        self.holders.as_ref().map_or(0, |holders| holders.lacked - room.lacked)
    }

    /// Whom somebody has waited for who has room now: for the program that has ended now; before it was issued, so long
    /// as the host lacked a page, for that, and else for what programs have waited for that ended meanwhile.
    pub(crate) fn held_by_programs(&self, room: &Room, now: SimTime) -> Held {
        let waited = now.since(room.since);
        let Some(holders) = &self.holders else { return Held::NOTHING };
        let last = if holders.last.at == now { holders.last } else { Ended::NOTHING };
        let mut held = last.last_of(waited);
        let before = waited - held.total();
        let lacked = before.min(holders.lacked - room.lacked);
        held.add(Holder::PAGE, lacked);
        let mut programs = Held::NOTHING;
        programs.add_since(&holders.programs, &room.programs);
        let programs = programs.without_first(programs.total().saturating_sub(before - lacked));
        held.add_all(&programs);
        held.add(Holder::ROOM, before - lacked - programs.total());
        held
    }
}

/// The operations that stand at a die: on its interface, in its array, or suspended.
fn standing(die: &Die, pool: &OpPool, mut see: impl FnMut(OpId)) {
    for mut id in [die.io, die.array, die.sending, die.stops.suspended] {
        while id.is_some() {
            see(id);
            id = pool.get(id).follower;
        }
    }
}

impl Holders {
    fn stand_before(&mut self, die: &Die, pool: &OpPool) {
        standing(die, pool, |id| self.before.push(id));
    }

    /// Something has happened at a die.
    fn look(&mut self, flash: &Flash, number: u32, now: SimTime) {
        let die = &flash.dies[number as usize];
        let (at, channel) = (number as usize, die.channel as usize);
        self.dies[at].turn(now, plan_of(die, &flash.pool, now));
        self.channels[channel].turn_to(now);
        standing(die, &flash.pool, |id| self.before.push(id));
        for index in 0..self.before.len() {
            if flash.pool.get(self.before[index]).at.die == number {
                self.settle(flash, self.before[index], (at, channel), now);
            }
        }
        if let Some(holder) = carried(die, &flash.pool, flash.channels[channel].free_at, now) {
            let end = flash.channels[channel].free_at;
            self.channels[channel].turn(now, [(now, holder), (end, Holder::NOBODY), (end, Holder::NOBODY)]);
        }
    }

    /// Books what an operation has waited since it was looked at last.
    fn settle(&mut self, flash: &Flash, id: OpId, (die, channel): (usize, usize), now: SimTime) {
        let spent = flash.pool.spent(id);
        let seen = self.waiting[id.index()];
        let held = &mut self.held[id.index()];
        let grown = |of: fn(&OpTimes) -> u64| of(&spent.times) - of(&seen.times);
        let (in_line, for_channel, suspended) = (
            grown(|times| times.die_wait),
            grown(|times| times.channel_wait),
            grown(|times| times.suspended),
        );
        if in_line > 0 {
            let sum = held.add_since(&self.dies[die].shown, &seen.die);
            debug_assert!(
                sum == in_line || seen.mark < self.began,
                "{sum} ns of {in_line} in line, {:?}",
                flash.pool.get(id)
            );
            held.add(Holder::NOBODY, in_line.saturating_sub(sum));
        }
        if for_channel > 0 {
            let sum = held.add_since(&self.channels[channel].shown, &seen.channel);
            debug_assert!(
                sum == for_channel || seen.mark < self.began,
                "{sum} ns of {for_channel} for the channel, {:?}",
                flash.pool.get(id)
            );
            held.add(Holder::NOBODY, for_channel.saturating_sub(sum));
        }
        if suspended > 0 {
            let waited = self.dies[die].shown.total() - seen.die.total();
            if waited <= suspended {
                held.add_since(&self.dies[die].shown, &seen.die);
            }
            held.add(Holder::SWITCHING, if waited <= suspended { suspended - waited } else { suspended });
        }
        self.waiting[id.index()].times = spent.times;
        if spent.mark != seen.mark && spent.mark <= now {
            self.begin(id, spent.mark, (die, channel));
        }
    }

    /// An operation waits from now on.
    fn begin(&mut self, id: OpId, mark: SimTime, (die, channel): (usize, usize)) {
        let waiting = &mut self.waiting[id.index()];
        (waiting.mark, waiting.die, waiting.channel) =
            (mark, self.dies[die].shown, self.channels[channel].shown);
    }
}

/// What holds a die from now on, until its next event.
fn plan_of(die: &Die, pool: &OpPool, now: SimTime) -> [(SimTime, Holder); 3] {
    let transfer = |id: OpId| {
        let op = pool.get(id);
        Holder::transfer(op.kind, op.cause)
    };
    if die.array.is_some() && !die.array_done {
        let op = pool.get(die.array);
        let array = Holder::array(op.kind, op.cause);
        let goes_on = if op.kind.reads() { die.stops.sensing.since } else { die.stops.work.since };
        let (first, start) = match () {
            () if die.array_since > now => (transfer(die.array), die.array_since),
            () if goes_on > now => (Holder::SWITCHING, goes_on),
            () => (array, now),
        };
        let stopped = die.stops.stop.map_or(SimTime(u64::MAX), |stop| stop.at.max(start));
        return [(now, first), (start, array), (stopped, Holder::SWITCHING)];
    }
    let holder = match die.interface {
        Interface::Idle if die.array.is_some() => transfer(die.array),
        Interface::Idle if die.returning > 0 => Holder::RETURNING,
        Interface::Idle => Holder::NOBODY,
        _ if die.sending.is_some() => transfer(die.sending),
        _ => transfer(die.io),
    };
    [(now, holder); 3]
}

/// What the channel began to carry now for a die, if it did; it ends then.
fn carried(die: &Die, pool: &OpPool, end: SimTime, now: SimTime) -> Option<Holder> {
    let id = match die.interface {
        _ if end <= now => return None,
        Interface::Out => die.sending,
        Interface::In => die.io,
        _ if die.array.is_some() && die.array_since == end => die.array,
        _ => return None,
    };
    let op = pool.get(id);
    Some(Holder::transfer(op.kind, op.cause))
}
