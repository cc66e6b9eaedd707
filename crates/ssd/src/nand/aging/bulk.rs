//! Time travel: cycles, months and reads in bulk, block by block.

use super::Aging;
use super::tables::{Dwell, MOST_MINUTES, TICKS_PER_MINUTE};

impl Aging {
    /// The mode of cycles in bulk: the block's own, but all bits of the cells of one that has one bit a cell just now,
    /// since blocks take turns at that.
    fn mode_in_bulk(&self, block: u32) -> u8 {
        let mode = self.mode(block);
        if Some(mode) == self.one_bit_mode() { 0 } else { mode }
    }

    /// So many more cycles, with a dwell after each. The block counts as erased by the last of them, and its data as
    /// programmed again after that.
    pub(crate) fn cycle(&mut self, block: u32, more: u32, dwell: Dwell) {
        if more == 0 {
            return;
        }
        self.damage(block, more, self.mode_in_bulk(block), dwell);
        self.forget_reads(block);
        self.forget_carried(block);
        self.forget_renewed(block);
        self.programmed_at[block as usize] = self.minutes();
        self.erased_at[block as usize] = self.clock.ticks;
    }

    /// Equivalent cycles of a block after so many more.
    pub(crate) fn worn_after(&self, block: u32, more: u32, dwell: Dwell) -> u32 {
        self.equivalent(block, self.after(block, more, self.mode_in_bulk(block), dwell).1)
    }

    /// A block of so many cycles of the reference dwell, whatever it was before.
    pub(crate) fn recount(&mut self, block: u32, before: u32, cycles: u32) {
        if cycles < before {
            (self.lasting[block as usize], self.done[block as usize]) = (0, 0);
            self.damage(block, cycles, self.mode_in_bulk(block), Dwell::REFERENCE);
        } else {
            self.cycle(block, cycles - before, Dwell::REFERENCE);
        }
    }

    /// Ticks that the clock can still go.
    pub(crate) fn ticks_left(&self) -> u64 {
        u64::from(MOST_MINUTES) * u64::from(TICKS_PER_MINUTE) - u64::from(self.clock.ticks)
    }

    /// Lets so many ticks pass at once; at most [`Aging::ticks_left`].
    pub(crate) fn retain(&mut self, ticks: u64) {
        assert!(ticks <= self.ticks_left(), "a jump beyond the end of the clock");
        self.clock.jumped += ticks;
        self.clock.ticks += ticks as u32;
    }

    /// Wordlines of a block that hold data when its first `pages` pages are programmed: they are its first.
    fn wordlines_of(&self, block: u32, pages: u32) -> u32 {
        let tables = self.tables();
        if pages == tables.pages {
            return tables.wordlines;
        }
        let first = tables.modes[usize::from(self.mode(block))].places as usize;
        let held = tables.places[first..][..pages as usize].iter();
        held.map(|place| place.wordline() as u32 + 1).max().unwrap_or(0)
    }

    /// What so many reads of a block in its mode count, page types taking turns.
    fn even_harm(&self, block: u32, reads: u64) -> u64 {
        let weight_q16 = self.tables().modes[usize::from(self.mode(block))].even_weight_q16;
        ((u128::from(reads) * u128::from(weight_q16)) >> 16).min(u128::from(u64::MAX)) as u64
    }

    /// Whether the counters of a block hold so many reads more: see [`Aging::disturb`].
    pub(crate) fn can_disturb(&self, block: u32, reads: u64, wordline: Option<u32>, pages: u32) -> bool {
        let (held, harm) = (self.wordlines_of(block, pages), self.even_harm(block, reads));
        if held == 0 || wordline.is_some_and(|wordline| wordline >= held) {
            return true;
        }
        if harm > u64::from(u32::MAX) * u64::from(held) {
            return false;
        }
        let first = block as usize * self.tables().wordlines as usize;
        let room = |count: u32| u64::from(u32::MAX - count);
        match (self.wordline_reads.is_empty(), wordline) {
            (true, _) => true,
            (false, Some(wordline)) => harm <= room(self.wordline_reads[first + wordline as usize]),
            (false, None) => {
                let counts = &self.wordline_reads[first..][..held as usize];
                counts.iter().all(|&count| harm.div_ceil(u64::from(held)) <= room(count))
            }
        }
    }

    /// So many reads of the block's `pages` programmed pages: of all their wordlines evenly, or all of one. Page types
    /// take turns. Nothing happens where the wordline holds no data. The counters must have room.
    pub(crate) fn disturb(&mut self, block: u32, reads: u64, wordline: Option<u32>, pages: u32) {
        let (held, harm) = (self.wordlines_of(block, pages), self.even_harm(block, reads));
        if held == 0 || wordline.is_some_and(|wordline| wordline >= held) {
            return;
        }
        self.reads[block as usize] += harm;
        if self.wordline_reads.is_empty() {
            return;
        }
        let first = block as usize * self.tables().wordlines as usize;
        let counts = &mut self.wordline_reads[first..][..held as usize];
        match wordline {
            Some(wordline) => counts[wordline as usize] += harm as u32,
            None => {
                let (each, more) = (harm / u64::from(held), harm % u64::from(held));
                for (at, count) in counts.iter_mut().enumerate() {
                    *count += (each + u64::from((at as u64) < more)) as u32;
                }
            }
        }
    }
}
