//! The bound itself, over all ways to cut a run and to choose units.

use super::future::Future;
use super::ground::Ground;
use super::prices;

/// A lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Pages that every policy must program to move data.
    pub pages: f64,
    /// Periods of the run by which it was found.
    pub periods: u64,
    /// Units that were counted.
    pub units: u64,
}

/// The highest bound over all ways to cut the run into periods and to choose units.
pub fn bound(ground: &Ground, future: &Future) -> Bound {
    let mut best = Bound { pages: 0.0, periods: 0, units: 0 };
    for spread in future.spreads() {
        let pages = prices::best(ground, &spread) / ground.page_units;
        if pages > best.pages {
            best = Bound { pages, periods: spread.periods, units: spread.units };
        }
    }
    best
}
