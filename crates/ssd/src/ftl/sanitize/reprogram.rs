//! The cells of a page's wordline are programmed once more with a low voltage, until the page cannot be told (one-shot
//! reprogramming). Nothing moves, and other pages of the wordline may be lost: that is what the paper shows of it.

use super::{Acknowledge, Class, Member, Rules};
use crate::nand::Sanitizing;

/// Name in configurations.
pub const NAME: &str = "reprogram";
/// What it does.
pub const SUMMARY: &str = "each invalid page is overwritten, which may destroy other pages of its wordline";
/// Where it comes from.
pub const SOURCE: &str = "RealWear section 5.1.2 (one-shot reprogramming)";
/// What it costs.
pub const MEMORY: &str =
    "1 byte per page, 1 bit per mapping unit, 16 bytes per block; on chips 1 bit per page, 4 bytes per block";

acting_params!("Parameters of `reprogram`.");

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn means(&self) -> Option<Sanitizing> {
        Some(Sanitizing::Reprograms)
    }

    fn rules(&self) -> Rules {
        Rules::of(self.default_class, self.acknowledge, self.batch_ms)
    }
}
