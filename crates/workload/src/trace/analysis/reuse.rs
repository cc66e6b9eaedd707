//! The miss-ratio curve: what share of accesses an LRU cache of each size would miss, from reuse distances.
//!
//! SHARDS of fixed size (Waldspurger, Park, Garthwaite, Ahmad: Efficient MRC Construction with SHARDS, FAST 2015,
//! sections 3.2 to 3.4 and 4.2): only pages whose hash lies below a threshold are followed. Where more pages than
//! allowed were followed, the threshold falls. A distance among the pages followed is one of as many times more pages
//! as there are more pages in all, and an access followed at rate R stands for 1/R accesses. (The paper lowers the
//! counts that it has when R falls; giving each new access more weight is the same, up to one factor.)
//!
//! A few hot pages that are followed, or are not, would move the whole curve. SHARDS-adj puts the difference between
//! all accesses and those that the followed stand for at distance 0, which helps where hot pages were missed and harms
//! where nothing is reused. Here more is known: how long ago the page of each access was accessed before, in accesses
//! to any page ([`Gaps`]). So the distances of each class of such gaps are given the weight that their class has in
//! truth (post-stratification: Cochran, Sampling Techniques, 1977, section 5A.9), and none is longer than its gap. With
//! no limit on pages, the curve is exact.

use super::distances::{Again, BYTES_PER_PAGE, Distances};
use super::histogram::Histogram;
use ssd::rng::{SPREAD, mix};

/// Pages followed at a time, unless the curve is to be exact.
pub const SAMPLE_PAGES: usize = 16_384;
/// So much of the pages followed stays when the threshold falls, as parts and of how many.
const KEPT: (usize, usize) = (15, 16);
/// Of its own, so that this sample is not that of other figures.
const SALT: u64 = 0x7265_7573_6520_6469;

/// Classes of gaps.
pub(crate) const CLASSES: usize = 65;
/// How many accesses there are of each class of gaps; those to pages that were never accessed before come first.
pub(crate) type Gaps = [f64; CLASSES];

/// The class of a gap, in accesses from 1: its binary logarithm, rounded down, from 1. (Eight classes for each power of
/// two were tried: hardly closer.)
#[inline]
pub(crate) fn class(gap: u64) -> usize {
    gap.max(1).ilog2() as usize + 1
}

/// One direction: distances of its accesses by class, and what those followed stand for.
#[derive(Default)]
struct Accesses {
    classes: Vec<Histogram>,
    all: u64,
}

/// Follows accesses to pages.
pub(crate) struct Reuse {
    distances: Distances,
    pages_max: usize,
    /// Memory that the distances may take, in bytes.
    memory_max: u64,
    /// Pages whose hash is not above it are followed.
    threshold: u64,
    /// Accesses that one followed stands for: 1/R.
    weight: f64,
    /// Where between two distances that can be told apart the next one is taken to lie.
    dither: u64,
    /// Accesses so far, followed or not.
    accesses: u64,
    reads: Accesses,
    writes: Accesses,
}

/// The curve of one direction, or of both.
#[derive(Clone, Debug)]
pub struct MissRatio {
    distances: Histogram,
    accesses: u64,
}

impl Reuse {
    /// Follows at most so many pages at a time.
    pub(crate) fn new(pages_max: usize) -> Self {
        Reuse {
            distances: Distances::default(),
            pages_max: pages_max.max(1),
            memory_max: u64::MAX,
            threshold: u64::MAX,
            weight: 1.0,
            dither: 0,
            accesses: 0,
            reads: Accesses::default(),
            writes: Accesses::default(),
        }
    }

    /// Follows as many pages as so much memory holds.
    pub(crate) fn exact(memory_bytes: u64) -> Self {
        // A place is an extent's times eight, in a u32, and each page may have an extent for itself.
        Reuse { memory_max: memory_bytes, ..Self::new(1 << 28) }
    }

