//! The mapping table, its inverse, and which units of flash hold live data.

use crate::prefetch::prefetch;
use crate::restore::{Verdict, alike, ensure, within_or_none};
use crate::snapshot::raw;
use crate::units::{Lpn, NONE, Pun};
use serde::{Deserialize, Serialize};

/// A table of addresses whose zeroed memory means "none": entries are stored inverted. A fresh table of a large
/// drive therefore costs no time and, until it is used, no memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AddressTable(#[serde(with = "raw")] Vec<u32>);

impl AddressTable {
    fn new(entries: usize) -> Self {
        AddressTable(vec![0; entries])
    }

    #[inline]
    fn get(&self, index: usize) -> u32 {
        !self.0[index]
    }

    #[inline]
    fn replace(&mut self, index: usize, value: u32) -> u32 {
        !std::mem::replace(&mut self.0[index], !value)
    }
}

/// Logical to physical and back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Map {
    forward: AddressTable,
    inverse: AddressTable,
    #[serde(with = "raw")]
    live: Vec<u64>,
    /// Logical units whose data was lost to errors, one bit each; empty if cells make none.
    #[serde(with = "raw")]
    lost: Vec<u64>,
    lost_units: u32,
}

impl Map {
    /// An empty map of `logical` units onto `physical` units; with room to remember lost data if `loses`.
    pub fn new(logical: usize, physical: usize, loses: bool) -> Self {
        Map {
            forward: AddressTable::new(logical),
            inverse: AddressTable::new(physical),
            live: vec![0; physical.div_ceil(64)],
            lost: vec![0; if loses { logical.div_ceil(64) } else { 0 }],
            lost_units: 0,
        }
    }

    /// Bytes this map takes.
    pub fn bytes(&self) -> usize {
        (self.forward.0.len() + self.inverse.0.len()) * 4 + (self.live.len() + self.lost.len()) * 8
    }

    /// Logical units whose data is lost and was not written or trimmed since.
    pub fn lost_units(&self) -> u32 {
        self.lost_units
    }

    /// Whether the data of a logical unit, which is not mapped, was lost to errors.
    #[inline]
    pub fn is_lost(&self, lpn: Lpn) -> bool {
        self.lost_units > 0 && self.lost[lpn.index() / 64] >> (lpn.0 % 64) & 1 == 1
    }

    /// Forgets a logical unit whose data is lost, but not that it is; returns where it was.
    pub fn lose(&mut self, lpn: Lpn) -> Pun {
        let old = self.remove(lpn);
        self.lost[lpn.index() / 64] |= 1 << (lpn.0 % 64);
        self.lost_units += 1;
        old
    }

    /// The unit was written or trimmed: what was lost does not matter any more.
    #[inline]
    fn replace_lost(&mut self, lpn: Lpn) {
        if self.is_lost(lpn) {
            self.lost[lpn.index() / 64] &= !(1 << (lpn.0 % 64));
            self.lost_units -= 1;
        }
    }

    /// One bit for each unit of flash: live; and for each logical unit, where cells make errors: lost.
    fn live_words(&self) -> &[u64] {
        &self.live
    }

    fn lost_words(&self) -> &[u64] {
        &self.lost
    }

    /// Logical units.
    pub fn logical(&self) -> u32 {
        self.forward.0.len() as u32
    }

    /// Physical units.
    pub fn physical(&self) -> u32 {
        self.inverse.0.len() as u32
    }

