//! What a sweep measured: a row for each run, and a pivot table and a figure for each metric.

use super::grid::Point;
use super::pivot::{Pivot, Row};
use super::{Outcome, Run, SweepPlan};
use crate::columns::{Column, Table, Values};
use crate::compare::{scalar_keys, scalars};
use crate::plot::Plot;
use crate::problems;
use crate::result::RunResult;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Metrics that are shown where the file names none, as far as there are any.
const SHOWN: [&str; 3] = ["write_amplification", "IOPS", "read_latency_p99"];

/// What stands behind the name of a time in tables.
const IN_US: &str = " (us)";

/// A sweep with what came of its runs, as far as they are done.
#[derive(Clone)]
pub struct SweepTold<'a> {
    plan: &'a SweepPlan,
    outcomes: Vec<Option<Outcome>>,
}

impl<'a> SweepTold<'a> {
    /// What came of each run, in the order of the plan; none where it is yet to be done.
    pub fn new(plan: &'a SweepPlan, outcomes: Vec<Option<Outcome>>) -> Self {
        SweepTold { plan, outcomes }
    }

    fn pairs(&self) -> impl Iterator<Item = (&Run, Option<&Outcome>)> {
        self.plan.runs.iter().zip(self.outcomes.iter().map(Option::as_ref))
    }

    /// What was measured of runs that came to their end.
    fn measured(&self) -> Vec<(&Run, &RunResult)> {
        let all = self.pairs().filter_map(|(run, outcome)| Some((run, outcome?)));
        all.filter(|(_, it)| it.failure.is_empty())
            .filter_map(|(run, it)| Some((run, it.result.as_ref()?)))
            .collect()
    }

    /// A row for each run: its name, what became of it, what was varied, and all numbers of its result.
    pub fn table(&self) -> Table {
        let status = |outcome: Option<&Outcome>| match outcome {
            None => "missing",
            Some(outcome) if outcome.failure.is_empty() => "ok",
            Some(_) => "failed",
        };
        let points: Vec<Point> = self.plan.runs.iter().map(Run::point).collect();
        let words = |of: &dyn Fn(&Run) -> String| Values::Words(self.plan.runs.iter().map(of).collect());
        let mut columns = vec![
            Column::new("run", words(&|run| run.id.clone())),
            Column::new("status", Values::Words(self.pairs().map(|(_, it)| status(it).to_owned()).collect())),
        ];
        for key in &self.plan.sweep().varied {
            let texts: Vec<String> = points.iter().map(|point| bare(value_of(point, key))).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            columns.push(Column::new(key.clone(), Values::of_texts(&texts)));
        }
        let counts = |of: fn(&Point) -> u64| Values::Counts(points.iter().map(of).collect());
        columns.push(Column::new("repeat", counts(|point| point.repeat.into())));
        columns.push(Column::new("seed", counts(|point| point.seed)));
        let results: Vec<Option<&RunResult>> =
            self.outcomes.iter().map(|outcome| outcome.as_ref()?.result.as_ref()).collect();
        columns.extend(verdicts(&results));
        let there: Vec<&RunResult> = results.iter().flatten().copied().collect();
        for scalar in scalars(&there).into_iter().filter(|scalar| scalar.values.iter().any(Option::is_some)) {
            let mut values = scalar.values.into_iter();
            let of = |result: &Option<&RunResult>| result.and_then(|_| values.next().flatten());
            columns.push(Column::new(scalar.key, Values::NumbersOrNone(results.iter().map(of).collect())));
        }
        Table::new("runs", columns)
    }

    /// How many runs have which problem, in words; `None` if none has one.
    pub fn problems(&self) -> Option<String> {
        problems::tally(self.measured().into_iter().map(|(_, result)| result))
    }

    /// What was measured of runs that came to their end.
    pub fn results(&self) -> impl Iterator<Item = &RunResult> {
        self.measured().into_iter().map(|(_, result)| result)
    }

    /// The problems of all runs that have some, for programs: the run's file and name, and the problems.
    fn problems_json(&self) -> Vec<u8> {
        let told = |(run, result): (&Run, &RunResult)| {
            let problems = &result.problems;
            (!problems.is_empty()).then(|| json!({ "run": run.id, "name": run.name(), "problems": problems }))
        };
        let all: Vec<Value> = self.measured().into_iter().filter_map(told).collect();
        format!("{:#}\n", Value::Array(all)).into_bytes()
    }

