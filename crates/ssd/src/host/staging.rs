//! DRAM slots: each holds one mapping unit of data that is cached, dirty, or on its way to flash.
//!
//! A logical unit may have several slots at once: the newest, and older ones whose data is still being programmed. The
//! newest waits behind them, so that versions reach flash in order.

use super::index::SlotIndex;
use crate::restore::{Verdict, alike, distinct, ensure, keep_room, within, within_or_none};
use crate::units::{CommandId, Lpn, NONE, OpId, SlotId};
use serde::{Deserialize, Serialize};

/// What a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub(super) enum SlotState {
    /// Nothing.
    Free,
    /// Holds data that is also in flash.
    Clean,
    /// Holds data that is not in flash.
    Dirty,
    /// Dirty, and waits until an older slot of the same unit is in flash.
    Behind,
    /// Dirty; the rest of its unit is being read from flash.
    Merging,
    /// Dirty and whole: may be programmed.
    Ready,
    /// Could be programmed if the lane of its own (static placement) had room; in line behind others of that lane.
    Parked,
    /// Being programmed.
    Programming,
}

/// One slot.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Slot {
    pub lpn: Lpn,
    pub state: SlotState,
    /// Trimmed while it could not be given up.
    pub dead: bool,
    /// Granules that hold data.
    pub mask: u64,
    /// The command that waits for the data to be in flash.
    pub waiter: CommandId,
    /// Counts towards the flush of this number.
    pub epoch: u32,
    /// The program under way, and the unit's place in it.
    pub op: OpId,
    pub place: u8,
    /// Whose lane it is parked for: the turn of its page.
    turn: u32,
    /// Newer and older slot of the same unit.
    pub newer: SlotId,
    pub older: SlotId,
    prev: u32,
    next: u32,
}

impl Slot {
    /// Whether a command or a newer slot waits for this one to be in flash.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.waiter.is_some() || self.newer.is_some()
    }

    /// Whether it is awaited and should be on its way, but is not.
    #[inline]
    pub fn is_urgent(&self) -> bool {
        self.is_awaited()
            && matches!(
                self.state,
                SlotState::Dirty | SlotState::Ready | SlotState::Parked | SlotState::Merging
            )
    }
}

/// A doubly linked list of slots; the head is the most recent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct List {
    head: u32,
    tail: u32,
    len: u32,
}

const EMPTY: List = List { head: NONE, tail: NONE, len: 0 };

/// All slots.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Staging {
    slots: Vec<Slot>,
    index: SlotIndex,
    free: Vec<u32>,
    /// Clean, dirty and ready slots.
    lists: [List; 3],
    /// Parked slots by turn (none where placement is dynamic), and how many there are.
    parked_at: Box<[List]>,
    pub parked: u32,
    /// Units with a slot: zero means that look-ups can be skipped.
    indexed: u32,
    pub merging: u32,
    /// Slots not in flash, by the flush they count towards (a ring), and the first flush not yet done.
    unclean: Vec<u32>,
    epoch: u32,
    oldest_epoch: u32,
}

impl Staging {
    /// `count` free slots, for at most `flushes` FLUSH commands at once and pages of so many turns (static placement).
    pub fn new(count: u32, flushes: u32, turns: u32) -> Self {
        let slot = Slot {
            lpn: Lpn::NONE,
            state: SlotState::Free,
            dead: false,
            mask: 0,
            waiter: CommandId::NONE,
            epoch: 0,
            op: OpId::NONE,
            place: 0,
            turn: 0,
            newer: SlotId::NONE,
            older: SlotId::NONE,
            prev: NONE,
            next: NONE,
        };
        Staging {
            slots: vec![slot; count as usize],
            index: SlotIndex::new(count),
            free: (0..count).rev().collect(),
            lists: [EMPTY; 3],
            parked_at: vec![EMPTY; turns as usize].into_boxed_slice(),
            parked: 0,
            indexed: 0,
            merging: 0,
            unclean: vec![0; flushes as usize + 2],
            epoch: 0,
            oldest_epoch: 0,
        }
    }

