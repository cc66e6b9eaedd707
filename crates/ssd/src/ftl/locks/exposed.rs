//! Which pages are exposed: a dead copy of secured data lies there and can be read. And what is done about each.

use super::manner::Manner;
use crate::ftl::tables::blocks::{BlockState, Blocks};
use crate::ftl::tables::facts::Death;
use crate::ftl::tables::layout::Layout;
use crate::restore::{Verdict, alike};
use crate::snapshot::raw;
use crate::units::{BlockId, Ppn};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Of a page: a dead copy of secured data lies there.
pub(super) const EXPOSED: u8 = 1;
/// It is of the second of two generations.
pub(super) const ODD: u8 = 2;
/// Its lock is on its way.
pub(super) const ISSUED: u8 = 4;
/// All that died there died because it moved: it waits for the end of the job.
pub(super) const DEFERRED: u8 = 8;
/// Its lock has failed once.
pub(super) const FAILED: u8 = 16;
/// No lock helps: its block is to be emptied and erased.
pub(super) const UNLOCKABLE: u8 = 32;
/// What lives there is on its way out.
pub(super) const LEAVING: u8 = 64;
/// What died there died by a write that goes on.
pub(super) const HELD: u8 = 128;
/// Of a page that is not exposed, so that nothing leaves it: it is locked, where locks are set again.
pub(super) const LOCKED: u8 = LEAVING;
/// Of such a page: it is noise, where pages are reprogrammed.
pub(super) const SPOILS: u8 = LEAVING;
/// Of such a page, which is of no generation: it is to be locked again.
pub(super) const DUE: u8 = ODD;

/// The states of all pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Exposed {
    /// By page: bits as above.
    #[serde(with = "raw")]
    pub(super) pages: Vec<u8>,
    /// By block: its pages that are exposed.
    #[serde(with = "raw")]
    pub(super) blocks: Vec<u32>,
    /// Pages that what lives there is leaving, or has left, for their locks.
    pub(in crate::ftl) leaving: u32,
}

/// Where the pages of a block stand in a table of all pages.
fn pages_of(layout: &Layout, block: BlockId) -> Range<usize> {
    let first = (block.0 * layout.pages_per_block) as usize;
    first..first + layout.pages_per_block as usize
}

/// Whether what lives in a page of this state is leaving it. Of a wordline that is to be scrubbed not all pages are
/// exposed.
#[inline]
pub(super) fn is_leaving(manner: &Manner, state: u8) -> bool {
    state & LEAVING != 0 && (state & EXPOSED != 0 || manner.scrubs())
}

/// Whether a page of this state owes its lock to the bound of exposure: failed locks are outside of that.
pub(super) fn is_owed(state: u8) -> bool {
    state & (EXPOSED | FAILED | UNLOCKABLE) == EXPOSED
}

/// Whether a page of this state is to be locked again.
pub(super) fn is_due(state: u8) -> bool {
    state & (LOCKED | DUE | EXPOSED | ISSUED | UNLOCKABLE) == LOCKED | DUE
}

impl Exposed {
    /// None of so many pages and blocks is.
    pub(super) fn new(pages: usize, blocks: usize) -> Self {
        Exposed { pages: vec![0; pages], blocks: vec![0; blocks], leaving: 0 }
    }

    /// Bytes of memory of the controller.
    pub(super) fn bytes(&self) -> usize {
        self.pages.len() + 4 * self.blocks.len()
    }

    /// Checks that they can be those of a drive whose fresh ones are these.
    pub(super) fn restored(&self, fresh: &Exposed) -> Verdict {
        alike("pages that are exposed", &self.pages, &fresh.pages)?;
        alike("blocks that are exposed", &self.blocks, &fresh.blocks)
    }

    /// The state of a page.
    pub(super) fn state(&self, page: Ppn) -> u8 {
        self.pages[page.index()]
    }

    /// The states of the pages of a block.
    pub(super) fn states(&self, layout: &Layout, block: BlockId) -> &[u8] {
        &self.pages[pages_of(layout, block)]
    }

    fn states_mut(&mut self, layout: &Layout, block: BlockId) -> &mut [u8] {
        &mut self.pages[pages_of(layout, block)]
    }

    /// Whether any page of a block is.
    pub(super) fn has(&self, block: BlockId) -> bool {
        self.blocks[block.index()] > 0
    }

    /// A copy of secured data has died in a page of a block. Whether the page is exposed since then, and was not
    /// before; it counts with the generation that grows.
    pub(super) fn begin(
        &mut self,
        (block, page): (BlockId, Ppn),
        by: Death,
        growing: u8,
        scrubs: bool,
    ) -> bool {
        let state = &mut self.pages[page.index()];
        if *state & EXPOSED == 0 {
            // What still lives there is on its way already: read twice, one of its copies would be dead on arrival.
            let leaves = if scrubs { *state & LEAVING } else { 0 };
            let waits = match by {
                Death::Ended => 0,
                Death::Moved => DEFERRED,
                Death::Written => HELD,
            };
            *state = EXPOSED | growing | waits | leaves;
            self.blocks[block.index()] += 1;
            return true;
        }
        if by != Death::Moved {
            *state &= !(DEFERRED | if by == Death::Ended { HELD } else { 0 });
        }
        false
    }

