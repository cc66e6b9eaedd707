//! A table of which everything fades in turns: counters are halved, a filter is emptied. A turn costs the same however
//! large the table is: a piece of it is brought up to date when it is next changed, and read as if it had been. What is
//! noted for that is the simulator's, not the drive's, which has the time between two turns.

use crate::restore::{Verdict, alike};
use crate::snapshot::raw;
use bytemuck::Pod;
use core::ops::{BitAnd, Not, Shr};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Bytes that are brought up to date at once: a fraction of a microsecond.
const PIECE_BYTES: usize = 1_024;

/// The table. A snapshot holds its entries as they are, up to date.
#[derive(Clone, Debug, Default)]
pub(super) struct Fading<T> {
    entries: Vec<T>,
    /// Turns when each piece was brought up to date.
    seen: Vec<u64>,
    turns: u64,
    /// A turn moves the bits of an entry down so far.
    down: u32,
    /// Bits that the last turns have left of an entry, once moved down: none, one turn, two. More leave nothing.
    left: Box<[T]>,
}

/// What fades: whole numbers.
pub(super) trait Entry:
    Pod + BitAnd<Output = Self> + Not<Output = Self> + Shr<u32, Output = Self>
{
}
impl Entry for u8 {}
impl Entry for u64 {}

impl<T: Entry> Fading<T> {
    /// Entries of zero. A turn moves their bits down by `down`, and so many turns leave nothing of an entry.
    pub(super) fn new(entries: usize, down: u32, turns_to_nothing: u32) -> Self {
        Fading {
            entries: vec![T::zeroed(); entries],
            seen: vec![0; Self::pieces(entries)],
            turns: 0,
            down,
            left: vec![!T::zeroed(); turns_to_nothing as usize].into_boxed_slice(),
        }
    }

    const PER_PIECE: usize = PIECE_BYTES / size_of::<T>();

    fn pieces(entries: usize) -> usize {
        entries.div_ceil(Self::PER_PIECE)
    }

    /// What so many turns have left of an entry.
    #[inline]
    fn faded(&self, entry: T, turns: u64) -> T {
        match self.left.get(turns as usize) {
            Some(&left) => (entry >> (self.down * turns as u32)) & left,
            None => T::zeroed(),
        }
    }

    /// An entry.
    #[inline]
    pub(super) fn get(&self, at: usize) -> T {
        self.faded(self.entries[at], self.turns - self.seen[at / Self::PER_PIECE])
    }

    /// An entry, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, at: usize) -> &mut T {
        let piece = at / Self::PER_PIECE;
        if self.seen[piece] != self.turns {
            self.bring_up(piece);
        }
        &mut self.entries[at]
    }

    #[cold]
    fn bring_up(&mut self, piece: usize) {
        let turns = self.turns - self.seen[piece];
        let from = piece * Self::PER_PIECE;
        let until = (from + Self::PER_PIECE).min(self.entries.len());
        match self.left.get(turns as usize) {
            Some(&left) => {
                let down = self.down * turns as u32;
                self.entries[from..until].iter_mut().for_each(|entry| *entry = (*entry >> down) & left);
            }
            None => self.entries[from..until].fill(T::zeroed()),
        }
        self.seen[piece] = self.turns;
    }

    /// Everything fades: bits are moved down, and these are left.
    pub(super) fn turn(&mut self, left: T) {
        self.turns += 1;
        for after in (1..self.left.len()).rev() {
            self.left[after] = (self.left[after - 1] >> self.down) & left;
        }
    }

    /// The entries, up to date.
    fn up_to_date(&self) -> Cow<'_, [T]> {
        if self.seen.iter().all(|&seen| seen == self.turns) {
            return Cow::Borrowed(&self.entries);
        }
        let mut all = self.clone();
        (0..all.seen.len())
            .filter(|&piece| self.seen[piece] != self.turns)
            .for_each(|piece| all.bring_up(piece));
        Cow::Owned(all.entries)
    }

    /// Takes over the entries of a snapshot, if they are as many.
    pub(super) fn restored(&mut self, what: &str, saved: Self) -> Verdict {
        alike(what, &saved.entries, &self.entries)?;
        self.entries = saved.entries;
        Ok(())
    }

    /// Whether all entries are allowed.
    pub(super) fn all(&self, allowed: impl Fn(T) -> bool) -> bool {
        self.up_to_date().iter().all(|&entry| allowed(entry))
    }
}

impl<T: Entry> Serialize for Fading<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw::serialize(&self.up_to_date(), serializer)
    }
}

/// Entries alone: what [`Fading::restored`] takes over.
impl<'de, T: Entry> Deserialize<'de> for Fading<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = raw::deserialize(deserializer)?;
        Ok(Fading { entries, seen: Vec::new(), turns: 0, down: 0, left: Box::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Beside a list that fades as a whole: read, changed and saved at any time, with pieces that nobody looked at for
    /// longer than anything lasts.
    #[test]
    fn reads_as_a_table_that_fades_as_a_whole() {
        for (down, lasting, masks) in [(1, 4, [HALVES; 3]), (0, 3, [!1, !2, !4])] {
            let mut rng = Rng::named(u64::from(down), "fading");
            let mut table = Fading::<u64>::new(1_000, down, lasting);
            let mut plain = vec![0u64; 1_000];
            for step in 0..20_000 {
                let at = (rng.below(1_000) * rng.below(8) / 7) as usize;
                let bits = if down == 0 { 7 } else { 0x7777_7777_7777_7777 };
                match rng.below(200) {
                    0 | 1 => {
                        let left = masks[table.turns as usize % 3];
                        table.turn(left);
                        plain.iter_mut().for_each(|entry| *entry = (*entry >> down) & left);
                    }
                    2 => assert_eq!(*table.up_to_date(), plain, "step {step}"),
                    3..100 => {
                        let set =
                            (u64::from(rng.below(u32::MAX)) << 32 | u64::from(rng.below(u32::MAX))) & bits;
                        *table.get_mut(at) |= set;
                        plain[at] |= set;
                    }
                    _ => assert_eq!(table.get(at), plain[at], "step {step}"),
                }
            }
            assert!(plain.iter().any(|&entry| entry != 0) && table.turns > 100);
        }
    }

    const HALVES: u64 = 0x7777_7777_7777_7777;

    #[test]
    fn a_turn_touches_nothing_and_a_change_one_piece() {
        let mut table = Fading::<u8>::new(10 * PIECE_BYTES, 0, 4);
        table.turn(!1);
        assert!(table.seen.iter().all(|&seen| seen == 0));
        *table.get_mut(3 * PIECE_BYTES) = 2;
        assert_eq!(table.seen, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    }
}
