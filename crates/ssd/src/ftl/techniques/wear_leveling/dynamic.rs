//! Levels wear where data is written anyway: of the free blocks of a lane the least erased is opened. Nothing moves for
//! it, so blocks full of cold data stay young.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "dynamic";
/// What it does.
pub const SUMMARY: &str = "opens the least erased of the free blocks; nothing moves";
/// Where it comes from.
pub const SOURCE: &str = "Chang (2007), dynamic wear levelling; the baseline of HIRE section 4.1";
/// What it costs.
pub const MEMORY: &str = "4 bytes per block (erase count)";

section! {
    /// `dynamic` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn acts(&self) -> bool {
        false
    }

    fn opens_least_erased(&self) -> bool {
        true
    }
}
