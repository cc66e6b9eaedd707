//! Takes a block at random: no bookkeeping at all, and the baseline the others are measured against.

use super::Member;
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "random";
/// What it does.
pub const SUMMARY: &str = "a block at random";
/// Where it comes from.
pub const SOURCE: &str = "Van Houdt (2013), d-choices with d = 1";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `random` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

/// How often a draw is repeated before the scan goes on from it: most blocks can be chosen, so this rarely ends.
const DRAWS: u32 = 64;

/// The first block at or after `from` (around the end) that can be chosen.
pub(super) fn next_eligible(view: &LaneView<'_>, from: u32) -> Option<u32> {
    (from..view.len()).chain(0..from).find(|&block| view.eligible(block).is_some())
}

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, rng: &mut Rng) -> Option<u32> {
        for _ in 0..DRAWS {
            let block = rng.below(view.len());
            if view.eligible(block).is_some() {
                return Some(block);
            }
        }
        next_eligible(view, rng.below(view.len()))
    }
}
