//! What is to be done to a drive before a measurement.

use crate::base::error::PreconditionError;
use ssd::Pace;

/// What is done to a drive before a measurement. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preconditioning {
    /// Share of the logical space that is written in order, from its start; %.
    pub fill_percent: f64,
    /// How that share is overwritten at random after that.
    pub overwrite: Overwrite,
    /// How fast the host is thought to write that: as fast as the one of the measurement.
    pub pace: Pace,
    /// What overwrites it.
    pub past: Past,
    /// Pieces that each pass over the workload's own writes is cut in; 0 for [`PIECES`](super::PIECES).
    pub past_pieces: u32,
    /// How the steady state is reached, if it is asked for.
    pub steady_way: SteadyWay,
    /// Erase counts that blocks have at the end.
    pub erase_counts: EraseCounts,
}

/// How much is overwritten, each mapping unit of the filled space with the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Overwrite {
    /// Nothing.
    #[default]
    None,
    /// So many times the filled space.
    Times(f64),
    /// Until the write amplification (units programmed / units written) is steady. It is taken in windows of a quarter
    /// of the filled space. Steady are four windows in a row that differ, the least from the greatest, by less than
    /// `change_percent` of their mean; or, where single windows scatter because the drive has few blocks, a mean over
    /// four windows that differs from the one over the four windows before by less than half of that; and either only
    /// once each lane has erased as many blocks as it has spare.
    SteadyState {
        /// Allowed difference; %.
        change_percent: f64,
        /// At most so many times the filled space is written, or the spare room where that is larger; then it is left
        /// as it is, and the result says so.
        times_at_most: f64,
    },
}

ssd::choice! {
    /// What a drive is overwritten with before a measurement.
    pub enum Past {
        /// Whole units of the filled space, each with the same probability.
        Uniform = "uniform",
        /// The workload's own writes and trims, over and over, in pieces whose order is drawn anew. Where they cannot
        /// be known (jobs that wait for the drive, more than 50 million requests, no workload), and on a large drive
        /// where they are as random: as `uniform`.
        Own = "own",
    }
}

#[expect(clippy::derivable_impls, reason = "choice! marks no default")]
impl Default for Past {
    fn default() -> Self {
        Past::Uniform
    }
}

ssd::choice! {
    /// How a drive is brought to steady state.
    pub enum SteadyWay {
        /// `one_die` for drives of 16 Mi mapping units or more on 8 dies or more, `whole` for the others.
        Auto = "auto",
        /// All of it is overwritten for as long as it takes.
        Whole = "whole",
        /// One die of it is, apart; the drive is written so that its blocks are as full as that die's, and the
        /// amplification that follows is compared with that die's. If they differ, `whole` goes on from there.
        OneDie = "one_die",
    }
}

#[expect(clippy::derivable_impls, reason = "choice! marks no default")]
impl Default for SteadyWay {
    fn default() -> Self {
        SteadyWay::Auto
    }
}

/// Erase counts given to blocks (a superblock counts as one).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraseCounts {
    /// What the writes before have made of them.
    #[default]
    AsIs,
    /// The same for all.
    Equal(u32),
    /// Each number from `min` to `max` with the same probability.
    Uniform {
        /// Least.
        min: u32,
        /// Most.
        max: u32,
    },
}

impl Preconditioning {
    pub(super) fn check(&self) -> Result<(), PreconditionError> {
        let within = |key, found: f64, low: f64, high: f64, allowed| {
            let is_allowed = found >= low && found <= high;
            if is_allowed { Ok(()) } else { Err(PreconditionError::Setting { key, found, allowed }) }
        };
        within("run.fill_percent", self.fill_percent, 0.0, 100.0, "0 to 100 %")?;
        match self.overwrite {
            Overwrite::None => Ok(()),
            Overwrite::Times(times) => within("run.overwrite_times", times, 0.0, 1e6, "0 to 1000000"),
            Overwrite::SteadyState { change_percent, times_at_most } => {
                within("run.steady_change_percent", change_percent, 0.001, 100.0, "0.001 to 100 %")?;
                within("run.overwrite_times", times_at_most, 0.0, 1e6, "0 to 1000000")
            }
        }
    }
}
