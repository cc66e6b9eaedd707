//! Pages that are made unreadable by programming their wordline once more (one-shot reprogramming), and what that does
//! to the others: RealWear section 5.1.2.
//!
//! Cells that go too far cross into the next state, so that the other pages of the wordline get errors. How many of the
//! limit, is told of pages right after it and a year later (figure 37); which page gets how many is drawn
//! (`docs/calibration.md`, section 1.2). Between the two, and beyond a year, errors grow with the logarithm of time
//! (assumed). The medians are errors in all, measured on chips: they do not add up with those of age and reads
//! (assumed).

use super::normal::tail;
use crate::rng::chance;
use crate::sections::cell::Effects;

/// Hours of a year, after which `osr_year_factor` holds.
pub const YEAR_HOURS: f64 = 8_760.0;

/// Share of pages that are over the limit, so many hours after one other page of their wordline was reprogrammed, or
/// several.
pub fn over_limit(effects: &Effects, several: bool, hours: f64) -> f64 {
    let median = if several { effects.osr_both_median } else { effects.osr_one_median };
    let course = libm::log1p(hours) / libm::log1p(YEAR_HOURS);
    let growth = 1.0 + (effects.osr_year_factor - 1.0) * course;
    tail(-libm::log(median * growth) / effects.osr_sigma)
}

/// Steps of time, four for each doubling, and one for none.
const STEPS: usize = 1 + 4 * 32;

/// The same as integers: of all that can be drawn for a page, as a fraction of 64 bits, those below are over the limit.
#[derive(Clone, Debug)]
pub struct Spoiled {
    odds: [[u64; STEPS]; 2],
}

impl Spoiled {
    /// For the cells of a part.
    pub fn new(effects: &Effects) -> Self {
        let odds = [false, true].map(|several| {
            core::array::from_fn(|step| {
                let hours = minutes_at(step) as f64 / 60.0;
                chance(1e6 * over_limit(effects, several, hours))
            })
        });
        Spoiled { odds }
    }

    /// How many of all that can be drawn are over the limit, so many minutes after so many other pages of the wordline
    /// were reprogrammed: time is rounded down, by less than a fifth.
    pub fn odds(&self, pages: u32, minutes: u32) -> u64 {
        match pages {
            0 => 0,
            1 => self.odds[0][step_of(minutes)],
            _ => self.odds[1][step_of(minutes)],
        }
    }
}

/// The step in which so many minutes are.
fn step_of(minutes: u32) -> usize {
    match minutes.checked_ilog2() {
        None => 0,
        Some(doublings) => 1 + 4 * doublings as usize + ((u64::from(minutes) << 2 >> doublings) & 3) as usize,
    }
}

/// The fewest minutes that are in a step.
fn minutes_at(step: usize) -> u64 {
    match step.checked_sub(1) {
        None => 0,
        Some(at) => ((4 + at as u64 % 4) << (at / 4)).div_ceil(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::cell::CellPart;

    #[test]
    fn steps_of_time_are_in_order() {
        for minutes in (0..4_096).chain([525_600, u32::MAX - 1, u32::MAX]) {
            let step = step_of(minutes);
            assert!(step < STEPS && minutes_at(step) <= u64::from(minutes), "{minutes}");
            // No step is longer than a quarter of what it begins with.
            assert!(4 * u64::from(minutes) < 5 * minutes_at(step).max(1) + 4, "{minutes}");
        }
        assert!((0..STEPS - 1).all(|step| minutes_at(step) <= minutes_at(step + 1)));
    }

    /// RealWear figure 37: 7.4 % of MLC pages at once, most of them after a year; all of TLC once two were.
    #[test]
    fn odds_are_those_of_the_law() {
        for (part, pages, minutes, expected) in [
            ("mlc", 1, 0, 0.0746),
            ("mlc", 1, 525_600, 0.817),
            ("tlc_48l", 1, 0, 0.5),
            ("tlc_48l", 2, 0, 0.9987),
            ("tlc_48l", 1, 525_600, 0.9906),
        ] {
            let effects = CellPart::preset(part).unwrap().effects;
            let found = Spoiled::new(&effects).odds(pages, minutes) as f64 / 2.0_f64.powi(64);
            assert!((found - expected).abs() < 0.002, "{part}: {found}, not {expected}");
            let exact = over_limit(&effects, pages > 1, f64::from(minutes) / 60.0);
            assert!((found - exact).abs() < 0.001, "{part}: {found}, not {exact}");
        }
        let slc = Spoiled::new(&CellPart::preset("slc").unwrap().effects);
        assert_eq!((slc.odds(0, 9), slc.odds(1, 9)), (0, 0));
    }
}
