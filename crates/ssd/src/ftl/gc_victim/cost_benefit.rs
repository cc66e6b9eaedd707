//! Weighs the space gained and how long it will stay gained against the work: `age * (1 - u) / 2u`, where `u` is the
//! live share and age counts from when the block was filled, in host units written.

use super::Member;
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "cost_benefit";
/// What it does.
pub const SUMMARY: &str = "the block with the highest age x free share / cost of reading and rewriting";
/// Where it comes from.
pub const SOURCE: &str = "Rosenblum and Ousterhout (1992); for flash Kawaguchi, Nishioka, Motoda (1995)";
/// What it costs.
pub const MEMORY: &str = "8 bytes per block (when it was filled)";

section! {
    /// `cost_benefit` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, _: &mut Rng) -> Option<u32> {
        view.best_by(|block, live| {
            let free = u128::from(view.units_per_block - live);
            // A block without live data is always best; otherwise 32 fraction bits keep the quotient exact enough.
            let benefit = (u128::from(view.age(block) + 1) * free) << 32;
            if live == 0 { u128::MAX } else { benefit / u128::from(2 * live) }
        })
    }
}
