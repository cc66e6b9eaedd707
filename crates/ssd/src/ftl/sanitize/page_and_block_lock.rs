//! SecureSSD: pages are locked by their flags, and a block in which nothing lives by its select line, if that is faster
//! than a lock for each of the pages that died together.

use super::{Acknowledge, Answer, Class, Deaths, Member, Rules};
use crate::nand::Sanitizing;

/// Name in configurations.
pub const NAME: &str = "page_and_block_lock";
/// What it does.
pub const SUMMARY: &str =
    "each invalid page is locked, or its whole block if nothing in it is valid and that is faster";
/// Where it comes from.
pub const SOURCE: &str = "RealWear section 5.3 (SecureSSD: pLock and bLock)";
/// What it costs.
pub const MEMORY: &str = "1 byte per page (25 with max_exposed_ms), 1 bit per mapping unit, 16 bytes per block (24 if \
                          locks are set again); on chips 1 bit per page, 4 bytes per block (twice as much then)";

locking_params!("Parameters of `page_and_block_lock`.");

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

    fn locks_blocks(&self) -> bool {
        true
    }

    fn answer(&self, deaths: &Deaths) -> Answer {
        let is_faster = u64::from(deaths.pages) * deaths.page_ns > deaths.block_ns;
        if deaths.is_dead && (is_faster || deaths.is_bad) { Answer::Block } else { Answer::Pages }
    }
}
