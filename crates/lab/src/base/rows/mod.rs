//! Tables of many rows, written as a run goes on: CSV, plain or compressed, or Parquet; or kept in memory.

mod cell;
mod csv;
mod kept;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

pub(crate) use cell::{Cell, Column, Of};
pub(crate) use kept::KeptRows;
pub(crate) use table::Rows;