    /// Accesses pages one after the other; `distinct` is how many there have been in all, these with them.
    #[inline]
    pub(crate) fn add(&mut self, first: u64, last: u64, is_read: bool, distinct: f64) {
        let direction = if is_read { &mut self.reads } else { &mut self.writes };
        direction.all += last - first + 1;
        if self.threshold == u64::MAX {
            self.distances.access(first, last, self.accesses, |again| direction.add(again, 1.0));
            self.keep_limits();
        } else {
            for (page, now) in (first..=last).zip(self.accesses..) {
                if mix(page ^ SALT) <= self.threshold {
                    self.follow(page, now, is_read, distinct);
                }
            }
        }
        self.accesses += last - first + 1;
    }

    /// Accesses one page of a sample.
    fn follow(&mut self, page: u64, now: u64, is_read: bool, distinct: f64) {
        let mut found = None;
        self.distances.access(page, page, now, |again| found = Some(again));
        let Some(again) = found else { return self.keep_limits() };
        let distance = self.scaled(again.distance, distinct).min(again.gap - 1);
        let direction = if is_read { &mut self.reads } else { &mut self.writes };
        direction.add(Again { distance, ..again }, self.weight);
    }

    /// Follows fewer pages where they are too many.
    #[inline]
    fn keep_limits(&mut self) {
        while self.distances.len() > self.pages_max {
            self.lower();
        }
        if self.distances.memory() > self.memory_max && self.distances.len() > 1 {
            // From now on each page may have an extent for itself.
            self.pages_max =
                ((self.memory_max / BYTES_PER_PAGE) as usize).min(self.distances.len() - 1).max(1);
            self.memory_max = u64::MAX;
            self.lower();
        }
    }

    /// A distance among the pages followed as one among all: as many times as long as there are more pages, which is
    /// known better than by the rate, and spread evenly up to the next.
    fn scaled(&mut self, distance: u64, distinct: f64) -> u64 {
        self.dither = self.dither.wrapping_add(SPREAD);
        let part = (self.dither >> 32) as f64 / 2f64.powi(32);
        ((distance as f64 + part) * distinct / self.distances.len() as f64) as u64
    }

    /// Lets the threshold fall.
    #[cold]
    fn lower(&mut self) {
        let mut hashes: Vec<u64> = self.distances.pages().map(|page| mix(page ^ SALT)).collect();
        let kept = (self.pages_max / KEPT.1 * KEPT.0).max(1).min(hashes.len() - 1);
        // The hash is a bijection: no two pages share one.
        let (_, threshold, _) = hashes.select_nth_unstable(kept - 1);
        self.threshold = *threshold;
        self.weight = 2f64.powi(64) / (self.threshold as f64 + 1.0);
        let threshold = self.threshold;
        self.distances.rebuild(|page| mix(page ^ SALT) <= threshold);
    }

    /// Share of the pages that are followed now; 1 if the figures are exact.
    pub(crate) fn rate(&self) -> f64 {
        1.0 / self.weight
    }

    /// The curves of all accesses, of reads and of writes, given the gaps of all reads and writes.
    pub(crate) fn curves(&self, gaps: &[Gaps; 2]) -> [MissRatio; 3] {
        let [reads, writes] = [(&self.reads, &gaps[0]), (&self.writes, &gaps[1])].map(|(one, gaps)| {
            let distances = if self.weight == 1.0 { one.sum() } else { one.weighted(gaps) };
            MissRatio { distances, accesses: one.all }
        });
        let mut both = reads.distances.clone();
        writes.distances.steps().for_each(|(distance, weight)| both.add(distance, weight));
        [MissRatio { distances: both, accesses: reads.accesses + writes.accesses }, reads, writes]
    }
}

