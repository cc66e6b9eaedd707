//! The description of a workload, of whatever kind: read from a `[workload]` table, looked through, and opened.

mod compose;
pub mod kinds;
pub mod member_keys;
pub mod prepared;
pub mod read;
pub mod recorded;
pub mod split;
pub mod standin;