    /// What is known of a page ends. The state that it was in.
    pub(super) fn take(&mut self, manner: &Manner, page: Ppn) -> u8 {
        let state = core::mem::take(&mut self.pages[page.index()]);
        self.leaving -= u32::from(is_leaving(manner, state));
        state
    }

    /// A page of a block is exposed no more. Whether others of it are.
    pub(super) fn end(&mut self, block: BlockId) -> bool {
        let pages = &mut self.blocks[block.index()];
        *pages -= 1;
        *pages > 0
    }

    /// What died in the pages of a block waits no longer for the end of a job or a write.
    pub(super) fn end_waits(&mut self, layout: &Layout, block: BlockId) {
        self.states_mut(layout, block).iter_mut().for_each(|state| *state &= !(DEFERRED | HELD));
    }

    /// What lives in a page begins to leave it.
    pub(in crate::ftl) fn leave(&mut self, manner: &Manner, page: Ppn) {
        let state = &mut self.pages[page.index()];
        let is_new = is_leaving(manner, *state | LEAVING) && !is_leaving(manner, *state);
        *state |= LEAVING;
        self.leaving += u32::from(is_new);
    }

    /// Whether what lives in a page is on its way out for its lock, all of it.
    #[inline]
    pub(in crate::ftl) fn is_left(&self, manner: &Manner, page: Ppn) -> bool {
        is_leaving(manner, self.state(page))
    }

    /// A page's lock is on its way, if it is exposed. Whether it is.
    pub(super) fn lock_issued(&mut self, page: Ppn) -> bool {
        let state = &mut self.pages[page.index()];
        let is_exposed = *state & EXPOSED != 0;
        *state |= if is_exposed { ISSUED } else { 0 };
        is_exposed
    }

    /// No lock helps a page.
    pub(super) fn give_up_page(&mut self, page: Ppn) {
        self.pages[page.index()] |= UNLOCKABLE;
    }

    /// Whether a block still has pages that no lock helps.
    pub(in crate::ftl) fn is_unlockable(&self, layout: &Layout, block: BlockId) -> bool {
        self.states(layout, block).iter().any(|state| state & UNLOCKABLE != 0)
    }

    /// Whether something lies in a block out of use that no lock helps, and no erase.
    #[cold]
    pub fn has_given_up(&self, layout: &Layout, blocks: &Blocks) -> bool {
        let mut bad =
            (0..layout.blocks()).map(BlockId).filter(|&block| blocks.state(block) == BlockState::Bad);
        !self.pages.is_empty() && bad.any(|block| self.is_unlockable(layout, block))
    }

    /// A block is used no more: what is exposed there is locked as anywhere, for no erase will hide it.
    #[cold]
    pub(in crate::ftl) fn lock_as_anywhere(&mut self, manner: &Manner, layout: &Layout, block: BlockId) {
        if !manner.erases {
            self.states_mut(layout, block).iter_mut().for_each(|state| *state &= !UNLOCKABLE);
        }
    }

    /// Whether only an erase hides what is exposed in a block.
    #[cold]
    pub(in crate::ftl) fn must_be_erased(&self, manner: &Manner, layout: &Layout, block: BlockId) -> bool {
        manner.erases && self.has(block) || self.is_unlockable(layout, block)
    }

    /// Whether a page was reprogrammed, or is about to be, where that is done to pages.
    pub(super) fn spoils(&self, page: Ppn) -> bool {
        let state = self.state(page);
        state & ISSUED != 0 || state & (SPOILS | EXPOSED) == SPOILS
    }

    /// A page is locked, where locks are set again, or reprogrammed.
    pub(super) fn lock(&mut self, page: Ppn) {
        self.pages[page.index()] |= LOCKED;
    }

    /// All locked pages of a block are to be locked again.
    pub(super) fn renew_all(&mut self, layout: &Layout, block: BlockId) {
        let pages = self.states_mut(layout, block).iter_mut();
        for state in pages.filter(|state| **state & (LOCKED | EXPOSED | UNLOCKABLE) == LOCKED) {
            *state |= DUE;
        }
    }

    /// A page's lock that is set again is on its way, if it is to be set again.
    pub(super) fn renew(&mut self, page: Ppn) {
        let state = &mut self.pages[page.index()];
        if is_due(*state) {
            *state = *state & !DUE | ISSUED;
        }
    }
}
