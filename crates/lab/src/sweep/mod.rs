//! Sweeps: one file that stands for many runs, and tables of what they measured.

mod error;
pub mod grid;
pub mod interval;
pub mod pivot;
mod sample;
mod tables;

pub use error::SweepError;