    /// Takes the room of fresh slots, and checks lists, index and neighbours; the slots' counts are
    /// [`super::Host::check`]'s.
    pub fn restored(&mut self, fresh: &Staging, commands: usize, operations: usize) -> Verdict {
        alike("slots", &self.slots, &fresh.slots)?;
        alike("flushes", &self.unclean, &fresh.unclean)?;
        let free = distinct("free slots", self.free.iter().copied(), self.slots.len())?;
        keep_room(&mut self.free, &fresh.free);
        let is_free = |slot: &Slot| slot.state == SlotState::Free;
        ensure(self.slots.iter().zip(free).all(|(slot, free)| is_free(slot) == free), "free slots")?;
        let indexed = self.index.restored(&fresh.index, NONE as usize, self.slots.len())?;
        ensure(indexed == self.indexed as usize, "units with a slot")?;
        let is_own = |(lpn, slot): (Lpn, u32)| self.slots[slot as usize].lpn == lpn;
        ensure(self.index.iter().all(is_own), "a unit's slot is another's")?;
        alike("lanes that slots are parked for", &self.parked_at, &fresh.parked_at)?;
        let lists = [SlotState::Clean, SlotState::Dirty, SlotState::Ready];
        lists
            .into_iter()
            .zip(&self.lists)
            .try_for_each(|(state, list)| self.check_list(list, state, None))?;
        let mut parked = (0..).zip(&self.parked_at);
        parked.try_for_each(|(turn, list)| self.check_list(list, SlotState::Parked, Some(turn)))?;
        let turns = self.slots.iter().filter(|slot| slot.state == SlotState::Parked).map(|slot| slot.turn);
        within("lane that a slot is parked for", turns, self.parked_at.len())?;
        let flushes = self.epoch.checked_sub(self.oldest_epoch);
        ensure(flushes.is_some_and(|count| count >> 24 == 0), "flushes under way")?;
        ensure(self.epoch >> 31 == 0, "flushes so far")?;
        let mut unclean = vec![0; self.unclean.len()];
        for (id, slot) in (0..).map(SlotId).zip(&self.slots).filter(|(_, slot)| !is_free(slot)) {
            within_or_none("who waits for a slot", [slot.waiter.0], commands)?;
            within_or_none("the program of a slot", [slot.op.0], operations)?;
            within_or_none("slots of a unit", [slot.newer.0, slot.older.0], self.slots.len())?;
            let newer = slot.newer.is_some().then(|| self.get(slot.newer));
            let older = slot.older.is_some().then(|| self.get(slot.older));
            let are_paired = newer.is_none_or(|other| other.older == id && other.lpn == slot.lpn)
                && older.is_none_or(|other| other.newer == id && other.lpn == slot.lpn);
            ensure(are_paired, "slots of a unit")?;
            if Self::is_unclean(slot.state) {
                ensure((self.oldest_epoch..=self.epoch).contains(&slot.epoch), "the flush of a slot")?;
                unclean[slot.epoch as usize % self.unclean.len()] += 1;
            }
        }
        ensure(unclean == self.unclean, "slots that flushes wait for")
    }

    /// A list holds the slots in its state (and of its turn), linked both ways.
    fn check_list(&self, list: &List, state: SlotState, turn: Option<u32>) -> Verdict {
        let is_own = |slot: &Slot| slot.state == state && turn.is_none_or(|turn| slot.turn == turn);
        let (mut before, mut at, mut count) = (NONE, list.head, 0);
        while at != NONE {
            let found = self.slots.get(at as usize);
            let is_next = found.is_some_and(|slot| slot.prev == before && is_own(slot));
            ensure(is_next && count < list.len, "a list of slots")?;
            (before, count) = (at, count + 1);
            at = self.slots[at as usize].next;
        }
        let all = self.slots.iter().filter(|slot| is_own(slot)).count();
        ensure(before == list.tail && count == list.len && all == count as usize, "a list of slots")
    }

    #[inline]
    fn list_of(&mut self, state: SlotState, turn: u32) -> Option<&mut List> {
        match state {
            SlotState::Clean => Some(&mut self.lists[0]),
            SlotState::Dirty => Some(&mut self.lists[1]),
            SlotState::Ready => Some(&mut self.lists[2]),
            SlotState::Parked => Some(&mut self.parked_at[turn as usize]),
            _ => None,
        }
    }

    fn is_unclean(state: SlotState) -> bool {
        !matches!(state, SlotState::Free | SlotState::Clean)
    }

    /// Number of slots.
    pub fn len(&self) -> u32 {
        self.slots.len() as u32
    }

    #[inline]
    pub fn get(&self, id: SlotId) -> &Slot {
        &self.slots[id.index()]
    }

