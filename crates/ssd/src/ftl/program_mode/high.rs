//! All blocks with boosted voltages: the fewest errors, so the fewest sensing levels and the shortest reads, and the
//! most wear.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "high";
/// What it does.
pub const SUMMARY: &str = "all blocks with boosted voltages: the shortest reads and the most wear";
/// Where it comes from.
pub const SOURCE: &str = "HIRE section 4.1: HVC";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `high` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn names(&self) -> &'static [&'static str] {
        &["high"]
    }
}
