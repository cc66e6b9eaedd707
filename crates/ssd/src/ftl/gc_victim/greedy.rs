//! Takes the block with the least live data: the least work now. Blocks filled later are preferred by nothing, so
//! hot and cold blocks are treated alike.

use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "greedy";
/// What it does.
pub const SUMMARY: &str = "the block with the least live data";
/// Where it comes from.
pub const SOURCE: &str = "Wu and Zwaenepoel, eNVy (1994); analysed by Desnoyers (2012)";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `greedy` has no parameters.
    pub struct Params {}
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy;

impl Policy {
    /// Builds it.
    pub fn new(_: &Params) -> Self {
        Policy
    }

    /// The lane's block to clean next.
    pub fn choose(&mut self, view: &LaneView<'_>, _: &mut Rng) -> Option<u32> {
        view.least_live()
    }
}
