//! Copies inside the chip as often in a row as the worst block of so many cycles could stand.

use super::{MOST, Member, Worn, minutes};
use crate::config::member::Misfit;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "copyback_by_cycles";
/// What it does.
pub const SUMMARY: &str = "as many copies in a row as the worst block with these cycles tolerates";
/// Where it comes from.
pub const SOURCE: &str = "FastGC as described in RealWear section 3.4.5: at most three in a row";
/// What it costs.
pub const MEMORY: &str = "a byte for each page";

section! {
    /// Parameters of `copyback_by_cycles`.
    pub struct Params {
        /// Maximum copies in a row, one whole number for each range of `cycles_per_limit` cycles; 0 beyond the last.
        /// The defaults are what the worst block of TLC-48L allows at the end of each range, at most three.
        limits: Vec<f64> = vec![3.0, 3.0, 2.0, 1.0, 1.0], unit "copies", range 0.0..=7.0;
        /// Width of each range, in cycles.
        cycles_per_limit: u32 = 1_000, unit "cycles", range 1..=1_000_000;
        /// Maximum age of data that is copied inside the chip, in hours at the reference temperature (assumed; the
        /// limits are for fresh data).
        max_source_hours: f64 = 1.0, unit "h", range 0.0..=1_000_000.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    limits: Vec<u8>,
    /// Whether they were whole numbers.
    are_whole: bool,
    cycles_per_limit: u32,
    max_source_minutes: u32,
}

impl Policy {
    /// Builds it.
    // tidy: allow(float): called when a drive is built
    pub fn new(params: &Params) -> Self {
        Policy {
            limits: params.limits.iter().map(|&limit| (limit as u8).min(MOST)).collect(),
            are_whole: params.limits.iter().all(|limit| limit.fract() == 0.0),
            cycles_per_limit: params.cycles_per_limit,
            max_source_minutes: minutes(params.max_source_hours),
        }
    }
}

impl Member for Policy {
    fn max_source_minutes(&self) -> u32 {
        self.max_source_minutes
    }

    fn misfit(&self) -> Option<Misfit> {
        (!self.are_whole).then(|| Misfit {
            keys: &["ftl.migration.limits"],
            found: "a part of a copy".to_owned(),
            allowed: "whole numbers, 0 to 7".to_owned(),
        })
    }

    /// That of the range in which the block has spent its last cycle.
    fn limit(&self, worn: &Worn) -> u8 {
        let range = worn.cycles.saturating_sub(1) / self.cycles_per_limit;
        self.limits.get(range as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::cell::CellModel;

    fn limit(cycles: u32) -> u8 {
        Policy::new(&Params::default()).limit(&Worn { cycles, ..Worn::default() })
    }

    #[test]
    fn a_range_ends_with_its_last_cycle() {
        assert_eq!([0, 1_000, 1_001, 2_000, 2_001, 3_001, 5_000, 5_001].map(limit), [3, 3, 3, 3, 2, 1, 1, 0]);
    }

    /// The limits of the worst block of the population at the end of each range, with a bit of noise (calibration
    /// section 5): 3 (4, clamped), 3, 2, 1, 1, 0.
    #[test]
    fn the_defaults_are_those_of_the_worst_block() {
        let cells = CellModel::preset("tlc_48l").expect("a shipped part");
        let (seen, mean) = (&cells.part().observables, cells.part().population.mean_n12);
        let by_formula = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|kcycles| {
            let n12 = cells.n12(0.0, kcycles);
            let fresh = seen.fresh_base + seen.fresh_per_bit * (n12 - mean);
            ((f64::from(cells.hard_limit_bits()) - n12) / (fresh + 1.0)) as u8
        });
        assert_eq!(by_formula, [4, 3, 2, 1, 1, 0]);
        assert_eq!(
            [1_000, 2_000, 3_000, 4_000, 5_000, 6_000].map(limit),
            by_formula.map(|limit| limit.min(3))
        );
    }
}
