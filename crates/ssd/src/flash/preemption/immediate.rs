//! Every read stops programs and erases where they are (irFTL).

use super::{Answer, Loses, Member, Running, View};
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "immediate";
/// What it does.
pub const SUMMARY: &str = "any read suspends a program or an erase at once";
/// Where it comes from.
pub const SOURCE: &str = "RealWear sections 4.1 and 4.3, irFTL; Wu and He (2012)";
/// What it costs.
pub const MEMORY: &str = "one byte for each block where cells age";

section! {
    /// Parameters of `immediate`.
    pub struct Params {
        /// What a stop loses. RealWear section 4.3 says "immediate reset", not what that leaves. An operation that
        /// loses time is stopped again only once it has come farther than before, so that it ends (assumed).
        loses: Loses = Loses::Nothing;
        /// Minimum time that a suspended operation runs after it is resumed, before it is suspended again (assumed).
        min_run_us: f64 = 20.0, unit "us", range 1.0..=1_000_000.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    loses: Loses,
    min_run_ns: u64,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { loses: params.loses, min_run_ns: SimDuration::from_us(params.min_run_us).0 }
    }
}

impl Member for Policy {
    fn answer(&self, view: &View) -> Answer {
        if matches!(view.running, Running::Read(_)) { Answer::Wait } else { Answer::AtOnce }
    }

    fn loses(&self) -> Loses {
        self.loses
    }

    fn min_run_ns(&self) -> u64 {
        self.min_run_ns
    }
}
