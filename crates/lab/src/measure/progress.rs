//! How far an experiment is, and what its series have told so far.

use crate::base::phase::Phase;
use crate::measure::series::{Series, TimeSeries};
use crate::measure::watch;
use ssd::Drive;
use std::fmt;

/// What the time series of a run tell while it is under way.
#[derive(Clone, Copy)]
pub struct SoFar<'a> {
    pub(crate) series: &'a Series,
    pub(crate) drive: &'a Drive,
}

impl SoFar<'_> {
    /// The series of all intervals that are over. Takes some milliseconds: it is for people, who look now and then.
    pub fn series(&self) -> TimeSeries {
        self.series.so_far(self.drive)
    }

    /// The same in some lines for a terminal: throughput, latencies, what is programmed and erased, commands, blocks.
    pub fn rows(&self) -> String {
        watch::rows(&self.series())
    }
}

impl fmt::Debug for SoFar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoFar").finish_non_exhaustive()
    }
}

/// How far an experiment is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What it is doing.
    pub phase: Phase,
    /// How much of it is done, in [`Phase::unit`]s.
    pub done: u64,
    /// How much there is, or at most is, where that is known.
    pub total: Option<u64>,
    /// Simulated time since the workload began; ns.
    pub simulated_ns: u64,
    /// What the run's series tell so far, if it keeps any.
    pub so_far: Option<SoFar<'a>>,
}
