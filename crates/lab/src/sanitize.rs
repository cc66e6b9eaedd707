//! What was done about copies that nobody may read any more (`ftl.sanitize`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::op::OpKind;
use ssd::ftl::locks::exposure::OpenExposures;
use ssd::ftl::{self, EXPOSURE_CAUSES, FtlCounts};
use ssd::{Drive, DriveConfig, SanitizeReport, Stats};

/// What was locked; all zero where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SanitizeWork {
    /// The policy.
    pub policy: String,
    /// Pages locked.
    pub page_locks: u64,
    /// Physical blocks locked.
    pub block_locks: u64,
    /// Wordlines scrubbed.
    pub scrubs: u64,
    /// Pages reprogrammed.
    pub reprograms: u64,
    /// Pages with live data that cannot be read any more, because others of their wordline were reprogrammed.
    pub lost_pages: u64,
    /// Mapping units moved because their page was to be locked.
    pub copies: u64,
    /// Of the locks, those of what was locked already, because that was old (`ftl.sanitize.relock_months`).
    pub relocks: u64,
    /// Of all of these, operations that failed.
    pub failed: u64,
    /// Pages that stay exposed: no lock of them holds, and no erase hides them, for their block is out of use.
    pub given_up: u64,
    /// Bytes of the firmware's tables of what is to be locked.
    pub table_bytes: u64,
    /// Pages with a dead copy of secured data, until they were locked or erased.
    pub exposed: Exposed,
}

/// Pages with a dead copy of secured data, until they were locked or erased. Each has a clock of its own, from the
/// first such copy on; what is still being programmed when it dies can be read when that has ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exposed {
    /// How many there were.
    pub pages: u64,
    /// Most of them at any time.
    pub pages_max: u64,
    /// Mean time from death to lock or erase, or to the end of the run; ns. Null if there were none.
    pub ns_mean: Option<f64>,
    /// The longest; ns.
    pub ns_max: u64,
    /// Of these, pages that were locked.
    pub by_lock: Exposures,
    /// Pages whose block was erased.
    pub by_erase: Exposures,
    /// Pages that could still be read at the end of the run.
    pub open: Exposures,
    /// Pages that could be read for more than 100 ms.
    pub over_100ms: Long,
}

/// For how long some of them could be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exposures {
    /// How many.
    pub pages: u64,
    /// In the mean; ns. Null if there are none.
    pub ns_mean: Option<f64>,
    /// The longest; ns.
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

/// Pages that could be read for more than 100 ms, those at the end of the run included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Long {
    /// How many.
    pub pages: u64,
    /// The longest; ns. 0 if there are none.
    pub longest_ns: u64,
    /// Of these: what lives in the same page found no room elsewhere.
    pub no_room: u64,
    /// There was room, and its lock, or the move before it, came too late.
    pub no_time: u64,
    /// A lock has failed.
    pub failed_lock: u64,
    /// Only erases hide anything (`ftl.sanitize.policy = "erase"`).
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
            table_bytes: drive.reports().table_bytes().locks as u64,
            exposed: Exposed::of(counts, &open),
        }
    }
}
