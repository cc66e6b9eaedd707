//! A recorded trace as a workload: which of its requests are asked for, where on a drive they lie, what they are like,
//! and how they are written again. Reading them is in [`crate::reader`].

pub mod address;
pub mod analysis;
pub mod convert;
pub mod operations;
pub mod select;
pub mod spec;
pub mod survey;
pub mod surveyed;
