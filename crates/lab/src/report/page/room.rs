//! How much a page may hold.

use serde_json::Value;

/// What all data of a page may take; bytes.
pub(super) const DATA_MOST: usize = 2_000_000;
/// Runs that are drawn; more have rows in the tables alone.
pub(super) const RUNS_DRAWN: usize = 12; // [A]
/// Pictures of dies and channels over time that a run may have.
const PICTURES: usize = 3;
/// What a number takes on average, with its comma; measured.
const NUMBER_BYTES: usize = 7;

/// Room for a run's data.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Points of a chart with one column.
    pub points: usize,
    /// Numbers of all charts over time together.
    pub numbers: usize,
    /// Cells of all maps of blocks together.
    pub blocks: usize,
    /// Cells of a picture of dies or channels over time.
    pub use_cells: usize,
}

impl Room {
    pub fn of(runs: usize) -> Self {
        // Names and words around the numbers take a tenth at most.
        let bytes = (DATA_MOST - DATA_MOST / 10) / runs.max(1);
        Room {
            points: (bytes / 20 / NUMBER_BYTES).min(1_000),
            numbers: bytes * 45 / 100 / NUMBER_BYTES,
            blocks: bytes * 35 / 100,
            use_cells: bytes * 15 / 100 / PICTURES,
        }
    }
}

/// A number with four significant digits: more nobody sees.
pub(super) fn number(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 { (rounded as i64).into() } else { rounded.into() }
}
