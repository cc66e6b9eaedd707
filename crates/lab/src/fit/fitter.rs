//! A fit under way: what is known so far, and why.

use super::check::greedy;
use super::model::{GIB, Model};
use super::sheet::{Measure, Sheet};
use super::trial::{Load, run};
use crate::base::number::digits;
use crate::base::stop::Stop;
use crate::plan::job::JobError;

/// A number is fitted when what it fixes is this near.
pub const NEAR: f64 = 0.003;
/// How often it is tried.
pub const TRIES: usize = 5;
/// From here on, a figure contradicts the others: by so much more or less is predicted.
pub const CONTRADICTS: f64 = 1.25;

/// Why a number is what it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Because {
    /// A figure fixes it, or the sheet says so: which.
    Fixed(String),
    /// The data leaves it open: by whom or what it is assumed, and what else it could be.
    Assumed(String),
    /// No configuration meets the figures together: which, and what was done.
    Contradicted(String),
}

/// A number that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its key, or what it concerns.
    pub key: &'static str,
    /// Its value, for people.
    pub value: String,
    /// Why.
    pub because: Because,
}

/// A fit under way.
pub(super) struct Fitter<'a> {
    pub sheet: &'a Sheet,
    pub model: Model,
    pub found: Vec<Found>,
    /// Figures to which something was fitted.
    pub fitted: Vec<Measure>,
    pub stop: &'a Stop,
    pub told: &'a mut dyn FnMut(&str),
}

impl Fitter<'_> {
    pub fn say(&mut self, what: &str) -> Result<(), JobError> {
        if self.stop.is_asked() {
            return Err(JobError { message: "ended before the fit was done".to_owned(), is_work: true });
        }
        (self.told)(what);
        Ok(())
    }

    pub fn note(&mut self, key: &'static str, value: impl Into<String>, because: Because) {
        self.found.push(Found { key, value: value.into(), because });
    }

    /// That a figure fixes it.
    pub fn fixed(&mut self, key: &'static str, value: impl Into<String>, by: Measure) {
        let told = by.dimension().told(self.sheet.get(by).unwrap_or(0.0));
        self.fitted.push(by);
        self.note(key, value, Because::Fixed(format!("{} {told}", by.key())));
    }

    /// The reads beside writes that suspension is fitted to: the first and those in the middle.
    pub fn fits_suspension(&self, at: usize) -> bool {
        at == 0 || at == self.sheet.beside.len() / 2
    }

    /// What is programmed for each byte of random writes: by the drive's counters, or by two ratings of its endurance.
    pub fn random_amplification(&self) -> Option<f64> {
        let of = |measure| self.sheet.get(measure);
        let rated = || {
            let ratio = of(Measure::SequentialEndurance)? / of(Measure::RandomEndurance)?;
            (ratio > 1.0).then_some(ratio * (1.0 + self.model.parity_percent / 100.0))
        };
        of(Measure::RandomAmplification).or_else(rated)
    }

    /// Flash with which random writes are programmed so many times; bytes.
    pub fn raw_for(&mut self, target: f64) -> Result<f64, JobError> {
        // What a formula says of another size, times how far it was off at this one.
        let (parity, capacity) = (1.0 + self.model.parity_percent / 100.0, self.sheet.capacity);
        let formula = |raw: f64| parity * greedy(raw / parity / capacity);
        let mut factor = 1.0;
        for _ in 0..TRIES {
            let range = (1.005 * parity * capacity, 6.0 * capacity);
            self.model.raw = solve(|raw| factor * formula(raw) / target, range);
            self.say("flash, from the write amplification of random writes")?;
            let result = run(&self.model, self.stop, Load::Random { reads: 0 })?;
            let found = result.write_amplification.unwrap_or(target);
            if (found / target - 1.0).abs() < NEAR {
                break;
            }
            factor = found / formula(self.model.raw);
        }
        Ok(self.model.raw)
    }

    /// The same anew, on a drive whose writes are held back.
    pub fn raw_again(&mut self) -> Result<(), JobError> {
        let Some(target) = self.random_amplification() else { return Ok(()) };
        let value = format!("{} GiB", digits(self.raw_for(target)? / GIB));
        let of_raw =
            |found: &&mut Found| found.key == "drive.raw_gib" && matches!(found.because, Because::Fixed(_));
        self.found.iter_mut().filter(of_raw).for_each(|found| found.value.clone_from(&value));
        Ok(())
    }
}

/// Where a falling function is 1.
fn solve(of: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if of(middle) > 1.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
