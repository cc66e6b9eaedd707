//! The wordline is programmed over, until nothing can be told from it; what lives on its other pages moves elsewhere
//! first (the paper's scrSSD).

use super::{Acknowledge, Class, Member, Rules};
use crate::nand::Sanitizing;

/// Name in configurations.
pub const NAME: &str = "scrub";
/// What it does.
pub const SUMMARY: &str = "the wordline of each page that dies is programmed over: the rest of it moves";
/// Where it comes from.
pub const SOURCE: &str = "RealWear sections 5.1.2 and 5.4 (scrSSD)";
/// What it costs.
pub const MEMORY: &str =
    "1 byte per page, 1 bit per mapping unit, 24 bytes per block; on chips 1 bit per page";

section! {
    /// Parameters of `scrub`.
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
        Some(Sanitizing::Scrubs)
    }

    fn rules(&self) -> Rules {
        Rules::of(self.default_class, self.acknowledge, self.batch_ms)
    }
}
