//! Cost-age-time: like `cost_benefit`, and prefers blocks erased less often, so that cleaning levels wear as it goes:
//! the highest `age * (1 - u) / (u * (1 + erases))`.

use super::Member;
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "cost_age_time";
/// What it does.
pub const SUMMARY: &str = "like cost_benefit, divided by the block's erases";
/// Where it comes from.
pub const SOURCE: &str = "Chiang and Chang (1999); the victim policy of PDS (redFTL section 5.4)";
/// What it costs.
pub const MEMORY: &str = "8 bytes per block (when it was filled); the erase count is kept anyway";

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
            let benefit = (u128::from(view.age(block) + 1) * free) << 32;
            let cost = u128::from(live) * (1 + u128::from(view.erase_count(block)));
            if live == 0 { u128::MAX } else { benefit / cost }
        })
    }
}
