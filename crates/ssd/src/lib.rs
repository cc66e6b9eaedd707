//! The drive of Wordline.
#[macro_use]
pub mod config;
#[macro_use]
pub mod policy;
#[path = "shim/ftl/mod.rs"]
pub mod ftl;
#[path = "shim/host/mod.rs"]
pub mod host;
