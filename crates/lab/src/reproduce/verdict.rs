//! Claimed beside measured, with a verdict by rule.

use super::cell::{Cell, Place};
use super::claims::{As, Claim, Measure, Rule, Take};
use super::experiment::Experiment;
use super::study::Study;
use crate::base::number::digits;
use std::collections::BTreeMap;

/// A number is met if it, or the share that a reduction leaves, is within this factor of the claimed one.
pub const FACTOR: f64 = 1.25;

/// A reduction or an increase is met if it is within this factor of the claimed one, too (assumed): what remains of a
/// small one is within [`FACTOR`] even if nothing is gained.
pub const CHANGE: f64 = 2.0;

/// A rough number is met if it is off by no more than this share of the claimed one (assumed).
pub const ROUGHLY: f64 = 0.5;

/// Standard errors of a mean over seeds within which a verdict must stay as it is (assumed): one of 20 is farther off.
pub const ERRORS: f64 = 2.0;

/// What becomes of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// By its rule, what was measured is what is claimed.
    Met,
    /// It is not; how far away.
    Missed(String),
    /// It turns with the seed; how.
    Open(String),
    /// Why it was not judged.
    NotJudged(String),
}

impl Verdict {
    /// `met`, `missed`, `open`, `not judged`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed(_) => "missed",
            Verdict::Open(_) => "open",
            Verdict::NotJudged(_) => "not judged",
        }
    }

    /// By how much it is missed, or why it is open or was not judged.
    pub fn why(&self) -> &str {
        match self {
            Verdict::Met => "",
            Verdict::Missed(why) | Verdict::Open(why) | Verdict::NotJudged(why) => why,
        }
    }

    /// Whether it is met or missed.
    pub fn is_decided(&self) -> bool {
        matches!(self, Verdict::Met | Verdict::Missed(_))
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
    /// Standard deviation of what single seeds measured, where there are several.
    pub spread: Option<f64>,
    /// On how many pairs of workload and age that rests.
    pub pairs: usize,
    /// What becomes of it.
    pub verdict: Verdict,
}

impl Finding {
    /// The same of a number that is the mean over so many seeds, which lie so far apart: open if the verdict turns
    /// within [`ERRORS`].
    pub(super) fn over_seeds(self, spread: Option<f64>, seeds: usize) -> Self {
        let found = Finding { spread, ..self };
        let (Measured::Number(mean), Some(spread), 2..) = (&found.measured, spread, seeds) else {
            return found;
        };
        if !found.verdict.is_decided() {
            return found;
        }
        let away = ERRORS * spread / (seeds as f64).sqrt();
        let how = found.claim.measure.as_ref().map_or(As::Value, |measure| measure.how);
        let other = [mean - away, mean + away].into_iter().find(|value| {
            let verdict = judge(&found.claim.rule, how, found.claim.claimed, &Measured::Number(*value));
            verdict.name() != found.verdict.name()
        });
        let Some(other) = other else { return found };
        let why = format!(
            "{} at the mean, and not at {}, {ERRORS} standard errors off",
            found.verdict.name(),
            digits(other)
        );
        Finding { verdict: Verdict::Open(why), ..found }
    }
}

/// What runs gave, and which there should be.
pub struct Runs<'a> {
    experiment: &'a Experiment,
    quick: bool,
    metrics: BTreeMap<&'a Place, &'a BTreeMap<String, f64>>,
}

/// What techniques have at one study, workload and age, each beside what it is compared with: 1 for a value.
type Row = Vec<(f64, f64)>;

/// A study, a workload and an age.
type Pair<'a> = (&'a Study, &'a String, &'a String);

impl<'a> Runs<'a> {
    /// Of an experiment at a scale.
    pub fn new(experiment: &'a Experiment, quick: bool, cells: impl IntoIterator<Item = &'a Cell>) -> Self {
        Runs::of(experiment, quick, cells.into_iter().map(|cell| (&cell.place, &cell.metrics)))
    }

