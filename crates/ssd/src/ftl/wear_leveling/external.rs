//! The place of a policy that is given to the drive: a library, a script, a program's own. What is wrong with its
//! answers is found here; from then on no blocks trade places.

use super::Member;
use crate::ftl::outside::{Identity, LaneGuard, LanePolicy, PolicyFault};
use crate::ftl::tables::blocks::{BlockState, LaneView};

/// Name in configurations.
pub const NAME: &str = "external";
/// What it does.
pub const SUMMARY: &str = "a policy of your own, from a library or a program (docs/own-policy.md)";
/// Where it comes from.
pub const SOURCE: &str = "whoever gives it: --policy wear_leveling=FILE";
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
    fn is_missing(&self) -> bool {
        true
    }
}

/// The policy that is given.
pub(crate) fn given(policy: Box<dyn LanePolicy>) -> super::Policy {
    super::Policy::External(Box::new(Given(LaneGuard::new("ftl.wear_leveling", policy))))
}

#[derive(Clone, Debug)]
struct Given(LaneGuard);

impl Member for Given {
    fn choose(&mut self, view: &LaneView<'_>, erases: u64) -> Option<u32> {
        let may = |view: &LaneView<'_>, block| view.state(block) == BlockState::Closed;
        // A policy that levels wear may always leave it.
        self.0.choose((view, erases, 0), may, |_| None)
    }

    fn identity(&self) -> Option<(Identity, u64)> {
        Some(self.0.identity())
    }

    fn fault(&self) -> Option<&PolicyFault> {
        self.0.record.fault.as_deref()
    }
}
