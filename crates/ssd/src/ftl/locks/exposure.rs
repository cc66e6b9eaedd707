//! For how long pages are exposed. Each has a clock of its own, from the first copy of secured data that dies there to
//! the end of the lock, scrub or erase that hides it; what is still being programmed can be read when that has ended.
//! The clocks are the simulator's, not the firmware's: they are no part of its memory.

use super::{EXPOSED, FAILED, Locks};
use crate::ftl::counts::{EXPOSURE_CAUSES as CAUSES, Exposures, FtlCounts};
use crate::ftl::tables::layout::Layout;
use crate::nand::Outcome;
use crate::restore::{Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::{BlockId, Ppn, SimTime};
use serde::{Deserialize, Serialize};

/// A page that was exposed for longer was exposed for long (assumed: 100 ms); ns.
pub const LONG_NS: u64 = 100_000_000;
/// Of a page: what died there is still being programmed.
pub(super) const UNBORN: u64 = u64::MAX;

/// Pages that are exposed now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenExposures {
    /// For how long they have been.
    pub times: Exposures,
    /// Those of them that have been for more than [`LONG_NS`], by cause (index into
    /// [`EXPOSURE_CAUSES`](crate::ftl::EXPOSURE_CAUSES)).
    pub long: [u64; CAUSES.len()],
}

/// Pages that are exposed until an erase ends, though their block is in use again (`ftl.cleaning.lazy_erase`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ending {
    /// By page: why it is exposed for long, if it is, and one; 0: it is not exposed.
    #[serde(with = "raw")]
    causes: Vec<u8>,
    /// By page: since when.
    #[serde(with = "raw")]
    since: Vec<u64>,
}

impl Ending {
    /// None of so many pages.
    pub fn new(pages: usize) -> Self {
        Ending { causes: vec![0; pages], since: vec![0; pages] }
    }

    /// Checks that they can be those of a drive whose fresh ones are these.
    pub fn restored(&self, fresh: &Ending, now: SimTime) -> Verdict {
        alike("pages that an erase hides", &self.causes, &fresh.causes)?;
        alike("pages that an erase hides", &self.since, &fresh.since)?;
        ensure(self.causes.iter().all(|&cause| usize::from(cause) <= CAUSES.len()), "why a page is exposed")?;
        ensure(
            self.since.iter().all(|&since| since <= now.0 || since == UNBORN),
            "since when a page is exposed",
        )
    }
}

/// For how long a page is exposed since then.
fn exposed_ns(since: u64, now: SimTime) -> u64 {
    if since == UNBORN { 0 } else { now.since(SimTime(since)) }
}

/// A page is exposed no more that was for so long.
fn count(counts: &mut FtlCounts, ns: u64, cause: usize, is_erased: bool) {
    let ended = if is_erased { &mut counts.exposed_erased } else { &mut counts.exposed_locked };
    ended.add(ns);
    counts.exposed_ns = counts.exposed_ns.saturating_add(ns);
    counts.exposed_ns_max = counts.exposed_ns_max.max(ns);
    counts.exposed_long[cause] += u64::from(ns > LONG_NS);
}

impl Locks {
    /// Bytes of the clocks.
    pub fn clock_bytes(&self) -> usize {
        8 * self.since.len() + 9 * self.ending.causes.len()
    }

    /// Why a page of a block is exposed for long, if it is.
    fn cause_of(&self, block: BlockId, state: u8) -> usize {
        match () {
            () if state & FAILED != 0 => 2,
            () if self.manner.erases => 3,
            () if self.blocks[block.index()].lacks_room => 0,
            () => 1,
        }
    }

    /// A page of a block that was in this state is exposed no more: it is erased, or else locked.
    pub fn end_exposure(
        &mut self,
        counts: &mut FtlCounts,
        (block, page): (BlockId, Ppn),
        (state, is_erased): (u8, bool),
    ) {
        let ns = exposed_ns(self.since[page.index()], self.now);
        count(counts, ns, self.cause_of(block, state), is_erased);
    }

    /// A page of a block that was in this state is exposed until the erase ends that is about to begin.
    pub fn end_exposure_late(&mut self, block: BlockId, page: Ppn, state: u8) {
        let cause = self.cause_of(block, state) as u8 + 1;
        (self.ending.causes[page.index()], self.ending.since[page.index()]) =
            (cause, self.since[page.index()]);
    }

    /// That erase is over for a page, or a lock that was on its way before it.
    pub fn end_late_exposure(&mut self, counts: &mut FtlCounts, page: Ppn, is_erased: bool) {
        let cause = core::mem::take(&mut self.ending.causes[page.index()]);
        let ns = exposed_ns(self.ending.since[page.index()], self.now);
        if cause > 0 {
            count(counts, ns, usize::from(cause) - 1, is_erased);
        }
    }

    /// A lock of these pages is over. If it has held, those of them that were left to an erase meanwhile are hidden
    /// before that.
    pub fn end_late_locks(
        &mut self,
        counts: &mut FtlCounts,
        pages: impl Iterator<Item = Ppn>,
        outcome: Outcome,
    ) {
        if outcome == Outcome::Pass && !self.ending.causes.is_empty() {
            pages.for_each(|page| self.end_late_exposure(counts, page, false));
        }
    }

    /// Pages that can be read at this time, and should not. Takes a look at every page.
    pub fn open_exposures(&self, layout: &Layout, now: SimTime) -> OpenExposures {
        let mut open = OpenExposures::default();
        let mut add = |since, cause: usize| {
            let ns = exposed_ns(since, now);
            open.times.add(ns);
            open.long[cause] += u64::from(ns > LONG_NS);
        };
        for (number, (&state, &since)) in (0..).zip(self.pages.iter().zip(&self.since)) {
            if state & EXPOSED != 0 && since != UNBORN {
                add(since, self.cause_of(layout.block_of_page(Ppn(number)).0, state));
            }
        }
        let ending = self.ending.causes.iter().zip(&self.ending.since);
        ending
            .filter(|(cause, _)| **cause > 0)
            .for_each(|(&cause, &since)| add(since, usize::from(cause) - 1));
        open
    }
}