impl Accesses {
    /// Enters pages that were accessed again; each stands for so many.
    #[inline]
    fn add(&mut self, again: Again, weight: f64) {
        let class = class(again.gap);
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Histogram::default);
        }
        self.classes[class].add(again.distance, weight * again.pages as f64);
    }

    /// Distances of all classes.
    fn sum(&self) -> Histogram {
        let mut sum = Histogram::default();
        let steps = self.classes.iter().flat_map(Histogram::steps);
        steps.for_each(|(distance, weight)| sum.add(distance, weight));
        sum
    }

    /// Distances with the weights that their classes have in truth.
    fn weighted(&self, gaps: &Gaps) -> Histogram {
        let counted: f64 = gaps.iter().sum();
        // Classes are estimates where pages are sampled for them, too.
        let scale = if counted > 0.0 { self.all as f64 / counted } else { 0.0 };
        let mut sum = Histogram::default();
        // Accesses of a class of which none was followed are taken for ones of the class below.
        let mut waiting = 0.0;
        for (class, count) in gaps.iter().enumerate().skip(1).rev() {
            waiting += count * scale;
            let Some(histogram) = self.classes.get(class) else { continue };
            let followed = histogram.total();
            if followed > 0.0 {
                let factor = waiting / followed;
                histogram.steps().for_each(|(distance, weight)| sum.add(distance, weight * factor));
                waiting = 0.0;
            }
        }
        sum
    }
}

impl MissRatio {
    /// Share of the accesses that an LRU cache of so many pages misses, from 0 to 1; `None` if there were none.
    pub fn at(&self, cache_pages: u64) -> Option<f64> {
        let hits = self.distances.below(cache_pages);
        (self.accesses > 0).then(|| (1.0 - hits / self.accesses as f64).clamp(0.0, 1.0))
    }

