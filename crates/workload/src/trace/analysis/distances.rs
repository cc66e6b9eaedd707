//! Reuse distances: how many other pages were accessed since a page was accessed last (Mattson et al., IBM Systems
//! Journal 9(2), 1970), found in logarithmic time (Olken, LBL-12370, 1981).
//!
//! Each access takes the next slot of a row; a page's slot is that of its last access. The distance is the number of
//! slots in use behind it. Instead of Olken's tree of times, a bitmap says which slots are in use and a Fenwick tree
//! over its words counts them; where the row is full, slots in use move together.
//!
//! Pages that follow on and were accessed one after the other, as those of a large request are, have the same distance
//! when they are accessed so again: each leaves one slot behind it and takes one in front. They go together, up to
//! [`PAGES`] at a time, which are also found by one look-up.

use super::slabs::Slabs;
use crate::base::pages::ChunkHasher;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Slots of a row at least.
const SLOTS_MIN: usize = 1 << 16;
/// Slots of a word of the bitmap.
const WORD: usize = 64;
/// Pages of an extent.
const PAGES: usize = 8;
/// No slot.
const NONE: u32 = u32::MAX;

/// The slots of some pages.
struct Extent {
    number: u64,
    slots: [u32; PAGES],
}

/// Pages in the order of their last access.
pub(crate) struct Distances {
    /// Place of each extent. Only looked up, never walked.
    index: HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>,
    extents: Slabs<Extent>,
    /// Page of each slot, in use or not any more, as its extent's place times [`PAGES`] and its place there; the next
    /// access takes the slot behind them.
    places: Vec<u32>,
    /// When that was.
    times: Vec<u64>,
    used: Vec<u64>,
    /// Fenwick tree over the numbers of slots in use of each word.
    sums: Vec<u32>,
    capacity: usize,
    /// Slots in use.
    pages: usize,
}

/// An extent and its place in the index, with the index's copy while it grows.
const BYTES_PER_EXTENT: u64 = size_of::<Extent>() as u64 + 58;
/// Place, time, bit and its part of the tree.
const BYTES_PER_SLOT: u64 = 13;
/// Memory for each page at most, in bytes: an extent of its own, and two slots.
pub(crate) const BYTES_PER_PAGE: u64 = BYTES_PER_EXTENT + 2 * BYTES_PER_SLOT;

/// Pages accessed one after the other that had been accessed so before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Again {
    /// How many.
    pub pages: u64,
    /// Other pages accessed since, the same for each.
    pub distance: u64,
    /// Accesses to any page since, these with them.
    pub gap: u64,
}

impl Default for Distances {
    fn default() -> Self {
        let mut distances = Distances {
            index: HashMap::default(),
            extents: Slabs::new(),
            places: Vec::new(),
            times: Vec::new(),
            used: Vec::new(),
            sums: Vec::new(),
            capacity: 0,
            pages: 0,
        };
        distances.rebuild(|_| true);
        distances
    }
}

impl Distances {
    /// Pages seen so far (and kept).
    pub(crate) fn len(&self) -> usize {
        self.pages
    }

