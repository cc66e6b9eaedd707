//! All blocks in the normal mode.

use super::Member;
use crate::sections::cell::NOMINAL;

/// Name in configurations.
pub const NAME: &str = "nominal";
/// What it does.
pub const SUMMARY: &str = "all blocks in the part's normal mode";
/// Where it comes from.
pub const SOURCE: &str = "baseline (HIRE section 4.1: traditional voltage control)";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `nominal` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn names(&self) -> &'static [&'static str] {
        &[NOMINAL]
    }
}
