//! From a logical unit to its DRAM slot: an open-addressed table of fixed size.
//!
//! It holds at most as many entries as there are slots and is at most half full, so a look-up is one or two
//! neighbouring cache lines; deletion shifts entries back, so there are no tombstones and no order to depend on.

use crate::rng::SPREAD;
use crate::units::{Lpn, NONE, SlotId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    lpn: u32,
    slot: u32,
}

const EMPTY: Entry = Entry { lpn: NONE, slot: NONE };

/// The table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SlotIndex {
    entries: Vec<Entry>,
    shift: u32,
}

impl SlotIndex {
    /// A table for at most `slots` entries.
    pub fn new(slots: u32) -> Self {
        let size = (slots as usize * 2).next_power_of_two().max(16);
        SlotIndex { entries: vec![EMPTY; size], shift: 64 - size.trailing_zeros() }
    }

    #[inline]
    fn home(&self, lpn: u32) -> usize {
        (u64::from(lpn).wrapping_mul(SPREAD) >> self.shift) as usize
    }

    #[inline]
    fn find(&self, lpn: u32) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = self.home(lpn);
        while self.entries[at].lpn != lpn && self.entries[at].lpn != NONE {
            at = (at + 1) & mask;
        }
        at
    }

    /// The slot of a logical unit, if it has one.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> SlotId {
        SlotId(self.entries[self.find(lpn.0)].slot)
    }

    /// Sets the slot of a logical unit.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, slot: SlotId) {
        let at = self.find(lpn.0);
        self.entries[at] = Entry { lpn: lpn.0, slot: slot.0 };
    }

    /// Removes a logical unit, if it is there.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) {
        let mask = self.entries.len() - 1;
        let mut hole = self.find(lpn.0);
        let mut at = hole;
        loop {
            self.entries[hole] = EMPTY;
            // Shift back the next entry that may stand in the hole: one whose home is not after it.
            loop {
                at = (at + 1) & mask;
                let entry = self.entries[at];
                if entry.lpn == NONE {
                    return;
                }
                let home = self.home(entry.lpn);
                if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                    self.entries[hole] = entry;
                    hole = at;
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_map() {
        let mut index = SlotIndex::new(64);
        let mut model = BTreeMap::new();
        let mut rng = Rng::stream(5, "index");
        for step in 0..200_000u32 {
            let lpn = rng.below(100) * 0x0100_0193;
            if model.len() < 64 && rng.below(2) == 0 {
                index.set(Lpn(lpn), SlotId(step));
                model.insert(lpn, step);
            } else {
                index.remove(Lpn(lpn));
                model.remove(&lpn);
            }
            let probe = rng.below(100) * 0x0100_0193;
            assert_eq!(index.get(Lpn(probe)).0, model.get(&probe).copied().unwrap_or(NONE));
        }
    }
}
