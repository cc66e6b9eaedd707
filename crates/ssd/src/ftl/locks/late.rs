//! Pages that are exposed until an erase ends, though their block is in use again (`ftl.cleaning.lazy_erase`). In a
//! block that was emptied and waits for its erase nothing lives, and what is dead is locked as anywhere. Once it is
//! opened, what was not locked in time is left to its erase: its pages are other data's from then on, and what dies of
//! that is exposed anew.

use super::exposed::ODD;
use super::exposure::{IN_PROGRAM, count, exposed_ns};
use crate::ftl::counts::{EXPOSURE_CAUSES as CAUSES, FtlCounts};
use crate::nand::Outcome;
use crate::restore::{Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::{BlockId, Ppn, SimTime};
use serde::{Deserialize, Serialize};

/// What is left to erases.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Late {
    /// By block: its pages of each generation.
    #[serde(with = "raw")]
    pub(super) blocks: Vec<[u32; 2]>,
    /// By page: why it is exposed for long, if it is, and one; 0: it is not exposed.
    #[serde(with = "raw")]
    causes: Vec<u8>,
    /// By page: since when.
    #[serde(with = "raw")]
    since: Vec<u64>,
}

impl Late {
    /// Nothing of so many blocks and pages.
    pub(super) fn new(blocks: usize, pages: usize) -> Self {
        Late { blocks: vec![[0; 2]; blocks], causes: vec![0; pages], since: vec![0; pages] }
    }

    /// Bytes of memory of the controller.
    pub(super) fn bytes(&self) -> usize {
        8 * self.blocks.len()
    }

    /// Bytes of the clocks.
    pub(super) fn clock_bytes(&self) -> usize {
        9 * self.causes.len()
    }

    /// Checks that it can be that of a drive whose fresh one is this.
    pub(super) fn restored(&self, fresh: &Late, now: SimTime) -> Verdict {
        alike("pages that an erase hides", &self.blocks, &fresh.blocks)?;
        alike("pages that an erase hides", &self.causes, &fresh.causes)?;
        alike("pages that an erase hides", &self.since, &fresh.since)?;
        ensure(self.causes.iter().all(|&cause| usize::from(cause) <= CAUSES.len()), "why a page is exposed")?;
        ensure(
            self.since.iter().all(|&since| since <= now.0 || since == IN_PROGRAM),
            "since when a page is exposed",
        )
    }

    /// A page of a block that was in this state is exposed, as it has been since then for that cause, until the erase
    /// ends that is about to begin.
    pub(super) fn leave(&mut self, (block, page): (BlockId, Ppn), state: u8, (since, cause): (u64, usize)) {
        self.blocks[block.index()][usize::from(state & ODD > 0)] += 1;
        (self.causes[page.index()], self.since[page.index()]) = (cause as u8 + 1, since);
    }

    /// Whether a block has such pages.
    pub(super) fn is_left(&self, block: BlockId) -> bool {
        self.blocks[block.index()] != [0; 2]
    }

    /// That erase is over for a page, or a lock that was on its way before it.
    pub(super) fn end(&mut self, counts: &mut FtlCounts, page: Ppn, now: SimTime, is_erased: bool) {
        let cause = core::mem::take(&mut self.causes[page.index()]);
        let ns = exposed_ns(self.since[page.index()], now);
        if cause > 0 {
            count(counts, ns, usize::from(cause) - 1, is_erased);
        }
    }

    /// A lock of these pages is over. If it has held, those of them that were left to an erase meanwhile are hidden
    /// before that.
    pub(super) fn end_locks(
        &mut self,
        counts: &mut FtlCounts,
        pages: impl Iterator<Item = Ppn>,
        outcome: Outcome,
        now: SimTime,
    ) {
        if outcome == Outcome::Pass && !self.causes.is_empty() {
            pages.for_each(|page| self.end(counts, page, now, false));
        }
    }

    /// That erase is over for a block: so many pages of each generation are exposed no more.
    pub(super) fn end_block(&mut self, block: BlockId) -> [u32; 2] {
        core::mem::take(&mut self.blocks[block.index()])
    }

    /// Since when pages are exposed, and for what cause.
    pub(super) fn open(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let pages = self.causes.iter().zip(&self.since).filter(|(cause, _)| **cause > 0);
        pages.map(|(&cause, &since)| (since, usize::from(cause) - 1))
    }
}
