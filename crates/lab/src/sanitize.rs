//! What was done about copies that nobody may read any more (`ftl.sanitize`).

use serde::{Deserialize, Serialize};
use ssd::flash::op::OpKind;
use ssd::{Drive, DriveConfig, Stats};

/// What was locked; all zero where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Bytes of the firmware's tables of what is to be locked.
    pub table_bytes: u64,
    /// Pages with a dead copy of secured data, until they were locked or erased.
    pub exposed: Exposed,
}

/// Pages with a dead copy of secured data, until they were locked or erased.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exposed {
    /// How many there were.
    pub pages: u64,
    /// Most of them at any time.
    pub pages_max: u64,
    /// Mean time from death to lock or erase; ns. Null if there were none.
    pub ns_mean: Option<f64>,
    /// Longest time from death to lock; ns.
    pub ns_max: u64,
}

impl SanitizeWork {
    pub(crate) fn of(stats: &Stats, drive: &Drive, config: &DriveConfig) -> Self {
        let counts = &stats.ftl;
        let pages = counts.exposed_pages;
        SanitizeWork {
            policy: config.sanitize.name().to_owned(),
            page_locks: stats.ops(OpKind::PageLock),
            block_locks: stats.ops(OpKind::BlockLock),
            scrubs: stats.ops(OpKind::Scrub),
            reprograms: stats.ops(OpKind::Reprogram),
            lost_pages: drive.lost_pages(),
            copies: counts.sanitize_copies,
            relocks: counts.sanitize_relocks,
            failed: stats.flash.lock_fails,
            table_bytes: drive.table_bytes().locks as u64,
            exposed: Exposed {
                pages,
                pages_max: counts.exposed_pages_max,
                ns_mean: (pages > 0).then(|| counts.exposed_ns as f64 / pages as f64),
                ns_max: counts.exposed_ns_max,
            },
        }
    }
}