    /// The distance that so many percent of the accesses to pages seen before do not exceed, in pages.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        self.distances.percentile(percent)
    }

    /// Accesses.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Sizes of caches in pages: from one to the first that misses nothing but first accesses, each the one before
    /// times 2 to the power `1 / steps`.
    pub fn cache_pages(&self, steps: u32) -> impl Iterator<Item = u64> {
        let last = self.largest().max(1).next_power_of_two().ilog2();
        let size = move |step: u32| libm::exp2(f64::from(step) / f64::from(steps)) as u64;
        let mut before = 0;
        (0..=last * steps).map(size).filter(move |size| std::mem::replace(&mut before, *size) != *size)
    }

    /// Pages of the smallest cache that misses nothing but first accesses, to 1/64.
    pub fn largest(&self) -> u64 {
        self.distances.steps().last().map_or(0, |(distance, _)| distance.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::PageTable;
    use super::*;
    use crate::base::request::Request;
    use crate::stack::read_buffer::ReadBuffer;
    use ssd::rng::Rng;
    use ssd::signals::OpCode;

    /// Hits of an LRU stack that is simulated by moving pages in a list.
    fn naive(accesses: &[u64], cache_pages: usize) -> usize {
        let mut stack: Vec<u64> = Vec::new();
        let hit = |page: &&u64| {
            let at = stack.iter().position(|known| known == *page);
            at.map(|at| stack.remove(at));
            stack.insert(0, **page);
            stack.truncate(cache_pages);
            at.is_some()
        };
        accesses.iter().filter(hit).count()
    }

    #[test]
    fn exact_curves_are_those_of_a_simulated_stack() {
        let mut rng = Rng::named(1, "reuse");
        let pages = [2_000u32, 40, 5];
        let accesses: Vec<u64> =
            (0..20_000).map(|i| u64::from(rng.below(pages[i % 3]).min(rng.below(pages[i % 3])))).collect();
        let mut reuse = Reuse::exact(1 << 30);
        accesses.iter().for_each(|&page| reuse.add(page, page, true, 0.0));
        let [all, reads, writes] = reuse.curves(&[[0.0; CLASSES]; 2]);
        assert_eq!((reuse.rate(), writes.at(5), reads.accesses()), (1.0, None, 20_000));
        for size in [1, 2, 3, 5, 17, 40, 64, 100, 128, 256, 640, 1_024, 1_280, 2_048] {
            let expected = 1.0 - naive(&accesses, size) as f64 / accesses.len() as f64;
            let found = all.at(size as u64).unwrap();
            assert!((found - expected).abs() < 1e-12, "{size} pages: {found}, simulated {expected}");
            assert_eq!(reads.at(size as u64), all.at(size as u64));
        }
        assert_eq!(all.at(0), Some(1.0));
    }

    #[test]
    fn reads_and_writes_share_the_cache_as_in_the_read_buffer() {
        let mut rng = Rng::named(2, "reuse");
        let mut reuse = Reuse::exact(1 << 30);
        let sizes = [1u64, 16, 128, 1_024];
        let mut buffers = sizes.map(|size| ReadBuffer::new(size * 4096, 4096));
        for _ in 0..30_000 {
            let first = u64::from(rng.below(1_500).min(rng.below(1_500)));
            let pages = 1 + u64::from(rng.below(8));
            let op = if rng.below(3) == 0 { OpCode::Write } else { OpCode::Read };
            reuse.add(first, first + pages - 1, op == OpCode::Read, 0.0);
            let request = Request { op, lba: first * 8, sectors: pages as u32 * 8, ..Request::default() };
            buffers.iter_mut().for_each(|buffer| buffer.add(&request));
        }
        let [_, reads, _] = reuse.curves(&[[0.0; CLASSES]; 2]);
        for (size, buffer) in sizes.into_iter().zip(&buffers) {
            let found = 100.0 * (1.0 - reads.at(size).unwrap());
            assert!((found - buffer.hit_percent()).abs() < 1e-9, "{size}: {found} {}", buffer.hit_percent());
        }
    }

    #[test]
    fn an_exact_curve_becomes_a_sample_where_memory_ends() {
        const MEMORY: u64 = 8 << 20;
        // Pages that lie alone, and 32 in a row.
        for (spread, together) in [(64, 1), (1, 32)] {
            let mut rng = Rng::named(6, "reuse");
            let mut reuse = Reuse::exact(MEMORY);
            let mut exact_pages = 0;
            for _ in 0..400_000 / together {
                let first = u64::from(rng.below(1 << 20)) * spread * together;
                reuse.add(first, first + together - 1, true, 1e6);
                if reuse.rate() == 1.0 {
                    exact_pages = reuse.distances.len() as u64;
                }
                assert!(reuse.distances.memory() <= MEMORY, "{} bytes", reuse.distances.memory());
            }
            // An extent of its own is what a page costs at most; of eight that share one each costs a third.
            let least = MEMORY / BYTES_PER_PAGE;
            assert!(exact_pages >= if together == 1 { least * 9 / 10 } else { 2 * least }, "{exact_pages}");
            assert!(reuse.rate() < 1.0 && reuse.distances.len() as u64 > least * 8 / 10, "{}", reuse.rate());
        }
    }

    /// Pages by a power law over a large space: the first few are hot, and there is a long tail.
    fn skewed(rng: &mut Rng, pages: u32, power: i32) -> u64 {
        let u = f64::from(rng.below(1 << 24)) / f64::from(1 << 24);
        mix((u.powi(power) * f64::from(pages)) as u64) >> 1
    }

    #[test]
    fn a_sample_of_fixed_size_is_within_a_hundredth_of_the_exact_curve() {
        for (seed, power) in [(3, 1), (4, 3), (5, 6)] {
            let mut rng = Rng::named(seed, "reuse");
            let (mut exact, mut sampled) = (Reuse::exact(1 << 30), Reuse::new(SAMPLE_PAGES));
            let mut pages = PageTable::new(u64::MAX);
            for _ in 0..600_000 {
                let page = skewed(&mut rng, 300_000, power);
                let is_read = rng.below(4) > 0;
                pages.add(page, page, is_read, 0);
                exact.add(page, page, is_read, pages.distinct());
                sampled.add(page, page, is_read, pages.distinct());
            }
            assert!(sampled.distances.len() <= SAMPLE_PAGES && sampled.rate() < 0.2, "{}", sampled.rate());
            let gaps = pages.gaps();
            for (exact, sampled) in exact.curves(gaps).iter().zip(sampled.curves(gaps)) {
                for size in (0..80).map(|step| libm::exp2(f64::from(step) / 4.0) as u64) {
                    let error = (exact.at(size).unwrap() - sampled.at(size).unwrap()).abs();
                    assert!(error < 0.01, "power {power}, {size} pages: {error}");
                }
            }
        }
    }
}
