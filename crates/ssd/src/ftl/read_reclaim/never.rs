//! Data never moves because of reads. Whoever reads one block long enough loses what is in it.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "never";
/// What it does.
pub const SUMMARY: &str = "data never moves because of reads";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// Parameters of `never`: none.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn acts(&self) -> bool {
        false
    }

    fn cycles_told_apart(&self) -> u32 {
        u32::MAX
    }
}
