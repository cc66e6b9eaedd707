//! How papers are run, and how far one is.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How papers are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// At reduced scale.
    pub quick: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; 0 for as many as there are cores.
    pub jobs: usize,
    /// Finished cells and aged drives of an earlier run are taken over.
    pub resume: bool,
    /// Folder for results; each paper and scale has one of its own in it.
    pub out: PathBuf,
    /// Folders in which traces are looked for.
    pub traces: Vec<PathBuf>,
}

/// How far a paper is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `ageing drives` or `running`.
    pub what: &'static str,
    /// So many pieces of work are done.
    pub done: usize,
    /// Of so many.
    pub total: usize,
}
