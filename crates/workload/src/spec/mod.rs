//! The description of a workload, of whatever kind: read from a `[workload]` table, looked through, and opened.

pub mod compose;
pub mod kinds;
pub mod prepared;
pub mod recorded;
pub mod standin;

pub use kinds::{Spec, TraceSpec};
