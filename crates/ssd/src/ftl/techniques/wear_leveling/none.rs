//! Leaves wear as cleaning spreads it.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "no wear levelling beyond what garbage collection does";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `none` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn acts(&self) -> bool {
        false
    }
}
