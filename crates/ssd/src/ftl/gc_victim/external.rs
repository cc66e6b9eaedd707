//! The place of a policy that is given to the drive: a library, a script, a program's own. What is wrong with its
//! answers is found here; from then on the block with the least live data goes first.

use super::Member;
use crate::ftl::outside::{Identity, LaneGuard, LanePolicy, PolicyFault};
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

/// Name in configurations.
pub const NAME: &str = "external";
/// What it does.
pub const SUMMARY: &str = "a policy of your own, from a library or a program (docs/own-policy.md)";
/// Where it comes from.
pub const SOURCE: &str = "whoever gives it: --policy gc_victim=FILE";
/// What it costs.
pub const MEMORY: &str = "what it takes itself";

section! {
    /// `external` has no parameters.
    pub struct Params {}
}

/// Stands for it until it is given.
#[derive(Clone, Debug)]
pub struct Policy;

impl Policy {
    /// Builds it.
    pub fn new(_: &Params) -> Self {
        Policy
    }
}

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, _: &mut Rng) -> Option<u32> {
        view.least_live()
    }

    fn is_missing(&self) -> bool {
        true
    }
}

/// The policy that is given.
pub(crate) fn given(policy: Box<dyn LanePolicy>) -> super::Policy {
    super::Policy::External(Box::new(Given(LaneGuard::new("ftl.gc_victim", policy))))
}

#[derive(Clone, Debug)]
struct Given(LaneGuard);

impl Member for Given {
    fn choose(&mut self, view: &LaneView<'_>, rng: &mut Rng) -> Option<u32> {
        let random = (rng.next_u64() >> 32) as u32;
        let may = |view: &LaneView<'_>, block| view.eligible(block).is_some();
        self.0.choose((view, 0, random), may, |view| view.least_live())
    }

    fn identity(&self) -> Option<(Identity, u64)> {
        Some(self.0.identity())
    }

    fn fault(&self) -> Option<&PolicyFault> {
        self.0.record.fault.as_deref()
    }
}
