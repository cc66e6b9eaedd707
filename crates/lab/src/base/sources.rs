//! Which program this is.

/// A hash of all sources that decide what a drive does, in 16 digits: programs with the same hash give the same
/// results.
pub const SOURCES: &str = env!("WORDLINE_SOURCES");
