//! Nothing is counted, and nothing is known.

use super::{Hits, Member};
use crate::signals::Hotness;

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "no classification";
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
    fn counts(&self) -> bool {
        false
    }

    fn classify(&self, _: Hits) -> Hotness {
        Hotness::Unknown
    }
}
