//! What happened to each page: how often it was read and written, and when it was written last.
//!
//! Pages lie in extents of 64 KiB, which are found by one look-up. Memory is bounded: where extents would take more,
//! half of them, chosen by a hash of their place, are forgotten and no longer counted, and each that stays stands for
//! two (Waldspurger et al., FAST 2015: the same choice of places for all of a trace, so that what is counted of a place
//! is all of it).

use super::histogram::Histogram;
use super::popularity::Popularity;
use super::reuse::{CLASSES, Gaps, class};
use super::slabs::Slabs;
use crate::base::pages::ChunkHasher;
use crate::base::request::PAGE_BYTES;
use ssd::rng::mix;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Pages of an extent.
const PAGES: usize = 16;
/// Bytes of an extent.
pub const EXTENT_BYTES: u64 = PAGES as u64 * PAGE_BYTES;
/// No place in the list of last writes.
const NONE: u32 = u32::MAX;

/// Accesses to the pages of an extent.
struct Extent {
    number: u64,
    /// Requests that touched it.
    requests: u32,
    /// Where its last writes are.
    written: u32,
    reads: [u32; PAGES],
    writes: [u32; PAGES],
    /// Accesses to any page before the last one to each.
    accessed: [u64; PAGES],
}

/// The last write of each page of an extent.
#[derive(Clone, Copy, Default)]
struct Written {
    at_ns: [u64; PAGES],
    /// Pages written in all before it.
    after_pages: [u64; PAGES],
}

/// Bytes of an extent's place in the index: 17 and as many as are free, twice while the index grows.
const INDEX_BYTES: u64 = 64;
const EXTENT_COST: u64 = size_of::<Extent>() as u64 + INDEX_BYTES;
const WRITTEN_COST: u64 = size_of::<Written>() as u64;

/// What is known of all pages.
pub(crate) struct PageTable {
    /// Only looked up, never walked.
    index: HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>,
    extents: Slabs<Extent>,
    written: Slabs<Written>,
    memory_max: u64,
    memory: u64,
    /// An extent is counted if its hash has so many zeros in front.
    halvings: u32,
    /// Accesses to pages so far, in all.
    accesses: u64,
    /// After how many accesses to any page those of the reads and of the writes came that went to a page again.
    gaps: [Gaps; 2],
    /// Pages written so far, in all.
    pages_written: u64,
    /// Between two writes of a page: time in nanoseconds, and pages written from the one to the other.
    intervals_ns: Histogram,
    intervals_pages: Histogram,
    /// For [`PageTable::load`]: places of extents, then of last writes, with pages.
    places: Vec<(u32, usize)>,
}

/// How often pages are written again, and after how long.
#[derive(Clone, Debug)]
pub struct Rewrites {
    /// Pages written, each time counted.
    pub page_writes: u64,
    /// Those of them to a page that had been written before (an estimate if pages are sampled).
    pub rewrites: f64,
    intervals_ns: Histogram,
    intervals_pages: Histogram,
}

impl Rewrites {
    /// Share of page writes that go to a page written before, in percent; `None` if nothing was written.
    pub fn percent(&self) -> Option<f64> {
        (self.page_writes > 0).then(|| (100.0 * self.rewrites / self.page_writes as f64).min(100.0))
    }

    /// The time that so many percent of the intervals between two writes of a page do not exceed, in nanoseconds (to
    /// 1/64).
    pub fn interval_ns(&self, percent: f64) -> Option<u64> {
        self.intervals_ns.percentile(percent)
    }

    /// The same in bytes written from the one to the other, the first of the two with them.
    pub fn interval_bytes(&self, percent: f64) -> Option<u64> {
        Some(self.intervals_pages.percentile(percent)?.saturating_mul(PAGE_BYTES))
    }

    /// Intervals in ns with their numbers, in ascending order.
    pub fn intervals_ns(&self) -> impl Iterator<Item = (u64, f64)> {
        self.intervals_ns.steps()
    }
}

