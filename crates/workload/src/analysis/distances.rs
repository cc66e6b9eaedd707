//! Reuse distances: how many other pages were accessed since a page was accessed last (Mattson et al., IBM Systems
//! Journal 9(2), 1970), found in logarithmic time (Olken, LBL-12370, 1981).
//!
//! Each access takes the next slot of a row; a page's slot is that of its last access. The distance is the number of
//! slots in use behind it. Instead of Olken's tree of times, a bitmap says which slots are in use and a Fenwick tree
//! over its words counts them; where the row is full, slots in use move together.

use crate::pages::ChunkHasher;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Slots of a row at least.
const SLOTS_MIN: usize = 1 << 16;
/// Slots of a word of the bitmap.
const WORD: usize = 64;

/// Pages in the order of their last access.
pub(crate) struct Distances {
    /// Slot of each page. Only looked up, never walked.
    slots: HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>,
    /// Page of each slot, in use or not any more, and when it was accessed; the next access takes the slot behind them.
    pages: Vec<(u64, u64)>,
    used: Vec<u64>,
    /// Fenwick tree over the numbers of slots in use of each word.
    sums: Vec<u32>,
    capacity: usize,
}

/// Bytes of memory for each page at most: two slots, the bitmap and its tree, and the index while it grows.
pub(crate) const BYTES_PER_PAGE: u64 = 96;

impl Default for Distances {
    fn default() -> Self {
        let mut distances = Distances {
            slots: HashMap::default(),
            pages: Vec::new(),
            used: Vec::new(),
            sums: Vec::new(),
            capacity: 0,
        };
        distances.rebuild(|_| true);
        distances
    }
}

impl Distances {
    /// Pages seen so far (and kept).
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Accesses a page: how many other pages were accessed since the last time, and when that was; `None` the first
    /// time.
    #[inline]
    pub(crate) fn access(&mut self, page: u64, now: u64) -> Option<(u64, u64)> {
        if self.pages.len() == self.capacity {
            self.rebuild(|_| true);
        }
        let slot = self.pages.len();
        self.pages.push((page, now));
        let before = self.slots.insert(page, slot as u32);
        let found = before.map(|before| {
            let distance = self.len() - self.up_to(before as usize);
            self.change(before as usize, false);
            (distance as u64, self.pages[before as usize].1)
        });
        self.change(slot, true);
        found
    }

    /// Slots in use up to and with this one. The page accessed is in the index with its new slot, which is not in use
    /// yet; so the index has as many pages as there are slots in use, or one more.
    #[inline]
    fn up_to(&self, slot: usize) -> usize {
        let word = slot / WORD;
        let within = (self.used[word] & (u64::MAX >> (WORD - 1 - slot % WORD))).count_ones();
        let mut sum = 0;
        let mut at = word;
        while at > 0 {
            sum += self.sums[at] as usize;
            at &= at - 1;
        }
        sum + within as usize
    }

    /// Puts a slot in use, or out of it.
    #[inline]
    fn change(&mut self, slot: usize, in_use: bool) {
        self.used[slot / WORD] ^= 1 << (slot % WORD);
        let mut at = slot / WORD + 1;
        while at < self.sums.len() {
            self.sums[at] = if in_use { self.sums[at] + 1 } else { self.sums[at] - 1 };
            at += at & at.wrapping_neg();
        }
    }

    /// Pages, the one accessed longest ago first.
    pub(crate) fn pages(&self) -> impl Iterator<Item = u64> {
        let in_use = |slot: &usize| self.used[slot / WORD] >> (slot % WORD) & 1 == 1;
        (0..self.pages.len()).filter(in_use).map(|slot| self.pages[slot].0)
    }

    /// Forgets all pages but those to keep, and makes room for as many accesses as there are pages.
    #[cold]
    pub(crate) fn rebuild(&mut self, keep: impl Fn(u64) -> bool) {
        let mut next = 0;
        for slot in 0..self.pages.len() {
            if self.used[slot / WORD] >> (slot % WORD) & 1 == 0 {
                continue;
            }
            let (page, then) = self.pages[slot];
            if keep(page) {
                self.pages[next] = (page, then);
                self.slots.insert(page, next as u32);
                next += 1;
            } else {
                self.slots.remove(&page);
            }
        }
        self.pages.truncate(next);
        self.capacity = (2 * next).next_multiple_of(WORD).clamp(SLOTS_MIN, u32::MAX as usize);
        self.pages.reserve_exact(self.capacity - next);
        let words = self.capacity.div_ceil(WORD);
        self.used.clear();
        self.used.resize(words, 0);
        self.sums.clear();
        self.sums.resize(words + 1, 0);
        for slot in 0..next {
            self.used[slot / WORD] |= 1 << (slot % WORD);
            self.sums[slot / WORD + 1] += 1;
        }
        for at in 1..self.sums.len() {
            let parent = at + (at & at.wrapping_neg());
            if parent < self.sums.len() {
                self.sums[parent] += self.sums[at];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;

    /// The same by a list that is searched.
    fn naive(stack: &mut Vec<u64>, page: u64) -> Option<u64> {
        let at = stack.iter().rposition(|known| *known == page);
        let distance = at.map(|at| {
            let distance = stack.len() - 1 - at;
            stack.remove(at);
            distance as u64
        });
        stack.push(page);
        distance
    }

    #[test]
    fn a_story_by_hand() {
        let mut distances = Distances::default();
        // a b c a: b and c lie between; b: c and a; b again: nothing.
        let accesses = [(1, 10), (2, 11), (3, 12), (1, 13), (2, 14), (2, 15), (3, 16)];
        let found = accesses.map(|(page, now)| distances.access(page, now));
        assert_eq!(found, [None, None, None, Some((2, 10)), Some((2, 11)), Some((0, 14)), Some((2, 12))]);
        assert_eq!((distances.len(), distances.pages().collect::<Vec<_>>()), (3, vec![1, 2, 3]));
    }

    #[test]
    fn agrees_with_a_stack_that_is_searched() {
        let mut rng = Rng::named(1, "distances");
        for pages in [1u32, 3, 100, 3_000] {
            let (mut distances, mut stack) = (Distances::default(), Vec::new());
            // More accesses than slots, so that the row is rebuilt.
            for access in 0..2 * SLOTS_MIN as u32 {
                let page = u64::from(rng.below(pages).min(rng.below(pages))) << 33;
                let found = distances.access(page, 0).map(|(distance, _)| distance);
                assert_eq!(found, naive(&mut stack, page), "{access} of {pages} pages");
                if access == 40_000 {
                    let keep = |page: u64| page >> 33 & 1 == 0;
                    distances.rebuild(keep);
                    stack.retain(|page| keep(*page));
                }
            }
            assert_eq!(distances.pages().collect::<Vec<_>>(), stack);
        }
    }

    #[test]
    fn a_row_grows_with_its_pages() {
        let mut distances = Distances::default();
        let pages = 3 * SLOTS_MIN as u64;
        assert!((0..pages).all(|page| distances.access(page, page).is_none()));
        assert!((0..pages).all(|page| distances.access(page, 0) == Some((pages - 1, page))));
        assert_eq!(distances.len() as u64, pages);
    }
}