    #[inline]
    pub fn get_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.slots[id.index()]
    }

    /// The newest slot of a logical unit, if it has one.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> SlotId {
        if self.indexed == 0 { SlotId::NONE } else { self.index.get(lpn) }
    }

    /// Slots that are dirty and not yet on their way.
    pub fn dirty(&self) -> u32 {
        self.lists[1].len + self.lists[2].len + self.merging + self.parked
    }

    /// Slots that may be programmed.
    #[inline]
    pub fn ready(&self) -> u32 {
        self.lists[2].len
    }

    /// Slots not in flash.
    pub fn unclean(&self) -> u32 {
        self.unclean.iter().sum()
    }

    /// The dirty slot to flush next.
    #[inline]
    pub fn oldest_dirty(&self) -> SlotId {
        SlotId(self.lists[1].tail)
    }

    /// The dirty slot to flush after `steps` others.
    #[inline]
    pub fn dirty_ahead(&self, steps: usize) -> SlotId {
        let mut id = self.lists[1].tail;
        for _ in 0..steps {
            if id == NONE {
                break;
            }
            id = self.slots[id as usize].prev;
        }
        SlotId(id)
    }

    /// The clean slot to give way next.
    pub fn oldest_clean(&self) -> Option<SlotId> {
        let id = SlotId(self.lists[0].tail);
        id.is_some().then_some(id)
    }

    /// The ready slot to program next.
    #[inline]
    pub fn oldest_ready(&self) -> SlotId {
        SlotId(self.lists[2].tail)
    }

    /// Whether slots are parked for the lane of a turn.
    #[inline]
    pub fn is_line(&self, turn: u32) -> bool {
        self.parked_at[turn as usize].len > 0
    }

    /// Parks a slot at the end of the line for the lane of a turn.
    pub fn park(&mut self, id: SlotId, turn: u32) {
        self.get_mut(id).turn = turn;
        self.set_state(id, SlotState::Parked, false);
    }

    /// Makes the slots parked for a lane ready, before all others and in their order.
    pub fn unpark(&mut self, turn: u32) {
        // The head is the one parked last.
        while self.is_line(turn) {
            self.set_state(SlotId(self.parked_at[turn as usize].head), SlotState::Ready, true);
        }
    }

    /// Takes a slot for a new version of `lpn`: a free one, or the least recently used clean one, whose id is then
    /// also returned. `None` if every slot is needed.
    #[inline]
    pub fn take(&mut self, lpn: Lpn) -> Option<(SlotId, bool)> {
        let (id, evicted) = match self.free.pop() {
            Some(id) => (SlotId(id), false),
            None => {
                let id = SlotId(self.lists[0].tail);
                if !id.is_some() {
                    return None;
                }
                self.unlink(id, SlotState::Clean);
                self.unindex(self.get(id).lpn);
                (id, true)
            }
        };
        let older = self.find(lpn);
        if older.is_some() {
            self.get_mut(older).newer = id;
        } else {
            self.indexed += 1;
        }
        self.index.set(lpn, id);
        let slot = self.get_mut(id);
        (slot.lpn, slot.state, slot.older, slot.newer) = (lpn, SlotState::Free, older, SlotId::NONE);
        (slot.mask, slot.waiter, slot.dead) = (0, CommandId::NONE, false);
        Some((id, evicted))
    }

    fn unindex(&mut self, lpn: Lpn) {
        self.index.remove(lpn);
        self.indexed -= 1;
    }

    /// Changes a slot's state, and with it its list and what a flush waits for. `last` puts it where it is taken next.
    #[inline]
    pub fn set_state(&mut self, id: SlotId, state: SlotState, last: bool) {
        let old = self.get(id).state;
        self.unlink(id, old);
        self.merging -= u32::from(old == SlotState::Merging);
        self.merging += u32::from(state == SlotState::Merging);
        self.parked -= u32::from(old == SlotState::Parked);
        self.parked += u32::from(state == SlotState::Parked);
        match (Self::is_unclean(old), Self::is_unclean(state)) {
            (false, true) => {
                let epoch = self.epoch;
                self.get_mut(id).epoch = epoch;
                *self.unclean_of(epoch) += 1;
            }
            (true, false) => {
                let epoch = self.get(id).epoch;
                *self.unclean_of(epoch) -= 1;
            }
            _ => {}
        }
        self.get_mut(id).state = state;
        self.link(id, state, last);
    }

    /// Gives a slot up. If it was its unit's newest, the unit has no slot any more.
    pub fn release(&mut self, id: SlotId) {
        self.set_state(id, SlotState::Free, false);
        let Slot { lpn, newer, older, .. } = *self.get(id);
        if older.is_some() {
            self.get_mut(older).newer = newer;
        }
        if newer.is_some() {
            self.get_mut(newer).older = older;
        } else if self.find(lpn) == id {
            if older.is_some() {
                self.index.set(lpn, older);
            } else {
                self.unindex(lpn);
            }
        }
        self.free.push(id.0);
    }

    /// Takes all slots of a unit off the index and apart: they no longer stand for it.
    pub fn forget(&mut self, lpn: Lpn) -> SlotId {
        let newest = self.find(lpn);
        if newest.is_some() {
            self.unindex(lpn);
        }
        newest
    }

    /// Detaches a forgotten slot from its neighbours, and returns the older one.
    pub fn detach(&mut self, id: SlotId) -> SlotId {
        let slot = self.get_mut(id);
        slot.dead = true;
        slot.newer = SlotId::NONE;
        std::mem::replace(&mut slot.older, SlotId::NONE)
    }

    fn unclean_of(&mut self, epoch: u32) -> &mut u32 {
        let len = self.unclean.len();
        &mut self.unclean[epoch as usize % len]
    }

    /// Begins a flush of everything unclean now; returns its number.
    pub fn begin_flush(&mut self) -> u32 {
        self.epoch += 1;
        self.epoch - 1
    }

    /// Whether the flush of that number is done.
    pub fn is_flushed(&mut self, number: u32) -> bool {
        while self.oldest_epoch < self.epoch && *self.unclean_of(self.oldest_epoch) == 0 {
            self.oldest_epoch += 1;
        }
        self.oldest_epoch > number
    }

    #[inline]
    fn link(&mut self, id: SlotId, state: SlotState, last: bool) {
        let turn = self.get(id).turn;
        let Some(l) = self.list_of(state, turn) else { return };
        l.len += 1;
        let (prev, next) = if last { (l.tail, NONE) } else { (NONE, l.head) };
        if last {
            l.tail = id.0
        } else {
            l.head = id.0
        };
        if prev == NONE {
            l.head = id.0
        };
        if next == NONE {
            l.tail = id.0
        };
        let slot = &mut self.slots[id.index()];
        (slot.prev, slot.next) = (prev, next);
        if prev != NONE {
            self.slots[prev as usize].next = id.0;
        }
        if next != NONE {
            self.slots[next as usize].prev = id.0;
        }
    }

    #[inline]
    fn unlink(&mut self, id: SlotId, state: SlotState) {
        let Slot { prev, next, turn, .. } = self.slots[id.index()];
        let Some(l) = self.list_of(state, turn) else { return };
        l.len -= 1;
        if prev == NONE {
            l.head = next;
        }
        if next == NONE {
            l.tail = prev;
        }
        if prev != NONE {
            self.slots[prev as usize].next = next;
        }
        if next != NONE {
            self.slots[next as usize].prev = prev;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_unit_queue_up_and_flushes_count_them() {
        let mut staging = Staging::new(4, 2, 0);
        let (first, _) = staging.take(Lpn(9)).unwrap();
        staging.set_state(first, SlotState::Programming, false);
        let (second, _) = staging.take(Lpn(9)).unwrap();
        staging.set_state(second, SlotState::Behind, false);
        assert_eq!((staging.find(Lpn(9)), staging.get(second).older), (second, first));
        let flush = staging.begin_flush();
        assert!(!staging.is_flushed(flush));
        staging.release(first);
        assert!(!staging.get(second).older.is_some() && !staging.is_flushed(flush));
        staging.set_state(second, SlotState::Dirty, false);
        staging.set_state(second, SlotState::Clean, false);
        assert!(staging.is_flushed(flush));
        assert_eq!(staging.find(Lpn(9)), second);
    }

    #[test]
    fn parked_slots_keep_their_order_and_count_as_unclean() {
        let mut staging = Staging::new(5, 1, 2);
        let slots = [0, 2, 4, 1, 6].map(|lpn| {
            let (id, _) = staging.take(Lpn(lpn)).unwrap();
            staging.set_state(id, SlotState::Ready, false);
            id
        });
        for (id, turn) in slots.into_iter().zip([0, 0, 0, 1]) {
            staging.park(id, turn);
        }
        let flush = staging.begin_flush();
        assert_eq!((staging.parked, staging.ready(), staging.dirty(), staging.unclean()), (4, 1, 5, 5));
        staging.release(slots[1]);
        staging.unpark(0);
        assert!(!staging.is_line(0) && staging.is_line(1) && !staging.is_flushed(flush));
        for id in [slots[0], slots[2], slots[4]] {
            assert_eq!(
                staging.oldest_ready(),
                id,
                "those parked go first, the first of them before the others"
            );
            staging.release(id);
        }
        staging.release(slots[3]);
        assert_eq!((staging.parked, staging.unclean()), (0, 0));
        assert!(staging.is_flushed(flush));
    }

    #[test]
    fn the_least_recent_clean_slot_gives_way() {
        let mut staging = Staging::new(2, 1, 0);
        for lpn in [1, 2] {
            let (id, _) = staging.take(Lpn(lpn)).unwrap();
            staging.set_state(id, SlotState::Clean, false);
        }
        let one = staging.find(Lpn(1));
        staging.set_state(one, SlotState::Clean, false);
        let (id, evicted) = staging.take(Lpn(3)).unwrap();
        assert!(evicted && !staging.find(Lpn(2)).is_some() && staging.find(Lpn(1)) == one);
        staging.set_state(id, SlotState::Dirty, false);
        staging.set_state(one, SlotState::Dirty, false);
        assert!(staging.take(Lpn(4)).is_none());
    }
}
