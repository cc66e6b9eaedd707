//! The I/O stack between a workload and its drives: page cache, volume, hints, priorities, repeats and copies; and what
//! a kind of workload must say of itself to stand above it.

pub mod cached;
pub mod cached_jobs;
pub mod drives;
pub mod kind;
pub mod map_hints;
pub mod page_cache;
pub mod page_index;
pub mod priorities;
pub mod read_buffer;
pub mod replay;
pub mod stream;
pub mod stripe;
