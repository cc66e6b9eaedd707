//! Moving live data out of blocks: for cleaning, for wear levelling, because of reads, out of blocks that fail.

pub(in crate::ftl) mod clean;
pub(in crate::ftl) mod copies;
mod dealing;
mod destage;
mod erase;
mod issue;
mod pace;
mod place;
pub(in crate::ftl) mod reclaim;
pub(in crate::ftl) mod replicate;
mod room;
pub(in crate::ftl) mod victims;