/// How accesses fall on pages and extents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Popularities {
    /// Page accesses of both kinds, over all pages touched.
    pub all: Popularity,
    /// Page reads, over the pages read.
    pub reads: Popularity,
    /// Page writes, over the pages written.
    pub writes: Popularity,
    /// Requests, over the extents touched.
    pub extents: Popularity,
}

impl PageTable {
    /// A table that takes at most so many bytes of memory, but for the extents of one request.
    pub(crate) fn new(memory_max: u64) -> Self {
        PageTable {
            index: HashMap::default(),
            extents: Slabs::new(),
            written: Slabs::new(),
            memory_max,
            memory: 0,
            halvings: 0,
            accesses: 0,
            gaps: [[0.0; CLASSES]; 2],
            pages_written: 0,
            intervals_ns: Histogram::default(),
            intervals_pages: Histogram::default(),
            places: Vec::new(),
        }
    }

    /// Loads what is known of the first and the last page of several requests. They lie anywhere in memory: waiting for
    /// one after the other was nine tenths of the time, and loads that do not depend on each other wait together.
    pub(crate) fn load(&mut self, requests: impl Iterator<Item = (u64, u64)>) {
        self.places.clear();
        for (first, last) in requests {
            for page in [first, last] {
                let at = self.index.get(&(page / PAGES as u64));
                self.places.extend(at.map(|at| (*at, page as usize % PAGES)));
            }
        }
        let mut sum = 0;
        for (at, page) in &mut self.places {
            let extent = self.extents.get(*at);
            sum ^= u64::from(extent.reads[*page]) ^ extent.accessed[*page];
            *at = extent.written;
        }
        for &(at, page) in self.places.iter().filter(|(at, _)| *at != NONE) {
            let written = self.written.get(at);
            sum ^= written.at_ns[page] ^ written.after_pages[page];
        }
        // Nobody needs the sum, but without it nothing would be loaded.
        std::hint::black_box(sum);
    }

    /// Counts a request that reads or writes the pages `first..=last`; how many it writes that were written before.
    #[inline]
    pub(crate) fn add(&mut self, first: u64, last: u64, is_read: bool, now_ns: u64) -> f64 {
        const COUNT: u64 = PAGES as u64;
        let mut again = 0;
        if self.memory > self.memory_max {
            self.halve();
        }
        for number in first / COUNT..=last / COUNT {
            let from = first.max(number * COUNT) - number * COUNT;
            let to = last.min(number * COUNT + COUNT - 1) - number * COUNT;
            if self.halvings == 0 || self.is_counted(number) {
                again += self.add_to(number, (from as usize, to as usize), is_read, now_ns);
            }
            self.accesses += to - from + 1;
            self.pages_written += if is_read { 0 } else { to - from + 1 };
        }
        f64::from(again) * (1u64 << self.halvings) as f64
    }

    #[inline]
    fn is_counted(&self, number: u64) -> bool {
        mix(number).leading_zeros() >= self.halvings
    }

    #[inline]
    fn add_to(&mut self, number: u64, (from, to): (usize, usize), is_read: bool, now_ns: u64) -> u32 {
        let at = match self.index.get(&number) {
            Some(&at) => at,
            None => self.make(number),
        };
        let extent = self.extents.get(at);
        extent.requests = extent.requests.saturating_add(1);
        let weight = (1u64 << self.halvings) as f64;
        let gaps = &mut self.gaps[usize::from(!is_read)];
        for (page, now) in (from..=to).zip(self.accesses..) {
            let is_first = extent.reads[page] | extent.writes[page] == 0;
            let class = if is_first { 0 } else { class(now - extent.accessed[page]) };
            gaps[class] += weight;
            extent.accessed[page] = now;
        }
        if is_read {
            extent.reads[from..=to].iter_mut().for_each(|count| *count = count.saturating_add(1));
            return 0;
        }
        let mut again = 0;
        if extent.written == NONE {
            extent.written = self.written.put(Written::default());
            self.memory += WRITTEN_COST;
        }
        let written = self.written.get(extent.written);
        for (page, after) in (from..=to).zip(self.pages_written..) {
            if extent.writes[page] > 0 {
                again += 1;
                self.intervals_ns.add(now_ns.saturating_sub(written.at_ns[page]), weight);
                self.intervals_pages.add(after - written.after_pages[page], weight);
            }
            extent.writes[page] = extent.writes[page].saturating_add(1);
            (written.at_ns[page], written.after_pages[page]) = (now_ns, after);
        }
        again
    }

