//! Errors that data carries from page to page: a copy inside the chip (copyback) goes past the controller, which would
//! have corrected them (RealWear section 3.4.5).

use super::Aging;
use super::sequence::Sequence;

impl Aging {
    /// Pages remember the errors that they carry from now on: none.
    pub(crate) fn remember_carried(&mut self) {
        self.carried = vec![0; self.worn.len() * self.tables().pages as usize];
        self.plain = false;
    }

    /// Whether pages remember the errors that they carry.
    pub(crate) fn carries(&self) -> bool {
        !self.carried.is_empty()
    }

    #[inline]
    pub(super) fn page_number(&self, block: u32, page: u32) -> usize {
        block as usize * self.tables().pages as usize + page as usize
    }

    /// Errors that a page's data came with, in 1/256 bit; where the count of a page is at its end it holds more than
    /// is ever corrected.
    #[inline]
    pub(crate) fn carried_q8(&self, block: u32, page: u32) -> u32 {
        if self.carried.is_empty() {
            return 0;
        }
        u32::from(self.carried[self.page_number(block, page)]) * self.tables().carried_unit_q8
    }

    /// The data of an erased block is gone.
    pub(super) fn forget_carried(&mut self, block: u32) {
        if !self.carried.is_empty() {
            let (first, pages) = (self.page_number(block, 0), self.tables().pages as usize);
            self.carried[first..first + pages].fill(0);
        }
    }

    /// A page is read into its chip's register with the first set of a sequence, and programmed to another page from
    /// there: that carries all errors of the reading. The source has seen so many cycles; the reading disturbs its
    /// block as any other.
    pub(crate) fn copy(
        &mut self,
        (block, page): (u32, u32),
        to: (u32, u32),
        sequence: &Sequence,
        cycles: u32,
    ) {
        let bits_q8 = self.errors_once_q8(block, page, sequence, cycles);
        self.break_off(block, page);
        let unit = self.tables().carried_unit_q8;
        let count = bits_q8.saturating_add(unit / 2) / unit;
        let at = self.page_number(to.0, to.1);
        self.carried[at] = count.min(u32::from(u8::MAX)) as u8;
    }
}
