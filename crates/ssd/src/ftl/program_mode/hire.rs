//! Each class of data in the mode that it deserves: what is read with boosted voltages, which are sensed fast; what is
//! written with reduced ones, which wear less; the rest in the normal mode.
//!
//! `ftl.stream = "hotness"` puts each class in blocks of its own, as HIRE has it. Beside another policy each of its
//! streams has three (ours): what the policy keeps apart stays apart, and each part has a mode. A class counts then
//! when a unit is written or moved next.

use super::{Member, Opening};
use crate::sections::cell::NOMINAL;

/// Name in configurations.
pub const NAME: &str = "hire";
/// What it does.
pub const SUMMARY: &str = "boosted voltages for read-hot blocks, reduced ones for write-hot blocks";
/// Where it comes from.
pub const SOURCE: &str = "HIRE section 3.2: the voltage controller";
/// What it costs.
pub const MEMORY: &str = "2 bits per logical unit beside an ftl.stream other than \"hotness\"";

section! {
    /// `hire` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

/// Modes by the class of a stream that tells hotness: mixed, read-hot, write-hot.
const MODES: [&str; 3] = [NOMINAL, "high", "low"];

impl Member for Policy {
    fn names(&self) -> &'static [&'static str] {
        &MODES
    }

    fn needs_hotness(&self) -> bool {
        true
    }

    fn choose(&mut self, opening: &Opening) -> usize {
        usize::from(opening.class).min(MODES.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::stream::hotness::{MIXED, READ_HOT, WRITE_HOT};
    use crate::units::StreamId;

    #[test]
    fn classes_have_the_modes_of_the_paper() {
        let mode = |class| MODES[Params {}.choose(&Opening { stream: StreamId(0), class, cycles: 0 })];
        assert_eq!([MIXED, READ_HOT, WRITE_HOT].map(mode), ["nominal", "high", "low"]);
    }
}
