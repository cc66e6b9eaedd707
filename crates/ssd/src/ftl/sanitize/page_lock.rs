//! Every page by itself: the flags in its spare area are set (pLock; the paper's secSSD without bLock).

use super::{Acknowledge, Class, Member, Rules};
use crate::nand::Sanitizing;

/// Name in configurations.
pub const NAME: &str = "page_lock";
/// What it does.
pub const SUMMARY: &str = "each invalid page is locked by programming its flag cells";
/// Where it comes from.
pub const SOURCE: &str = "RealWear sections 5.2.3 and 5.4 (pLock)";
/// What it costs.
pub const MEMORY: &str = "1 byte per page (25 with max_exposed_ms), 1 bit per mapping unit, 16 bytes per block (24 if \
                          locks are set again); on chips 1 bit per page, 4 bytes per block (twice as much then)";

locking_params!("Parameters of `page_lock`.");

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn means(&self) -> Option<Sanitizing> {
        Some(Sanitizing::Locks)
    }

    fn rules(&self) -> Rules {
        Rules::of(self.default_class, self.acknowledge, self.batch_ms)
            .renewing(self.relock_months)
            .within(self.max_exposed_ms)
    }
}
