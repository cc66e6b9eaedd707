//! Sets of touched pages, in memory proportional to what was touched and not to where it lies.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Pages of one chunk: a chunk is a bitmap of 64 bytes.
const CHUNK_PAGES: u64 = 512;
const WORDS: usize = (CHUNK_PAGES / 64) as usize;

/// Hashes a chunk number: one multiplication. The maps are only looked up, never walked.
#[derive(Default)]
pub(crate) struct ChunkHasher(u64);

impl Hasher for ChunkHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    #[inline]
    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

type ChunkIndex = HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>;

/// A set of page numbers.
#[derive(Default)]
pub(crate) struct PageSet {
    index: ChunkIndex,
    keys: Vec<u64>,
    chunks: Vec<[u64; WORDS]>,
    last: usize,
}

impl PageSet {
    /// Adds the pages `first..=last`.
    #[inline]
    pub(crate) fn insert(&mut self, first: u64, last: u64) {
        for key in first / CHUNK_PAGES..=last / CHUNK_PAGES {
            let base = key * CHUNK_PAGES;
            let low = first.max(base) - base;
            let high = last.min(base + CHUNK_PAGES - 1) - base;
            let chunk = self.chunk(key);
            let (low_word, high_word) = ((low / 64) as usize, (high / 64) as usize);
            let (low_mask, high_mask) = (u64::MAX << (low % 64), u64::MAX >> (63 - high % 64));
            if low_word == high_word {
                chunk[low_word] |= low_mask & high_mask;
            } else {
                chunk[low_word] |= low_mask;
                chunk[low_word + 1..high_word].fill(u64::MAX);
                chunk[high_word] |= high_mask;
            }
        }
    }

    /// The chunk of a number, made if need be.
    #[inline]
    fn chunk(&mut self, key: u64) -> &mut [u64; WORDS] {
        if self.keys.get(self.last) != Some(&key) {
            let next = self.keys.len() as u32;
            self.last = *self.index.entry(key).or_insert(next) as usize;
            if self.last == self.keys.len() {
                self.keys.push(key);
                self.chunks.push([0; WORDS]);
            }
        }
        &mut self.chunks[self.last]
    }

    /// Number of pages.
    pub(crate) fn len(&self) -> u64 {
        self.chunks.iter().flatten().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The set of granules of `1 << shift` pages that hold a page of this set.
    fn coarse(&self, shift: u32) -> PageSet {
        let mut out = PageSet::default();
        for (key, chunk) in self.keys.iter().zip(&self.chunks) {
            for page in (0..CHUNK_PAGES).filter(|p| chunk[(p / 64) as usize] >> (p % 64) & 1 == 1) {
                let granule = (key * CHUNK_PAGES + page) >> shift;
                out.insert(granule, granule);
            }
        }
        out
    }
}

struct RankChunk {
    bits: [u64; WORDS],
    /// Granules of the set before each word of this chunk.
    before: [u64; WORDS],
}

/// The granules of a set in ascending order, numbered from 0.
pub(crate) struct RankMap {
    index: ChunkIndex,
    keys: Vec<u64>,
    chunks: Vec<RankChunk>,
    len: u64,
}

impl RankMap {
    /// Numbers the granules of `1 << shift` pages that `pages` touches.
    pub(crate) fn new(pages: &PageSet, shift: u32) -> Self {
        let coarse;
        let set = if shift == 0 {
            pages
        } else {
            coarse = pages.coarse(shift);
            &coarse
        };
        let mut order: Vec<usize> = (0..set.keys.len()).collect();
        order.sort_unstable_by_key(|&i| set.keys[i]);
        let keys: Vec<u64> = order.iter().map(|&i| set.keys[i]).collect();
        let mut len = 0;
        let chunks = order
            .iter()
            .map(|&i| {
                let bits = set.chunks[i];
                let before = bits.map(|word| {
                    let before = len;
                    len += u64::from(word.count_ones());
                    before
                });
                RankChunk { bits, before }
            })
            .collect();
        let index = keys.iter().enumerate().map(|(i, &key)| (key, i as u32)).collect();
        RankMap { index, keys, chunks, len }
    }

    /// Number of granules.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The number of a granule; `None` if it is not in the set.
    #[inline]
    pub(crate) fn rank(&self, granule: u64) -> Option<u64> {
        let chunk = &self.chunks[*self.index.get(&(granule / CHUNK_PAGES))? as usize];
        let (word, bit) = ((granule % CHUNK_PAGES / 64) as usize, granule % 64);
        let below = chunk.bits[word] & ((1 << bit) - 1);
        (chunk.bits[word] >> bit & 1 == 1).then(|| chunk.before[word] + u64::from(below.count_ones()))
    }

    /// How many granules of the set lie below this one.
    pub(crate) fn rank_below(&self, granule: u64) -> u64 {
        let key = granule / CHUNK_PAGES;
        let at = self.keys.partition_point(|&k| k < key);
        match self.chunks.get(at) {
            None => self.len,
            Some(chunk) if self.keys[at] > key => chunk.before[0],
            Some(chunk) => {
                let (word, bit) = ((granule % CHUNK_PAGES / 64) as usize, granule % 64);
                chunk.before[word] + u64::from((chunk.bits[word] & ((1 << bit) - 1)).count_ones())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_plain_set() {
        let mut rng = Rng::named(1, "pages");
        for shift in [0, 1, 3, 8] {
            let mut set = PageSet::default();
            let mut plain = BTreeSet::new();
            for _ in 0..400 {
                let first = u64::from(rng.below(20_000)) + (u64::from(rng.below(2)) << 40);
                let last = first + u64::from(rng.below(1500));
                set.insert(first, last);
                plain.extend(first..=last);
            }
            assert_eq!(set.len(), plain.len() as u64);
            let granules: BTreeSet<u64> = plain.iter().map(|page| page >> shift).collect();
            let map = RankMap::new(&set, shift);
            assert_eq!(map.len(), granules.len() as u64);
            for (rank, &granule) in granules.iter().enumerate() {
                assert_eq!(map.rank(granule), Some(rank as u64));
                assert_eq!(map.rank_below(granule), rank as u64);
            }
            for _ in 0..1000 {
                let granule = u64::from(rng.below(30_000)) + (u64::from(rng.below(3)) << (40 - shift));
                let below = granules.range(..granule).count() as u64;
                assert_eq!(map.rank_below(granule), below);
                assert_eq!(map.rank(granule), granules.contains(&granule).then_some(below));
            }
        }
    }
}
