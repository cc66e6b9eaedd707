//! Time series of a run: what requests met and what the drive counted, in intervals of simulated time.
//!
//! Memory is fixed when the run begins: when all intervals are used, pairs of them become one and they are twice as
//! long from then on. Counts are kept as they stood at the end of each interval, so that nothing is lost by that, and
//! what intervals tell adds up to the run's counts. Nothing is allocated while requests are served.
//!
//! - **Memory.** For each interval `STEPS` x 3 counts of 32 bits and the drive's counts, 64 bits each: 16 KB
//!   with 16 dies; 20 MB at most in all (`BYTES_MOST`).
//! - **Error.** Percentiles are up to 1/32 too long, and how full the buffer was is the mean of `LOOKS` looks; all
//!   else is exact.

mod intervals;
mod table;
mod told;

pub(crate) use intervals::Series;
pub(crate) use table::NAMES_OF_TABLES;
pub use table::{SeriesColumn, SeriesValue, TimeSeries};
