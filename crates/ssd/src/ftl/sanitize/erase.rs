//! The whole block is erased, and what lives there moves elsewhere first (the paper's erSSD).

use super::{Acknowledge, Answer, Class, Deaths, Member, Rules};

/// Name in configurations.
pub const NAME: &str = "erase";
/// What it does.
pub const SUMMARY: &str = "each page that dies takes its block with it: the rest moves, and it is erased";
/// Where it comes from.
pub const SOURCE: &str = "RealWear section 5.4 (erSSD)";
/// What it costs.
pub const MEMORY: &str = "1 byte per page, 1 bit per mapping unit, 24 bytes per block";

section! {
    /// Parameters of `erase`.
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
    fn rules(&self) -> Rules {
        Rules::of(self.default_class, self.acknowledge, self.batch_ms)
    }

    fn answer(&self, _: &Deaths) -> Answer {
        Answer::Erase
    }
}
