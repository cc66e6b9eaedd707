//! DRAM slots: each holds one mapping unit of data that is cached, dirty, or on its way to flash.
//!
//! A logical unit may have several slots at once: the newest, and older ones whose data is still being programmed. The
//! newest waits behind them, so that versions reach flash in order.

use super::index::SlotIndex;
use crate::list::{Links, List, Node};
use crate::restore::{Verdict, alike, distinct, ensure, keep_room, within_or_none};
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
    /// Dirty and whole: the translation layer gathers it with others in a page.
    Gathered,
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
    /// Newer and older slot of the same unit.
    pub newer: SlotId,
    pub older: SlotId,
    links: Links,
}

impl Node for Slot {
    #[inline]
    fn links(&self) -> Links {
        self.links
    }

    #[inline]
    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
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
        self.is_awaited() && matches!(self.state, SlotState::Dirty | SlotState::Gathered | SlotState::Merging)
    }
}

/// All slots.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Staging {
    slots: Vec<Slot>,
    index: SlotIndex,
    free: Vec<u32>,
    /// The last so many slots are not given out yet: they are for data in several streams.
    kept: u32,
    /// Clean and dirty slots; the newest are the most recently used.
    clean: List,
    dirty: List,
    /// Slots that the translation layer gathers.
    pub gathered: u32,
    /// Units with a slot: zero means that look-ups can be skipped.
    indexed: u32,
    pub merging: u32,
    /// Slots not in flash, by the flush they count towards (a ring), and the first flush not yet done.
    unclean: Vec<u32>,
    epoch: u32,
    oldest_epoch: u32,
}

impl Staging {
    /// `count` free slots, of which the last `kept` are not given out yet, for at most `flushes` FLUSH commands at
    /// once.
    pub fn new(count: u32, kept: u32, flushes: u32) -> Self {
        let slot = Slot {
            lpn: Lpn::NONE,
            state: SlotState::Free,
            dead: false,
            mask: 0,
            waiter: CommandId::NONE,
            epoch: 0,
            op: OpId::NONE,
            place: 0,
            newer: SlotId::NONE,
            older: SlotId::NONE,
            links: Links::NONE,
        };
        Staging {
            slots: vec![slot; count as usize],
            index: SlotIndex::new(count),
            free: {
                let mut free = Vec::with_capacity(count as usize);
                free.extend((0..count - kept).rev());
                free
            },
            kept,
            clean: List::EMPTY,
            dirty: List::EMPTY,
            gathered: 0,
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
        ensure([0, fresh.kept].contains(&self.kept), "slots that are not given out yet")?;
        let (given, kept) = self.slots.split_at(self.slots.len() - self.kept as usize);
        let agree = given.iter().zip(&free).all(|(slot, &free)| is_free(slot) == free);
        ensure(agree && kept.iter().all(is_free) && !free[given.len()..].contains(&true), "free slots")?;
        let indexed = self.index.restored(&fresh.index, NONE as usize, self.slots.len())?;
        ensure(indexed == self.indexed as usize, "units with a slot")?;
        let is_own = |(lpn, slot): (Lpn, u32)| self.slots[slot as usize].lpn == lpn;
        ensure(self.index.iter().all(is_own), "a unit's slot is another's")?;
        self.clean.check("a list of slots", &self.slots, |slot| slot.state == SlotState::Clean)?;
        self.dirty.check("a list of slots", &self.slots, |slot| slot.state == SlotState::Dirty)?;
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
        self.dirty.len() + self.gathered + self.merging
    }

    /// Slots not in flash.
    pub fn unclean(&self) -> u32 {
        self.unclean.iter().sum()
    }

    /// The dirty slot to flush next.
    #[inline]
    pub fn oldest_dirty(&self) -> SlotId {
        SlotId(self.dirty.oldest())
    }

    /// The dirty slot to flush after `steps` others.
    #[inline]
    pub fn dirty_ahead(&self, steps: usize) -> SlotId {
        SlotId(self.dirty.ahead(&self.slots, steps))
    }

    /// The clean slot to give way next.
    pub fn oldest_clean(&self) -> Option<SlotId> {
        let id = SlotId(self.clean.oldest());
        id.is_some().then_some(id)
    }

    /// Takes a slot for a new version of `lpn`: a free one, or the least recently used clean one, whose id is then
    /// also returned. `None` if every slot is needed.
    #[inline]
    pub fn take(&mut self, lpn: Lpn) -> Option<(SlotId, bool)> {
        let (id, evicted) = match self.free.pop() {
            Some(id) => (SlotId(id), false),
            None => {
                let id = SlotId(self.clean.oldest());
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

    /// Whether there are slots that are not given out yet.
    #[inline]
    pub fn keeps_some(&self) -> bool {
        self.kept > 0
    }

    /// Gives them out.
    #[cold]
    pub fn give_kept(&mut self) {
        let count = self.slots.len() as u32;
        self.free.extend((count - self.kept..count).rev());
        self.kept = 0;
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
        self.gathered -= u32::from(old == SlotState::Gathered);
        self.gathered += u32::from(state == SlotState::Gathered);
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
        match state {
            SlotState::Clean => self.clean.put(&mut self.slots, id.0, last),
            SlotState::Dirty => self.dirty.put(&mut self.slots, id.0, last),
            _ => {}
        }
    }

    #[inline]
    fn unlink(&mut self, id: SlotId, state: SlotState) {
        match state {
            SlotState::Clean => self.clean.remove(&mut self.slots, id.0),
            SlotState::Dirty => self.dirty.remove(&mut self.slots, id.0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_unit_queue_up_and_flushes_count_them() {
        let mut staging = Staging::new(4, 0, 2);
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
    fn the_least_recent_clean_slot_gives_way() {
        let mut staging = Staging::new(2, 0, 1);
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
