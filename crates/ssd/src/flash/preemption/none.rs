//! Work that a die has begun it finishes: programs and erases are atomic.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "reads wait until their die has finished its work";
/// Where it comes from.
pub const SOURCE: &str = "baseline; RealWear section 4.3";
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
