//! A page cache as an operating system's: 4-KiB pages in exact LRU order, dirty ones also by age. Here is what it
//! holds and in which order; who owns it says what is read and written. [`crate::files`] owns one of file pages,
//! [`crate::stack::cached`] one of a device's.
//!
//! The rules are Linux's in outline (documentation of `vm.dirty_*`: background ratio, ratio, expire and writeback
//! centisecs); their numbers are settings.

use crate::stack::page_index::PageIndex;
use ssd::signals::Hints;

/// No slot.
const NONE: u32 = u32::MAX;

/// One list through the slots.
#[derive(Clone, Copy)]
struct Link {
    newer: u32,
    older: u32,
}

/// What is not in a list yet.
const LOOSE: Link = Link { newer: NONE, older: NONE };

/// A page that is there. Few are dirty: what is known of those lies apart, and more of these in a line of memory.
#[derive(Clone, Copy)]
struct Slot {
    page: u64,
    used: Link,
    /// Its place in the list of dirty pages, if it is one.
    dirt: u32,
}

/// What is known of a dirty page.
#[derive(Clone, Copy)]
struct Dirt {
    page: u64,
    since_ns: u64,
    hints: Hints,
    link: Link,
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
    index: PageIndex,
    slots: Vec<Slot>,
    free: Vec<u32>,
    used: Ends,
    dirts: Vec<Dirt>,
    free_dirts: Vec<u32>,
    dirty: Ends,
    dirty_pages: usize,
}

macro_rules! list {
    ($all:ident, $link:ident, $ends:ident, $put:ident, $take:ident) => {
        #[inline]
        fn $put(&mut self, place: u32) {
            let older = self.$ends.newest;
            self.$all[place as usize].$link = Link { newer: NONE, older };
            match older {
                NONE => self.$ends.oldest = place,
                older => self.$all[older as usize].$link.newer = place,
            }
            self.$ends.newest = place;
        }

        #[inline]
        fn $take(&mut self, place: u32) {
            let Link { newer, older } = self.$all[place as usize].$link;
            match newer {
                NONE => self.$ends.newest = older,
                newer => self.$all[newer as usize].$link.older = older,
            }
            match older {
                NONE => self.$ends.oldest = newer,
                older => self.$all[older as usize].$link.newer = newer,
            }
        }
    };
}

/// Puts a value where nothing is any more, or behind the others; its place.
#[inline]
fn place<T>(all: &mut Vec<T>, free: &mut Vec<u32>, value: T) -> u32 {
    match free.pop() {
        Some(place) => {
            all[place as usize] = value;
            place
        }
        None => {
            all.push(value);
            (all.len() - 1) as u32
        }
    }
}

impl PageCache {
    pub(crate) fn new(rules: Rules) -> Self {
        let none = Ends { newest: NONE, oldest: NONE };
        PageCache {
            rules,
            index: PageIndex::default(),
            slots: Vec::new(),
            free: Vec::new(),
            used: none,
            dirts: Vec::new(),
            free_dirts: Vec::new(),
            dirty: none,
            dirty_pages: 0,
        }
    }

    list!(slots, used, used, put_used, take_used);
    list!(dirts, link, dirty, put_dirty, take_dirty);

    /// The slot of a page, if it is there; it is now the newest.
    #[inline]
    pub(crate) fn touch(&mut self, page: u64) -> Option<u32> {
        let slot = self.index.get(page)?;
        if slot != self.used.newest {
            self.take_used(slot);
            self.put_used(slot);
        }
        Some(slot)
    }

    /// Whether a page is there.
    #[inline]
    pub(crate) fn holds(&self, page: u64) -> bool {
        self.index.get(page).is_some()
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
        Some((slot.page, slot.dirt != NONE))
    }

    /// A clean page enters, as the newest; its slot.
    #[inline]
    pub(crate) fn add(&mut self, page: u64) -> u32 {
        let slot = place(&mut self.slots, &mut self.free, Slot { page, used: LOOSE, dirt: NONE });
        self.index.insert(page, slot);
        self.put_used(slot);
        slot
    }

    /// A page leaves, dirty or not.
    #[inline]
    pub(crate) fn remove(&mut self, page: u64) {
        if let Some(slot) = self.index.remove(page) {
            self.clean_slot(slot);
            self.take_used(slot);
            self.free.push(slot);
        }
    }

    /// The page in a slot is written to at a time. Its age counts from when it first became dirty.
    #[inline]
    pub(crate) fn soil(&mut self, slot: u32, now_ns: u64, hints: Hints) {
        let Slot { page, dirt, .. } = self.slots[slot as usize];
        if dirt != NONE {
            self.dirts[dirt as usize].hints = hints;
            return;
        }
        let new = Dirt { page, since_ns: now_ns, hints, link: LOOSE };
        let dirt = place(&mut self.dirts, &mut self.free_dirts, new);
        self.slots[slot as usize].dirt = dirt;
        self.dirty_pages += 1;
        self.put_dirty(dirt);
    }

    /// Whose data a page holds that has not been written; `None` if it is clean or not there.
    #[inline]
    pub(crate) fn dirt(&self, page: u64) -> Option<Hints> {
        let slot = self.index.get(page)?;
        self.dirt_of(slot).map(|dirt| dirt.hints)
    }

    #[inline]
    fn dirt_of(&self, slot: u32) -> Option<&Dirt> {
        self.dirts.get(self.slots[slot as usize].dirt as usize)
    }

    /// A page has been written, or need not be.
    #[inline]
    pub(crate) fn clean(&mut self, page: u64) {
        if let Some(slot) = self.index.get(page) {
            self.clean_slot(slot);
        }
    }

    #[inline]
    fn clean_slot(&mut self, slot: u32) {
        let dirt = std::mem::replace(&mut self.slots[slot as usize].dirt, NONE);
        if dirt != NONE {
            self.dirty_pages -= 1;
            self.take_dirty(dirt);
            self.free_dirts.push(dirt);
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
        let dirt = self.dirts.get(self.dirty.oldest as usize)?;
        Some((dirt.page, dirt.since_ns))
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
        while let Some(dirt) = self.dirts.get(at as usize) {
            if range.contains(&dirt.page) {
                out.push(dirt.page);
            }
            at = dirt.link.newer;
        }
        out.sort_unstable();
    }

    /// The dirty pages around a dirty one that follow each other and belong together, at most as many as a request
    /// may have: they are clean now. The first, how many, and the hints of the first.
    #[inline]
    pub(crate) fn take_run(&mut self, page: u64) -> Option<(u64, u64, Hints)> {
        let slot = self.index.get(page)?;
        let mut hints = self.dirt_of(slot)?.hints;
        let kind = |hints: Hints| (hints.file, hints.stream, hints.class);
        let most = self.rules.run_pages;
        let (mut first, mut count) = (page, 1);
        self.clean_slot(slot);
        while count < most
            && let Some((slot, there)) = self.dirty_slot(first + count)
            && kind(there) == kind(hints)
        {
            self.clean_slot(slot);
            count += 1;
        }
        while count < most
            && let Some((slot, there)) = first.checked_sub(1).and_then(|before| self.dirty_slot(before))
            && kind(there) == kind(hints)
        {
            hints = there;
            self.clean_slot(slot);
            (first, count) = (first - 1, count + 1);
        }
        Some((first, count, hints))
    }

    /// The slot of a dirty page, and whose data it holds.
    #[inline]
    fn dirty_slot(&self, page: u64) -> Option<(u32, Hints)> {
        let slot = self.index.get(page)?;
        self.dirt_of(slot).map(|dirt| (slot, dirt.hints))
    }
}
