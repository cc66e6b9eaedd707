//! How often pages were read again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Read retries; empty or null if cells do not age.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Retries {
    /// Page reads by number of failed attempts: none, one, two ... up to the most there were; all attempts, if none
    /// succeeded. They add up to `flash.reads`. Empty if cells do not age.
    pub histogram: Vec<u64>,
    /// Failed attempts per page read on average; null without page reads.
    pub mean: Option<f64>,
    /// Share of page reads with at least one failed attempt, 0 to 1.
    pub share: Option<f64>,
    /// The most failed attempts of one page read.
    pub max: Option<u32>,
    /// Page reads that `flash.read_voltage.policy = "table_by_age"` corrected with none of the voltage sets chosen
    /// for the age of the block; 0 with other policies.
    #[serde(default)]
    pub beyond_bound: u64,
    /// Of these, page reads that the table promised to correct: data up to 12 months old with 4 bits to spare at
    /// the best voltages (7 where reads shift the cells), in the normal mode, in blocks whose true wear is within
    /// the marker's residuals, with errors from wear, time and reads only. There must be none, or the run fails.
    #[serde(default)]
    pub bound_broken: u64,
}

impl Retries {
    /// From page reads by the number of attempts that failed, those of them beyond the bound, and those that break it.
    pub(crate) fn of(reads: &[u64], [beyond_bound, bound_broken]: [u64; 2]) -> Self {
        let Some(max) = reads.iter().rposition(|&count| count > 0) else { return Self::default() };
        let histogram = reads[..=max].to_vec();
        let all: u64 = histogram.iter().sum();
        let failed: u64 = (0..).zip(&histogram).map(|(attempts, count)| attempts * count).sum();
        Retries {
            mean: Some(failed as f64 / all as f64),
            share: Some((all - histogram[0]) as f64 / all as f64),
            max: u32::try_from(max).ok(),
            histogram,
            beyond_bound,
            bound_broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_summed_up_from_their_histogram() {
        let retries = Retries::of(&[60, 0, 30, 10, 0, 0], [4, 0]);
        assert_eq!((retries.histogram.as_slice(), retries.beyond_bound), (&[60, 0, 30, 10][..], 4));
        assert_eq!((retries.mean, retries.share, retries.max), (Some(0.9), Some(0.4), Some(3)));
        assert_eq!(Retries::of(&[7, 0], [0; 2]).max, Some(0));
        assert_eq!(Retries::of(&[0; 32], [0; 2]), Retries::default());
    }
}
