//! What a drive may program to its flash until it is worn out: by what its maker rates it for, and by its cycles.
//!
//! A rating in terabytes of the host holds for a workload; the flash it uses up is that many bytes times the write
//! amplification of that workload on this drive. So a host that is kinder to the drive may write more, another less.

use serde::Serialize;
use ssd::sections::RatedWorkload;

use super::amounts::shown;
use super::load::Pattern;
use super::scale::Whole;
use crate::base::number::digits;

/// Bytes that may be programmed, and why so many.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Bytes programmed to flash.
    pub bytes: f64,
    /// What they follow from, as a sentence.
    pub basis: String,
}

/// Whether the budget that counts is that of the rating: where there is one it is the first of all.
pub(super) fn rating_counts(budgets: &[Budget], is_rated: bool) -> bool {
    let is_least = |first: &Budget| budgets.iter().all(|other| first.bytes <= other.bytes);
    is_rated && budgets.first().is_some_and(is_least)
}

/// What the maker rates a drive for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    /// Bytes of the host.
    pub bytes: f64,
    /// For which workload.
    pub workload: RatedWorkload,
    /// Whether anybody says that it is this workload.
    pub is_said: bool,
}

impl Rated {
    /// The workload, to be measured.
    pub fn pattern(self) -> Pattern {
        match self.workload {
            RatedWorkload::Random => Pattern::Random,
            RatedWorkload::Sequential => Pattern::Log,
            RatedWorkload::Jesd219 => Pattern::Jesd219,
        }
    }

    /// Its budget, where its workload has this write amplification.
    pub fn budget(self, amplification: f64) -> Budget {
        Budget {
            bytes: self.bytes * amplification,
            basis: format!(
                "{} TBW x {} (write amplification of {})",
                digits(self.bytes / 1e12),
                hundredths(amplification),
                self.pattern().told()
            ),
        }
    }
}

/// The budget of so many program/erase cycles of all flash of a drive.
pub fn of_cycles(whole: &Whole, cycles: u32) -> Budget {
    let flash = whole.flash();
    Budget {
        bytes: f64::from(cycles) * flash,
        basis: format!("{cycles} cycles x {} of flash, worn evenly", shown(flash)),
    }
}

/// Two digits behind the point: what amplification is told with.
pub(super) fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}
