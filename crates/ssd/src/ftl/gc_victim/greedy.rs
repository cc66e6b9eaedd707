//! Takes the block with the least valid data: the least work now. Blocks filled later are preferred by nothing, so
//! hot and cold blocks are treated alike.

use super::Member;
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "greedy";
/// What it does.
pub const SUMMARY: &str = "the block with the least valid data";
/// Where it comes from.
pub const SOURCE: &str = "Wu and Zwaenepoel, eNVy (1994); analysed by Desnoyers (2012)";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `greedy` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, _: &mut Rng) -> Option<u32> {
        view.least_live()
    }
}