    /// Makes room for an extent and says where.
    fn make(&mut self, number: u64) -> u32 {
        let (reads, writes, accessed) = ([0; PAGES], [0; PAGES], [0; PAGES]);
        let at = self.extents.put(Extent { number, requests: 0, written: NONE, reads, writes, accessed });
        self.index.insert(number, at);
        self.memory += EXTENT_COST;
        at
    }

    /// Forgets half of the extents, until the others fit.
    #[cold]
    fn halve(&mut self) {
        while self.memory > self.memory_max && self.halvings < u64::BITS - 1 {
            self.halvings += 1;
            let (index, extents) = (&mut self.index, &mut self.extents);
            for at in 0..(extents.len() as u32) {
                let extent = extents.get(at);
                // Those given up have no requests.
                if extent.requests == 0 || mix(extent.number).leading_zeros() >= self.halvings {
                    continue;
                }
                extent.requests = 0;
                index.remove(&extent.number);
                self.memory -= EXTENT_COST;
                if extent.written != NONE {
                    self.written.give_up(extent.written);
                    self.memory -= WRITTEN_COST;
                }
                extents.give_up(at);
            }
        }
    }

    fn counted(&self) -> impl Iterator<Item = &Extent> {
        self.extents.iter().filter(|extent| extent.requests > 0)
    }

    /// Share of the extents that are counted; 1 if all are.
    pub(crate) fn rate(&self) -> f64 {
        1.0 / (1u64 << self.halvings) as f64
    }

    /// Pages read or written (an estimate if extents are sampled).
    pub(crate) fn pages(&self) -> u64 {
        let touched = |extent: &Extent| {
            extent.reads.iter().zip(&extent.writes).filter(|(reads, writes)| **reads | **writes > 0).count()
        };
        (self.counted().map(touched).sum::<usize>() as u64) << self.halvings
    }

    /// Pages touched so far (an estimate if extents are sampled).
    pub(crate) fn distinct(&self) -> f64 {
        self.gaps[0][0] + self.gaps[1][0]
    }

    /// After how many accesses reads and writes came to a page again.
    pub(crate) fn gaps(&self) -> &[Gaps; 2] {
        &self.gaps
    }

    /// How accesses fall on them.
    pub(crate) fn popularities(&self) -> Popularities {
        let mut found = Popularities::default();
        for extent in self.counted() {
            found.extents.add(extent.requests);
            for (&reads, &writes) in extent.reads.iter().zip(&extent.writes) {
                found.reads.add(reads);
                found.writes.add(writes);
                found.all.add(reads.saturating_add(writes));
            }
        }
        found
    }

