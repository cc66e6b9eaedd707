//! Whom those wait for who wait for programs of data of the host: for room in the buffer, or for data to be in flash.

use super::{Held, Holder, Holders, LastOperation};
use crate::flash::op::{Op, OpPool};
use crate::units::{OpId, SimTime};

/// What somebody knows who waits so.
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

    /// Since when.
    pub fn since(&self) -> SimTime {
        self.since
    }
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    at: SimTime,
    /// Whom it waited for.
    held: Held,
    /// How long it was itself in the array, and before that on the channel.
    own: [(Holder, u64); 2],
    /// How long the host had lacked a page when it was issued; ns.
    lacked: u64,
    is: Option<LastOperation>,
}

impl Ended {
    const NOTHING: Ended =
        Ended { at: SimTime::ZERO, held: Held::NOTHING, own: [(Holder::NOBODY, 0); 2], lacked: 0, is: None };

    /// The last of its time, so much of it as there is.
    fn last_of(&self, ns: u64) -> Held {
        let [array, transfer] = self.own.map(|(_, ns)| ns);
        let own = [array.min(ns), transfer.min(ns.saturating_sub(array))];
        let waited = ns.saturating_sub(array.saturating_add(transfer));
        let mut held = self.held.at_most(waited);
        for ((holder, _), ns) in self.own.into_iter().zip(own) {
            held.add(holder, ns);
        }
        held
    }
}

/// What programs of data of the host have waited for.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    /// The one that ended last.
    last: Ended,
    /// What has kept them from ending sooner: from one end to the next, what the life of the latter went to.
    all: Held,
    /// How long the host has lacked a page, up to when; ns.
    lacked: u64,
    lacked_at: SimTime,
}

impl Programs {
    pub(super) fn new(now: SimTime) -> Self {
        Programs { last: Ended::NOTHING, all: Held::NOTHING, lacked: 0, lacked_at: now }
    }

    /// Whether the host has lacked a page since this was last told, and until now.
    pub fn tell_lack(&mut self, is_lacking: bool, now: SimTime) {
        self.lacked += if is_lacking { now.since(self.lacked_at) } else { 0 };
        self.lacked_at = now;
    }

    /// Whom the one that ended last has waited for, and what it is.
    pub fn last(&self) -> (&Held, Option<LastOperation>) {
        (&self.last.held, self.last.is)
    }

    /// The one that has ended now, if one has.
    pub fn ended_now(&self, now: SimTime) -> Option<LastOperation> {
        self.last.is.filter(|_| self.last.at == now)
    }

    /// From now on somebody may wait.
    pub fn begin(&self, now: SimTime) -> Room {
        Room { since: now, lacked: self.lacked, programs: self.all }
    }

    /// How long the host has lacked a page so far; ns.
    pub(super) fn lacked(&self) -> u64 {
        self.lacked
    }

    /// How long the host lacked a page from when somebody began to wait until the last program to end was issued; ns.
    pub fn lacked_before_last(&self, room: &Room) -> u64 {
        self.last.lacked.saturating_sub(room.lacked)
    }

    /// Whom somebody has waited for who need not any more: for the program that has ended now; before it was issued, so
    /// long as the host lacked a page, for that, and else for what programs have waited for that ended meanwhile.
    pub fn held_since(&self, room: &Room, now: SimTime) -> Held {
        let waited = now.since(room.since);
        let last =
            if self.last.at == now { self.last } else { Ended { lacked: self.lacked, ..Ended::NOTHING } };
        let mut held = last.last_of(waited);
        let before = waited - held.total();
        let lacked = before.min(last.lacked.saturating_sub(room.lacked));
        held.add(Holder::PAGE, lacked);
        let mut others = Held::NOTHING;
        others.add_since(&self.all, &room.programs);
        let others = others.at_most(before - lacked);
        held.add_all(&others);
        held.add(Holder::ROOM, before - lacked - others.total());
        held
    }
}

impl Holders {
    /// A program of data of the host has ended.
    pub(crate) fn note_program(&mut self, pool: &OpPool, id: OpId, now: SimTime) {
        let times = pool.spent(id).times;
        let Op { kind, cause, .. } = *pool.get(id);
        let own =
            [(Holder::array(kind, cause), times.array), (Holder::transfer(kind, cause), times.transfer)];
        let lacked = self.waiting[id.index()].lacked;
        let ended = Ended { at: now, held: *self.of(id), own, lacked, is: Some(self.last_in(pool, id)) };
        let programs = &mut self.programs;
        programs.all.add_all(&ended.last_of(u64::MAX).at_most(now.since(programs.last.at)));
        programs.last = ended;
    }
}
