//! The random map: which blocks a pass has visited. Finding the next one that it has not takes a few steps, however
//! large the map: a word of each level tells which words of the level below are full.

const BITS: u64 = 64;

/// A set of blocks, numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    /// Bits of blocks first, then those of full words, level by level; the last has one word.
    levels: Vec<Vec<u64>>,
    blocks: u64,
    taken: u64,
}

impl Map {
    /// So many blocks (at least one), none of them visited.
    pub fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let words = bits.div_ceil(BITS);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut map = Map { levels, blocks: blocks.max(1), taken: 0 };
        map.clear();
        map
    }

    /// Bytes of memory that so many blocks take.
    pub fn memory_bytes(blocks: u64) -> u64 {
        blocks / 8 + blocks / 496 + 64
    }

    /// Forgets all visits.
    pub fn clear(&mut self) {
        self.taken = 0;
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            // What lies beyond the last block is taken, so that no search ends there.
            if !bits.is_multiple_of(BITS)
                && let Some(last) = level.last_mut()
            {
                *last = u64::MAX << (bits % BITS);
            }
            bits = bits.div_ceil(BITS);
        }
    }

    /// Whether a block was visited.
    #[inline]
    pub fn has(&self, block: u64) -> bool {
        self.levels[0][(block / BITS) as usize] >> (block % BITS) & 1 == 1
    }

    /// Visits a block, which was not.
    #[inline]
    fn take(&mut self, block: u64) {
        self.taken += 1;
        let mut bit = block;
        for level in &mut self.levels {
            let word = &mut level[(bit / BITS) as usize];
            *word |= 1 << (bit % BITS);
            if *word != u64::MAX {
                return;
            }
            bit /= BITS;
        }
    }

    /// Visits up to so many blocks from `block` on, as far as they were not; how many that were.
    #[inline]
    pub fn visit(&mut self, block: u64, most: u64) -> u64 {
        let end = self.blocks.min(block + most);
        let mut next = block;
        while next < end && !self.has(next) {
            self.take(next);
            next += 1;
        }
        next - block
    }

    /// The first block from `block` on that was not visited, or else the first of all; `None` if all were.
    #[inline]
    pub fn next_free(&self, block: u64) -> Option<u64> {
        if self.taken == self.blocks {
            return None;
        }
        self.free_from(block).or_else(|| self.free_from(0))
    }

    /// The first block from `block` on that was not visited.
    fn free_from(&self, block: u64) -> Option<u64> {
        let mut bit = block;
        // Up: until a word has room at or behind the bit.
        for height in 0..self.levels.len() {
            let (word, from) = (bit / BITS, bit % BITS);
            let full = self.levels[height].get(word as usize)?;
            let free = !full & (u64::MAX << from);
            if free != 0 {
                let mut bit = word * BITS + u64::from(free.trailing_zeros());
                // Down: the first room of each word on the way.
                for level in self.levels[..height].iter().rev() {
                    bit = bit * BITS + u64::from((!level[bit as usize]).trailing_zeros());
                }
                return Some(bit);
            }
            bit = word + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::draw::below;
    use ssd::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_plain_set() {
        let mut rng = Rng::named(1, "map");
        for blocks in [1, 2, 63, 64, 65, 100, 4096, 4097, 70_000, 64 * 64 * 64] {
            let mut map = Map::new(blocks);
            let mut free: BTreeSet<u64> = (0..blocks).collect();
            for _ in 0..2 {
                while let Some(first) = free.first().copied() {
                    let block = below(&mut rng, blocks);
                    let next = free.range(block..).next().copied().unwrap_or(first);
                    assert_eq!(map.next_free(block), Some(next), "{block} of {blocks}");
                    assert_eq!(map.has(block), !free.contains(&block));
                    let most = 1 + below(&mut rng, 1 + blocks / 8);
                    let run = (next..next + most).take_while(|block| free.contains(block)).count() as u64;
                    assert_eq!(map.visit(next, most), run);
                    (next..next + run).for_each(|block| _ = free.remove(&block));
                }
                assert_eq!(map.next_free(below(&mut rng, blocks)), None);
                map.clear();
                free = (0..blocks).collect();
            }
        }
    }
}
