//! Data never moves because of reads. Whoever reads one block long enough loses what is in it.

use super::{Facts, Look, PageRead, Urgency, Want};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "never";
/// What it does.
pub const SUMMARY: &str = "data never moves because of reads";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// Parameters of `never`: none.
    pub struct Params {}
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {}

impl Policy {
    /// Builds it.
    pub fn new(_: &Params) -> Self {
        Policy {}
    }

    /// Needs to know nothing.
    pub fn learn(&mut self, _: &Facts<'_>) {}

    /// Counts nothing.
    #[inline]
    pub fn on_read(&mut self, _: &PageRead) -> Urgency {
        Urgency::No
    }

    /// Wants nothing.
    pub fn wants(&mut self, _: &Look<'_>, _: Want) -> Want {
        Want::Nothing
    }

    /// Has nothing to forget.
    pub fn on_erase(&mut self, _: u32) {}

    /// Nothing.
    pub fn memory_bytes(&self) -> usize {
        0
    }
}
