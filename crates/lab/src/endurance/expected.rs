//! The budget of a drive that is only run, not asked about: a rating's workload is estimated there, not measured.

use ssd::DriveConfig;
use ssd::sections::RatedWorkload;

use super::budget::{Budget, Rated, of_cycles};
use super::scale::Whole;
use crate::past::precondition::Spare;

/// Units of a block from which more make no difference that could be told.
pub(crate) const UNITS_MAX: u64 = 4_096;

/// Bytes that may be programmed, if the drive's configuration says enough.
pub fn expected(config: &DriveConfig) -> Option<Budget> {
    let whole = Whole { config: config.clone(), capacity: config.logical_bytes() as f64 };
    let cycles = Some(config.reliability.endurance_cycles).filter(|cycles| *cycles > 0);
    let cycles = cycles.map(|cycles| of_cycles(&whole, cycles));
    let amplification = match config.rating.workload {
        RatedWorkload::Sequential => Some(1.0),
        RatedWorkload::Random => Some(random(config)),
        // Nobody has a formula for it: `wordline endurance` measures it.
        RatedWorkload::Jesd219 => None,
    };
    let rated = Rated { bytes: config.rating.tbw * 1e12, workload: config.rating.workload, is_said: true };
    let rating = amplification.filter(|_| rated.bytes > 0.0).map(|amplification| {
        let budget = rated.budget(amplification);
        let is_estimate = rated.workload == RatedWorkload::Random;
        let estimate = if is_estimate { ", estimated; wordline endurance measures it" } else { "" };
        Budget { basis: format!("{}{estimate}", budget.basis), ..budget }
    });
    [rating, cycles].into_iter().flatten().min_by(|a, b| a.bytes.total_cmp(&b.bytes))
}

/// Write amplification of random writes of whole units on a drive.
fn random(config: &DriveConfig) -> f64 {
    let live = 1.0 / (1.0 + Spare::when_full(config).net.unwrap_or(0.0));
    greedy(live, config.data_units_per_block().min(UNITS_MAX) as u32)
}

/// The same with greedy cleaning by the mean field of finite blocks (docs/models/write_amplification.md): those of so
/// many units, a share of which is `live`, are cleaned at `k` live ones.
pub(crate) fn greedy(live: f64, units: u32) -> f64 {
    let size = f64::from(units);
    let mut harmonic = 0.0;
    for k in (1..units).rev() {
        harmonic += 1.0 / f64::from(k + 1);
        let left = f64::from(k);
        let mean = (size - left - live * size * harmonic) / (live * size - left);
        if left < live * size && mean <= 1.0 / left {
            return size / (size - left + left * mean);
        }
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::job::Job;

    fn budget(sets: &[&str]) -> Option<Budget> {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        expected(&Job::read(None, Some("client_tlc"), &sets).unwrap().resolve(None).unwrap().config)
    }

    #[test]
    fn the_smaller_budget_counts_and_says_what_it_follows_from() {
        assert_eq!(budget(&[]), None);
        assert_eq!(budget(&["drive.rating.tbw=600", "drive.rating.workload=jesd219"]), None);
        let sequential = budget(&["drive.rating.tbw=600", "drive.rating.workload=sequential"]).unwrap();
        assert!((sequential.bytes / 600e12 - 1.0).abs() < 1e-9);
        let random = budget(&["drive.rating.tbw=600"]).unwrap();
        assert!(random.basis.contains("600 TBW x 8.") && random.basis.contains("estimated"), "{random:?}");
        let both = budget(&["drive.rating.tbw=600", "nand.reliability.endurance_cycles=1000"]).unwrap();
        assert!(both.basis.starts_with("1000 cycles") && both.bytes < random.bytes, "{both:?}");
        // More spare room, less to copy: what is estimated is what is measured.
        let spare = budget(&["drive.rating.tbw=600", "drive.over_provisioning_percent=28"]).unwrap();
        let amplification = spare.bytes / 600e12;
        assert!((1.9..2.8).contains(&amplification), "{amplification}");
    }
}
