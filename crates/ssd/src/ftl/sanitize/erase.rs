//! The whole block is erased, and what lives there moves elsewhere first (the paper's erSSD).

use super::{Acknowledge, Answer, Class, Deaths, Member, Rules};

/// Name in configurations.
pub const NAME: &str = "erase";
/// What it does.
pub const SUMMARY: &str = "the whole block of an invalid page is erased, after its valid data has moved";
/// Where it comes from.
pub const SOURCE: &str = "RealWear section 5.4 (erSSD)";
/// What it costs.
pub const MEMORY: &str = "1 byte per page, 1 bit per mapping unit, 16 bytes per block";

acting_params!("Parameters of `erase`.");

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
