//! Whom those wait for who wait for programs of data of the host: for room in the buffer, or for data to be in flash.

use super::page::Lack;
use super::{Held, Holder, Holders, LastOperation, Told};
use crate::flash::op::{Op, OpPool};
use crate::flash::rows::Outcomes;
use crate::units::{OpId, SimTime};

/// What somebody knows who waits so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    since: SimTime,
    /// For whom the host had lacked a page, and what had kept programs, when the wait began.
    lacked: Held,
    programs: Held,
}

impl Room {
    /// Nobody waits.
    pub const NONE: Room = Room { since: SimTime::ZERO, lacked: Held::NOTHING, programs: Held::NOTHING };

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
    /// For whom the host had lacked a page when it was issued.
    lacked: Held,
    is: Option<LastOperation>,
}

impl Ended {
    const NOTHING: Ended = Ended {
        at: SimTime::ZERO,
        held: Held::NOTHING,
        own: [(Holder::NOBODY, 0); 2],
        lacked: Held::NOTHING,
        is: None,
    };

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
    /// How long the host has lacked a page, and for whom.
    pub lack: Lack,
    /// By slot: since when its data waits for a page, or did.
    gathered: Vec<SimTime>,
}

impl Programs {
    pub(super) fn new(dies: usize, now: SimTime) -> Self {
        Programs {
            last: Ended::NOTHING,
            all: Held::NOTHING,
            lack: Lack::new(dies, now),
            gathered: Vec::new(),
        }
    }

    /// Whom the one that ended last has waited for, and what it is.
    pub fn last(&self) -> (&Held, Option<LastOperation>) {
        (&self.last.held, self.last.is)
    }

    /// The one that has ended now, if one has.
    pub fn ended_now(&self, now: SimTime) -> Option<LastOperation> {
        self.last.is.filter(|_| self.last.at == now)
    }

    /// Data in a slot waits for a page from now on.
    #[cold]
    #[inline(never)]
    pub fn note_gathered(&mut self, slot: usize, now: SimTime) {
        if slot >= self.gathered.len() {
            self.gathered.resize(slot + 1, SimTime::ZERO);
        }
        self.gathered[slot] = now;
    }

    /// How long it waited, until a program of it was issued.
    pub fn gathered_until(&self, slot: usize, issued: SimTime) -> u64 {
        self.gathered.get(slot).map_or(0, |&since| issued.since(since))
    }

    /// From now on somebody may wait.
    pub fn begin(&self, now: SimTime) -> Room {
        Room { since: now, lacked: *self.lack.held(), programs: self.all }
    }

    /// Whom the host lacked a page for from when somebody began to wait until the last program to end was issued.
    pub fn lacked_before_last(&self, room: &Room) -> Held {
        if self.last.lacked.total() < room.lacked.total() {
            return Held::NOTHING;
        }
        self.last.lacked.since(&room.lacked)
    }

    /// Tells whom somebody has waited for who need not any more: for the program that has ended now; before it was
    /// issued, so long as the host lacked a page, for that, and else for what programs have waited for that ended
    /// meanwhile.
    pub fn tell_since(&self, room: &Room, now: SimTime, told: &mut Told) {
        let waited = now.since(room.since);
        let (last, lacked) = if self.last.at == now {
            (self.last.last_of(waited), self.lacked_before_last(room))
        } else {
            (Held::NOTHING, self.lack.held().since(&room.lacked))
        };
        told.held.add_all(&last);
        let before = waited - last.total();
        let lacked = lacked.at_most(before);
        told.add_page(&lacked);
        let before = before - lacked.total();
        let others = self.all.since(&room.programs).at_most(before);
        told.held.add_all(&others);
        told.held.add(Holder::ROOM, before - others.total());
    }
}

impl Holders {
    /// An operation has ended now that was no read for the host.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_ended(&mut self, pool: &OpPool, id: OpId, now: SimTime) {
        let op = pool.get(id);
        if !op.cause.is_for_host() {
            if self.programs.lack.is_lacked() {
                let (die, is_erase) = (op.at.die as usize, op.kind.row().effect == Outcomes::Erases);
                let ended = self.ended(pool, id, now);
                self.programs.lack.on_ended(die, |ns| ended.last_of(ns), is_erase, now);
            }
            return;
        }
        let ended = self.ended(pool, id, now);
        let programs = &mut self.programs;
        programs.all.add_all(&ended.last_of(u64::MAX).at_most(now.since(programs.last.at)));
        programs.last = ended;
    }

    /// An operation that has ended now.
    fn ended(&self, pool: &OpPool, id: OpId, now: SimTime) -> Ended {
        let times = pool.spent(id).times;
        let Op { kind, cause, .. } = *pool.get(id);
        let own =
            [(Holder::array(kind, cause), times.array), (Holder::transfer(kind, cause), times.transfer)];
        let lacked = self.waiting[id.index()].lacked;
        Ended { at: now, held: *self.of(id), own, lacked, is: Some(self.last_in(pool, id)) }
    }
}
