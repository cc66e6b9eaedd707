//! Locks of blocks that were emptied and wait for their erase (`ftl.cleaning.lazy_erase`): nothing lives there, and
//! what is dead is locked as anywhere. Once such a block is opened, what was not locked in time is left to its erase:
//! its pages are other data's from then on, and what dies of that is exposed anew.

use super::{EXPOSED, HOPELESS, ODD};
use crate::ftl::locks::Locks;
use crate::ftl::tables::Tables;
use crate::ftl::work::Work;
use crate::units::{BlockId, Ppn, Pun};

impl Locks {
    /// Whether only an erase hides what is exposed in a block.
    #[cold]
    pub(in crate::ftl) fn must_be_erased(&self, tables: &Tables, block: BlockId) -> bool {
        let first = (block.0 * tables.layout.pages_per_block) as usize;
        let pages = &self.pages[first..first + tables.layout.pages_per_block as usize];
        self.manner.erases && self.blocks[block.index()].pages > 0
            || pages.iter().any(|state| state & HOPELESS != 0)
    }

    /// A block is erased before it is programmed again: what is exposed in it ends with that.
    pub(in crate::ftl) fn leave_to_erase(&mut self, tables: &Tables, block: BlockId) {
        let first = block.0 * tables.layout.pages_per_block;
        for page in (first..first + tables.layout.pages_per_block).map(Ppn) {
            let state = core::mem::take(&mut self.pages[page.index()]);
            self.leaving -= u32::from(self.manner.is_leaving(state));
            if state & EXPOSED != 0 {
                self.erasing[block.index()][usize::from(state & ODD > 0)] += 1;
                self.end_exposure_late(block, page, state);
            }
        }
        let exposed = &mut self.blocks[block.index()];
        (exposed.pages, exposed.lacks_room) = (0, false);
        self.renewals.forget(block);
    }

    /// A member of the block is erased, and all that was read of it before is known: none of its units is secured any
    /// more. Those that come after are programmed later.
    pub(in crate::ftl) fn forget_erased(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        block: BlockId,
        physical: u32,
    ) {
        if self.erasing[block.index()] == [0; 2] {
            return;
        }
        let first = block.0 * tables.layout.pages_per_block;
        for page in (first..first + tables.layout.pages_per_block).map(Ppn) {
            if tables.layout.locate(page).block != physical {
                continue;
            }
            let units = page.0 * tables.layout.units_per_page..(page.0 + 1) * tables.layout.units_per_page;
            units.for_each(|unit| tables.facts.set_secured(Pun(unit), false));
            self.end_late_exposure(&mut work.counts, page, true);
        }
    }

    /// That erase is over. What has died in the block since can be looked at now.
    pub(in crate::ftl) fn note_late_erase(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        let erasing = core::mem::take(&mut self.erasing[block.index()]);
        for (waiting, count) in self.waiting.iter_mut().zip(erasing) {
            *waiting -= u64::from(count);
        }
        self.turn();
        self.list_all(tables, work, block);
        let lane = tables.layout.lane_of(block);
        self.uncrowd(tables, work, lane);
    }
}
