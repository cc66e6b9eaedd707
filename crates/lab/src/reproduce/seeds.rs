//! The same run with several seeds: what counts are the means, and how far the seeds lie apart is told.

use super::cell::Cell;
use super::claims::Claim;
use super::experiment::Experiment;
use super::verdict::{self, Finding, Measured, Runs};
use crate::result::problem::MARKS;
use std::collections::BTreeMap;

/// Mean and standard deviation (of a sample) of values; of one value without the latter.
fn told(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()))
}

/// One cell for those of all seeds, with the means of what each of them has. Their order is that of the first seeds.
pub(super) fn means(runs: &[Cell]) -> Vec<Cell> {
    let mut groups: Vec<Vec<&Cell>> = Vec::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for run in runs {
        let group = *known.entry(&run.place).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups.iter().map(|group| mean(group)).collect()
}

fn mean(group: &[&Cell]) -> Cell {
    let mut cell = group[0].clone();
    if group.len() == 1 {
        return cell;
    }
    cell.seeds = group.iter().flat_map(|run| run.seeds.iter().copied()).collect();
    let has = |name: &str| group.iter().any(|run| run.problems.iter().any(|problem| problem == name));
    cell.problems = MARKS.iter().map(|(name, ..)| (*name).to_owned()).filter(|name| has(name)).collect();
    cell.metrics.clear();
    for name in group[0].metrics.keys() {
        let values: Option<Vec<f64>> = group.iter().map(|run| run.metrics.get(name).copied()).collect();
        let Some(values) = values else { continue };
        let (mean, spread) = told(&values);
        cell.metrics.insert(name.clone(), mean);
        cell.spread.extend(spread.map(|spread| (name.clone(), spread)));
    }
    cell
}

/// Means, and the runs of each seed beside them.
pub(super) struct Judged<'a> {
    means: Runs<'a>,
    seeds: Vec<Runs<'a>>,
}

impl<'a> Judged<'a> {
    pub fn new(experiment: &'a Experiment, quick: bool, cells: &'a [Cell], runs: &'a [Cell]) -> Self {
        let mut seeds: Vec<u64> = runs.iter().flat_map(|run| run.seeds.iter().copied()).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let of = |seed: &u64| Runs::new(experiment, quick, runs.iter().filter(|run| run.seeds == [*seed]));
        let seeds = seeds.iter().map(of).collect();
        Judged { means: Runs::new(experiment, quick, cells), seeds }
    }

    /// What becomes of a claim by the means, and how far what single seeds measure for it lies apart.
    pub fn find(&self, claim: &Claim) -> Finding {
        let found = verdict::find(claim, &self.means);
        let alone = self.seeds.iter().map(|runs| verdict::find(claim, runs));
        let whole: Vec<Finding> = alone.filter(|alone| alone.pairs == found.pairs).collect();
        let values: Option<Vec<f64>> = whole
            .iter()
            .map(|finding| match finding.measured {
                Measured::Number(value) => Some(value),
                _ => None,
            })
            .collect();
        let spread = values.filter(|values| !values.is_empty()).and_then(|values| told(&values).1);
        found.over_seeds(spread, whole.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::claims::{Basis, Rule};
    use crate::reproduce::verdict::{Verdict, judge};

    /// A claimed 100, met from 80 to 125, and what is measured for it with four seeds.
    fn found(measured: f64, spread: f64) -> Verdict {
        let claim = Claim {
            id: "a".to_owned(),
            place: "figure 1".to_owned(),
            text: "so".to_owned(),
            claimed: Some(100.0),
            unit: String::new(),
            basis: Basis::Evidence,
            rule: Rule::Number,
            measure: None,
            laboratory: None,
            not_judged: None,
            note: String::new(),
        };
        let measured = Measured::Number(measured);
        let verdict = judge(&claim.rule, crate::reproduce::As::Value, claim.claimed, &measured);
        let found = Finding { claim, measured, spread: None, pairs: 1, verdict };
        assert_eq!(found.clone().over_seeds(Some(spread), 1).verdict, found.verdict);
        found.over_seeds(Some(spread), 4).verdict
    }

    /// The standard error of a mean of four is half of how far they lie apart.
    #[test]
    fn a_verdict_that_turns_within_two_standard_errors_is_open() {
        for (measured, spread, name) in
            [(100.0, 19.0, "met"), (100.0, 21.0, "open"), (90.0, 9.0, "met"), (90.0, 11.0, "open")]
        {
            assert_eq!(found(measured, spread).name(), name, "{measured} +- {spread}");
        }
        assert_eq!((found(130.0, 4.0).name(), found(130.0, 6.0).name()), ("missed", "open"));
        assert_eq!(found(90.0, 11.0).why(), "met at the mean, and not at 79, 2 standard errors off");
    }

    #[test]
    fn a_spread_is_the_standard_deviation_of_a_sample() {
        // Of 2, 4, 4, 4, 5, 5, 7, 9: squares of 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32 around 5, over 7.
        let (mean, spread) = told(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(mean, 5.0);
        assert!((spread.expect("several") - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(told(&[3.0]), (3.0, None));
    }
}
