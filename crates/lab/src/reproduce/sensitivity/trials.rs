//! Other values, and what came of each.

use super::tags::Tagged;
use super::tries::Try;

/// What came of another value.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// These claims, and no others, are met where they were missed, or the other way round.
    Judged(Vec<String>),
    /// No run is another: techniques or workloads set the key again.
    NoOther,
    /// There is no such drive or load; why.
    Refused(String),
    /// Runs failed; why.
    Failed(String),
}

/// Another value, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The value.
    pub one: Try,
    /// What came of it.
    pub outcome: Outcome,
    /// Whether the age marker was fitted again, to the cells that it makes.
    pub fitted_again: bool,
    /// What came of it at full scale, where that was asked.
    pub in_full: Option<Outcome>,
}

/// What is tagged, and what came of each of its other values.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The key.
    pub tagged: Tagged,
    /// Its other values.
    pub trials: Vec<Trial>,
}

impl Outcome {
    /// Whether a claim turned.
    pub fn has_turned(&self) -> bool {
        matches!(self, Outcome::Judged(turned) if !turned.is_empty())
    }
}

/// How many values turned a verdict.
pub fn in_full(tried: &[Tried]) -> usize {
    tried.iter().flat_map(|it| &it.trials).filter(|trial| trial.outcome.has_turned()).count()
}
