//! For how long pages are exposed. Each has a clock of its own, from the first copy of secured data that dies there to
//! the end of the lock, scrub or erase that hides it; what is still being programmed can be read when that has ended.
//! The clocks are the simulator's, not the firmware's: they are no part of its memory.

use crate::ftl::counts::{EXPOSURE_CAUSES as CAUSES, Exposures, FtlCounts};
use crate::restore::{Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::{Ppn, SimTime};
use serde::{Deserialize, Serialize};

/// A page that was exposed for longer was exposed for long (assumed: 100 ms); ns.
pub const LONG_NS: u64 = 100_000_000;
/// Of a page: what died there is still being programmed.
pub(super) const IN_PROGRAM: u64 = u64::MAX;

/// Pages that are exposed now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenExposures {
    /// For how long they have been.
    pub times: Exposures,
    /// Those of them that have been for more than [`LONG_NS`], by cause (index into
    /// [`EXPOSURE_CAUSES`](crate::ftl::EXPOSURE_CAUSES)).
    pub long: [u64; CAUSES.len()],
}

/// For how long a page is exposed since then.
pub(super) fn exposed_ns(since: u64, now: SimTime) -> u64 {
    if since == IN_PROGRAM { 0 } else { now.since(SimTime(since)) }
}

/// A page is exposed no more that was for so long.
pub(super) fn count(counts: &mut FtlCounts, ns: u64, cause: usize, is_erased: bool) {
    let ended = if is_erased { &mut counts.exposed_erased } else { &mut counts.exposed_locked };
    ended.add(ns);
    counts.exposed_ns = counts.exposed_ns.saturating_add(ns);
    counts.exposed_ns_max = counts.exposed_ns_max.max(ns);
    counts.exposed_long[cause] += u64::from(ns > LONG_NS);
}

impl OpenExposures {
    /// A page is exposed since then.
    pub(super) fn add(&mut self, since: u64, cause: usize, now: SimTime) {
        let ns = exposed_ns(since, now);
        self.times.add(ns);
        self.long[cause] += u64::from(ns > LONG_NS);
    }
}

/// The clocks of pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Clocks {
    /// By page: since when it is exposed, if it is.
    #[serde(with = "raw")]
    since: Vec<u64>,
    /// The time.
    pub(super) now: SimTime,
}

impl Clocks {
    /// Those of so many pages that are not exposed.
    pub(super) fn new(pages: usize) -> Self {
        Clocks { since: vec![0; pages], now: SimTime::ZERO }
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> usize {
        8 * self.since.len()
    }

    /// Checks that they can be those of a drive whose fresh ones are these.
    pub(super) fn restored(&self, fresh: &Clocks, now: SimTime) -> Verdict {
        alike("since when pages are exposed", &self.since, &fresh.since)?;
        let is_past = |&since: &u64| since <= now.0 || since == IN_PROGRAM;
        ensure(self.since.iter().all(is_past), "since when a page is exposed")?;
        ensure(self.now <= now, "the time of locks")
    }

    /// What happens from now on happens at this time.
    #[inline(always)]
    pub fn set_now(&mut self, now: SimTime) {
        self.now = now;
    }

    /// Since when a page is exposed, if it is.
    pub(super) fn since(&self, page: Ppn) -> u64 {
        self.since[page.index()]
    }

    /// A page is exposed since then.
    pub(super) fn begin(&mut self, page: Ppn, since: u64) {
        self.since[page.index()] = since;
    }

    /// Something else has died in it: what was being programmed when it died is there now.
    pub(super) fn begin_again(&mut self, page: Ppn, since: u64) {
        self.since[page.index()] = self.since[page.index()].min(since);
    }

    /// A page is exposed no more, whose cause is this if it was for long: it is erased, or else locked.
    pub(super) fn end(&self, counts: &mut FtlCounts, page: Ppn, cause: usize, is_erased: bool) {
        count(counts, exposed_ns(self.since[page.index()], self.now), cause, is_erased);
    }
}
