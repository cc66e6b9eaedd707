//! Errors of sets whose lowest reference lies apart from the line of the retry table: for drives whose reads move the
//! erased state, and that choose voltages by it.
//!
//! At the lowest reference the erased state spills up and the first programmed state down, each by the tail above a z
//! that the reference moves in proportion. So two z at the first entry's reference, and what a step moves them, are
//! all that depends on wear and time; what the other thresholds add is a table for each place on the line.
//!
//! - **Memory.** 10 bytes for each point of wear and time and height, and 2 for each set of the plan.

use super::{
    CellTable, FALL_STEPS, ReferenceSet, Square, TablePlan, TablePoint, Z_LOW, Z_STEPS, to_log, to_u16,
    whole_of,
};
use crate::nand::cell::rber::References;
use crate::nand::cell::voltages::{LOWEST_STEP_V, LOWEST_ZERO};
use crate::nand::cell::{CellModel, CellState};

/// Fraction of what a step moves z, as a power of two.
const MOVE_SHIFT: u32 = 5;

/// What a point of wear and time tells of the two states at the lowest reference of the first entry.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// z above the erased state, and below the first programmed one.
    z: [u16; 2],
    /// How much further a step takes it from the one, and nearer to the other.
    moved: [u16; 2],
    /// What reads take from the first.
    fall: u16,
}

/// The tables of a height.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lowest {
    points: Vec<Point>,
    /// Logarithm of the errors at the page's other thresholds: set, wear, retention.
    others: Vec<u16>,
    /// Logarithm of the errors if all cells of a state were beyond.
    whole: i64,
}

impl Lowest {
    pub(super) fn bytes(&self) -> usize {
        self.points.len() * size_of::<Point>() + self.others.len() * 2
    }
}

impl CellTable {
    /// For cells of a height, just programmed.
    pub(super) fn lowest_of(&self, model: &CellModel, fresh: &CellState, plan: &TablePlan) -> Lowest {
        let thresholds = || model.code()[self.low_page].iter().filter(|&&threshold| threshold != 1);
        let count = (self.wear.points * self.retention.points) as usize;
        let (mut points, mut others) = (Vec::with_capacity(count), vec![0; count * plan.sets.len()]);
        let (mut worn, mut volts, mut lines) = (-1.0, 0.0, Vec::new());
        for (at, (wear_kcycles, cells)) in self.states(model, fresh, plan.cycles).enumerate() {
            if wear_kcycles != worn {
                worn = wear_kcycles;
                let state = CellState { wear_kcycles, mode: fresh.mode, ..CellState::default() };
                let programmed = model.distribution(&state);
                let steps = |set: &ReferenceSet| set.steps().unwrap_or_default();
                let line = |set| model.step_references(&programmed, fresh.mode, steps(set));
                lines = plan.sets.iter().map(line).collect::<Vec<References>>();
                volts = model.step_references(&programmed, fresh.mode, 0.0)[1];
            }
            let z = [(volts - cells.mean[0]) / cells.sigma[0], (cells.mean[1] - volts) / cells.sigma[1]];
            let moved = [0, 1].map(|state| LOWEST_STEP_V / cells.sigma[state]);
            points.push(Point {
                z: z.map(|z| to_u16((z - Z_LOW) * Z_STEPS)),
                moved: moved.map(|z| to_u16(z * Z_STEPS * f64::from(1 << MOVE_SHIFT))),
                fall: to_u16(model.erased_shift_v(wear_kcycles) / cells.sigma[0] * FALL_STEPS),
            });
            for (set, line) in lines.iter().enumerate() {
                let errors = thresholds().map(|&other| cells.overlap(other as usize, line[other as usize]));
                others[set * count + at] = to_log(model.sector_bits(errors.sum()));
            }
        }
        Lowest { points, others, whole: whole_of(model, fresh) }
    }

    /// Mean errors of a sector of the page type that senses the lowest threshold, in 1/256 bit: of a height and a set
    /// of the plan that lies on the line, with the lowest reference apart ([`super::super::voltages::Voltages`]).
    pub fn apart_bits_q8(&self, height: usize, set: usize, lowest: u8, at: &TablePoint) -> u32 {
        let table = &self.lowest[height];
        let square = Square::of(&at.wear, &at.retention, self.retention);
        let count = table.points.len();
        let others = &table.others[set * count..][..count];
        let others = self.powers.bits_q8(square.value(|cell| i64::from(others[cell]) << 8));
        let steps = i64::from(lowest) - i64::from(LOWEST_ZERO);
        let moved = |of: fn(&Point) -> u16| square.value(|cell| i64::from(of(&table.points[cell])) << 8);
        let up = moved(|point| point.z[0]) + ((steps * moved(|point| point.moved[0])) >> MOVE_SHIFT);
        let down = moved(|point| point.z[1]) - ((steps * moved(|point| point.moved[1])) >> MOVE_SHIFT);
        let fall = square.value(|cell| i64::from(table.points[cell].fall));
        let spill = |z: i64| self.powers.bits_q8((self.tail_log(z) + table.whole).max(0));
        others + spill(up - ((fall * i64::from(at.erc)) >> 6)) + spill(down)
    }
}
