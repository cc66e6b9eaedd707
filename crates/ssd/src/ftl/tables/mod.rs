//! The tables: which page holds what, and what is known of each block.

pub mod blocks;
pub(in crate::ftl) mod facts;
pub mod layout;
pub mod map;
pub(in crate::ftl) mod replicas;
