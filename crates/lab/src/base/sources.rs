//! Which program this is.

use std::sync::OnceLock;

/// A hash of all sources that decide what a drive does, in 16 digits: programs with the same hash give the same
/// results.
pub const SOURCES: &str = env!("WORDLINE_SOURCES");

/// What a program has said of itself.
static COMMIT: OnceLock<&str> = OnceLock::new();

/// A program says which commit it was built from, once, before anything is run; empty where that is not known. The
/// laboratory itself does not ask: it would be built anew with each commit, and all that stands on it.
pub fn built_from(commit: &'static str) {
    // Who says it first is believed.
    let _ = COMMIT.set(commit);
}

/// The commit that the program was built from, with `-dirty` and a hash of the differences where there were any; empty
/// where that is not known.
pub fn commit() -> &'static str {
    COMMIT.get().copied().unwrap_or_default()
}
