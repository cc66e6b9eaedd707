//! Copies inside the chip wherever source and destination lie in one plane, however often: on cells that make errors
//! those add up until data is lost.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "copyback_always";
/// What it does.
pub const SUMMARY: &str = "moves within a plane are copied inside the chip; if cells age, this loses data";
/// Where it comes from.
pub const SOURCE: &str = "the copyback command of ONFI; its effects: RealWear section 3.4.5";
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
