//! Plots of results: as SVG and as PDF files that need nothing else, as text, and the numbers that they show as CSV.

pub(crate) mod axis;
mod bars;
mod bars_of_runs;
mod files;
pub(crate) mod font;
pub(crate) mod frame;
pub(crate) mod grouped;
mod latency;
mod lines;
mod look;
#[cfg(feature = "pdf")]
mod pdf;
pub(crate) mod picture;
mod retries;
mod svg;
mod text;
mod versions;
mod victims;
mod workload;

pub(crate) use bars_of_runs::{CURVES_MAX, breakdown, latency_bars, write_amplification};
pub use files::Plot;
pub(crate) use files::shows;
pub(crate) use latency::{latency, steps};
pub(crate) use lines::{Line, Lines, Measured};
pub(crate) use look::{FILLED, HEIGHT, colour};
pub(crate) use retries::retries;
pub(crate) use versions::versions;
pub(crate) use victims::victims;
pub use workload::workload;
