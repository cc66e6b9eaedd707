//! The place of a policy that is given to the drive: a library, a script, a program's own. What is wrong with its
//! answers is found here; from then on the block with the least live data goes first.

use super::Member;
use crate::ftl::outside::{self, LaneGuard, LanePolicy, Record};
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "external";
/// What it does.
pub const SUMMARY: &str = outside::SUMMARY;
/// Where it comes from.
pub const SOURCE: &str = "yours: --policy gc_victim=FILE";
/// What it costs.
pub const MEMORY: &str = outside::MEMORY;

section! {
    /// `external` has no parameters.
    pub struct Params {}
}

/// The policy, once it is given.
#[derive(Clone, Debug)]
pub struct Policy(Option<LaneGuard>);

impl Policy {
    /// The place of one.
    pub fn new(_: &Params) -> Self {
        Policy(None)
    }
}

/// The policy that is given, behind what checks it.
pub(crate) fn checked(_: &super::Config, policy: Box<dyn LanePolicy>) -> Box<dyn super::External> {
    Box::new(Policy(Some(LaneGuard::new("ftl.gc_victim", policy))))
}

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, rng: &mut Rng) -> Option<u32> {
        let Some(guard) = &mut self.0 else { return view.least_live() };
        let random = (rng.next_u64() >> 32) as u32;
        let may = |view: &LaneView<'_>, block| view.eligible(block).is_some();
        guard.choose((view, 0, random), may, |view| view.least_live())
    }

    fn record(&self) -> Option<&Record> {
        self.0.as_ref().map(|guard| &guard.record)
    }
}
