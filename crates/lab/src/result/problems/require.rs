//! What a user requires of results, so that a script notices when it is not so.

use super::steady::not_steady;
use crate::base::number::{digits, duration};
use crate::result::metrics::{is_time, metric_keys, scalars};
use crate::result::{RunResult, regimes};
use ssd::config;
use std::fmt;

/// Requirements without a number.
const WORDS: [&str; 5] = ["steady", "not-overloaded", "one-regime", "complete", "no-failures"];
/// A sign, and whether a number stands so to its limit.
type Comparison = (&'static str, fn(f64, f64) -> bool);
/// How a number may stand to its limit; longer signs first.
const COMPARISONS: [Comparison; 4] = [
    ("<=", |found, limit| found <= limit),
    (">=", |found, limit| found >= limit),
    ("<", |found, limit| found < limit),
    (">", |found, limit| found > limit),
];
/// Units of times; ns. Longer ones first.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// One of them.
#[derive(Clone, Debug, PartialEq)]
enum Requirement {
    /// One of [`WORDS`].
    Word(&'static str),
    /// A number of the result stands so to its limit.
    Number {
        /// As the user wrote it.
        text: String,
        key: String,
        /// Which of [`COMPARISONS`].
        comparison: usize,
        limit: f64,
    },
}

/// What is required of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requirements(Vec<Requirement>);

/// A requirement that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongRequirement {
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
    /// What was probably meant.
    pub near: Option<String>,
}

impl fmt::Display for WrongRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongRequirement { found, allowed, near } = self;
        write!(f, "found {found:?}, allowed: {allowed}")?;
        near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean {near:?}?"))
    }
}

impl std::error::Error for WrongRequirement {}

impl Requirements {
    /// Of texts such as `steady`, `not-overloaded` or `read_latency_p99<300us`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, WrongRequirement> {
        texts.into_iter().map(|text| parse(text.trim())).collect::<Result<_, _>>().map(Requirements)
    }

    /// Which of them a result does not meet, a line each: what is required, and what was found.
    pub fn unmet(&self, result: &RunResult) -> Vec<String> {
        self.0.iter().filter_map(|one| one.unmet(result)).collect()
    }
}

impl Requirement {
    fn unmet(&self, result: &RunResult) -> Option<String> {
        match self {
            Requirement::Word(word) => {
                let found = match *word {
                    "steady" => not_steady(result),
                    "not-overloaded" => result.verdict.is_overloaded().then(|| result.verdict.text.clone()),
                    "one-regime" => {
                        let changes = regimes::news(&result.changes, &result.verdict);
                        (!changes.is_empty()).then(|| regimes::text(&changes))
                    }
                    "complete" => (!result.is_complete()).then(|| result.ended.clone()),
                    _ => (result.requests_failed > 0).then(|| format!("{} failed", result.requests_failed)),
                };
                found.map(|found| format!("{word}: {found}"))
            }
            Requirement::Number { text, key, comparison, limit } => {
                let scalars = scalars(&[result]);
                let scalar = scalars.iter().find(|scalar| scalar.key == *key)?;
                let Some(found) = scalar.values[0] else {
                    return Some(format!("{text}: found no such number"));
                };
                let told = if scalar.is_time { duration(found) } else { digits(found) };
                (!COMPARISONS[*comparison].1(found, *limit)).then(|| format!("{text}: found {told}"))
            }
        }
    }
}

fn parse(text: &str) -> Result<Requirement, WrongRequirement> {
    if let Some(word) = WORDS.into_iter().find(|word| *word == text) {
        return Ok(Requirement::Word(word));
    }
    let parts = COMPARISONS.iter().enumerate().find_map(|(comparison, (sign, _))| {
        text.split_once(sign).map(|(key, limit)| (key.trim(), comparison, limit.trim()))
    });
    let Some((key, comparison, limit)) = parts else {
        let allowed = format!("{}, or a metric, <, <=, > or >=, and a number", WORDS.join(", "));
        return Err(wrong(text, allowed, near(text, WORDS)));
    };
    let Some(is_time) = is_time(key) else {
        let known = metric_keys();
        let allowed = "a metric such as write_amplification, IOPS or read_latency_p99 (wordline compare --keys lists \
                       them)";
        return Err(wrong(key, allowed.to_owned(), near(key, known.iter().map(String::as_str))));
    };
    let value = number(limit, is_time).filter(|value| value.is_finite());
    let Some(limit) = value else {
        let allowed = if is_time { "a time such as 300us (ns, us, ms, s)" } else { "a number such as 1.5" };
        return Err(wrong(text, format!("{key} and {allowed}"), None));
    };
    Ok(Requirement::Number { text: text.to_owned(), key: key.to_owned(), comparison, limit })
}

/// A number; one that is a time has a unit.
fn number(text: &str, is_time: bool) -> Option<f64> {
    if !is_time {
        return text.parse().ok();
    }
    let in_unit =
        |(unit, scale): &(&str, f64)| Some(text.strip_suffix(unit)?.trim().parse::<f64>().ok()? * scale);
    UNITS.iter().find_map(in_unit)
}

fn wrong(found: &str, allowed: String, near: Option<String>) -> WrongRequirement {
    WrongRequirement { found: found.to_owned(), allowed, near }
}

/// The name that was probably meant.
fn near<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    match config::Problem::no_such_name("metric", found, names) {
        config::Problem::NoSuchName { near, .. } => near,
        _ => None,
    }
}
