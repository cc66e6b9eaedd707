//! What was done about copies that nobody may read any more (`ftl.sanitize`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::op::OpKind;
use ssd::ftl::locks::exposure::OpenExposures;
use ssd::ftl::{self, EXPOSURE_CAUSES, FtlCounts};
use ssd::{Drive, DriveConfig, SanitizeReport, Stats};

/// What sanitizing did; all zero without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SanitizeWork {
    /// The policy for copies in flash that nobody may read any more (`ftl.sanitize`).
    pub policy: String,
    /// Pages locked by their flags.
    pub page_locks: u64,
    /// Physical blocks locked by their select lines.
    pub block_locks: u64,
    /// Wordlines scrubbed.
    pub scrubs: u64,
    /// Pages reprogrammed.
    pub reprograms: u64,
    /// Pages with valid data at the end of the run that can no longer be read, because other pages of their wordline
    /// were reprogrammed. This is the truth, including pages not read since; losses already noticed are in
    /// `ftl.lost_units`.
    pub lost_pages: u64,
    /// Mapping units moved because something else in their page, wordline or block was to be locked, scrubbed or
    /// erased. Pages programmed for that are in `flash.programs.sanitize`, their share of writes is
    /// `write_amplification_by_cause.sanitize`.
    pub copies: u64,
    /// Of the page and block locks, those repeated because an earlier one was old (`relock_months`).
    pub relocks: u64,
    /// Of these locks, scrubs and reprograms, those that the chip reported as failed.
    pub failed: u64,
    /// Pages that stay exposed: no lock works on them, and they cannot be erased because their block is retired.
    pub given_up: u64,
    /// Time, in ns, in which writes or trims waited, in the drive, for the locks of what earlier ones have invalidated,
    /// or for room for what these locks move (`max_exposed_ms`).
    pub held_ns: u64,
    /// Bytes of the firmware's tables of what is to be locked.
    pub table_bytes: u64,
    /// Pages with a readable invalid copy of secured data.
    pub exposed: Exposed,
}

/// Pages with an invalid copy of secured data, until they were locked or erased. Each has its own clock, from the first
/// such copy on, or from the end of its program if that is later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exposed {
    /// Pages in which a copy of secured data was invalidated.
    pub pages: u64,
    /// The most of these that were not yet locked or erased at any one time.
    pub pages_max: u64,
    /// Mean exposure, in ns: from the first invalidation of such a copy in a page (or the end of its program, if that
    /// is later) until the page was locked, scrubbed or erased, or the run ended; null if there was none.
    pub ns_mean: Option<f64>,
    /// Longest exposure, in ns.
    pub ns_max: u64,
    /// Of these, exposures ended by a lock or scrub; the mean is null if there are none.
    pub by_lock: Exposures,
    /// Exposures ended by an erase.
    pub by_erase: Exposures,
    /// Exposures still open at the end of the run.
    pub open: Exposures,
    /// Pages readable for more than 100 ms.
    pub over_100ms: Long,
}

/// How long some of them were readable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exposures {
    /// Number of pages.
    pub pages: u64,
    /// Mean exposure, in ns; null if there are none.
    pub ns_mean: Option<f64>,
    /// Longest exposure, in ns.
    pub ns_max: u64,
}

impl From<ftl::Exposures> for Exposures {
    fn from(all: ftl::Exposures) -> Self {
        Exposures {
            pages: all.pages,
            ns_mean: (all.pages > 0).then(|| all.ns as f64 / all.pages as f64),
            ns_max: all.ns_max,
        }
    }
}

/// Pages readable for more than 100 ms, those at the end of the run included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Long {
    /// Pages readable for more than 100 ms (assumed), those at the end of the run included.
    pub pages: u64,
    /// The longest of these exposures, in ns; 0 if there are none.
    pub longest_ns: u64,
    /// Of these pages: valid data in the same page found no space elsewhere.
    pub no_room: u64,
    /// Of these pages: there was space, but the lock, or the move before it, came too late.
    pub no_time: u64,
    /// Of these pages: a lock failed.
    pub failed_lock: u64,
    /// Of these pages: only an erase can hide them (`ftl.sanitize.policy = "erase"`).
    pub erase: u64,
}

impl Exposed {
    fn of(counts: &FtlCounts, open: &OpenExposures) -> Self {
        let all = counts.exposed_locked.and(counts.exposed_erased).and(open.times);
        let long: [u64; EXPOSURE_CAUSES.len()] =
            core::array::from_fn(|at| counts.exposed_long[at] + open.long[at]);
        let [no_room, no_time, failed_lock, erase] = long;
        let pages = long.iter().sum();
        Exposed {
            pages: counts.exposed_pages,
            pages_max: counts.exposed_pages_max,
            ns_mean: Exposures::from(all).ns_mean,
            ns_max: all.ns_max,
            by_lock: counts.exposed_locked.into(),
            by_erase: counts.exposed_erased.into(),
            open: open.times.into(),
            over_100ms: Long {
                pages,
                longest_ns: if pages > 0 { all.ns_max } else { 0 },
                no_room,
                no_time,
                failed_lock,
                erase,
            },
        }
    }
}

impl SanitizeWork {
    pub(crate) fn of(stats: &Stats, drive: &Drive, config: &DriveConfig) -> Self {
        let counts = &stats.ftl;
        let SanitizeReport { open, lost_pages } = drive.reports().sanitize();
        SanitizeWork {
            policy: config.sanitize.name().to_owned(),
            page_locks: stats.ops(OpKind::PageLock),
            block_locks: stats.ops(OpKind::BlockLock),
            scrubs: stats.ops(OpKind::Scrub),
            reprograms: stats.ops(OpKind::Reprogram),
            lost_pages,
            copies: counts.sanitize_copies,
            relocks: counts.sanitize_relocks,
            failed: stats.flash.lock_fails,
            given_up: counts.sanitize_given_up,
            held_ns: counts.sanitize_held_ns,
            table_bytes: drive.reports().table_bytes().locks as u64,
            exposed: Exposed::of(counts, &open),
        }
    }
}
