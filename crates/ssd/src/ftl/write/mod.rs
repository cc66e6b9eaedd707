//! Writing: which data shares a page and a block, and which page is next.

pub mod open;
pub(in crate::ftl) mod placement;
