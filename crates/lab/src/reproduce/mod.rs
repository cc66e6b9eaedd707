//! Papers, reproduced: what a paper claims, what is run for it, and what becomes of each claim.
//!
//! A paper is a folder under `papers/`: `experiment.toml` (techniques, workloads and ages, and the studies that put
//! them together), configurations of drives and runs, `claims.toml`, a README, the measured `results.toml`, and
//! `expected_quick.toml`, to which quick runs are held. `docs/reproduce.md` explains each key.
//!
//! Drives are aged once for all workloads and kept; each finished cell is kept in a file of its own, with everything
//! that it depends on written in it. Results do not depend on how many threads there are.

mod beside;
mod bounds;
mod cell;
mod check;
mod claims;
mod experiment;
mod figures;
mod laboratory;
mod lines;
mod loops;
mod maxima;
mod metrics;
mod options;
mod outcome;
mod output;
mod paper;
mod phases;
mod ready;
mod run;
mod seeds;
pub mod sensitivity;
mod sentences;
mod shipped;
mod skew;
mod stored;
mod studies;
mod study;
mod threads;
mod verdict;

pub use crate::base::document::PaperError;
pub use cell::{Cell, Place};
pub use check::Drift;
pub use claims::{As, Basis, Claim, Constant, Line, Measure, Rule, Take};
pub use experiment::{Experiment, Figure, FigureKind, Technique, Tolerances};
pub use laboratory::{Found, Laboratory, What};
pub use metrics::{METRICS, Metric};
pub use options::{Options, Progress};
pub use outcome::Outcome;
pub use output::BEGINS;
pub use paper::{Paper, papers};
pub use sentences::{ReadFrom, Sentence, Sentences};
pub use skew::Skew;
pub use stored::JudgedAnew;
pub use studies::{Open, Piece, PieceOrder, Step, Studies};
pub use study::{Seeds, Study};
pub use verdict::{FACTOR, Finding, Measured, Verdict, judge};
