//! A past that nobody waits for: all blocks cycled, or read, so often.

use super::Chip;
use crate::nand::aging::tables::Dwell;

impl Chip {
    /// Equivalent cycles of the most worn block if all were cycled to so many erases, with a dwell after each; `None`
    /// where cells do not age.
    pub(crate) fn most_worn_at(&self, to: u32, dwell: Dwell) -> Option<u32> {
        self.aging.as_ref()?;
        let more = |block| to.saturating_sub(self.erase_count(block));
        (0..self.blocks()).map(|block| self.worn_after(block, more(block), dwell)).max()
    }

    /// Equivalent cycles of a block after so many more; 0 where cells do not age.
    pub(crate) fn worn_after(&self, block: u32, more: u32, dwell: Dwell) -> u32 {
        self.aging.as_ref().map_or(0, |aging| aging.worn_after(block, more, dwell))
    }

    /// Cycles one block so often.
    pub(crate) fn cycle_block(&mut self, block: u32, more: u32, dwell: Dwell) {
        self.erase_counts[block as usize] += more;
        if let Some(aging) = &mut self.aging {
            aging.cycle(block, more, dwell);
        }
    }

    /// Cycles all blocks that have seen fewer erases to so many.
    pub(crate) fn cycle_to(&mut self, to: u32, dwell: Dwell) {
        for block in 0..self.blocks() {
            self.cycle_block(block, to.saturating_sub(self.erase_count(block)), dwell);
        }
    }

    /// Whether the counters hold so many more reads of every block, or of that wordline of every block.
    pub(crate) fn can_disturb(&self, reads: u64, wordline: Option<u32>) -> bool {
        let Some(aging) = &self.aging else { return true };
        let mut blocks = (0..).zip(&self.next_page);
        blocks.all(|(block, &pages)| aging.can_disturb(block, reads, wordline, pages))
    }

    /// Reads every block that holds data so many times, evenly or at one wordline.
    pub(crate) fn disturb(&mut self, reads: u64, wordline: Option<u32>) {
        let Some(aging) = &mut self.aging else { return };
        for (block, &pages) in (0..).zip(&self.next_page) {
            aging.disturb(block, reads, wordline, pages);
        }
    }
}
