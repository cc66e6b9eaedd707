//! All blocks with reduced voltages: the least wear, and the most errors, so the most sensing levels and the longest
//! reads.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "low";
/// What it does.
pub const SUMMARY: &str = "all blocks with reduced voltages: the least wear and the longest reads";
/// Where it comes from.
pub const SOURCE: &str = "HIRE section 4.1: LVC";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `low` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn names(&self) -> &'static [&'static str] {
        &["low"]
    }
}
