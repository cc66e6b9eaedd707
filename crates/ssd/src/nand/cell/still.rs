//! Errors that do not depend on reads, as an integer table: for drives whose read disturb goes by the linear law.
//!
//! The axes, logarithms and errors of [`super::table`], without the third axis. All sets of references of a state lie
//! side by side, so that the retries of a read stay in the cache lines of its first attempt.
//!
//! - **Memory.** [`StillTable::bytes`]; TLC with 16 entries and the best references, up to 131K cycles and 255 years:
//!   2.6 MiB for four heights.
//! - **Time.** 5 ns to locate a state, 5 ns for a set of references.

use super::normal::tail;
use super::table::{Axis, Between, Powers, Square, TablePlan, to_log};
use super::{CellModel, CellState, Distribution, References};

/// Beyond so many standard deviations nothing of a state is left that one sector would show.
const NOTHING_LEFT: f64 = 6.0;

/// Errors of a sector by wear and retention, as integers.
#[derive(Clone, Debug, PartialEq)]
pub struct StillTable {
    wear: Axis,
    retention: Axis,
    sets: usize,
    pages: usize,
    /// Logarithm of errors: height, page type, wear, retention, set.
    logs: Vec<u16>,
    powers: Powers,
}

/// Where a state lies between the points of wear and retention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StillPoint {
    wear: Between,
    retention: Between,
}

/// The part of the table that one page in one state is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StillRow {
    first: usize,
    at: StillPoint,
}

/// Points of [`Tails`] for each standard deviation.
const TAIL_POINTS: f64 = 64.0;

/// Share of a standard normal variable above z, interpolated by cubics through its values and slopes: within 10^-6 of
/// the value, and several times as fast as the function, of which a table takes millions.
pub(super) struct Tails {
    /// Value and slope (for one step) at each point from -`NOTHING_LEFT` on.
    points: Vec<[f64; 2]>,
}

impl Tails {
    pub(super) fn new() -> Self {
        let slope = |z: f64| -libm::exp(-0.5 * z * z) / (2.0 * core::f64::consts::PI).sqrt() / TAIL_POINTS;
        let points = 0..=(2.0 * NOTHING_LEFT * TAIL_POINTS) as u32 + 1;
        let at = |point: u32| f64::from(point) / TAIL_POINTS - NOTHING_LEFT;
        Tails { points: points.map(|point| [tail(at(point)), slope(at(point))]).collect() }
    }

    /// The share above z; what is too small to show is left out.
    fn above(&self, z: f64) -> f64 {
        if z >= NOTHING_LEFT {
            return 0.0;
        }
        if z <= -NOTHING_LEFT {
            return 1.0;
        }
        let at = (z + NOTHING_LEFT) * TAIL_POINTS;
        let point = at as usize;
        let (x, [low, rise], [high, end]) = (at - point as f64, self.points[point], self.points[point + 1]);
        let (square, bend) = (3.0 * (high - low) - 2.0 * rise - end, rise + end - 2.0 * (high - low));
        low + x * (rise + x * (square + x * bend))
    }

    /// Error rate at one reference.
    pub(super) fn overlap(&self, cells: &Distribution, threshold: usize, volts: f64) -> f64 {
        let up = (volts - cells.mean[threshold - 1]) / cells.sigma[threshold - 1];
        let down = (cells.mean[threshold] - volts) / cells.sigma[threshold];
        cells.factor * (self.above(up) + self.above(down)) / cells.states as f64
    }
}

impl StillTable {
    /// Tabulates a part.
    pub fn new(model: &CellModel, plan: &TablePlan) -> Self {
        let (wear, retention) = (Axis::up_to(plan.most_cycles, 3), Axis::up_to(plan.most_minutes, 1));
        let (pages, sets) = (model.page_types(), plan.sets.len());
        let points = (wear.points * retention.points) as usize;
        let mut logs = vec![0; plan.heights.len() * pages * points * sets];
        let tails = Tails::new();
        let fresh = CellState {
            read_c: CellState::default().program_c + plan.warmer_c,
            mode: plan.mode,
            ..CellState::default()
        };
        for worn in 0..wear.points {
            let kcycles = wear.value(worn) as f64 * plan.cycles / 1000.0;
            let wear_done = model.worn(kcycles);
            let programmed =
                model.distribution_of(&wear_done, &CellState { mode: plan.mode, ..CellState::default() });
            let references: Vec<Option<References>> = plan
                .sets
                .iter()
                .map(|set| Some(model.step_references(&programmed, plan.mode, set.steps()?)))
                .collect();
            for (above, &height) in plan.heights.iter().enumerate() {
                for aged in 0..retention.points {
                    let retention_hours = retention.value(aged) as f64 / 60.0;
                    let cells =
                        model.distribution_of(&wear_done, &CellState { height, retention_hours, ..fresh });
                    let best = model.optimal_references(&cells);
                    for (page, thresholds) in model.code().iter().enumerate() {
                        let cell = (worn * retention.points + aged) as usize;
                        let first = ((above * pages + page) * points + cell) * sets;
                        for (log, volts) in logs[first..first + sets].iter_mut().zip(&references) {
                            let volts = volts.as_ref().unwrap_or(&best);
                            let rber = thresholds
                                .iter()
                                .map(|&at| tails.overlap(&cells, at as usize, volts[at as usize]))
                                .sum();
                            *log = to_log(model.sector_bits(rber));
                        }
                    }
                }
            }
        }
        StillTable { wear, retention, sets, pages, logs, powers: Powers::new() }
    }

    /// Memory of the table, in bytes.
    pub fn bytes(&self) -> usize {
        self.logs.len() * 2 + self.powers.bytes()
    }

    /// Where a state lies: wear in cycles, retention in minutes at the reference temperature.
    #[inline]
    pub fn locate(&self, cycles: u32, minutes: u32) -> StillPoint {
        StillPoint { wear: self.wear.locate(cycles), retention: self.retention.locate(minutes) }
    }

    /// The row of a height of the plan and a page type.
    #[inline]
    pub fn row(&self, height: usize, page: usize, at: StillPoint) -> StillRow {
        let points = (self.wear.points * self.retention.points) as usize;
        StillRow { first: (height * self.pages + page) * points * self.sets, at }
    }

    /// Mean errors of a sector in 1/256 bit, with a reference set of the plan.
    #[inline]
    pub fn sector_bits_q8(&self, row: &StillRow, set: usize) -> u32 {
        let square = Square::of(&row.at.wear, &row.at.retention, self.retention);
        let logs = &self.logs[row.first + set..];
        self.powers.bits_q8(square.value(|cell| i64::from(logs[cell * self.sets]) << 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolated_tails_are_exact_enough() {
        let tails = Tails::new();
        for i in -6_500..6_500 {
            let (z, exact) = (f64::from(i) / 1_000.0, tail(f64::from(i) / 1_000.0));
            let found = tails.above(z);
            let slack = if z >= NOTHING_LEFT { 1e-9 } else { 1e-6 * exact };
            assert!((found - exact).abs() <= slack, "{z}: {found}, {exact}");
        }
    }
}
