//! What leaves DRAM, and what is then known of it.

use super::buffer::Rules;
use super::staging::{OneList, SlotState};
use super::{Below, Host};
use crate::ftl::write::waits::Lack;
use crate::observe::Effect;
use crate::sections::Sections;
use crate::units::{Lpn, SlotId};

/// One slot of so many is kept free or leaving where clean and dirty data leave in one order (assumed).
const SLOTS_FOR_ONE_FREE: u32 = 64;

/// How data leaves a buffer of so many slots, if clean and dirty data do in one order. Those that nothing can be in are
/// always free.
pub(super) fn one_list(rules: &Rules, slots: u32, cfg: &Sections) -> Option<OneList> {
    let all = slots.max(rules.slots);
    let kept_free = (all / SLOTS_FOR_ONE_FREE).max(2 * cfg.units_per_page()).min(all / 2).max(1);
    rules.one_list.then_some(OneList { kept_free: kept_free.saturating_sub(all - slots) })
}

impl Host {
    /// The data of a slot is used: once more, or, if it was on its way out, to stay.
    #[inline]
    pub(super) fn follow(&mut self, slot: SlotId, is_write: bool) {
        if self.follows {
            self.follow_use(slot, is_write);
        }
    }

    #[inline(never)]
    fn follow_use(&mut self, slot: SlotId, is_write: bool) {
        if let Some(hits) = self.hits.get_mut(slot.index()) {
            hits.count(is_write);
        }
        self.staging.set_leaving(slot, false);
        if is_write {
            self.staging.get_mut(slot).promoted = false;
        }
    }

    /// A slot was taken for a new version of its unit, and the data of another unit, if it is some, has left it. What
    /// is known of older versions holds for the new one.
    #[inline]
    pub(super) fn take_over(&mut self, slot: SlotId, evicted: Lpn, b: &mut Below<'_>) {
        if evicted.is_some() {
            b.ftl.effects.push(Effect::Release { slot });
        }
        if self.follows {
            self.take_over_hits(slot, evicted, b);
        }
    }

    #[inline(never)]
    fn take_over_hits(&mut self, slot: SlotId, evicted: Lpn, b: &mut Below<'_>) {
        if self.hits.is_empty() {
            return;
        }
        if evicted.is_some() {
            self.tell_hotness(slot, evicted, false, b);
        }
        let older = self.staging.get(slot).older;
        self.hits[slot.index()] = if older.is_some() { self.hits[older.index()] } else { Default::default() };
    }

    /// The data of a unit leaves DRAM: the translation layer is told how it was used. True: it is to be written once
    /// more before, although nothing in the slot is newer than what flash holds; asked only if it `can`.
    fn tell_hotness(&mut self, slot: SlotId, lpn: Lpn, can: bool, b: &mut Below<'_>) -> bool {
        let Some(hits) = self.hits.get(slot.index()) else { return false };
        let hotness = self.hotness.classify(*hits);
        self.counts.hotness[hotness as usize] += 1;
        b.ftl.leaves(lpn, hotness, can)
    }

    /// Where clean and dirty data leave in one order: frees clean slots whose turn it is while more are to be free.
    #[inline(never)]
    pub(super) fn evict_clean(&mut self, b: &mut Below<'_>) {
        while self.staging.wants_room()
            && let Some(slot) = self.staging.next_clean()
        {
            let found = self.staging.get(slot);
            let can = found.mask == self.shape.full && self.read_only.is_none();
            if self.tell_hotness(slot, found.lpn, can, b) {
                self.staging.promote(slot);
                continue;
            }
            self.staging.release(slot);
            b.ftl.effects.push(Effect::Release { slot });
            if !self.stalled.is_empty() {
                b.ftl.waits.come(Lack::Slot);
            }
        }
    }

    /// A dirty slot is about to be flushed: if that is to make room, its data leaves with it.
    #[inline]
    pub(super) fn flush_to_leave(&mut self, slot: SlotId, b: &mut Below<'_>) {
        if self.rules.one_list {
            self.flush_in_order(slot, b);
        }
    }

    #[inline(never)]
    fn flush_in_order(&mut self, slot: SlotId, b: &mut Below<'_>) {
        if self.staging.wants_room() || !self.stalled.is_empty() {
            debug_assert_eq!(self.staging.get(slot).state, SlotState::Dirty);
            if !self.staging.get(slot).promoted {
                self.tell_hotness(slot, self.staging.get(slot).lpn, false, b);
            }
            self.staging.set_leaving(slot, true);
        }
    }
}
