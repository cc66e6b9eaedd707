//! Parity across dies (`ftl.parity_percent`): which pages of a block hold it instead of data.
//!
//! All blocks hold as much data: what leaves room for its parity. How many pages of that a block has, and where,
//! follows from its number: nothing has to be remembered. Blocks take turns with a page more and a page less, so that
//! the share is exact whatever a block holds; one with a page less is full a page earlier. In a block the pages of
//! parity are as far apart as can be, and none is the first of its row: the row that holds it is programmed together.

use crate::units::BlockId;

/// One, as a share.
const ONE: u64 = 1 << 32;

/// Which pages of blocks hold parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parity {
    /// Pages of a block that can be filled, with data or parity.
    pages: u32,
    /// Pages of it that hold data.
    data: u32,
    /// Pages of a row.
    row: u32,
    /// Parity for each page of data, in 1/2^32.
    share_q32: u64,
}

impl Parity {
    /// So much for each page of data, at most one, of blocks with so many pages in rows of so many.
    pub fn new(share_q32: u64, pages: u32, row: u32) -> Self {
        let of = |data: u64| (data * share_q32).div_ceil(ONE);
        let most = (u64::from(pages) << 32) / (ONE + share_q32);
        let data = (1..=most).rev().find(|&data| data + of(data) <= u64::from(pages)).unwrap_or(1);
        Parity { pages, data: data as u32, row: row.max(1), share_q32 }
    }

    /// Of blocks with other numbers of pages.
    pub fn over(self, pages: u32) -> Self {
        Parity::new(self.share_q32, pages, self.row)
    }

    /// Whether there is any.
    #[inline]
    pub fn is_written(&self) -> bool {
        self.share_q32 > 0
    }

    /// Pages of data in a block.
    #[inline]
    pub fn data(&self) -> u32 {
        self.data
    }

    /// Whether blocks have room for parity, and for data of which a part can die: two pages.
    pub fn fits(&self) -> bool {
        !self.is_written() || self.data >= 2 && self.data < self.pages
    }

    /// Pages of parity in a block.
    fn of_block(&self, block: BlockId) -> u32 {
        let up_to = |block: u64| (block * u64::from(self.data) * self.share_q32) / ONE;
        let own = up_to(u64::from(block.0) + 1) - up_to(u64::from(block.0));
        own.min(u64::from(self.pages - self.data)) as u32
    }

    /// Pages of a block that are filled.
    #[inline]
    pub fn filled(&self, block: BlockId) -> u32 {
        if self.is_written() { self.data + self.of_block(block) } else { self.pages }
    }

    /// Pages of parity before a place in a block that holds so many. The j-th of P lies at (2 j + 1) n / 2 P of n, or
    /// behind that if it would be the first of its row.
    fn before(&self, parity: u32, at: u32) -> u32 {
        let all = self.data + parity;
        if at >= all {
            return parity;
        }
        let at = u64::from(at - u32::from(self.row > 1 && at % self.row == 1));
        let (parity, all) = (u64::from(parity), u64::from(all));
        ((2 * parity * at + all - 1) / (2 * all)) as u32
    }

    /// Pages of parity among those from a place in a block up to another.
    #[inline]
    pub fn among(&self, block: BlockId, from: u32, to: u32) -> u32 {
        if !self.is_written() {
            return 0;
        }
        let parity = self.of_block(block);
        self.before(parity, to) - self.before(parity, from)
    }

    /// Pages of parity that lie one after another from a place in a block on.
    #[inline]
    pub fn from(&self, block: BlockId, at: u32) -> u32 {
        if !self.is_written() {
            return 0;
        }
        let all = self.filled(block);
        (at..all).take_while(|&at| self.among(block, at, at + 1) > 0).count() as u32
    }

    /// Pages of data among those from a place in a block up to another.
    #[inline]
    pub fn data_among(&self, block: BlockId, from: u32, to: u32) -> u32 {
        let to = to.min(self.filled(block));
        to.saturating_sub(from) - self.among(block, from, to.max(from))
    }

    /// Pages of data among so many from a place in a block on.
    #[inline]
    pub fn data_of(&self, block: BlockId, from: u32, pages: u32) -> u32 {
        if self.is_written() { self.data_among(block, from, from + pages) } else { pages }
    }

    /// Pages of data from a place in a block on.
    #[inline]
    pub fn data_left(&self, block: BlockId, from: u32) -> u32 {
        self.data_among(block, from, self.pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many percent.
    fn parity(percent: f64, pages: u32, row: u32) -> Parity {
        Parity::new((percent / 100.0 * ONE as f64) as u64, pages, row)
    }

    #[test]
    fn the_share_is_exact_over_all_blocks_and_each_page_is_one_or_the_other() {
        let shapes = [
            (2.5, 384, 4),
            (2.5, 48, 4),
            (5.0, 12, 1),
            (5.0, 96, 2),
            (20.0, 36, 3),
            (50.0, 16, 4),
            (100.0, 24, 2),
            (100.0, 4, 4),
        ];
        for (percent, pages, row) in shapes {
            let parity = parity(percent, pages, row);
            let (blocks, mut all) = (4_000, 0);
            for block in (0..blocks).map(BlockId) {
                let filled = parity.filled(block);
                let own: Vec<u32> = (0..pages).filter(|&at| parity.from(block, at) > 0).collect();
                all += own.len() as u32;
                assert_eq!(filled, parity.data() + own.len() as u32);
                assert!(
                    filled <= pages && filled + 2 > pages,
                    "{percent} %: {filled} of {pages} pages are filled"
                );
                assert_eq!(parity.data_left(block, 0), parity.data());
                assert!(!own.contains(&0), "{percent} %: a block begins with data");
                let begins_a_row = |at: &&u32| row > 1 && at.is_multiple_of(row) && **at + 1 < filled;
                assert_eq!(own.iter().find(begins_a_row), None, "{percent} %: {own:?} in rows of {row}");
                for from in 0..=filled {
                    let counted = own.iter().filter(|&&at| at >= from).count() as u32;
                    assert_eq!(parity.data_left(block, from), filled - from - counted);
                }
            }
            let told = f64::from(all) / f64::from(blocks * parity.data());
            assert!((told * 100.0 / percent - 1.0).abs() < 1e-3, "{percent} %, {pages} pages: {told}");
        }
    }

    #[test]
    fn it_is_spread_evenly_over_a_block() {
        let parity = parity(5.0, 84, 1);
        let own: Vec<u32> = (0..84).filter(|&at| parity.from(BlockId(1), at) > 0).collect();
        // By hand: 80 pages of data and 4 of parity, each in the middle of a fourth.
        assert_eq!((parity.data(), own), (80, vec![10, 31, 52, 73]));
    }

    #[test]
    fn without_it_all_is_data() {
        let none = parity(0.0, 48, 4);
        assert_eq!((none.data(), none.filled(BlockId(7))), (48, 48));
        assert_eq!((none.from(BlockId(7), 13), none.data_left(BlockId(7), 13)), (0, 35));
    }

    #[test]
    fn a_block_too_short_for_it_is_told() {
        assert!(!parity(5.0, 1, 1).fits() && !parity(5.0, 2, 1).fits() && !parity(100.0, 3, 1).fits());
        assert!(parity(5.0, 3, 1).fits() && parity(100.0, 4, 1).fits() && parity(0.0, 1, 1).fits());
    }
}
