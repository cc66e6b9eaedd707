//! No separation but that of what is written and what is moved.

use super::{Member, Moved, StreamId, Streams, Written};

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

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams { count: 2, of_host: 1 << HOST.0, of_moves: 1 << MOVED.0 }
    }

    fn of_write(&mut self, _: Written) -> StreamId {
        HOST
    }

    fn of_move(&mut self, _: Moved) -> StreamId {
        MOVED
    }
}
