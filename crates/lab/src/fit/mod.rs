//! A drive one can buy, from what is known of it: `wordline fit`.
//!
//! A [`Sheet`] has a drive's public figures, or what fio measured of it. [`fit()`] finds a configuration that meets
//! them, one number after the other, each from the figure that fixes it, by runs of a small drive that behaves alike
//! (as many dies, planes and blocks, shorter blocks, the same spare and time to erase a byte). What comes out says of
//! each number whether data fixes it, or it is assumed, and which figures no configuration meets together; and what the
//! drive is predicted to do beside what was given.

mod check;
mod fio;
mod fitter;
mod model;
mod predictions;
mod quantity;
mod reading;
mod sheet;
mod steps;
#[cfg(test)]
mod tests;
mod told;
mod trial;

pub use fitter::{Because, Found};
pub use model::{Model, Suspension};
pub use predictions::Row;
pub use quantity::Dimension;
pub use sheet::{Beside, Figure, Measure, Sheet, Smart};
pub use steps::{Fit, fit};
pub(crate) use told::is_fitted;
