//! Why the numbers of a result cannot be taken as they stand, and what a user requires of results.
//!
//! A run whose requests pile up measures the length of a queue, and a drive that is still changing measures a moment.
//! Both are results, and neither is a number to publish without saying so.

mod require;
mod steady;

use crate::base::number::count;
pub use crate::result::problem::Problem;
use crate::result::problem::{MARKS, names};
use crate::result::{RunResult, regimes};
pub use require::{Requirements, WrongRequirement};
use steady::unsteady;

/// How many of some results have each kind of problem, in words: `27 of 81 overloaded, 35 not steady`; `None` if none
/// has one.
pub fn tally<'a>(results: impl IntoIterator<Item = &'a RunResult>) -> Option<String> {
    tally_names(&results.into_iter().map(|result| names(&result.problems)).collect::<Vec<_>>())
}

/// The same of the names of each result's problems.
pub fn tally_names(all: &[Vec<&str>]) -> Option<String> {
    let counted = MARKS.iter().filter_map(|(name, _, what)| {
        let has = |of: &&Vec<&str>| of.contains(name);
        let number = all.iter().filter(has).count();
        (number > 0).then_some((number, what))
    });
    let told: Vec<String> = counted
        .enumerate()
        .map(|(at, (number, what))| match at {
            0 => format!("{number} of {} {what}", all.len()),
            _ => format!("{number} {what}"),
        })
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
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
    if result.verdict.is_overloaded() {
        all.push(Problem::new("overloaded", result.verdict.text.clone()));
    }
    let changes = regimes::news(&result.changes, &result.verdict);
    if !changes.is_empty() {
        let text = format!("not stationary: {}", regimes::text(&changes));
        all.push(Problem::new("several_regimes", text));
    }
    all.extend(unsteady(result).map(|text| Problem::new("not_steady", text)));
    all
}