    /// The same of numbers alone.
    pub(super) fn of(
        experiment: &'a Experiment,
        quick: bool,
        metrics: impl IntoIterator<Item = (&'a Place, &'a BTreeMap<String, f64>)>,
    ) -> Self {
        Runs { experiment, quick, metrics: metrics.into_iter().collect() }
    }

    /// The pairs of workload and age over which the mean of a measure is taken at this scale, study by study.
    fn pairs(&self, measure: &Measure) -> Vec<Pair<'a>> {
        let of = |all: &'a [String], named: &[String]| -> Vec<&'a String> {
            all.iter().filter(|name| named.is_empty() || named.contains(name)).collect()
        };
        let studies = self.experiment.studies.iter().filter(|study| measure.studies.contains(&study.name));
        let mut pairs = Vec::new();
        for study in studies {
            let ages = of(study.ages(self.quick), &measure.ages);
            for workload in of(study.workloads(self.quick), &measure.workloads) {
                pairs.extend(ages.iter().map(|age| (study, workload, *age)));
            }
        }
        pairs
    }

    /// What a technique measured there.
    fn metric(&self, measure: &Measure, technique: &str, (study, workload, age): Pair<'_>) -> Option<f64> {
        let phase = measure.phase.as_deref().unwrap_or(study.last_phase());
        let place = Place {
            phase: phase.to_owned(),
            study: study.name.clone(),
            technique: technique.to_owned(),
            workload: workload.clone(),
            age: age.clone(),
        };
        self.metrics.get(&place)?.get(&measure.metric).copied()
    }

    /// The same beside that of the technique to compare with, if there is one.
    fn value(&self, measure: &Measure, technique: &str, pair: Pair<'_>) -> Option<(f64, f64)> {
        let own = self.metric(measure, technique, pair)?;
        if measure.how == As::Value {
            return Some((own, 1.0));
        }
        // Of means single ones may be nothing.
        let is_of_means = measure.take == Take::Means;
        let other = self.metric(measure, &measure.against, pair);
        Some((own, other.filter(|other| is_of_means || *other > 0.0)?))
    }
}

/// Judges a claim by the cells that were run: not unless all pairs of workload and age are there.
pub fn find(claim: &Claim, runs: &Runs<'_>) -> Finding {
    let (measured, pairs, missing) = match &claim.measure {
        None => (Measured::Nothing(claim.not_judged.clone().unwrap_or_default()), 0, None),
        Some(measure) => measured(measure, &claim.rule, runs),
    };
    let how = claim.measure.as_ref().map_or(As::Value, |measure| measure.how);
    let verdict = match claim.not_judged.as_ref().or(missing.as_ref()) {
        Some(why) => Verdict::NotJudged(why.clone()),
        None => judge(&claim.rule, how, claim.claimed, &measured),
    };
    Finding { claim: claim.clone(), measured, spread: None, pairs, verdict }
}

/// The verdict of a rule.
pub fn judge(rule: &Rule, how: As, claimed: Option<f64>, measured: &Measured) -> Verdict {
    match (rule, measured, claimed) {
        (_, Measured::Nothing(why), _) => Verdict::NotJudged(why.clone()),
        (Rule::Number, Measured::Number(value), Some(claimed)) => number(how, claimed, *value),
        (Rule::Rough, Measured::Number(value), Some(claimed)) => rough(claimed, *value),
        (Rule::Sign { above }, Measured::Number(value), Some(bound)) => {
            let holds = if *above { *value > bound } else { *value < bound };
            let side = if *above { "above" } else { "below" };
            if holds { Verdict::Met } else { Verdict::Missed(format!("not {side} {}", digits(bound))) }
        }
        (Rule::Limit { at_most }, Measured::Number(value), Some(limit)) => {
            let holds = if *at_most { *value <= limit } else { *value >= limit };
            let side = if *at_most { "above" } else { "below" };
            let why = || format!("{} is {side} {}", digits(*value), digits(limit));
            if holds { Verdict::Met } else { Verdict::Missed(why()) }
        }
        (Rule::Interval { from, to }, Measured::Number(value), _) => {
            let why = || format!("{} is not from {} to {}", digits(*value), digits(*from), digits(*to));
            if (*from..=*to).contains(value) { Verdict::Met } else { Verdict::Missed(why()) }
        }
        (Rule::Order { .. } | Rule::OrderOfWorkloads { .. }, Measured::Order(found), _) => {
            let names = rule.order();
            in_order(names.iter().zip(&names[1..]), found)
        }
        (Rule::FirstOfWorkloads { workloads }, Measured::Order(found), _) => {
            in_order(workloads[1..].iter().map(|other| (&workloads[0], other)), found)
        }
        _ => Verdict::NotJudged("the rule does not fit what was measured".to_owned()),
    }
}

