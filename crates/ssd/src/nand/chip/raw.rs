//! What somebody gets of the chips who sends them every command that there is (RealWear section 5.2.1), and how likely.

use super::Chip;
use crate::nand::locks::Raw;
use crate::units::SimTime;

impl Chip {
    /// What somebody finds on a page who sends every command that there is, so many minutes later than `now` if
    /// nothing else happens meanwhile (RealWear section 5.2.1).
    pub fn raw_read(&self, block: u32, page: u32, now: SimTime, minutes: u64) -> Raw {
        let programmed = self.programmed_pages(block);
        match &self.locks {
            Some(locks) => locks.answer((block, page), (programmed, self.erase_count(block)), (now, minutes)),
            None if page < programmed => Raw::Data,
            None => Raw::Erased,
        }
    }

    /// The chance that a page which was locked answers again, so many minutes later than `now`: [`Chip::raw_read`]
    /// draws it once for each erase of the block. 0 while its block is locked as a whole; nothing of a page that is not
    /// locked.
    // tidy: allow(float): for reports
    pub fn chance_of_answer(&self, block: u32, page: u32, now: SimTime, minutes: u64) -> Option<f64> {
        let locks = self.locks.as_ref().filter(|_| page < self.programmed_pages(block))?;
        locks.chance_of_answer(block, page, (now, minutes))
    }

    /// Copies a page to the next of a block, by a raw command of somebody who has the chips; what the copy answers from
    /// now on. The page buffer of a chip is cleared where a page is locked (assumed), so that the copy holds zeros,
    /// unless `nand.lock.copyback_hole` says otherwise. Of an erased page there is no copy.
    pub fn raw_copy(&mut self, from: (u32, u32), to: u32, now: SimTime) -> Raw {
        let answer = self.raw_read(from.0, from.1, now, 0);
        let carried = self.locks.as_ref().map_or(answer, |locks| locks.carried(from, answer));
        if carried == Raw::Erased {
            return carried;
        }
        let page = self.programmed_pages(to);
        self.program(to, page);
        if carried != Raw::Data {
            self.locks().blank(to, page, now);
        }
        self.raw_read(to, page, now, 0)
    }
}
