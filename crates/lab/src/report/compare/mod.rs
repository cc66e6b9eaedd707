//! Results side by side: a column each with ratios where there are few, a row each where there are many.

mod comparison;
mod keys;
mod rows;
mod text;
mod told;

pub use comparison::{Comparison, NotCompared};
pub(crate) use text::{markdown, wrapped};
