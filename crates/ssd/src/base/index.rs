//! From a logical unit to a number: an open-addressed table of fixed size, for the few units that have one.
//!
//! It is at most half full, so a look-up is one or two neighbouring cache lines; deletion shifts entries back, so there
//! are no tombstones and no order to depend on.

use crate::restore::{alike, ensure, within};
use crate::rng::SPREAD;
use crate::units::{Lpn, NONE};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    lpn: u32,
    value: u32,
}

const EMPTY: Entry = Entry { lpn: NONE, value: NONE };

/// The table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnitIndex {
    entries: Vec<Entry>,
    shift: u32,
}

impl UnitIndex {
    /// A table for at most `entries` units.
    pub fn new(entries: u32) -> Self {
        let size = Self::size(entries);
        UnitIndex { entries: vec![EMPTY; size], shift: 64 - size.trailing_zeros() }
    }

    /// Entries of a table for at most `entries` units.
    fn size(entries: u32) -> usize {
        (entries as usize * 2).next_power_of_two().max(16)
    }

    /// Bytes of a table for at most `entries` units.
    pub fn bytes_for(entries: u32) -> usize {
        Self::size(entries) * size_of::<Entry>()
    }

    /// Checks that all entries are of units and numbers there are, and are found; says how many there are.
    pub fn restored(&mut self, fresh: &UnitIndex, units: usize, numbers: usize) -> Result<usize, String> {
        alike("units with a number", &self.entries, &fresh.entries)?;
        self.shift = fresh.shift;
        let count = self.iter().count();
        ensure(2 * count <= self.entries.len(), "more units with a number than there is room for")?;
        within("units with a number", self.iter().map(|(lpn, _)| lpn.0), units)?;
        within("numbers of units", self.iter().map(|(_, number)| number), numbers)?;
        let is_found = |(at, entry): (usize, &Entry)| match entry.lpn {
            NONE => entry.value == NONE,
            lpn => self.find(lpn) == at,
        };
        ensure(self.entries.iter().enumerate().all(is_found), "a unit's number is not found")?;
        Ok(count)
    }

    /// Bytes this table takes.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
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

    /// The number of a logical unit; [`NONE`] if it has none.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> u32 {
        self.entries[self.find(lpn.0)].value
    }

    /// Sets the number of a logical unit, and returns the one it had.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, value: u32) -> u32 {
        let at = self.find(lpn.0);
        let old = self.entries[at].value;
        self.entries[at] = Entry { lpn: lpn.0, value };
        old
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

    /// All units with their numbers, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, u32)> + '_ {
        let used = self.entries.iter().filter(|entry| entry.lpn != NONE);
        used.map(|entry| (Lpn(entry.lpn), entry.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_map() {
        let mut index = UnitIndex::new(64);
        let mut model = BTreeMap::new();
        let mut rng = Rng::named(5, "index");
        for step in 0..200_000u32 {
            let lpn = rng.below(100) * 0x0100_0193;
            if model.len() < 64 && rng.below(2) == 0 {
                assert_eq!(index.set(Lpn(lpn), step), model.insert(lpn, step).unwrap_or(NONE));
            } else {
                index.remove(Lpn(lpn));
                model.remove(&lpn);
            }
            let probe = rng.below(100) * 0x0100_0193;
            assert_eq!(index.get(Lpn(probe)), model.get(&probe).copied().unwrap_or(NONE));
        }
        let mut all: Vec<(u32, u32)> = index.iter().map(|(lpn, value)| (lpn.0, value)).collect();
        all.sort_unstable();
        assert_eq!(all, model.into_iter().collect::<Vec<_>>());
    }
}
