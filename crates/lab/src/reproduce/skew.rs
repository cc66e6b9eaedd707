//! How near a placement by page types comes to the best that there is: `achieved`.

use super::PaperError;
use crate::base::document::Walk;
use ssd::DriveConfig;
use workload::synthetic::zipf::{harmonic, solve};

/// The skew of a workload's reads: so much of them goes to so much of the drive, by a Zipf distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew {
    /// Part of the reads.
    pub access: f64,
    /// Part of the drive.
    pub space: f64,
}

impl Skew {
    /// That of `skew = [80, 20]`, if it is there.
    pub(super) fn read(walk: &Walk<'_>) -> Result<Option<Skew>, PaperError> {
        let Some(found) = walk.numbers("skew")? else { return Ok(None) };
        match found.as_slice() {
            &[access, space] if space > 0.0 && access < 100.0 && space <= access => {
                Ok(Some(Skew { access: access / 100.0, space: space / 100.0 }))
            }
            _ => {
                let allowed = "two numbers: % of the reads, below 100, and % of the drive, no more than that";
                Err(walk.wrong("skew", format!("{found:?}"), allowed))
            }
        }
    }

    /// Thresholds of a read on average, at best: what is read most on the pages that are read fastest. Of all types
    /// there are as many pages, and each has room for its part of all that data can fill.
    pub fn best(self, code: &[Vec<u32>], logical: u64, room: u64) -> f64 {
        let mut counts: Vec<usize> = code.iter().map(Vec::len).collect();
        counts.sort_unstable();
        let theta = solve(logical, self.access, self.space);
        let share = |types: usize| {
            let units = (room * types as u64 / counts.len() as u64).min(logical);
            harmonic(units, theta) / harmonic(logical, theta)
        };
        let of = |at: usize| share(at + 1) - if at == 0 { 0.0 } else { share(at) };
        counts.iter().enumerate().map(|(at, &count)| count as f64 * of(at)).sum()
    }

    /// What part of what can be saved was saved, where reads took so many thresholds on average; %. Reads that are
    /// spread evenly over the types save nothing. The time of a read grows with its thresholds, whatever else it takes.
    pub fn achieved(self, config: &DriveConfig, thresholds: f64) -> Option<f64> {
        let code = config.gray_code();
        let even = code.iter().map(Vec::len).sum::<usize>() as f64 / code.len() as f64;
        let possible = even - self.best(&code, config.logical_units(), config.data_units());
        (possible > 1e-9).then(|| 100.0 * (even - thresholds) / possible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of eight units that have 1/1, 1/2, ... 1/8 of 761/280 each, two have room on each of four types.
    #[test]
    fn the_best_placement_puts_what_is_read_most_first() {
        let code = vec![vec![1, 2, 3, 4], vec![1], vec![1, 2], vec![1, 2, 3, 4, 5, 6, 7, 8]];
        // The first two have 3/2 of 761/280: the exponent that gives them that is 1.
        let skew = Skew { access: 1.5 / (761.0 / 280.0), space: 0.25 };
        let of = |from: u32, to: u32| (from..=to).map(|k| 1.0 / f64::from(k)).sum::<f64>() / (761.0 / 280.0);
        let expected = of(1, 2) + 2.0 * of(3, 4) + 4.0 * of(5, 6) + 8.0 * of(7, 8);
        assert!((skew.best(&code, 8, 8) - expected).abs() < 1e-9);
        // With twice the room nobody needs the two slowest.
        let expected = of(1, 4) + 2.0 * of(5, 8);
        assert!((skew.best(&code, 8, 16) - expected).abs() < 1e-9);
    }
}