    /// How often pages are written again.
    pub(crate) fn rewrites(&self) -> Rewrites {
        Rewrites {
            page_writes: self.pages_written,
            rewrites: self.intervals_ns.total(),
            intervals_ns: self.intervals_ns.clone(),
            intervals_pages: self.intervals_pages.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn a_story_by_hand() {
        let mut table = PageTable::new(1 << 20);
        table.add(15, 16, true, 0); // two extents
        table.add(0, 3, false, 100); // pages written: 4
        table.add(2, 2, false, 150); // again after 50 ns; page 2 was the third, now the fifth: 2 pages on
        table.add(1, 2, false, 400); // 300 ns and 4 pages after; 250 ns and 2 pages after
        assert_eq!((table.pages(), table.rate()), (6, 1.0));
        let found = table.popularities();
        assert_eq!((found.all.pages(), found.reads.pages(), found.writes.pages()), (6, 2, 4));
        assert_eq!((found.all.accesses(), found.writes.accesses()), (9, 7));
        assert_eq!((found.extents.pages(), found.extents.accesses()), (2, 5));
        let rewrites = table.rewrites();
        assert_eq!((rewrites.page_writes, rewrites.rewrites), (7, 3.0));
        assert!((rewrites.percent().unwrap() - 300.0 / 7.0).abs() < 1e-12);
        let [first, last] = [1.0, 100.0].map(|p| (rewrites.interval_ns(p), rewrites.interval_bytes(p)));
        assert_eq!((first, last.1), ((Some(50), Some(2 * 4096)), Some(4 * 4096)));
        assert!(last.0.is_some_and(|ns| (296..=300).contains(&ns)));
    }

    #[test]
    fn agrees_with_plain_maps() {
        let mut rng = Rng::named(1, "page table");
        let mut table = PageTable::new(1 << 30);
        let mut plain: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        let mut rewrites = 0;
        for now in 0..5_000 {
            let first = u64::from(rng.below(5_000)) + (u64::from(rng.below(3)) << 47);
            let last = first + u64::from(rng.below(70));
            let is_read = rng.below(2) == 0;
            table.add(first, last, is_read, now);
            for page in first..=last {
                let counts = plain.entry(page).or_default();
                rewrites += u32::from(!is_read && counts.1 > 0);
                if is_read { counts.0 += 1 } else { counts.1 += 1 }
            }
        }
        let mut expected = Popularities { extents: table.popularities().extents, ..Popularities::default() };
        for (reads, writes) in plain.values() {
            expected.reads.add(*reads);
            expected.writes.add(*writes);
            expected.all.add(reads + writes);
        }
        assert_eq!(table.popularities(), expected);
        assert_eq!((table.pages(), table.rewrites().rewrites), (plain.len() as u64, f64::from(rewrites)));
    }

    #[test]
    fn what_does_not_fit_is_sampled_and_stands_for_the_rest() {
        let memory = 4 << 20;
        let (mut whole, mut part) = (PageTable::new(u64::MAX), PageTable::new(memory));
        let mut rng = Rng::named(2, "page table");
        for now in 0..400_000 {
            let place = u64::from(rng.below(60_000).min(rng.below(60_000)));
            let first = place * PAGES as u64 + u64::from(rng.below(12));
            for table in [&mut whole, &mut part] {
                table.add(first, first + 3, now % 4 == 0, now * 1_000);
            }
            assert!(part.memory <= memory + 2 * (EXTENT_COST + WRITTEN_COST));
        }
        assert!((1.0 / 16.0..0.3).contains(&part.rate()), "{}", part.rate());
        assert_eq!(part.memory, {
            let written = part.counted().filter(|extent| extent.written != NONE).count() as u64;
            part.counted().count() as u64 * EXTENT_COST + written * WRITTEN_COST
        });
        let close = |found: f64, exact: f64, by: f64| {
            assert!((found / exact - 1.0).abs() < by, "found {found}, exact {exact}");
        };
        close(part.pages() as f64, whole.pages() as f64, 0.03);
        let (found, exact) = (part.popularities(), whole.popularities());
        close(found.writes.gini().unwrap(), exact.writes.gini().unwrap(), 0.02);
        close(found.reads.top_percent(20.0).unwrap(), exact.reads.top_percent(20.0).unwrap(), 0.02);
        let (found, exact) = (part.rewrites(), whole.rewrites());
        assert_eq!(found.page_writes, exact.page_writes);
        close(found.percent().unwrap(), exact.percent().unwrap(), 0.05);
        close(found.interval_ns(50.0).unwrap() as f64, exact.interval_ns(50.0).unwrap() as f64, 0.05);
    }
}
