//! The chips' ground truth: which pages are programmed, how often each block was erased, what fails.
//!
//! Chip rules are asserted, in release builds too: a page is programmed once after an erase and in order, a page is
//! read only after it was programmed, a block marked bad is left alone. Breaking one is a bug of the firmware.

use super::aging::{Attempt, PageAge, Sensed};
use crate::config::Reliability;
use crate::rng::{Rng, chance};
use serde::{Deserialize, Serialize};

/// What a chip says of a program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Status pass.
    Pass,
    /// Status fail: the block must not be trusted with data again.
    Fail,
}

/// All chips of a drive, block by block. Blocks are numbered plane by plane: `plane * blocks_per_plane + block`, with
/// planes counted over the whole drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chip {
    pages_per_block: u32,
    /// Next page to program; `pages_per_block` when the block is full.
    next_page: Vec<u32>,
    erase_counts: Vec<u32>,
    factory_bad: Vec<bool>,
    endurance_cycles: u32,
    program_fails: u64,
    erase_fails: u64,
    program_rng: Rng,
    erase_rng: Rng,
}

impl Chip {
    /// Fresh chips: all blocks erased, the factory's bad blocks drawn.
    pub fn new(
        planes: u32,
        blocks_per_plane: u32,
        pages_per_block: u32,
        faults: &Reliability,
        seed: u64,
    ) -> Self {
        let blocks = (planes * blocks_per_plane) as usize;
        let mut rng = Rng::stream(seed, "nand/factory_bad");
        let bad = chance(faults.factory_bad_ppm);
        Chip {
            pages_per_block,
            next_page: vec![0; blocks],
            erase_counts: vec![0; blocks],
            factory_bad: (0..blocks).map(|_| rng.hits(bad)).collect(),
            endurance_cycles: faults.endurance_cycles,
            program_fails: chance(faults.program_fail_ppm),
            erase_fails: chance(faults.erase_fail_ppm),
            program_rng: Rng::stream(seed, "nand/program_fail"),
            erase_rng: Rng::stream(seed, "nand/erase_fail"),
        }
    }

    /// Whether the factory marked this block bad.
    pub fn is_factory_bad(&self, block: u32) -> bool {
        self.factory_bad[block as usize]
    }

    /// Erases this block has seen.
    #[inline]
    pub fn erase_count(&self, block: u32) -> u32 {
        self.erase_counts[block as usize]
    }

    /// Ages a block to `cycles` erases.
    pub fn set_erase_count(&mut self, block: u32, cycles: u32) {
        self.erase_counts[block as usize] = cycles;
    }

    /// Whether cells age; otherwise every read succeeds at once.
    #[inline]
    pub fn ages(&self) -> bool {
        false
    }

    /// Program mode of a block.
    #[inline]
    pub fn mode(&self, _block: u32) -> u8 {
        0
    }

    /// What the firmware knows of a page's age.
    #[inline]
    pub fn page_age(&self, block: u32, _page: u32) -> PageAge {
        PageAge { cycles: self.erase_count(block), minutes: 0, group: 0, page_type: 0 }
    }

    /// Reads a page, beginning with an entry of the retry table: how many attempts fail, and whether one succeeds.
    /// Every attempt disturbs the other wordlines of the block.
    #[inline]
    pub fn sense(&mut self, _block: u32, _page: u32, _first: u8) -> Sensed {
        Sensed { failed: 0, readable: true }
    }

    /// The attempt that comes after so many failed ones.
    #[inline]
    pub fn attempt(&self, _mode: u8, _failed: u8) -> Attempt {
        Attempt::Entry
    }

    /// Array time of programs (`erase` false) and erases of a block over the nominal, in 1/4096.
    #[inline]
    pub fn time_scale_q12(&self, _block: u32, _erase: bool) -> u32 {
        4096
    }

    /// Reads a page.
    #[inline]
    pub fn read(&self, block: u32, page: u32) {
        assert!(
            page < self.next_page[block as usize],
            "read of page {page} of block {block}, which is not programmed"
        );
    }

    /// Programs a page: in order, and only after an erase.
    #[inline]
    pub fn program(&mut self, block: u32, page: u32) -> Outcome {
        let next = &mut self.next_page[block as usize];
        assert!(
            page == *next && page < self.pages_per_block,
            "program of page {page} of block {block}, next is {next}"
        );
        *next += 1;
        if self.program_rng_hits() { Outcome::Fail } else { Outcome::Pass }
    }

    #[inline]
    fn program_rng_hits(&mut self) -> bool {
        self.program_fails != 0 && self.program_rng.hits(self.program_fails)
    }

    /// Erases a block. Fails by chance, or for good once the endurance is used up.
    #[inline]
    pub fn erase(&mut self, block: u32) -> Outcome {
        self.next_page[block as usize] = 0;
        let count = &mut self.erase_counts[block as usize];
        *count += 1;
        let worn = self.endurance_cycles != 0 && *count > self.endurance_cycles;
        if worn || self.erase_rng.hits(self.erase_fails) { Outcome::Fail } else { Outcome::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip(faults: &Reliability) -> Chip {
        Chip::new(2, 4, 3, faults, 1)
    }

    #[test]
    #[should_panic(expected = "next is 0")]
    fn pages_are_programmed_in_order() {
        chip(&Reliability::default()).program(0, 1);
    }

    #[test]
    #[should_panic(expected = "next is 3")]
    fn a_full_block_takes_no_program() {
        let mut chip = chip(&Reliability::default());
        for page in 0..4 {
            chip.program(0, page);
        }
    }

    #[test]
    #[should_panic(expected = "not programmed")]
    fn an_erased_page_is_not_read() {
        let mut chip = chip(&Reliability::default());
        chip.program(5, 0);
        chip.read(5, 0);
        chip.erase(5);
        chip.read(5, 0);
    }

    #[test]
    fn endurance_ends_in_failed_erases() {
        let mut chip = chip(&Reliability { endurance_cycles: 2, ..Reliability::default() });
        assert_eq!(
            [chip.erase(1), chip.erase(1), chip.erase(1)],
            [Outcome::Pass, Outcome::Pass, Outcome::Fail]
        );
    }
}
