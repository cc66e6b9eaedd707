//! Where pages are: numbers of pages to numbers of slots. Pages that follow each other are used, and leave, one after
//! the other, so they lie together: a hash table finds a line of them, and the lines used last are remembered.

use crate::base::pages::ChunkHasher;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Nothing there.
const NONE: u32 = u32::MAX;
/// Pages of a line: their slots fill a line of memory.
const LINE: usize = 16;
/// Lines remembered.
const RECENT: usize = 8;

/// Slots of pages that follow each other.
#[derive(Clone)]
struct Line {
    slots: [u32; LINE],
    held: u32,
}

/// Slots by page.
#[derive(Clone)]
pub(crate) struct PageIndex {
    /// Only looked up, never walked.
    places: HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>,
    lines: Vec<Line>,
    free: Vec<u32>,
    /// (line, its place), by a few bits of the line.
    recent: [Cell<(u64, u32)>; RECENT],
    len: usize,
}

impl Default for PageIndex {
    fn default() -> Self {
        let recent = std::array::from_fn(|_| Cell::new((u64::MAX, NONE)));
        PageIndex { places: HashMap::default(), lines: Vec::new(), free: Vec::new(), recent, len: 0 }
    }
}

/// The line of a page, and its place in it.
#[inline]
fn split(page: u64) -> (u64, usize) {
    (page / LINE as u64, (page % LINE as u64) as usize)
}

impl PageIndex {
    /// Pages there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn recent(&self, line: u64) -> &Cell<(u64, u32)> {
        // Of pages of files, the lower half numbers the page in its file.
        &self.recent[((line ^ line >> 28) % RECENT as u64) as usize]
    }

    /// The place of a line.
    #[inline]
    fn find(&self, line: u64) -> Option<u32> {
        let recent = self.recent(line);
        let (known, place) = recent.get();
        if known == line {
            return Some(place);
        }
        let place = *self.places.get(&line)?;
        recent.set((line, place));
        Some(place)
    }

    /// The slot of a page.
    #[inline]
    pub fn get(&self, page: u64) -> Option<u32> {
        let (line, at) = split(page);
        let slot = self.lines[self.find(line)? as usize].slots[at];
        (slot != NONE).then_some(slot)
    }

    /// A page that is not there comes, into a slot.
    #[inline]
    pub fn insert(&mut self, page: u64, slot: u32) {
        let (line, at) = split(page);
        let place = self.find(line).unwrap_or_else(|| self.new_line(line));
        let line = &mut self.lines[place as usize];
        debug_assert_eq!(line.slots[at], NONE, "a page is there twice");
        line.slots[at] = slot;
        line.held += 1;
        self.len += 1;
    }

    fn new_line(&mut self, line: u64) -> u32 {
        let empty = Line { slots: [NONE; LINE], held: 0 };
        let place = match self.free.pop() {
            Some(place) => {
                self.lines[place as usize] = empty;
                place
            }
            None => {
                self.lines.push(empty);
                (self.lines.len() - 1) as u32
            }
        };
        self.places.insert(line, place);
        self.recent(line).set((line, place));
        place
    }

    /// A page leaves; the slot it was in, if it was there.
    #[inline]
    pub fn remove(&mut self, page: u64) -> Option<u32> {
        let (line, at) = split(page);
        let place = self.find(line)?;
        let found = &mut self.lines[place as usize];
        let slot = std::mem::replace(&mut found.slots[at], NONE);
        if slot == NONE {
            return None;
        }
        found.held -= 1;
        self.len -= 1;
        if found.held == 0 {
            self.places.remove(&line);
            self.recent(line).set((u64::MAX, NONE));
            self.free.push(place);
        }
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_map() {
        let mut rng = Rng::named(1, "page index");
        let (mut index, mut map) = (PageIndex::default(), BTreeMap::new());
        for slot in 0..200_000 {
            // Pages of a few files, and the same pages again and again.
            let page = u64::from(rng.below(40)) << 32 | u64::from(rng.below(60));
            match rng.below(3) {
                0 => assert_eq!(index.remove(page), map.remove(&page)),
                _ if map.contains_key(&page) => {}
                _ => {
                    index.insert(page, slot);
                    map.insert(page, slot);
                }
            }
            let other = u64::from(rng.below(40)) << 32 | u64::from(rng.below(60));
            assert_eq!(index.get(other), map.get(&other).copied());
            assert_eq!(index.len(), map.len());
        }
        map.keys().for_each(|&page| _ = index.remove(page));
        assert_eq!((index.len(), index.places.len(), index.free.len()), (0, 0, index.lines.len()));
    }
}
