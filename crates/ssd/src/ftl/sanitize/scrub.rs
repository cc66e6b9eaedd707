//! The wordline is programmed over, until nothing can be told from it; what lives on its other pages moves elsewhere
//! first (the paper's scrSSD).

use super::{Acknowledge, Class, Member, Rules};
use crate::nand::Sanitizing;

/// Name in configurations.
pub const NAME: &str = "scrub";
/// What it does.
pub const SUMMARY: &str = "the wordline of an invalid page is overwritten, after its valid data has moved";
/// Where it comes from.
pub const SOURCE: &str = "RealWear sections 5.1.2 and 5.4 (scrSSD)";
/// What it costs.
pub const MEMORY: &str =
    "1 byte per page, 1 bit per mapping unit, 16 bytes per block; on chips 1 bit per page";

acting_params!("Parameters of `scrub`.");

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
