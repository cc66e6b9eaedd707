//! The place of a policy that is given to the drive: a library, a script, a program's own. What is wrong with its
//! answers is found here; from then on no blocks trade places.

use super::Member;
use crate::ftl::outside::{self, LaneGuard, LanePolicy, Record};
use crate::ftl::tables::blocks::{BlockState, LaneView};

/// Name in configurations.
pub const NAME: &str = "external";
/// What it does.
pub const SUMMARY: &str = outside::SUMMARY;
/// Where it comes from.
pub const SOURCE: &str = "yours: --policy wear_leveling=FILE";
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
    Box::new(Policy(Some(LaneGuard::new("ftl.wear_leveling", policy))))
}

impl Member for Policy {
    fn choose(&mut self, view: &LaneView<'_>, erases: u64) -> Option<u32> {
        let may = |view: &LaneView<'_>, block| view.state(block) == BlockState::Closed;
        // A policy that levels wear may always leave it.
        self.0.as_mut()?.choose((view, erases, 0), may, |_| None)
    }

    fn record(&self) -> Option<&Record> {
        self.0.as_ref().map(|guard| &guard.record)
    }
}
