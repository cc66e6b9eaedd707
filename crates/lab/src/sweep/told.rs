//! What a sweep measured: a row for each run, and a pivot table and a figure for each metric.

use super::grid::Point;
use super::pivot::{Layout, Measure, Pivot, Row};
use super::tables::bare;
use super::{Outcome, Run, SweepPlan};
use crate::base::columns::{Column, Table, Values};
use crate::report::plot::Plot;
use crate::report::plot::axis::unit_of;
use crate::result::RunResult;
use crate::result::caution::Caution;
use crate::result::metrics::{is_time, metric_keys, scalars};
use crate::result::problem::names;
use crate::result::problems;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Metrics that are shown where the file names none, as far as there are any.
const SHOWN: [&str; 3] = ["write_amplification", "IOPS", "read_latency_p99"];

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
        let joined = |of: fn(&(String, Pivot)) -> String| {
            pivots.iter().map(of).collect::<Vec<_>>().join("\n").into_bytes()
        };
        let mut files = vec![
            ("tables.txt".to_owned(), self.text_of(&pivots).into_bytes()),
            ("tables.md".to_owned(), joined(|(_, pivot)| pivot.markdown())),
            ("tables.tex".to_owned(), joined(|(metric, pivot)| pivot.latex(&stem(metric)))),
            ("runs.csv".to_owned(), table.csv().into_bytes()),
            ("problems.json".to_owned(), self.problems_json()),
        ];
        files.extend(pivots.iter().flat_map(|(metric, pivot)| pivot.plot().files(&stem(metric))));
        files.extend(table.parquet(&[]).map(|bytes| ("runs.parquet".to_owned(), bytes)));
        files
    }

    /// Names of all figures that a sweep may have: those of other metrics are of an earlier command.
    pub fn figures() -> Vec<String> {
        let stems = |metric: &String| [stem(metric), stem(&format!("{metric}{DIFFERENCE}"))];
        let stems = metric_keys().iter().flat_map(stems).collect::<Vec<_>>();
        stems.iter().flat_map(|stem| Plot::names(stem).collect::<Vec<_>>()).collect()
    }

    /// Its tables, for people.
    pub fn text(&self) -> String {
        self.text_of(&self.pivots())
    }

    fn text_of(&self, pivots: &[(String, Pivot)]) -> String {
        let tables: String = pivots.iter().map(|(_, pivot)| pivot.text() + "\n").collect();
        tables + &self.problems().map_or(String::new(), |problems| format!("problems: {problems}\n"))
    }

    /// A table for each metric that the file names, or for some that most look at.
    pub fn pivots(&self) -> Vec<(String, Pivot)> {
        let rows = self.rows();
        let sweep = self.plan.sweep();
        let named = !sweep.metrics.is_empty();
        let shown: Vec<String> =
            if named { sweep.metrics.clone() } else { SHOWN.map(str::to_owned).to_vec() };
        let layout = Layout { rows: &sweep.rows, columns: &sweep.columns, labels: &sweep.labels };
        let differences = sweep.baseline.differences(&rows);
        let has = |rows: &[Row], key: &str| {
            rows.iter().any(|row| row.values.get(key).is_some_and(|of| !of.is_empty()))
        };
        let mut pivots = Vec::new();
        for key in shown {
            let measure = Measure::of(&rows, &key, sweep.labels.of(&key));
            if has(&rows, &key) || named && !rows.is_empty() {
                pivots.push((key.clone(), Pivot::new(&rows, layout, &measure)));
            }
            if has(&differences, &key) {
                let title = format!(
                    "{}: difference to {} (%)",
                    sweep.labels.of(&key),
                    sweep.baseline.text(&sweep.labels)
                );
                let measure = Measure { key: key.clone(), title, unit: 1.0 };
                pivots.push((format!("{key}{DIFFERENCE}"), Pivot::new(&differences, layout, &measure)));
            }
        }
        pivots
    }

    /// A row for each point, with the numbers of all its repeats.
    fn rows(&self) -> Vec<Row> {
        let measured = self.measured();
        let results: Vec<&RunResult> = measured.iter().map(|(_, result)| *result).collect();
        let scalars = scalars(&results);
        let mut rows: Vec<Row> = Vec::new();
        let mut known: BTreeMap<Vec<(String, String)>, usize> = BTreeMap::new();
        for (at, (run, _)) in measured.iter().enumerate() {
            let Point { settings: varied, repeat, .. } = run.point();
            let row = *known.entry(varied.clone()).or_insert_with(|| {
                rows.push(Row { varied, ..Row::default() });
                rows.len() - 1
            });
            rows[row].problems.extend(results[at].problems.iter().map(|it| it.name.clone()));
            for scalar in &scalars {
                if let Some(value) = scalar.values[at] {
                    rows[row].values.entry(scalar.key.clone()).or_default().push((repeat, value));
                }
            }
        }
        rows
    }
}

/// What stands behind the name of a metric whose differences to the baseline are shown.
const DIFFERENCE: &str = ".difference";

impl Measure {
    /// A metric, called so, in a unit in which most of its values are neither long nor short.
    fn of(rows: &[Row], key: &str, title: &str) -> Self {
        let values = rows.iter().filter_map(|row| row.values.get(key)).flatten();
        let logs: Vec<f64> =
            values.map(|(_, value)| value.abs()).filter(|value| *value > 0.0).map(f64::ln).collect();
        let middle = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
        let (name, unit) = match is_time(key) {
            Some(true) => unit_of(middle),
            _ if middle >= 1e8 => ("M", 1e6),
            _ if middle >= 1e5 => ("k", 1e3),
            _ => ("", 1.0),
        };
        let title = if name.is_empty() { title.to_owned() } else { format!("{title} ({name})") };
        Measure { key: key.to_owned(), title, unit }
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
    vec![
        words("problems", &|result| names(&result.problems).join(" ")),
        words("verdict.state", &|result| result.verdict.state.clone()),
        words("verdict.bound_by", &|result| result.verdict.bound_by.clone().unwrap_or_default()),
        number("verdict.busy", &|result| result.verdict.busy),
        words("preconditioning.state", &|result| result.preconditioning.state.clone()),
        number("preconditioning.spare.gross", &|result| result.preconditioning.spare.gross),
        number("preconditioning.spare.net", &|result| result.preconditioning.spare.net),
        words("cautions", &|result| {
            result.cautions().iter().map(Caution::to_string).collect::<Vec<_>>().join("; ")
        }),
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
