//! Claimed beside measured, with a verdict by rule.

use super::cell::Cell;
use super::claims::{As, Claim, Measure, Rule};
use crate::number::digits;

/// What becomes of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// By its rule, what was measured is what is claimed.
    Met,
    /// It is not; how far away.
    Missed(String),
    /// Why it was not judged.
    NotJudged(String),
}

impl Verdict {
    /// `met`, `missed`, `not judged`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed(_) => "missed",
            Verdict::NotJudged(_) => "not judged",
        }
    }

    /// By how much it is missed, or why it was not judged.
    pub fn why(&self) -> &str {
        match self {
            Verdict::Met => "",
            Verdict::Missed(why) | Verdict::NotJudged(why) => why,
        }
    }
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// A number.
    Number(f64),
    /// Techniques with their means, the least first.
    Order(Vec<(String, f64)>),
    /// Nothing; why.
    Nothing(String),
}

/// A claim with what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The claim.
    pub claim: Claim,
    /// What was measured for it.
    pub measured: Measured,
    /// What becomes of it.
    pub verdict: Verdict,
}

/// Judges a claim by the cells that were run.
pub fn find(claim: &Claim, cells: &[Cell]) -> Finding {
    let measured = match &claim.measure {
        None => Measured::Nothing(claim.not_judged.clone().unwrap_or_default()),
        Some(measure) => measured(measure, &claim.rule, cells),
    };
    let verdict = match &claim.not_judged {
        Some(why) => Verdict::NotJudged(why.clone()),
        None => judge(&claim.rule, claim.claimed, &measured),
    };
    Finding { claim: claim.clone(), measured, verdict }
}

/// The verdict of a rule.
pub fn judge(rule: &Rule, claimed: Option<f64>, measured: &Measured) -> Verdict {
    match (rule, measured, claimed) {
        (_, Measured::Nothing(why), _) => Verdict::NotJudged(why.clone()),
        (Rule::Number { tolerance }, Measured::Number(value), Some(claimed)) => {
            let away = value - claimed;
            // A hair more than the tolerance, for sums of decimal fractions.
            if away.abs() <= tolerance + 1e-9 * claimed.abs().max(1.0) {
                return Verdict::Met;
            }
            Verdict::Missed(format!("{}{}", if away > 0.0 { "+" } else { "" }, digits(away)))
        }
        (Rule::Sign { above }, Measured::Number(value), Some(bound)) => {
            let holds = if *above { *value > bound } else { *value < bound };
            let side = if *above { "above" } else { "below" };
            if holds { Verdict::Met } else { Verdict::Missed(format!("not {side} {}", digits(bound))) }
        }
        (Rule::Order { techniques, tie_percent }, Measured::Order(found), _) => {
            let value =
                |name: &String| found.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
            for pair in techniques.windows(2) {
                let (Some(first), Some(second)) = (value(&pair[0]), value(&pair[1])) else {
                    return Verdict::NotJudged(format!("{} or {} was not run", pair[0], pair[1]));
                };
                if first > second + tie_percent / 100.0 * second.abs() {
                    let values = format!("{} over {}", digits(first), digits(second));
                    return Verdict::Missed(format!("{} is above {}: {values}", pair[0], pair[1]));
                }
            }
            Verdict::Met
        }
        _ => Verdict::NotJudged("the rule does not fit what was measured".to_owned()),
    }
}

/// Whether a cell belongs to a measure.
fn belongs(measure: &Measure, cell: &Cell) -> bool {
    let among = |names: &[String], name: &String| names.is_empty() || names.contains(name);
    cell.place.study == measure.study
        && among(&measure.workloads, &cell.place.workload)
        && among(&measure.ages, &cell.place.age)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The values of a technique, each with the value of another technique for the same workload and age.
fn pairs<'a>(
    measure: &'a Measure,
    cells: &'a [Cell],
    technique: &'a str,
) -> impl Iterator<Item = (f64, Option<f64>)> + 'a {
    let own = cells.iter().filter(move |cell| belongs(measure, cell) && cell.place.technique == technique);
    own.filter_map(move |cell| {
        let value = *cell.metrics.get(&measure.metric)?;
        let other = cells.iter().find(|other| {
            let (a, b) = (&other.place, &cell.place);
            a.technique == measure.against && a.study == b.study && a.workload == b.workload && a.age == b.age
        });
        Some((value, other.and_then(|other| other.metrics.get(&measure.metric).copied())))
    })
}

fn measured(measure: &Measure, rule: &Rule, cells: &[Cell]) -> Measured {
    if let Rule::Order { techniques, .. } = rule {
        return order(measure, techniques, cells);
    }
    let all: Vec<_> = pairs(measure, cells, &measure.technique).collect();
    let nothing = |why: &str| Measured::Nothing(why.to_owned());
    if all.is_empty() {
        return nothing(&format!("no run of {} has {}", measure.technique, measure.metric));
    }
    if measure.how == As::Value {
        let values: Vec<f64> = all.iter().map(|(value, _)| *value).collect();
        return mean(&values).map_or(nothing("no run"), Measured::Number);
    }
    let ratios: Vec<f64> =
        all.iter().filter_map(|(value, other)| Some(value / other.filter(|other| *other > 0.0)?)).collect();
    match (mean(&ratios), measure.how) {
        (None, _) => nothing(&format!("{} has no {} to compare with", measure.against, measure.metric)),
        (Some(ratio), As::Reduction) => Measured::Number(100.0 * (1.0 - ratio)),
        (Some(ratio), As::Increase) => Measured::Number(100.0 * (ratio - 1.0)),
        (Some(ratio), _) => Measured::Number(ratio),
    }
}

/// The mean of each technique; normalised to `against` cell by cell, if that is named.
fn order(measure: &Measure, techniques: &[String], cells: &[Cell]) -> Measured {
    let mut found = Vec::new();
    for technique in techniques {
        let values: Vec<f64> = pairs(measure, cells, technique)
            .filter_map(|(value, other)| match measure.how {
                As::Value => Some(value),
                _ => Some(value / other.filter(|other| *other > 0.0)?),
            })
            .collect();
        match mean(&values) {
            Some(value) => found.push((technique.clone(), value)),
            None => return Measured::Nothing(format!("no run of {technique} has {}", measure.metric)),
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    Measured::Order(found)
}
