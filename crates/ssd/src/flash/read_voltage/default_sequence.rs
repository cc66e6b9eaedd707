//! Every read begins with the voltages that the chip left the factory with, and goes through the retry table in order.

use super::Member;

/// Name in configurations.
pub const NAME: &str = "default_sequence";
/// What it does.
pub const SUMMARY: &str = "the factory's voltages first, then the retry table in order";
/// Where it comes from.
pub const SOURCE: &str = "common practice; the baseline of RealWear section 3.4";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// Parameters of `default_sequence`: none.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    #[inline]
    fn looks(&self) -> bool {
        false
    }
}
