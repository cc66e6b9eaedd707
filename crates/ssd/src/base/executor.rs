//! How time passes for a drive: the two executors, and the pace of writes that take none.

use serde::{Deserialize, Serialize};

/// Whether time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Executor {
    /// Operations are applied at once.
    Functional,
    /// Operations take their time.
    #[default]
    Timed,
}

/// How fast the host of writes below the buffer is, beside cleaning. It decides how many blocks are free in the end,
/// and so what cleaning costs: blocks that wait, free, for the host are no spare of the blocks in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Slower than cleaning, which keeps the marks of `ftl.gc_trigger`.
    #[default]
    Relaxed,
    /// Faster: it takes every block that it may, down to the reserve, and then waits for each that cleaning frees. No
    /// mark is ever reached.
    Saturated,
}
