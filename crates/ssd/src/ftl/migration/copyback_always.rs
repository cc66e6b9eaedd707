//! Copies inside the chip wherever source and destination lie in one plane, however often: on cells that make errors
//! those add up until data is lost.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "copyback_always";
/// What it does.
pub const SUMMARY: &str = "every move within a plane stays in the chip; where cells age data is lost by it";
/// Where it comes from.
pub const SOURCE: &str = "the copyback command of ONFI; what it leads to: RealWear section 3.4.5";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `copyback_always` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn counts(&self) -> bool {
        false
    }
}
