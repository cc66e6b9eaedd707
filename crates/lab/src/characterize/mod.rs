//! The laboratory: what a population of virtual chips is like, beside what the papers say of real ones.
//!
//! [`check`] measures the pinned numbers of the papers that need no drive. It measures as an experimenter does: it
//! cycles blocks until they die and reads them until a page is lost, and does not look constants up.
//! [`curves`] measures what a population of one part is like: tables (CSV and Parquet) and plots. [`reads`] keeps a
//! counter for each wordline and finds out how many reads a block endures.
//! [`fit`] fits the markers of a block's age. [`monte_carlo`] counts wrong bits cell by cell, as a check of the cell
//! model's integrals that shares no formula with them.

pub mod check;
pub mod curves;
pub mod fit;
pub mod fleet;
pub mod locks;
mod max_reads;
pub mod monte_carlo;
mod plan;
pub mod population;
pub mod reads;
pub mod sheet;
mod voltages;
