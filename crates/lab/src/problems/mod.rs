//! Why the numbers of a result cannot be taken as they stand, and what a user requires of results.
//!
//! A run whose requests pile up measures the length of a queue, and a drive that is still changing measures a moment.
//! Both are results, and neither is a number to publish without saying so.

mod require;

pub use require::{Requirements, WrongRequirement};

use crate::number::count;
use crate::regimes;
use crate::result::RunResult;
use serde::Serialize;

/// A reason not to take a result's numbers as they stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its short name: `incomplete`, `failed_requests`, `overloaded`, `several_regimes`, `not_steady`.
    pub name: &'static str,
    /// What is wrong, in a sentence.
    pub text: String,
}

impl Problem {
    fn new(name: &'static str, text: String) -> Self {
        Problem { name, text }
    }
}

/// All reasons of a result, the most serious first.
pub fn problems(result: &RunResult) -> Vec<Problem> {
    let mut all = Vec::new();
    if !result.is_complete() {
        all.push(Problem::new("incomplete", format!("the run ended early: {}", result.ended)));
    }
    if result.requests_failed > 0 {
        let text = format!("{} requests failed", count(result.requests_failed));
        all.push(Problem::new("failed_requests", text));
    }
    if is_overloaded(result) {
        all.push(Problem::new("overloaded", result.verdict.text.clone()));
    }
    if !result.changes.is_empty() {
        let text = format!("several regimes: {}", regimes::text(&result.changes));
        all.push(Problem::new("several_regimes", text));
    }
    all.extend(unsteady(result).map(|text| Problem::new("not_steady", text)));
    all
}

/// Whether requests came faster than they were served.
pub(crate) fn is_overloaded(result: &RunResult) -> bool {
    result.verdict.state == OVERLOADED
}

/// The verdict on a run whose requests come faster than they are served.
const OVERLOADED: &str = "overloaded";

/// Why a drive that was to be steady before the run was not.
fn unsteady(result: &RunResult) -> Option<String> {
    let before = &result.preconditioning;
    (before.steady == Some(false))
        .then(|| format!("the drive was not steady before the run: {}", before.state))
}
