//! What a drive went through before a measurement: filled, overwritten, aged, and kept so for the next run.

pub mod age;
pub mod cache;
pub mod precondition;
