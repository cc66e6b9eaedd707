//! Experiments on drives: what runs them, measures them and reports on them.

#[allow(unsafe_code, reason = "an allocator cannot be written without")]
pub mod memory;
#[allow(unsafe_code, reason = "std has no clock of processor time")]
pub mod process;
