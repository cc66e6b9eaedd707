//! Moving live data out of blocks: for cleaning, for wear levelling, because of reads, out of blocks that fail.

pub(in crate::ftl) mod candidates;
pub(in crate::ftl) mod clean;
pub(in crate::ftl) mod copies;
pub(in crate::ftl) mod deal;
mod dealing;
mod destage;
mod erase;
pub(in crate::ftl) mod gathered;
mod issue;
pub(in crate::ftl) mod job;
pub(in crate::ftl) mod lane;
pub(in crate::ftl) mod migration;
mod pace;
mod place;
pub(in crate::ftl) mod reclaim;
pub(in crate::ftl) mod replicate;
mod sorted;
mod victims;
pub(in crate::ftl) mod walk;
