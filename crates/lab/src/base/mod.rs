//! What every other room uses: numbers and names as people read them, tables, files, errors, threads, and the process
//! itself.

pub mod by;
pub mod columns;
pub mod csv;
pub mod document;
pub mod error;
pub mod files;
pub mod interval;
pub mod labels;
#[allow(unsafe_code, reason = "an allocator cannot be written without")]
pub mod memory;
pub mod number;
pub mod phase;
#[allow(unsafe_code, reason = "std has no clock of processor time")]
pub mod process;
pub mod rows;
pub mod sources;
pub mod stop;
pub mod threads;
