//! A page cache as an operating system's: 4-KiB pages in exact LRU order, dirty ones also by age. Here is what it
//! holds and in which order; who owns it says what is read and written. [`crate::files`] owns one of file pages,
//! [`crate::cached`] one of a device's.
//!
//! The rules are Linux's in outline (documentation of `vm.dirty_*`: background ratio, ratio, expire and writeback
//! centisecs); their numbers are settings.

use crate::pages::ChunkHasher;
use ssd::signals::Hints;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// No slot.
const NONE: u32 = u32::MAX;

/// Pages that are neighbours in the index: they are used, and leave, one after the other.
const NEAR: u64 = 16;

/// Hashes page numbers so that neighbours lie in the same lines of memory: their place in a table comes from the low
/// bits of the hash, and what they are told apart by from the high ones.
#[derive(Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    #[inline]
    fn write_u64(&mut self, page: u64) {
        let mut chunk = ChunkHasher::default();
        chunk.write_u64((page / NEAR) ^ self.0);
        self.0 = (chunk.finish() / NEAR * NEAR) ^ (page % NEAR) ^ (page % NEAR) << 59;
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// One list through the slots.
#[derive(Clone, Copy)]
struct Link {
    newer: u32,
    older: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    page: u64,
    used: Link,
    dirty: Link,
    is_dirty: bool,
    since_ns: u64,
    hints: Hints,
}

/// When dirty pages are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Pages of the cache.
    pub pages: usize,
    /// From so many dirty pages on, the flusher writes.
    pub background: usize,
    /// At so many, whoever writes waits until some are written.
    pub limit: usize,
    /// A page is written when it has been dirty for so long, in nanoseconds.
    pub expire_ns: u64,
    /// How often the flusher looks for such pages, in nanoseconds.
    pub flusher_ns: u64,
    /// Most pages of one request.
    pub run_pages: u64,
    /// First and largest read-ahead in pages; 0 for none.
    pub ahead: (u64, u64),
}

impl Rules {
    /// The defaults of the operating system for a cache of so many pages: 10 and 20 %, 30 s, each 5 s, requests of up
    /// to 512 KiB, read-ahead of 16 to 128 KiB (assumed; Linux's defaults but for the first two, which it applies to
    /// free memory).
    pub(crate) fn usual(pages: usize) -> Self {
        let (expire_ns, flusher_ns) = (30_000_000_000, 5_000_000_000);
        let (background, limit) = (pages / 10, pages / 5);
        Rules { pages, background, limit, expire_ns, flusher_ns, run_pages: 128, ahead: (4, 32) }
    }

    /// A plain LRU cache: what is dirty is written when it falls out, nothing is read ahead.
    pub(crate) fn plain(pages: usize) -> Self {
        let (background, limit, ahead) = (pages, pages, (0, 0));
        Rules { background, limit, ahead, expire_ns: u64::MAX, flusher_ns: u64::MAX, ..Rules::usual(pages) }
    }
}

/// The ends of a list.
#[derive(Clone, Copy)]
struct Ends {
    newest: u32,
    oldest: u32,
}

/// Pages in memory.
#[derive(Clone)]
pub(crate) struct PageCache {
    pub rules: Rules,
    /// Only looked up, never walked.
    index: HashMap<u64, u32, BuildHasherDefault<PageHasher>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    used: Ends,
    dirty: Ends,
    dirty_pages: usize,
}

macro_rules! list {
    ($link:ident, $ends:ident, $put:ident, $take:ident) => {
        #[inline]
        fn $put(&mut self, slot: u32) {
            let older = self.$ends.newest;
            self.slots[slot as usize].$link = Link { newer: NONE, older };
            match older {
                NONE => self.$ends.oldest = slot,
                older => self.slots[older as usize].$link.newer = slot,
            }
            self.$ends.newest = slot;
        }

        #[inline]
        fn $take(&mut self, slot: u32) {
            let Link { newer, older } = self.slots[slot as usize].$link;
            match newer {
                NONE => self.$ends.newest = older,
                newer => self.slots[newer as usize].$link.older = older,
            }
            match older {
                NONE => self.$ends.oldest = newer,
                older => self.slots[older as usize].$link.newer = newer,
            }
        }
    };
}

impl PageCache {
    pub(crate) fn new(rules: Rules) -> Self {
        let none = Ends { newest: NONE, oldest: NONE };
        PageCache {
            rules,
            index: HashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
            used: none,
            dirty: none,
            dirty_pages: 0,
        }
    }

    list!(used, used, put_used, take_used);
    list!(dirty, dirty, put_dirty, take_dirty);

    /// The slot of a page, if it is there; it is now the newest.
    #[inline]
    pub(crate) fn touch(&mut self, page: u64) -> Option<u32> {
        let slot = *self.index.get(&page)?;
        if slot != self.used.newest {
            self.take_used(slot);
            self.put_used(slot);
        }
        Some(slot)
    }