    /// Memory that it takes, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.extents.len() as u64 * BYTES_PER_EXTENT + self.capacity as u64 * BYTES_PER_SLOT
    }

    /// Accesses the pages `first..=last`, from the time `now` on one after the other, and tells those that had been
    /// accessed before.
    #[inline]
    pub(crate) fn access(&mut self, first: u64, last: u64, mut now: u64, mut again: impl FnMut(Again)) {
        const COUNT: u64 = PAGES as u64;
        for number in first / COUNT..=last / COUNT {
            let place = self.place(number);
            let mut from = (first.max(number * COUNT) - number * COUNT) as usize;
            let to = (last.min(number * COUNT + COUNT - 1) - number * COUNT) as usize;
            while from <= to {
                if self.places.len() == self.capacity {
                    self.rebuild(|_| true);
                }
                let (before, pages) = self.alike(place, from, to);
                if before == NONE {
                    self.pages += pages;
                } else {
                    let slot = before as usize;
                    let distance = (self.pages - self.up_to(slot)) as u64;
                    again(Again { pages: pages as u64, distance, gap: now - self.times[slot] });
                    self.change(slot, pages, false);
                }
                self.append(place, from, pages, now);
                from += pages;
                now += pages as u64;
            }
        }
    }

    /// The place of an extent, made if need be.
    #[inline]
    fn place(&mut self, number: u64) -> u32 {
        let extents = &mut self.extents;
        *self.index.entry(number).or_insert_with(|| extents.put(Extent { number, slots: [NONE; PAGES] }))
    }

    /// The slot of a page of an extent, and of how many pages from there on up to another the slots follow on, were
    /// taken one after the other, and lie in one word, as will those that they take now.
    #[inline]
    fn alike(&mut self, place: u32, from: usize, to: usize) -> (u32, usize) {
        let next = self.places.len();
        let room = (WORD - next % WORD).min(self.capacity - next);
        let slots = &self.extents.get(place).slots[from..=to];
        let slots = &slots[..slots.len().min(room)];
        let before = slots[0];
        if before == NONE {
            return (NONE, slots.iter().take_while(|slot| **slot == NONE).count());
        }
        let (in_word, time) = (WORD - before as usize % WORD, self.times[before as usize]);
        let follows = |&(slot, at): &(&u32, u32)| {
            *slot == before + at && self.times[*slot as usize] == time + u64::from(at)
        };
        (before, slots.iter().zip(0u32..).take(in_word).take_while(follows).count())
    }

    /// Some pages of an extent take the next slots, which lie in one word.
    #[inline]
    fn append(&mut self, place: u32, from: usize, pages: usize, now: u64) {
        let slot = self.places.len();
        let taken = slot as u32..(slot + pages) as u32;
        self.extents.get(place).slots[from..from + pages]
            .iter_mut()
            .zip(taken)
            .for_each(|(to, slot)| *to = slot);
        let first = place * PAGES as u32 + from as u32;
        self.places.extend(first..first + pages as u32);
        self.times.extend(now..now + pages as u64);
        self.change(slot, pages, true);
    }

    /// Slots in use up to and with this one.
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

    /// Puts so many slots of a word in use, or out of it.
    #[inline]
    fn change(&mut self, slot: usize, count: usize, in_use: bool) {
        self.used[slot / WORD] ^= u64::MAX >> (WORD - count) << (slot % WORD);
        let mut at = slot / WORD + 1;
        while at < self.sums.len() {
            self.sums[at] = if in_use { self.sums[at] + count as u32 } else { self.sums[at] - count as u32 };
            at += at & at.wrapping_neg();
        }
    }

    fn is_used(&self, slot: usize) -> bool {
        self.used[slot / WORD] >> (slot % WORD) & 1 == 1
    }

    /// The page of a slot.
    fn page(&self, slot: usize) -> u64 {
        let place = self.places[slot];
        let extent = self.extents.see(place / PAGES as u32);
        extent.number * PAGES as u64 + u64::from(place) % PAGES as u64
    }

    /// Pages, the one accessed longest ago first.
    pub(crate) fn pages(&self) -> impl Iterator<Item = u64> {
        (0..self.places.len()).filter(|slot| self.is_used(*slot)).map(|slot| self.page(slot))
    }

    /// Forgets all pages but those to keep, and makes room for as many accesses as there are pages.
    #[cold]
    pub(crate) fn rebuild(&mut self, keep: impl Fn(u64) -> bool) {
        let mut next = 0;
        for slot in 0..self.places.len() {
            if self.is_used(slot) && keep(self.page(slot)) {
                let place = self.places[slot];
                (self.places[next], self.times[next]) = (place, self.times[slot]);
                self.extents.get(place / PAGES as u32).slots[place as usize % PAGES] = next as u32;
                next += 1;
            }
        }
        self.places.truncate(next);
        self.times.truncate(next);
        if next < self.pages {
            self.forget_extents();
        }
        self.pages = next;
        self.capacity = (2 * next).next_multiple_of(WORD).clamp(SLOTS_MIN, u32::MAX as usize);
        self.places.reserve_exact(self.capacity - next);
        self.times.reserve_exact(self.capacity - next);
        self.count_slots();
    }

    /// Extents of which no page is left go. The slots that are left are all in use.
    fn forget_extents(&mut self) {
        let pages: Vec<u64> = (0..self.places.len()).map(|slot| self.page(slot)).collect();
        self.index = HashMap::default();
        self.extents = Slabs::new();
        for (slot, page) in pages.into_iter().enumerate() {
            let (place, within) = (self.place(page / PAGES as u64), page as usize % PAGES);
            self.extents.get(place).slots[within] = slot as u32;
            self.places[slot] = place * PAGES as u32 + within as u32;
        }
    }

    /// Puts the first slots in use, one for each page.
    fn count_slots(&mut self) {
        let words = self.capacity.div_ceil(WORD);
        self.used.clear();
        self.used.resize(words, 0);
        self.sums.clear();
        self.sums.resize(words + 1, 0);
        for slot in 0..self.pages {
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

    /// The distance and the time of the last access of a page that is accessed; `None` the first time.
    fn access(distances: &mut Distances, page: u64, now: u64) -> Option<(u64, u64)> {
        let mut found = None;
        distances.access(page, page, now, |again| {
            assert_eq!((again.pages, found), (1, None));
            found = Some((again.distance, now - again.gap));
        });
        found
    }

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
        let found = accesses.map(|(page, now)| access(&mut distances, page, now));
        assert_eq!(found, [None, None, None, Some((2, 10)), Some((2, 11)), Some((0, 14)), Some((2, 12))]);
        assert_eq!((distances.len(), distances.pages().collect::<Vec<_>>()), (3, vec![1, 2, 3]));
    }

    #[test]
    fn agrees_with_a_stack_that_is_searched() {
        let mut rng = Rng::named(1, "distances");
        for pages in [1u32, 3, 100, 3_000] {
            let (mut distances, mut stack) = (Distances::default(), Vec::new());
            // More accesses than slots, so that the row is rebuilt.
            for number in 0..2 * SLOTS_MIN as u32 {
                let page = u64::from(rng.below(pages).min(rng.below(pages))) << 33;
                let found = access(&mut distances, page, 0).map(|(distance, _)| distance);
                assert_eq!(found, naive(&mut stack, page), "{number} of {pages} pages");
                if number == 40_000 {
                    let keep = |page: u64| page >> 33 & 1 == 0;
                    distances.rebuild(keep);
                    stack.retain(|page| keep(*page));
                }
            }
            assert_eq!(distances.pages().collect::<Vec<_>>(), stack);
        }
    }

    /// Requests of several pages, in runs that are cut and joined again.
    #[test]
    fn pages_that_go_together_are_told_as_one_by_one() {
        let mut rng = Rng::named(2, "distances");
        let (mut distances, mut stack) = (Distances::default(), Vec::new());
        let (mut now, mut together) = (0, 0);
        let mut last_access = HashMap::new();
        for request in 0..30_000 {
            let first = u64::from(rng.below(40).min(rng.below(40))) * 13;
            let last = first + u64::from(if rng.below(3) == 0 { 0 } else { rng.below(30) });
            let mut found = Vec::new();
            distances.access(first, last, now, |again| {
                together += usize::from(again.pages > 1);
                found.extend((0..again.pages).map(|_| (again.distance, again.gap)));
            });
            let mut expected = Vec::new();
            for page in first..=last {
                let before = last_access.insert(page, now);
                expected
                    .extend(naive(&mut stack, page).zip(before).map(|(distance, at)| (distance, now - at)));
                now += 1;
            }
            assert_eq!(found, expected, "request {request}: {first} to {last}");
            if request % 9_000 == 8_999 {
                let keep = |page: u64| !page.is_multiple_of(5);
                distances.rebuild(keep);
                stack.retain(|page| keep(*page));
            }
        }
        assert!(together > 20_000, "{together}");
        assert_eq!(distances.pages().collect::<Vec<_>>(), stack);
        assert!(distances.memory() < distances.len() as u64 * BYTES_PER_PAGE + (1 << 20));
    }

    #[test]
    fn a_row_grows_with_its_pages() {
        let mut distances = Distances::default();
        let pages = 3 * SLOTS_MIN as u64;
        assert!((0..pages).all(|page| access(&mut distances, page, page).is_none()));
        assert!((0..pages).all(|page| access(&mut distances, page, pages + page) == Some((pages - 1, page))));
        assert_eq!(distances.len() as u64, pages);
    }
}
