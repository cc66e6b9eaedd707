//! Every page by itself: the flags in its spare area are set (pLock; the paper's secSSD without bLock).

use super::{Acknowledge, Class, Member, Rules};
use crate::nand::Sanitizing;

/// Name in configurations.
pub const NAME: &str = "page_lock";
/// What it does.
pub const SUMMARY: &str = "each page that dies is locked by its flags";
/// Where it comes from.
pub const SOURCE: &str = "RealWear sections 5.2.3 and 5.4 (pLock)";
/// What it costs.
pub const MEMORY: &str =
    "1 byte per page, 1 bit per mapping unit, 24 bytes per block; on chips 1 bit per page, 4 bytes per block";

section! {
    /// Parameters of `page_lock`.
    pub struct Params {
        /// What data is of which the host says nothing (`Hints::class`).
        default_class: Class = Class::Secure;
        /// When trims, flushes and writes to the medium (FUA) are complete.
        acknowledge: Acknowledge = Acknowledge::AfterLock;
        /// Copies that moves have killed wait for the end of their job so long at most (assumed): a block that is
        /// erased then needs no lock.
        batch_ms: f64 = 50.0, unit "ms", range 0..=1_000_000;
    }
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn means(&self) -> Option<Sanitizing> {
        Some(Sanitizing::Locks)
    }

    fn rules(&self) -> Rules {
        Rules::of(self.default_class, self.acknowledge, self.batch_ms)
    }
}