    /// Where a logical unit is, if anywhere.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Pun {
        Pun(self.forward.get(lpn.index()))
    }

    /// Starts loading the entry of a logical unit that will be looked up soon.
    #[inline]
    pub fn prefetch(&self, lpn: u32) {
        prefetch(&self.forward.0, lpn as usize);
    }

    /// Starts loading the mark that says whether a unit of flash is live.
    #[inline]
    pub fn prefetch_live(&self, unit: Pun) {
        prefetch(&self.live, unit.index() / 64);
    }

    /// The logical unit stored in a unit of flash since its last erase: what its spare area says.
    #[inline]
    pub fn stored(&self, unit: Pun) -> Lpn {
        Lpn(self.inverse.get(unit.index()))
    }

    /// Notes that a unit of flash holds a copy of a logical unit, which stays mapped where it is.
    #[inline]
    pub fn note_copy(&mut self, lpn: Lpn, unit: Pun) {
        self.inverse.replace(unit.index(), lpn.0);
    }

    /// Notes that a unit of flash holds a copy that is dead on arrival, or whose program has failed.
    #[cold]
    #[inline(never)]
    pub fn note_stray(&mut self, lpn: Lpn, unit: Pun) {
        self.inverse.replace(unit.index(), lpn.0);
    }

    /// So many units of flash are erased.
    #[inline(never)]
    pub fn note_erased(&mut self, first: Pun, units: u32) {
        self.inverse.0[first.index()..first.index() + units as usize].fill(0);
    }

    /// Whether a unit of flash holds live data.
    #[inline]
    pub fn is_live(&self, unit: Pun) -> bool {
        self.live[unit.index() / 64] >> (unit.0 % 64) & 1 == 1
    }

    /// Points a logical unit at a unit of flash, and returns where it was. The old unit is dead from now on.
    #[inline]
    pub fn assign(&mut self, lpn: Lpn, unit: Pun) -> Pun {
        let old = Pun(self.forward.replace(lpn.index(), unit.0));
        if old.is_some() {
            self.live[old.index() / 64] &= !(1 << (old.0 % 64));
        } else {
            self.replace_lost(lpn);
        }
        self.inverse.replace(unit.index(), lpn.0);
        self.live[unit.index() / 64] |= 1 << (unit.0 % 64);
        old
    }

    /// Forgets a logical unit, and returns where it was.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) -> Pun {
        let old = Pun(self.forward.replace(lpn.index(), NONE));
        if old.is_some() {
            self.live[old.index() / 64] &= !(1 << (old.0 % 64));
        } else {
            self.replace_lost(lpn);
        }
        old
    }

    /// The first live unit in `from..end`, if any.
    #[inline]
    pub fn next_live(&self, from: u32, end: u32) -> Option<u32> {
        let mut at = from;
        while at < end {
            let word = self.live[(at / 64) as usize] >> (at % 64);
            if word != 0 {
                let found = at + word.trailing_zeros();
                return (found < end).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// Which of at most 32 units from `from` on hold live data, a bit for each.
    #[inline]
    pub fn live_of(&self, from: u32, count: u32) -> u32 {
        let (word, shift) = ((from / 64) as usize, from % 64);
        let mut live = self.live[word] >> shift;
        if shift + count > 64 {
            live |= self.live[word + 1] << (64 - shift);
        }
        live as u32 & (u32::MAX >> (32 - count))
    }

    /// Checks that the map and its inverse agree (slow); the error names the first place where they do not.
    pub fn check(&self) -> Result<(), String> {
        /// Entries whose units are looked up so far ahead: after random writes they lie anywhere.
        const AHEAD: u32 = 32;
        // First: a drive that loses nothing has no bits to look at.
        let lost: u32 = self.lost.iter().map(|word| word.count_ones()).sum();
        if lost != self.lost_units {
            return Err(format!("{lost} logical units are lost, their count says {}", self.lost_units));
        }
        for lpn in 0..self.logical() {
            if let Some(&ahead) = self.forward.0.get((lpn + AHEAD) as usize) {
                prefetch(&self.inverse.0, !ahead as usize);
                prefetch(&self.live, !ahead as usize / 64);
            }
            let unit = self.lookup(Lpn(lpn));
            if unit.is_some() && !(self.is_live(unit) && self.stored(unit).0 == lpn) {
                return Err(format!(
                    "logical unit {lpn} is mapped to unit {}, which does not hold it",
                    unit.0
                ));
            }
            if unit.is_some() && self.is_lost(Lpn(lpn)) {
                return Err(format!("logical unit {lpn} is mapped, and its data is said to be lost"));
            }
        }
        let mapped = (0..self.logical()).filter(|&lpn| self.lookup(Lpn(lpn)).is_some()).count() as u64;
        let live: u64 = self.live.iter().map(|word| u64::from(word.count_ones())).sum();
        if mapped == live {
            Ok(())
        } else {
            Err(format!("{mapped} logical units are mapped, {live} units are live"))
        }
    }

    /// Checks that all entries are of this drive; that they agree is [`Map::check`]'s.
    pub(in crate::ftl) fn restored(&mut self, fresh: &Map) -> Verdict {
        alike("live units", self.live_words(), fresh.live_words())?;
        alike("lost units", self.lost_words(), fresh.lost_words())?;
        let (logical, physical) = (fresh.logical() as usize, fresh.physical() as usize);
        ensure(self.logical() as usize == logical, "logical units")?;
        ensure(self.physical() as usize == physical, "units of flash")?;
        within_or_none("mapped unit", (0..logical as u32).map(|lpn| self.lookup(Lpn(lpn)).0), physical)?;
        within_or_none("stored unit", (0..physical as u32).map(|unit| self.stored(Pun(unit)).0), logical)?;
        let beyond = |words: &[u64], end: usize| {
            !end.is_multiple_of(64) && words.last().is_some_and(|word| word >> (end % 64) != 0)
        };
        ensure(!beyond(self.live_words(), physical), "live units beyond the last")?;
        ensure(!beyond(self.lost_words(), logical), "lost units beyond the last")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assign_moves_and_remove_forgets() {
        let mut map = Map::new(10, 200, true);
        assert!(!map.lookup(Lpn(3)).is_some());
        assert!(!map.assign(Lpn(3), Pun(130)).is_some());
        assert_eq!(map.assign(Lpn(3), Pun(64)), Pun(130));
        assert!(map.is_live(Pun(64)) && !map.is_live(Pun(130)));
        assert_eq!(map.stored(Pun(64)), Lpn(3));
        assert_eq!(
            (map.next_live(0, 200), map.next_live(65, 200), map.next_live(0, 64)),
            (Some(64), None, None)
        );
        map.check().unwrap();
        assert_eq!(map.remove(Lpn(3)), Pun(64));
        assert_eq!(map.next_live(0, 200), None);
        map.note_erased(Pun(60), 8);
        assert_eq!((map.stored(Pun(64)), map.stored(Pun(130))), (Lpn::NONE, Lpn(3)));
        map.check().unwrap();
    }

    #[test]
    fn lost_data_is_remembered_until_it_is_written_or_trimmed() {
        let mut map = Map::new(100, 200, true);
        for (lpn, unit) in [(70, 1), (71, 2)] {
            map.assign(Lpn(lpn), Pun(unit));
            assert_eq!(map.lose(Lpn(lpn)), Pun(unit));
        }
        assert_eq!((map.is_lost(Lpn(70)), map.is_lost(Lpn(6)), map.lost_units()), (true, false, 2));
        map.check().unwrap();
        map.assign(Lpn(70), Pun(3));
        map.remove(Lpn(71));
        assert_eq!((map.is_lost(Lpn(70)), map.is_lost(Lpn(71)), map.lost_units()), (false, false, 0));
        map.check().unwrap();
    }
}
