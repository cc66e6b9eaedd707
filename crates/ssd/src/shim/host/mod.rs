//! shim
pub mod buffer;
