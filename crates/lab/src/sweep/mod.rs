//! Sweeps: one file that stands for many runs, and tables of what they measured.

mod baseline;
mod error;
mod folder;
pub mod grid;
mod labels;
mod outcome;
pub mod pivot;
mod plan;
mod recipe;
mod sample;
mod tables;
mod told;

pub use crate::base::interval;
pub use error::SweepError;
pub use folder::{Folder, Standing};
pub use outcome::{Done, Order, Outcome, Worker};
pub use plan::{Run, SweepPlan};
pub use recipe::Outside;
pub use told::SweepTold;
