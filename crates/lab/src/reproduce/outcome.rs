//! How papers are run, how far one is, and what came of it.

use super::cell::Cell;
use super::laboratory::Found;
use super::verdict::Finding;

/// What came of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Name of the paper.
    pub paper: String,
    /// What it is about.
    pub title: String,
    /// At reduced scale.
    pub quick: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// All claims with their verdicts.
    pub findings: Vec<Finding>,
    /// What was measured of blocks alone.
    pub laboratories: Vec<Found>,
    /// All cells, in the order of the studies.
    pub cells: Vec<Cell>,
    /// How many of them an earlier run had finished.
    pub resumed: usize,
    /// Workloads whose traces are in none of the folders.
    pub skipped: Vec<String>,
    /// Cells that failed, with the reason.
    pub failed: Vec<String>,
}
