//! No separation but that of what is written and what is moved.

use super::{Moved, Needs, StreamId, Streams, Written};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "host data shares blocks, moved data shares others";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "none";

const HOST: StreamId = StreamId(0);
const MOVED: StreamId = StreamId(1);

section! {
    /// `none` has no parameters.
    pub struct Params {}
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy;

impl Policy {
    /// Builds it.
    pub fn new(_: &Params) -> Self {
        Policy
    }

    /// One for the host, one for moves.
    pub fn streams(&self) -> Streams {
        Streams { count: 2, of_host: 1 << HOST.0 }
    }

    /// Nothing.
    pub fn needs(&self) -> Needs {
        Needs::default()
    }

    /// All is one.
    #[inline]
    pub fn of_write(&mut self, _: &Written) -> StreamId {
        HOST
    }

    /// All is one.
    #[inline]
    pub fn of_move(&mut self, _: &Moved) -> StreamId {
        MOVED
    }
}
