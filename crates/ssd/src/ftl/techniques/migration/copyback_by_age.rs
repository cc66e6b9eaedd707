//! Copies inside the chip as often in a row as the block's own age lets: FastCopy.
//!
//! After n copies data carries n times the errors of fresh data, and 12 months later it must still be corrected:
//! n (N0 + noise) + N12 <= N_ECC, with the N12 that the marker of ages estimates for the older of source and target,
//! and the N0 that cells of that N12 have: blocks of one age have one limit. The N0 that was measured of a block is not
//! gone by (assumed): it is one reading, with noise, and where that took 2 bits away the limit would be one too high.

use super::{MOST, Member, Worn, minutes};
use crate::nand::cell::CellModel;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "copyback_by_age";
/// What it does.
pub const SUMMARY: &str = "as many copies in a row as blocks of that age tolerate, up to five";
/// Where it comes from.
pub const SOURCE: &str = "FastCopy, RealWear section 3.4.5; the formula is fitted (calibration section 5)";
/// What it costs.
pub const MEMORY: &str = "a byte for each page, and those of `ftl.age_marker`";

section! {
    /// Parameters of `copyback_by_age`.
    pub struct Params {
        /// Maximum copies in a row, even for young blocks.
        max_in_a_row: u32 = 5, unit "copies", range 0..=7;
        /// Errors that a read may have beyond those of a fresh page (N0), from telegraph noise (fitted).
        noise_bits: f64 = 1.5, unit "bits", range 0.0..=64.0;
        /// Maximum age of data that is copied inside the chip, in hours at the reference temperature (assumed). The
        /// formula assumes fresh data: at the voltages for fresh data TLC-48L stays within N0 and 1.5 bits for an
        /// hour, whatever the age of the block.
        max_source_hours: f64 = 1.0, unit "h", range 0.0..=1_000_000.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    most: u8,
    /// Fresh errors of a block that leaves no errors to the limit, and what each that it leaves takes away.
    fresh_end_q8: i64,
    fresh_per_bit_q16: i64,
    noise_q8: u32,
    max_source_minutes: u32,
}

impl Policy {
    /// Builds it.
    // tidy: allow(float): called when a drive is built
    pub fn new(params: &Params) -> Self {
        Policy {
            most: params.max_in_a_row.min(u32::from(MOST)) as u8,
            fresh_end_q8: 0,
            fresh_per_bit_q16: 0,
            noise_q8: libm::round(params.noise_bits * 256.0) as u32,
            max_source_minutes: minutes(params.max_source_hours),
        }
    }
}

impl Member for Policy {
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, cells: &CellModel) {
        let (seen, mean) = (&cells.part().observables, cells.part().population.mean_n12);
        let end = seen.fresh_base + seen.fresh_per_bit * (f64::from(cells.hard_limit_bits()) - mean);
        self.fresh_end_q8 = libm::round(end * 256.0) as i64;
        self.fresh_per_bit_q16 = libm::round(seen.fresh_per_bit * 65_536.0) as i64;
    }

    fn needs_ages(&self) -> bool {
        true
    }

    fn max_source_minutes(&self) -> u32 {
        self.max_source_minutes
    }

    fn limit(&self, worn: &Worn) -> u8 {
        let fresh_q8 = self.fresh_end_q8 - ((i64::from(worn.left_q8) * self.fresh_per_bit_q16) >> 16);
        let each_q8 = (fresh_q8.max(0) as u32 + self.noise_q8).max(1);
        (worn.left_q8 / each_q8).min(u32::from(self.most)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calibration section 5: by age .1 to .3: 5, .4: 4, .5: 2 to 3, .6: 1 to 2, .7: 1, then 0.
    /// N0 = 4 + .32 (N12 - 13.9).
    #[test]
    fn limits_fall_with_age() {
        let mut policy = Policy::new(&Params::default());
        policy.learn(&CellModel::preset("tlc_48l").expect("a shipped part"));
        let limit = |percent: u32| {
            policy.limit(&Worn { left_q8: 64 * 256 * (100 - percent) / 100, ..Worn::default() })
        };
        assert_eq!([10, 20, 30, 40, 50, 60, 70, 80, 90, 100].map(limit), [5, 5, 5, 4, 2, 1, 1, 0, 0, 0]);
        // By hand: at .48 N12 = 30.7, N0 = 9.4, 33.3 / 10.9 = 3.06; at .58 37.1, 11.4, 26.9 / 12.9 = 2.08;
        // at .74 47.4, 14.7, 16.6 / 16.2 = 1.03.
        assert_eq!([48, 58, 74, 75].map(limit), [3, 2, 1, 0]);
    }
}
