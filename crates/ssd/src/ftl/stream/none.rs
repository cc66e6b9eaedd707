//! No separation but that of what is written and what is moved.

use super::{Member, Moved, StreamId, Streams, Written};

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "host data shares blocks; moved data goes to others or the same \
                           (ftl.allocation.moves)";
/// Where it comes from.
pub const SOURCE: &str = "baseline; SepBIT's SepGC (moves apart, the default) and NoSep (moves joined)";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// `none` has no parameters.
    pub struct Params {}
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(1)
    }

    fn learns(&self) -> bool {
        false
    }

    fn of_write(&mut self, _: Written) -> StreamId {
        StreamId(0)
    }

    fn of_move(&mut self, _: Moved) -> StreamId {
        StreamId(0)
    }
}
