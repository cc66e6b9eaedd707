//! Blocks have no ages: they are used until they fail.

use super::{Member, Seen};

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "blocks have no ages and are used until they fail";
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

    fn is_fitted(&self) -> bool {
        false
    }

    fn age_q12(&self, _: &Seen) -> u32 {
        0
    }
}