/// Whether the first of each pair of names has less than the second: as much is no order.
fn in_order<'a>(pairs: impl Iterator<Item = (&'a String, &'a String)>, found: &[(String, f64)]) -> Verdict {
    let value = |name: &String| found.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
    for (less, more) in pairs {
        let (Some(first), Some(second)) = (value(less), value(more)) else {
            return Verdict::NotJudged(format!("{less} or {more} was not run"));
        };
        if first == second {
            return Verdict::Missed(format!("{less} is as {more}: {}", digits(first)));
        }
        if first > second {
            let values = format!("{} over {}", digits(first), digits(second));
            return Verdict::Missed(format!("{less} is above {more}: {values}"));
        }
    }
    Verdict::Met
}

/// Whether a measured number is within [`FACTOR`] of the claimed one. Of 91.5 % less, 8.5 % remain, and that is what is
/// compared: five points of the reduction would allow more than half as much again. The reduction itself must be within
/// [`CHANGE`] of the claimed one. What grows where less is claimed, or the other way round, is missed however little.
fn number(how: As, claimed: f64, measured: f64) -> Verdict {
    let is_change = matches!(how, As::Reduction | As::Increase);
    if is_change && claimed * measured < 0.0 {
        return Verdict::Missed("the other way".to_owned());
    }
    let (of, amount): (_, fn(f64) -> f64) = match how {
        As::Value | As::Ratio => ("", |value| value),
        As::Reduction => ("what remains is ", |percent| 100.0 - percent),
        As::Increase => ("the whole is ", |percent| 100.0 + percent),
    };
    // A claimed 0 % has no multiples, but what remains of it has.
    let change = if is_change && claimed != 0.0 { measured / claimed } else { 1.0 };
    let (claimed, measured) = (amount(claimed), amount(measured));
    if claimed == 0.0 {
        // Nothing has no multiples.
        let why = format!("{of}{}, not 0", digits(measured));
        return if measured == 0.0 { Verdict::Met } else { Verdict::Missed(why) };
    }
    let factor = measured / claimed;
    // A hair more than the factor, for quotients of decimal fractions.
    if !(1.0 / FACTOR - 1e-9..=FACTOR + 1e-9).contains(&factor) {
        return Verdict::Missed(format!("{of}{} x the claimed", digits(factor)));
    }
    if !(1.0 / CHANGE - 1e-9..=CHANGE + 1e-9).contains(&change) {
        return Verdict::Missed(format!("{} x the claimed change", digits(change)));
    }
    Verdict::Met
}

/// Whether a measured number is within half of the claimed one.
fn rough(claimed: f64, measured: f64) -> Verdict {
    let least = (1.0 - ROUGHLY) * claimed - 1e-9;
    if (least..=(1.0 + ROUGHLY) * claimed + 1e-9).contains(&measured) {
        return Verdict::Met;
    }
    match claimed {
        0.0 => Verdict::Missed(format!("{}, not 0", digits(measured))),
        _ => Verdict::Missed(format!("{} x the claimed", digits(measured / claimed))),
    }
}

