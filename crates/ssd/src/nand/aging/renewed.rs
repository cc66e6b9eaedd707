//! Pages that are younger than others of their block: where a part of the data was aged, and not what lies beside it.

use super::Aging;

impl Aging {
    /// Minutes at the reference temperature since a page was programmed.
    #[inline]
    pub(crate) fn page_minutes(&self, block: u32, page: u32) -> u32 {
        if self.renewed.is_empty() {
            return self.data_minutes(block);
        }
        let renewed = self.renewed[self.page_number(block, page)];
        self.minutes() - renewed.max(self.programmed_at[block as usize])
    }

    /// The data of an erased block is gone.
    pub(super) fn forget_renewed(&mut self, block: u32) {
        if !self.renewed.is_empty() {
            let (first, pages) = (self.page_number(block, 0), self.tables().pages as usize);
            self.renewed[first..first + pages].fill(0);
        }
    }

    /// Makes some of a block's programmed pages so many minutes younger; its data is as old as its oldest page.
    pub(crate) fn make_younger(
        &mut self,
        block: u32,
        programmed: u32,
        minutes: u32,
        is_younger: impl Fn(u32) -> bool,
    ) {
        let (first, now) = (self.page_number(block, 0), self.minutes());
        let of_block = self.programmed_at[block as usize];
        let before = |renewed: &[u32], page: u32| {
            renewed.get(first + page as usize).map_or(of_block, |&at| at.max(of_block))
        };
        let after =
            |renewed: &[u32], page: u32| before(renewed, page) + if is_younger(page) { minutes } else { 0 };
        let Some(oldest) = (0..programmed).map(|page| after(&self.renewed, page)).min() else { return };
        let are_alike = (0..programmed).all(|page| after(&self.renewed, page) == oldest);
        if self.renewed.is_empty() && !are_alike {
            self.renewed = vec![0; self.worn.len() * self.tables().pages as usize];
            self.plain = false;
        }
        if !self.renewed.is_empty() {
            for page in 0..programmed {
                let at = after(&self.renewed, page);
                self.renewed[first + page as usize] = if at > oldest { at } else { 0 };
            }
        }
        self.programmed_at[block as usize] = oldest;
        debug_assert!(oldest <= now, "a page of the future");
    }
}
