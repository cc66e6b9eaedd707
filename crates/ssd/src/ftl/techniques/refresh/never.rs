//! Data stays where it is for as long as nobody writes it.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "never";
/// What it does.
pub const SUMMARY: &str = "data is never rewritten because of its age";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `never` has no parameters.
    pub struct Params {}
}

/// The policy.
pub type Policy = Params;

impl Member for Policy {}
