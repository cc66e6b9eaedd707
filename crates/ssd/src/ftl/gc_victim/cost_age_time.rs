//! Cost-age-time: like `cost_benefit`, and prefers blocks erased less often, so that cleaning levels wear as it goes:
//! the highest `age * (1 - u) / (u * (1 + erases))`. Age is "the time elapsed (since the last modification)" (redFTL
//! section 5.1.3): since a block was filled, or one of its units died.

use super::Member;
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "cost_age_time";
/// What it does.
pub const SUMMARY: &str = "like cost_benefit, with age since a block was last changed, divided by its erases";
/// Where it comes from.
pub const SOURCE: &str = "Chiang and Chang (1999); the victim policy of PDS (redFTL sections 5.1.3 and 5.4)";
/// What it costs.
pub const MEMORY: &str = "8 bytes per block (when it was changed); the erase count is kept anyway";

section! {
    /// `cost_age_time` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, _: &mut Rng) -> Option<u32> {
        view.best_by(|block, live| {
            let free = u128::from(view.units_per_block - live);
            let benefit = (u128::from(view.unchanged(block) + 1) * free) << 32;
            let cost = u128::from(live) * (1 + u128::from(view.erase_count(block)));
            if live == 0 { u128::MAX } else { benefit / cost }
        })
    }
}
