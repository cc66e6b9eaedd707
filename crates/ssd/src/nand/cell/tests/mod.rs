//! The model against the numbers of the calibration. Where it gives another number than the papers claim, the test
//! holds the number it gives and names the claim.

mod aging;
mod input;
mod population;
mod reading;
mod still;
mod tables;

use super::{CellModel, CellState};

fn part(name: &str) -> CellModel {
    CellModel::preset(name).unwrap_or_else(|errors| panic!("{name}:\n{errors}"))
}

fn aged(wear_kcycles: f64, retention_hours: f64) -> CellState {
    CellState { wear_kcycles, retention_hours, ..CellState::default() }
}

/// Errors of a sector at the best references.
fn best_bits(model: &CellModel, state: &CellState, page: usize) -> f64 {
    let cells = model.distribution(state);
    model.sector_bits(model.page_rber(&cells, page, &model.optimal_references(&cells)))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} within {tolerance}");
}
