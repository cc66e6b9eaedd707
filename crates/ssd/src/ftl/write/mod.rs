//! Writing: which data shares a page and a block, and which page is next.

pub(in crate::ftl) mod destage;
pub(in crate::ftl) mod direct;
pub mod gather;
pub mod open;
pub(in crate::ftl) mod owing;
mod pace;
pub(in crate::ftl) mod placement;
mod refusals;
pub(in crate::ftl) mod ring;
mod room;
pub mod waits;
