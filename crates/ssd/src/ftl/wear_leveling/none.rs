//! Leaves wear as cleaning spreads it.

use crate::ftl::tables::blocks::LaneView;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "no wear levelling beyond what cleaning does";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `none` has no parameters.
    pub struct Params {}
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy;

impl Policy {
    /// Builds it.
    pub fn new(_: &Params) -> Self {
        Policy
    }

    /// Never moves anything.
    pub fn choose(&mut self, _: &LaneView<'_>, _: u64) -> Option<u32> {
        None
    }
}