    /// Whether a page is there.
    #[inline]
    pub(crate) fn holds(&self, page: u64) -> bool {
        self.index.contains_key(&page)
    }

    /// Whether a page must leave before another one enters.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.index.len() >= self.rules.pages
    }

    /// The page that leaves next, and whether it must be written before.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<(u64, bool)> {
        let slot = self.slots.get(self.used.oldest as usize)?;
        Some((slot.page, slot.is_dirty))
    }

    /// A clean page enters, as the newest; its slot.
    #[inline]
    pub(crate) fn add(&mut self, page: u64) -> u32 {
        let link = Link { newer: NONE, older: NONE };
        let new =
            Slot { page, used: link, dirty: link, is_dirty: false, since_ns: 0, hints: Hints::default() };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = new;
                slot
            }
            None => {
                self.slots.push(new);
                (self.slots.len() - 1) as u32
            }
        };
        self.index.insert(page, slot);
        self.put_used(slot);
        slot
    }

    /// A page leaves, dirty or not.
    #[inline]
    pub(crate) fn remove(&mut self, page: u64) {
        if let Some(slot) = self.index.remove(&page) {
            self.clean_slot(slot);
            self.take_used(slot);
            self.free.push(slot);
        }
    }

    /// The page in a slot is written to at a time. Its age counts from when it first became dirty.
    #[inline]
    pub(crate) fn soil(&mut self, slot: u32, now_ns: u64, hints: Hints) {
        let found = &mut self.slots[slot as usize];
        found.hints = hints;
        if !found.is_dirty {
            (found.is_dirty, found.since_ns) = (true, now_ns);
            self.dirty_pages += 1;
            self.put_dirty(slot);
        }
    }

    /// Whose data a page holds that has not been written; `None` if it is clean or not there.
    #[inline]
    pub(crate) fn dirt(&self, page: u64) -> Option<Hints> {
        let slot = &self.slots[*self.index.get(&page)? as usize];
        slot.is_dirty.then_some(slot.hints)
    }

    /// A page has been written, or need not be.
    #[inline]
    pub(crate) fn clean(&mut self, page: u64) {
        if let Some(&slot) = self.index.get(&page) {
            self.clean_slot(slot);
        }
    }

    #[inline]
    fn clean_slot(&mut self, slot: u32) {
        if std::mem::take(&mut self.slots[slot as usize].is_dirty) {
            self.dirty_pages -= 1;
            self.take_dirty(slot);
        }
    }

    /// Dirty pages.
    #[inline]
    pub(crate) fn dirty_pages(&self) -> usize {
        self.dirty_pages
    }

    /// The page that has been dirty longest, and since when.
    #[inline]
    pub(crate) fn oldest_dirty(&self) -> Option<(u64, u64)> {
        let slot = self.slots.get(self.dirty.oldest as usize)?;
        Some((slot.page, slot.since_ns))
    }

    /// All dirty pages of a range, in ascending order: by looking each up, or through all dirty ones if those are
    /// fewer.
    pub(crate) fn dirty_in(&self, range: std::ops::Range<u64>, out: &mut Vec<u64>) {
        out.clear();
        if range.end - range.start <= self.dirty_pages as u64 {
            out.extend(range.filter(|&page| self.dirt(page).is_some()));
            return;
        }
        let mut at = self.dirty.oldest;
        while let Some(slot) = self.slots.get(at as usize) {
            if range.contains(&slot.page) {
                out.push(slot.page);
            }
            at = slot.dirty.newer;
        }
        out.sort_unstable();
    }

    /// The dirty pages around a dirty one that follow each other and belong together, at most as many as a request
    /// may have: they are clean now. The first, how many, and the hints of the first.
    #[inline]
    pub(crate) fn take_run(&mut self, page: u64) -> Option<(u64, u64, Hints)> {
        let slot = *self.index.get(&page)?;
        let Slot { is_dirty: true, mut hints, .. } = self.slots[slot as usize] else { return None };
        let kind = |hints: Hints| (hints.file, hints.stream, hints.class);
        let most = self.rules.run_pages;
        let (mut first, mut count) = (page, 1);
        self.clean_slot(slot);
        while count < most
            && let Some(slot) = self.dirty_slot(first + count)
            && kind(self.slots[slot as usize].hints) == kind(hints)
        {
            self.clean_slot(slot);
            count += 1;
        }
        while count < most
            && let Some(slot) = first.checked_sub(1).and_then(|before| self.dirty_slot(before))
            && kind(self.slots[slot as usize].hints) == kind(hints)
        {
            hints = self.slots[slot as usize].hints;
            self.clean_slot(slot);
            (first, count) = (first - 1, count + 1);
        }
        Some((first, count, hints))
    }

    #[inline]
    fn dirty_slot(&self, page: u64) -> Option<u32> {
        self.index.get(&page).copied().filter(|&slot| self.slots[slot as usize].is_dirty)
    }
}
