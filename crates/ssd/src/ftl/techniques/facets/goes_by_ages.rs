//! What goes by the ages of blocks.

use super::{Needs, Technique};

/// Goes by the ages of blocks, at least with some of its policies.
#[allow(unused_variables, dead_code)] // no technique of the list may be so
pub(in crate::ftl) trait GoesByAges: Technique {
    /// What it must be told of the ages of blocks, if it goes by them.
    fn needs_ages(config: &Self::Config) -> Option<Needs>;
}