    /// All files of the sweep's folder that tell of all of it, with their names.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let table = self.table();
        let pivots = self.pivots();
        let joined = |of: fn(&Pivot) -> String| {
            pivots.iter().map(|(_, pivot)| of(pivot)).collect::<Vec<_>>().join("\n").into_bytes()
        };
        let mut files = vec![
            ("tables.txt".to_owned(), self.text().into_bytes()),
            ("tables.md".to_owned(), joined(Pivot::markdown)),
            ("tables.tex".to_owned(), joined(Pivot::latex)),
            ("runs.csv".to_owned(), table.csv().into_bytes()),
            ("problems.json".to_owned(), self.problems_json()),
        ];
        files.extend(pivots.iter().flat_map(|(metric, pivot)| pivot.plot().files(&stem(metric))));
        files.extend(table.parquet(&[]).map(|bytes| ("runs.parquet".to_owned(), bytes)));
        files
    }

    /// Names of all figures that a sweep may have: those of other metrics are of an earlier command.
    pub fn figures() -> Vec<String> {
        scalar_keys().iter().flat_map(|metric| Plot::names(&stem(metric)).collect::<Vec<_>>()).collect()
    }

    /// Its tables, for people.
    pub fn text(&self) -> String {
        let tables: String = self.pivots().iter().map(|(_, pivot)| pivot.text() + "\n").collect();
        tables + &self.problems().map_or(String::new(), |problems| format!("problems: {problems}\n"))
    }

    /// A table for each metric that the file names, or for some that most look at.
    pub fn pivots(&self) -> Vec<(String, Pivot)> {
        let rows = self.rows();
        let sweep = self.plan.sweep();
        let named = !sweep.metrics.is_empty();
        let shown: Vec<String> =
            if named { sweep.metrics.clone() } else { SHOWN.map(str::to_owned).to_vec() };
        let mut pivots = Vec::new();
        for metric in shown {
            // Times are told with their unit.
            let told = format!("{metric}{IN_US}");
            let has = |name: &String| rows.iter().any(|row| row.values.contains_key(name));
            let name = if has(&told) { told } else { metric.clone() };
            if has(&name) || named && !rows.is_empty() {
                pivots.push((metric, Pivot::new(&rows, &sweep.rows, &sweep.columns, &name)));
            }
        }
        pivots
    }

    /// A row for each point, with the numbers of all its repeats; times in us.
    fn rows(&self) -> Vec<Row> {
        let measured = self.measured();
        let results: Vec<&RunResult> = measured.iter().map(|(_, result)| *result).collect();
        let scalars = scalars(&results);
        let mut rows: Vec<Row> = Vec::new();
        let mut known: BTreeMap<Vec<(String, String)>, usize> = BTreeMap::new();
        for (at, (run, _)) in measured.iter().enumerate() {
            let varied = run.point().settings;
            let row = *known.entry(varied.clone()).or_insert_with(|| {
                rows.push(Row { varied, ..Row::default() });
                rows.len() - 1
            });
            rows[row].problems.extend(results[at].problems.iter().map(|it| it.name.clone()));
            for scalar in &scalars {
                let (unit, scale) = if scalar.is_time { (IN_US, 1e-3) } else { ("", 1.0) };
                if let Some(value) = scalar.values[at] {
                    let all = rows[row].values.entry(format!("{}{unit}", scalar.key)).or_default();
                    all.push(value * scale);
                }
            }
        }
        rows
    }
}

/// What must be known of each run to take its numbers for what they are, under the names of `result.json`; empty where
/// there is no result.
fn verdicts(results: &[Option<&RunResult>]) -> Vec<Column> {
    let words = |name: &'static str, of: &dyn Fn(&RunResult) -> String| {
        Column::new(name, Values::Words(results.iter().map(|it| it.map_or(String::new(), of)).collect()))
    };
    let number = |name: &'static str, of: &dyn Fn(&RunResult) -> Option<f64>| {
        Column::new(name, Values::NumbersOrNone(results.iter().map(|it| it.and_then(of)).collect()))
    };
    let names = |result: &RunResult| {
        let names: Vec<&str> = result.problems.iter().map(|problem| problem.name.as_str()).collect();
        names.join(" ")
    };
    vec![
        words("problems", &names),
        words("verdict.state", &|result| result.verdict.state.clone()),
        words("verdict.bound_by", &|result| result.verdict.bound_by.clone().unwrap_or_default()),
        number("verdict.busy", &|result| result.verdict.busy),
        words("preconditioning.state", &|result| result.preconditioning.state.clone()),
        number("preconditioning.spare.gross", &|result| result.preconditioning.spare.gross),
        number("preconditioning.spare.net", &|result| result.preconditioning.spare.net),
        words("remarks", &|result| result.remarks.join("; ")),
    ]
}

/// The name of a metric's figure: slashes and the like in its own would be no name of a file.
fn stem(metric: &str) -> String {
    metric.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_")
}

/// The value of a varied key; every point has all of them.
fn value_of<'r>(point: &'r Point, key: &str) -> &'r str {
    point.settings.iter().find(|(other, _)| other == key).map_or("", |(_, value)| value)
}

/// A text without its quotes.
fn bare(value: &str) -> String {
    match toml::de::DeValue::parse(value).map(|value| value.into_inner()) {
        Ok(toml::de::DeValue::String(text)) => text.into_owned(),
        _ => value.to_owned(),
    }
}
