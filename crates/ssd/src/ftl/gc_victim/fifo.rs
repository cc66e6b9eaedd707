//! Takes the block that was filled first, live data or not. Under uniform random writes its write amplification has
//! a closed form, `1 / (1 - p)` with `p = exp(-(1 - p) / a)` at utilisation `a`: the check every drive must pass.

use super::Member;
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "fifo";
/// What it does.
pub const SUMMARY: &str = "the block that was filled first";
/// Where it comes from.
pub const SOURCE: &str = "Menon (1995), Robinson (1996); closed form in Desnoyers (2012)";
/// What it costs.
pub const MEMORY: &str = "8 bytes per block (when it was filled)";

section! {
    /// `fifo` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, _: &mut Rng) -> Option<u32> {
        view.best_by(|block, _| view.age(block))
    }
}
