//! All data that moves passes the controller, which corrects it.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "off_chip";
/// What it does.
pub const SUMMARY: &str = "moved data is read into the controller, corrected, and programmed from there";
/// Where it comes from.
pub const SOURCE: &str = "baseline: the basic FTL of RealWear section 3.4.5";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `off_chip` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn copies(&self) -> bool {
        false
    }

    fn counts(&self) -> bool {
        false
    }
}
