//! RealWear: cycles, erase time, errors right after programming and the mean logarithm of the dwells tell how worn a
//! block really is.

use super::{Estimate, Member, Seen, ends};
use crate::nand::cell::CellModel;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "real_wear";
/// What it does.
pub const SUMMARY: &str =
    "errors after a year (N12), from cycles, erase time, errors right after programming and dwell";
/// Where it comes from.
pub const SOURCE: &str = "RealWear sections 3.2 and 3.3, Eq. 3.1";
/// What it costs.
pub const MEMORY: &str = "14 bytes per physical block, 2 per block of a lane; a read for each erase";

section! {
    /// Parameters of `real_wear`; its coefficients are those of `cell.markers`.
    pub struct Params {
        /// Measures erase time in fine steps, and adds an error margin for telegraph noise (RealWear section 3.2.3).
        /// If false: whole pulses, no margin, and the coefficients fitted for that.
        calibrated: bool = true;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    calibrated: bool,
    estimate: Estimate,
    /// Fine steps of an erase pulse.
    steps: u32,
}

impl Policy {
    /// Builds it; [`Policy::learn`] brings the coefficients.
    pub fn new(params: &Params) -> Self {
        Policy { calibrated: params.calibrated, estimate: Estimate::default(), steps: 1 }
    }
}

impl Member for Policy {
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, cells: &CellModel) {
        let (m, o) = (&cells.part().markers, &cells.part().observables);
        self.steps = o.erase_fine;
        let found = if self.calibrated { &m.real_wear } else { &m.uncalibrated };
        let &[constant, per_kcycle, per_ms, per_bit, per_ln] = found.as_slice() else { return };
        let guard = if self.calibrated { m.guard_bits * per_bit } else { 0.0 };
        let step_ms =
            if self.calibrated { o.erase_pulse_ms / f64::from(o.erase_fine) } else { o.erase_pulse_ms };
        let factors = [per_kcycle / 1e3, per_ms * step_ms, per_bit / 256.0, per_ln / 256.0];
        self.estimate = Estimate::new(cells, constant + guard, &factors);
    }

    fn reads_first_page(&self) -> bool {
        true
    }

    // tidy: allow(float): called when a drive is built
    fn off_bits(&self, cells: &CellModel) -> Option<[f64; 2]> {
        let m = &cells.part().markers;
        if !self.calibrated {
            return ends(&m.uncalibrated_off, 0.0);
        }
        ends(&m.real_wear_off, m.guard_bits * m.real_wear.get(3)?)
    }

    fn age_q12(&self, seen: &Seen) -> u32 {
        let erase = if self.calibrated { seen.erase_steps } else { seen.erase_steps.div_ceil(self.steps) };
        self.estimate.age_q12([seen.cycles, erase, seen.fresh_q8, seen.dwell_ln_q8])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::cells;
    use super::*;

    /// The estimate of the laboratory, in integers.
    #[test]
    fn ages_are_those_of_the_formula() {
        let cells = cells();
        let m = &cells.part().markers;
        let seen =
            Seen { cycles: 6_000, erase_steps: 23, fresh_q8: 9 * 256 + 100, program_ns: 0, dwell_ln_q8: 400 };
        for (calibrated, c, ms, guard) in
            [(true, &m.real_wear, 11.5, 4.0), (false, &m.uncalibrated, 15.0, 0.0)]
        {
            let mut policy = Policy::new(&Params { calibrated });
            policy.learn(&cells);
            let fresh = 9.0 + 100.0 / 256.0 + guard;
            let n12 = c[0] + c[1] * 6.0 + c[2] * ms + c[3] * fresh + c[4] * 400.0 / 256.0;
            let age = f64::from(policy.age_q12(&seen));
            assert!((age - n12 * 64.0).abs() <= 1.0, "{age} {n12}");
        }
    }
}
