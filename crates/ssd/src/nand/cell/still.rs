//! Errors that do not depend on reads, as an integer table: for drives whose read disturb goes by the linear law.
//!
//! The axes, logarithms and errors of [`super::table`], without the third axis. All sets of references of a state lie
//! side by side, so that the retries of a read stay in the cache lines of its first attempt.
//!
//! - **Memory.** [`StillTable::bytes`]; TLC with 16 entries and the best references, up to 131K cycles and 255 years:
//!   2.6 MiB for four heights.
//! - **Time.** 5 ns to locate a state, 5 ns for a set of references.

use super::rber::tail;
use super::table::{Axis, Between, Powers, ReferenceSet, Square, TablePlan, to_log};
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

/// Error rate at one reference; what is too small to show is left out.
fn overlap(cells: &Distribution, threshold: usize, volts: f64) -> f64 {
    let up = (volts - cells.mean[threshold - 1]) / cells.sigma[threshold - 1];
    let down = (cells.mean[threshold] - volts) / cells.sigma[threshold];
    let shown = |z: f64| if z < NOTHING_LEFT { tail(z) } else { 0.0 };
    cells.factor * (shown(up) + shown(down)) / cells.states as f64
}

impl StillTable {
    /// Tabulates a part.
    pub fn new(model: &CellModel, plan: &TablePlan) -> Self {
        let (wear, retention) = (Axis::up_to(plan.most_cycles, 3), Axis::up_to(plan.most_minutes, 1));
        let (pages, sets) = (model.page_types(), plan.sets.len());
        let points = (wear.points * retention.points) as usize;
        let mut logs = vec![0; plan.heights.len() * pages * points * sets];
        let fresh = CellState {
            read_c: CellState::default().program_c + plan.warmer_c,
            mode: plan.mode,
            ..CellState::default()
        };
        for worn in 0..wear.points {
            let state = CellState { wear_kcycles: wear.value(worn) as f64 / 1000.0, ..fresh };
            let programmed = model.distribution(&CellState {
                wear_kcycles: state.wear_kcycles,
                mode: plan.mode,
                ..CellState::default()
            });
            let references: Vec<Option<References>> = plan
                .sets
                .iter()
                .map(|set| match set {
                    ReferenceSet::Entry(entry) => {
                        Some(model.entry_references(&programmed, plan.mode, *entry))
                    }
                    ReferenceSet::Optimal => None,
                })
                .collect();
            for (above, &height) in plan.heights.iter().enumerate() {
                for aged in 0..retention.points {
                    let retention_hours = retention.value(aged) as f64 / 60.0;
                    let cells = model.distribution(&CellState { height, retention_hours, ..state });
                    let best = model.optimal_references(&cells);
                    for (page, thresholds) in model.code().iter().enumerate() {
                        let cell = (worn * retention.points + aged) as usize;
                        let first = ((above * pages + page) * points + cell) * sets;
                        for (log, volts) in logs[first..first + sets].iter_mut().zip(&references) {
                            let volts = volts.as_ref().unwrap_or(&best);
                            let rber = thresholds
                                .iter()
                                .map(|&at| overlap(&cells, at as usize, volts[at as usize]))
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
