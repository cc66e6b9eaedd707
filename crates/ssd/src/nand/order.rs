//! Program order: which wordline and page type the n-th page of a block is.

use crate::sections::{ProgramOrder, Sections};
use serde::{Deserialize, Serialize};

/// A page's place in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePlace {
    /// Wordline, from 0.
    pub wordline: u32,
    /// Page type, from 0 (LSB).
    pub page_type: u8,
}

/// The order in which a block's pages are programmed; page numbers are positions in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageOrder {
    types: Vec<u8>,
    wordlines: Vec<u32>,
}

impl PageOrder {
    /// The order of a drive.
    pub fn of(cfg: &Sections) -> Self {
        let (wordlines, bits) = (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell);
        match cfg.cell.program_order {
            ProgramOrder::WordlineMajor => Self::wordline_major(wordlines, bits),
            ProgramOrder::Shadow => Self::shadow(wordlines, bits),
        }
    }

    /// All pages of a wordline one after another: the order of chips that program a wordline in one go, and of
    /// the papers (redFTL+ deals pages in LSB-CSB-MSB order).
    pub fn wordline_major(wordlines: u32, bits: u32) -> Self {
        Self::from_places(
            (0..wordlines * bits).map(|i| PagePlace { wordline: i / bits, page_type: (i % bits) as u8 }),
        )
    }

    /// The shadow order of two- and three-step programming: type `t` of wordline `w` comes in diagonal `w + t`, the
    /// higher types of lower wordlines first, so that no wordline is finished before its neighbour has begun
    /// (the interleaved orders of planar MLC data sheets).
    pub fn shadow(wordlines: u32, bits: u32) -> Self {
        let diagonals = 0..wordlines + bits - 1;
        Self::from_places(diagonals.flat_map(|diagonal| {
            (0..bits)
                .filter(move |&t| diagonal >= t && diagonal - t < wordlines)
                .map(move |t| PagePlace { wordline: diagonal - t, page_type: t as u8 })
        }))
    }

    fn from_places(places: impl Iterator<Item = PagePlace>) -> Self {
        let (types, wordlines) = places.map(|place| (place.page_type, place.wordline)).unzip();
        PageOrder { types, wordlines }
    }

    /// Pages per block.
    pub fn pages(&self) -> u32 {
        self.types.len() as u32
    }

    /// Page type of page `page`.
    #[inline]
    pub fn page_type(&self, page: u32) -> u8 {
        self.types[page as usize]
    }

    /// Place of page `page`.
    pub fn place(&self, page: u32) -> PagePlace {
        PagePlace { wordline: self.wordlines[page as usize], page_type: self.types[page as usize] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(order: &PageOrder) -> Vec<(u32, u8)> {
        (0..order.pages()).map(|p| (order.place(p).wordline, order.place(p).page_type)).collect()
    }

    #[test]
    fn shadow_order_of_three_mlc_wordlines() {
        // LSB0, LSB1, MSB0, LSB2, MSB1, MSB2: the textbook order.
        assert_eq!(listed(&PageOrder::shadow(3, 2)), [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (2, 1)]);
    }

    #[test]
    fn every_order_holds_every_page_once() {
        for bits in 1..=4 {
            for order in [PageOrder::wordline_major(64, bits), PageOrder::shadow(64, bits)] {
                let mut pages = listed(&order);
                pages.sort_unstable();
                pages.dedup();
                assert_eq!(pages.len() as u32, 64 * bits);
            }
        }
    }
}