/// What was measured of workloads that are put in order, under the measure's technique: on average over ages.
fn workloads(measure: &Measure, names: &[String], runs: &Runs<'_>) -> (Measured, usize, Option<String>) {
    let one = |name: &String| {
        let own = Measure { workloads: vec![name.clone()], ..measure.clone() };
        measured(&own, &Rule::Number, runs)
    };
    let mut found = Vec::new();
    let mut pairs = 0;
    for name in names {
        match one(name) {
            (Measured::Number(value), count, None) => {
                found.push((name.clone(), value));
                pairs += count;
            }
            (_, _, why) => {
                let why = why.unwrap_or_else(|| format!("no {} of {name}", measure.metric));
                return (Measured::Nothing(why.clone()), pairs, Some(why));
            }
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    (Measured::Order(found), pairs, None)
}

/// What was measured, on how many pairs, and which are missing.
fn measured(measure: &Measure, rule: &Rule, runs: &Runs<'_>) -> (Measured, usize, Option<String>) {
    let sets: Vec<&[String]> = match rule {
        Rule::OrderOfWorkloads { workloads: names } | Rule::FirstOfWorkloads { workloads: names } => {
            return workloads(measure, names, runs);
        }
        Rule::Order { techniques } => vec![techniques],
        _ => measure.techniques.chunks(1).collect(),
    };
    let pairs = runs.pairs(measure);
    let all = sets.len() * pairs.len();
    let mut rows: Vec<Row> = Vec::new();
    let mut without: Vec<String> = Vec::new();
    for techniques in &sets {
        for &pair in &pairs {
            let row: Option<Row> = techniques.iter().map(|name| runs.value(measure, name, pair)).collect();
            match row {
                Some(row) => rows.push(row),
                None => {
                    let place = format!("{} at {}", pair.1, pair.2);
                    if !without.contains(&place) {
                        without.push(place);
                    }
                }
            }
        }
    }
    let missing = (!without.is_empty()).then(|| {
        let compared = if measure.against.is_empty() { "" } else { " to compare" };
        format!("{} of {} pairs: no {}{compared} of {}", rows.len(), all, measure.metric, without.join(", "))
    });
    if rows.is_empty() {
        let why = missing.unwrap_or_else(|| "none of its workloads is run at this scale".to_owned());
        return (Measured::Nothing(why.clone()), 0, Some(why));
    }
    let told = |at: usize| told(measure, &rows.iter().map(|row| row[at]).collect::<Vec<_>>());
    let measured = match rule {
        Rule::Order { techniques } => {
            let mut found: Vec<(String, f64)> =
                techniques.iter().enumerate().map(|(at, name)| (name.clone(), told(at))).collect();
            found.sort_by(|a, b| a.1.total_cmp(&b.1));
            Measured::Order(found)
        }
        _ => Measured::Number(measure.how.of(told(0))),
    };
    (measured, rows.len(), missing)
}

/// The number of several pairs that counts: a value, or a ratio to what it is compared with.
fn told(measure: &Measure, pairs: &[(f64, f64)]) -> f64 {
    let sum = |one: fn(&(f64, f64)) -> f64| pairs.iter().map(one).sum::<f64>();
    let ratios: Vec<f64> = pairs.iter().map(|(own, other)| own / other).collect();
    match (measure.how, measure.take) {
        (_, Take::Means) => sum(|pair| pair.0) / sum(|pair| pair.1),
        // Of ratios the least is the greatest reduction.
        (As::Reduction, Take::Most) => Take::Least.of(&ratios),
        (As::Reduction, Take::Least) => Take::Most.of(&ratios),
        (As::Reduction, Take::Outermost { from, to }) => {
            Take::Outermost { from: 1.0 - to / 100.0, to: 1.0 - from / 100.0 }.of(&ratios)
        }
        (As::Increase, Take::Outermost { from, to }) => {
            Take::Outermost { from: 1.0 + from / 100.0, to: 1.0 + to / 100.0 }.of(&ratios)
        }
        (_, take) => take.of(&ratios),
    }
}
