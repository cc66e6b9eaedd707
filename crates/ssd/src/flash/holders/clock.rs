//! The clocks of dies and channels, and what runs them.

use super::held::{Held, Holder};
use crate::flash::die::{Die, Interface};
use crate::flash::op::{OpKind, OpPool};
use crate::units::{OpId, SimTime};

/// The clocks of a die or a channel. What will hold it up to its next event is known ahead: up to three, one after the
/// other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// What each has held it so far.
    pub shown: Held,
    at: SimTime,
    plan: [(SimTime, Holder); 3],
}

impl Clock {
    /// Nobody has ever held it.
    pub const IDLE: Clock =
        Clock { shown: Held::NOTHING, at: SimTime::ZERO, plan: [(SimTime::ZERO, Holder::NOBODY); 3] };

    /// What it shows at a time; each stretch since it was looked at last is told.
    pub fn turn_to(&mut self, now: SimTime, mut tell: impl FnMut((SimTime, SimTime), Holder)) {
        for (index, &(from, holder)) in self.plan.iter().enumerate() {
            let from = from.max(self.at);
            let to = self.plan.get(index + 1).map_or(now, |next| next.0.min(now));
            self.shown.add(holder, to.since(from));
            if to > from {
                tell((from, to), holder);
            }
        }
        self.at = now;
    }

    /// From the time on that it shows it goes by another plan.
    pub fn go_by(&mut self, plan: [(SimTime, Holder); 3]) {
        self.plan = plan;
    }
}

/// What holds a die from now on, until its next event.
pub(super) fn plan_of(die: &Die, pool: &OpPool, now: SimTime) -> [(SimTime, Holder); 3] {
    let transfer = |id: OpId| {
        let op = pool.get(id);
        Holder::transfer(op.kind, op.cause)
    };
    let leader = leader_of(die, pool);
    // Of planes that read on their own, that which began first.
    if let Some((first, since)) = die.planes.first(pool) {
        let start = since.max(now);
        let begins =
            if since > now { transfer(first) } else { Holder::array(OpKind::Read, pool.get(first).cause) };
        let senses = Holder::array(OpKind::Read, pool.get(first).cause);
        return [(now, begins), (start, senses), (SimTime(u64::MAX), senses)];
    }
    if die.array.is_some() && !die.array_done {
        let op = pool.get(leader);
        let array = Holder::array(op.kind, op.cause);
        let goes_on = if op.kind.reads() { die.stops.sensing.since } else { die.stops.work.since };
        let (first, start) = match () {
            () if die.array_since > now => (transfer(leader), die.array_since),
            () if goes_on > now => (Holder::SWITCHING, goes_on),
            () => (array, now),
        };
        let stopped = die.stops.stop.map_or(SimTime(u64::MAX), |stop| stop.at.max(start));
        return [(now, first), (start, array), (stopped, Holder::SWITCHING)];
    }
    let holder = match die.returning {
        _ if leader.is_some() => transfer(leader),
        0 => Holder::NOBODY,
        _ => Holder::RETURNING,
    };
    [(now, holder); 3]
}

/// What the channel began to carry now for a die, if it did; it ends then.
pub(super) fn carried(die: &Die, pool: &OpPool, end: SimTime, now: SimTime) -> Option<OpId> {
    let reads = || die.planes.sensing().find(|&id| pool.spent(id).mark == end);
    match die.interface {
        _ if end <= now => None,
        Interface::Out => Some(die.sending),
        Interface::In => Some(die.io),
        _ if die.array.is_some() && die.array_since == end => Some(die.array),
        _ => reads(),
    }
}

/// What holds a die by [`plan_of`], the first of those that do together; none if it has nothing to do.
pub(super) fn leader_of(die: &Die, pool: &OpPool) -> OpId {
    if let Some((first, _)) = die.planes.first(pool) {
        return first;
    }
    match die.interface {
        _ if die.array.is_some() && !die.array_done => die.array,
        Interface::Idle => die.array,
        _ if die.sending.is_some() => die.sending,
        _ => die.io,
    }
}
