//! What leaves DRAM, and what is then known of it.

use super::slots::Slots;
use super::staging::SlotState;
use super::{Below, HostCounts};
use crate::ftl::write::waits::Lack;
use crate::observe::Effect;
use crate::units::{Lpn, SlotId};

impl Slots {
    /// The data of a slot is used: once more, or, if it was on its way out, to stay.
    #[inline]
    pub fn follow(&mut self, slot: SlotId, is_write: bool) {
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
    pub fn take_over(&mut self, slot: SlotId, evicted: Lpn, counts: &mut HostCounts, b: &mut Below<'_>) {
        if evicted.is_some() {
            b.ftl.moves.media.effects.push(Effect::Release { slot });
        }
        if self.follows {
            self.take_over_hits(slot, evicted, counts, b);
        }
    }

    #[inline(never)]
    fn take_over_hits(&mut self, slot: SlotId, evicted: Lpn, counts: &mut HostCounts, b: &mut Below<'_>) {
        if self.hits.is_empty() {
            return;
        }
        if evicted.is_some() {
            self.tell_hotness(slot, (evicted, false), counts, b);
        }
        let older = self.staging.get(slot).older;
        self.hits[slot.index()] = if older.is_some() { self.hits[older.index()] } else { Default::default() };
    }

    /// The data of a unit leaves DRAM: the translation layer is told how it was used. True: it is to be written once
    /// more before, although nothing in the slot is newer than what flash holds; asked only if it `can`.
    fn tell_hotness(
        &self,
        slot: SlotId,
        (lpn, can): (Lpn, bool),
        counts: &mut HostCounts,
        b: &mut Below<'_>,
    ) -> bool {
        let Some(hits) = self.hits.get(slot.index()) else { return false };
        let hotness = self.hotness.classify(*hits);
        counts.hotness[hotness as usize] += 1;
        b.ftl.moves.separation.leaves(&b.ftl.moves.media.tables, lpn, hotness, can)
    }

    /// Where clean and dirty data leave in one order: frees clean slots whose turn it is while more are to be free,
    /// for which somebody waits or not. They may be written once more before.
    #[inline(never)]
    pub fn evict_clean(&mut self, is_awaited: bool, counts: &mut HostCounts, b: &mut Below<'_>) {
        while self.staging.wants_room()
            && let Some(slot) = self.staging.next_clean()
        {
            let found = self.staging.get(slot);
            let can = found.mask == self.shape.full;
            if self.tell_hotness(slot, (found.lpn, can), counts, b) {
                self.staging.promote(slot);
                continue;
            }
            self.release(slot, b);
            if is_awaited {
                b.ftl.moves.media.waits.come(Lack::Slot);
            }
        }
    }

    /// A dirty slot is about to be flushed: if that is to make room, its data leaves with it.
    #[inline]
    pub fn flush_to_leave(
        &mut self,
        slot: SlotId,
        is_awaited: bool,
        counts: &mut HostCounts,
        b: &mut Below<'_>,
    ) {
        if self.rules.one_list {
            self.flush_in_order(slot, is_awaited, counts, b);
        }
    }

    #[inline(never)]
    fn flush_in_order(&mut self, slot: SlotId, is_awaited: bool, counts: &mut HostCounts, b: &mut Below<'_>) {
        if self.staging.wants_room() || is_awaited {
            debug_assert_eq!(self.staging.get(slot).state, SlotState::Dirty);
            if !self.staging.get(slot).promoted {
                self.tell_hotness(slot, (self.staging.get(slot).lpn, false), counts, b);
            }
            self.staging.set_leaving(slot, true);
        }
    }
}
