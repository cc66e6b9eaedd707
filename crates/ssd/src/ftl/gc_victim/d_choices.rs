//! Looks at `d` blocks drawn at random and takes the one with the least valid data: nearly as good as `greedy` for
//! small `d`, without an order over all blocks.

use super::Member;
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "d_choices";
/// What it does.
pub const SUMMARY: &str = "of d blocks drawn at random, the one with the least valid data";
/// Where it comes from.
pub const SOURCE: &str = "Li, Lee, Lui (2013); Van Houdt (2013)";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// Parameters of `d_choices`.
    pub struct Params {
        /// Blocks drawn for each decision.
        d: u32 = 10, unit "blocks", range 1..=4096;
    }
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    /// Draws that hit a block that cannot be chosen count, as they would in a
    /// firmware; if all of them do, the scan goes on from the last draw.
    fn choose(&mut self, view: &LaneView<'_>, rng: &mut Rng) -> Option<u32> {
        let mut best: Option<(u32, u32)> = None;
        let mut last = 0;
        for _ in 0..self.d {
            last = rng.below(view.len());
            if let Some(live) = view.eligible(last)
                && best.is_none_or(|(least, _)| live < least)
            {
                best = Some((live, last));
            }
        }
        best.map(|(_, block)| block).or_else(|| super::random::next_eligible(view, last))
    }
}
