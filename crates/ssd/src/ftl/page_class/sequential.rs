//! Data goes to pages in the order in which it comes: no page type is better than another.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "sequential";
/// What it does.
pub const SUMMARY: &str = "data goes to pages in the order in which it arrives";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `sequential` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn sorts(&self) -> bool {
        false
    }
}
