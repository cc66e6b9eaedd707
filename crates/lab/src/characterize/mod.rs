//! The laboratory: what a population of virtual chips is like, beside what the papers say of real ones.
//!
//! [`check`] measures the pinned numbers of the papers that need no drive. It measures as an experimenter does: it
//! cycles blocks until they die and reads them until a page is lost, and does not look constants up.
//! [`monte_carlo`] counts wrong bits cell by cell, as a check of the cell model's integrals that shares no formula
//! with them.

pub mod check;
mod cores;
pub mod curves;
pub mod monte_carlo;
pub mod population;
