//! Every read stops programs and erases, at the end of the step in progress.

use super::{Answer, Member, Running, View};
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "safe_point";
/// What it does.
pub const SUMMARY: &str = "any read suspends a program or an erase at the end of its step";
/// Where it comes from.
pub const SOURCE: &str = "RealWear section 4.2.1, safe points alone";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// Parameters of `safe_point`.
    pub struct Params {
        /// Minimum time that a suspended operation runs after it is resumed, before it is suspended again (assumed).
        min_run_us: f64 = 20.0, unit "us", range 1.0..=1_000_000.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    min_run_ns: u64,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { min_run_ns: SimDuration::from_us(params.min_run_us).0 }
    }
}

impl Member for Policy {
    fn answer(&self, view: &View) -> Answer {
        if matches!(view.running, Running::Read(_)) { Answer::Wait } else { Answer::Boundary }
    }

    fn min_run_ns(&self) -> u64 {
        self.min_run_ns
    }
}
