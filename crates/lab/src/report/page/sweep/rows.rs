//! Tables of a sweep's page, which its script sorts and filters: a row for each point, and one for each run.

use super::Swept;
use crate::base::interval::Interval;
use crate::base::number::digits;
use crate::report::cells::NONE;
use crate::report::page::light::Light;
use crate::result::metrics::{Show, told_as};
use crate::result::problem::MARKS;
use maud::{Markup, html};
use std::path::Path;

/// What is shown of every sweep, as far as it was measured.
const SHOWN: [&str; 6] = [
    "IOPS",
    "read_latency_p99",
    "write_latency_p99",
    "trim_latency_p99",
    "flush_latency_p99",
    "write_amplification",
];

/// A metric with its number of each run.
pub(super) struct Metric {
    pub name: String,
    show: Show,
    values: Vec<Option<f64>>,
}

impl Metric {
    pub fn shown(&self, value: f64) -> String {
        (self.show)(value)
    }
}

/// The metrics that most look at, and those that the sweep has drawn.
pub(super) fn metrics(swept: &Swept) -> Vec<Metric> {
    let drawn = swept.table.columns().iter().map(|column| &*column.name);
    let drawn = drawn.filter(|key| swept.figures.iter().any(|figure| figure.stem == stem(key)));
    let mut keys: Vec<&str> = SHOWN.to_vec();
    for key in drawn {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let of = |key: &str| {
        let values = swept.table.values(key)?;
        let values: Vec<Option<f64>> = (0..swept.table.rows()).map(|row| values.number(row)).collect();
        let (told, show) = told_as(key).unwrap_or_else(|| (name_of(key), digits as Show));
        let name = swept.labels.get(key).map_or(told, str::to_owned);
        values.iter().any(Option::is_some).then_some(Metric { name, show, values })
    };
    keys.into_iter().filter_map(of).collect()
}

/// The name of a metric's figure, as a sweep writes it.
fn stem(metric: &str) -> String {
    metric.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_")
}

/// What people call a key.
pub(super) fn name_of(key: &str) -> String {
    key.replace('_', " ")
}

/// What a figure shows: a metric, or its differences to the sweep's baseline.
pub(super) fn figure_name(swept: &Swept, of: &str) -> String {
    let (metric, what) = match of.strip_suffix(DIFFERENCE) {
        Some(metric) => (metric, ": difference to the baseline"),
        None => (of, ""),
    };
    let mut keys = swept.table.columns().iter().map(|column| &*column.name);
    let label = keys.find(|key| stem(key) == metric).and_then(|key| swept.labels.get(key));
    label.map_or_else(|| name_of(metric), str::to_owned) + what
}

/// What stands behind the name of a metric in that of the figure of its differences.
const DIFFERENCE: &str = ".difference";

/// What a key that varies is called: as the sweep's file says, or in short.
pub(super) fn called(swept: &Swept, key: &str) -> String {
    swept.labels.get(key).map_or_else(|| short(key, &swept.varied), str::to_owned)
}

/// The last part of a key, or what a policy is for; the whole of it where several would be the same.
fn short(key: &str, all: &[String]) -> String {
    fn last(key: &str) -> &str {
        let key = key.strip_suffix(".policy").unwrap_or(key);
        key.rsplit('.').next().unwrap_or(key)
    }
    let is_alone = all.iter().filter(|other| last(other) == last(key)).count() < 2;
    name_of(if is_alone { last(key) } else { key })
}

/// A point of a sweep: the runs in which all that varies is the same.
pub(super) struct Point {
    values: Vec<String>,
    rows: Vec<usize>,
    /// What is wrong with any of its runs, and with how many.
    problems: Vec<(String, usize)>,
    light: Light,
}

impl Point {
    /// The mean of a metric over its runs.
    pub fn interval(&self, metric: &Metric) -> Option<Interval> {
        let values: Vec<f64> = self.rows.iter().filter_map(|row| metric.values[*row]).collect();
        Interval::of(&values)
    }

    pub fn lamp(&self) -> Markup {
        if self.light == Light::Good {
            html! {}
        } else {
            self.light.lamp()
        }
    }

    /// What varies, in words.
    pub fn label(&self, swept: &Swept) -> String {
        let pairs = swept.varied.iter().zip(&self.values);
        pairs
            .map(|(key, value)| format!("{} {}", called(swept, key), swept.labels.value(key, value)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// What is wrong with a run, by its status and its problems: names for people.
pub(super) fn wrongs(swept: &Swept, row: usize) -> (Light, Vec<String>) {
    let word = |name: &String| {
        MARKS
            .iter()
            .find(|(other, ..)| other == name)
            .map_or_else(|| name_of(name), |(.., what)| (*what).to_owned())
    };
    let problems = swept.problems(row);
    match swept.word("status", row).as_str() {
        "ok" if problems.is_empty() && !swept.cautions(row).is_empty() => {
            (Light::Look, vec!["with remarks".to_owned()])
        }
        "ok" => (Light::of_names(problems.iter().map(String::as_str)), problems.iter().map(word).collect()),
        "missing" => (Light::Look, vec!["not run yet".to_owned()]),
        other => (Light::Wrong, vec![other.to_owned()]),
    }
}

/// All points, in the order in which they come.
pub(super) fn points(swept: &Swept) -> Vec<Point> {
    let mut all: Vec<Point> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    for row in 0..swept.table.rows() {
        let values: Vec<String> = swept.varied.iter().map(|key| swept.word(key, row)).collect();
        let at = *known.entry(values.clone()).or_insert_with(|| {
            all.push(Point { values, rows: Vec::new(), problems: Vec::new(), light: Light::Good });
            all.len() - 1
        });
        let point = &mut all[at];
        point.rows.push(row);
        let (light, names) = wrongs(swept, row);
        point.light = point.light.max(light);
        for name in names {
            match point.problems.iter_mut().find(|(other, _)| *other == name) {
                Some((_, number)) => *number += 1,
                None => point.problems.push((name, 1)),
            }
        }
    }
    all
}

/// A cell: what is shown, what it is sorted by, and what it is filtered by.
struct Cell {
    shown: Markup,
    by: String,
}

/// A column that can be sorted, and filtered if it has few values.
struct Column {
    name: String,
    is_number: bool,
    is_filter: bool,
}

fn column(name: &str, is_number: bool, is_filter: bool) -> Column {
    Column { name: name.to_owned(), is_number, is_filter }
}

/// A table that the script sorts and filters; without it, it is in the order of the sweep.
fn sorted(what: &str, columns: &[Column], lines: &[Vec<Cell>]) -> Markup {
    let class = |column: &Column| if column.is_number { "number" } else { "text" };
    html! {
        div.filters hidden role="search" aria-label={"Which " (what) " are shown"} {}
        div.scroll {
            table.stack.sorts data-what=(what) {
                thead { tr { @for column in columns {
                    th.(class(column)) scope="col" data-filter[column.is_filter] { (column.name) }
                } } }
                tbody { @for line in lines {
                    tr { @for (at, (cell, column)) in line.iter().zip(columns).enumerate() {
                        @if at == 0 {
                            th.(class(column)) scope="row" data-head=(column.name) data-by=(cell.by) {
                                span { (cell.shown) }
                            }
                        } @else {
                            td.(class(column)) data-head=(column.name) data-by=(cell.by) { span { (cell.shown) } }
                        }
                    } }
                } }
            }
        }
    }
}

fn text_cell(text: &str) -> Cell {
    Cell { shown: html! { (text) }, by: text.to_owned() }
}

/// A value of a key that varies: numbers are sorted by their size, whatever they are called.
fn value_cell(swept: &Swept, key: &str, value: &str) -> Cell {
    let shown = swept.labels.value(key, value);
    let by = if is_number(swept, key) { value } else { shown };
    Cell { shown: html! { (shown) }, by: by.to_owned() }
}

fn verdict(light: Light, words: &str) -> Cell {
    let words = if words.is_empty() { light.name() } else { words };
    Cell { shown: html! { (light.lamp()) " " (words) }, by: words.to_owned() }
}

/// Whether all values of a varied key are numbers.
fn is_number(swept: &Swept, key: &str) -> bool {
    swept.table.values(key).is_some_and(|values| values.names().is_none())
}

/// A row for each point, with means and half widths.
pub(super) fn of_points(swept: &Swept, metrics: &[Metric], points: &[Point]) -> Markup {
    let keys = &swept.varied;
    let mut columns: Vec<Column> =
        keys.iter().map(|key| column(&called(swept, key), is_number(swept, key), true)).collect();
    columns.extend([column("runs", true, false), column("verdict", false, true)]);
    columns.extend(metrics.iter().map(|metric| column(&metric.name, true, false)));
    let line = |point: &Point| {
        let mut cells: Vec<Cell> =
            keys.iter().zip(&point.values).map(|(key, value)| value_cell(swept, key, value)).collect();
        cells.push(text_cell(&point.rows.len().to_string()));
        let all = point.rows.len();
        let words = point.problems.iter().map(|(name, number)| match *number == all {
            true => name.clone(),
            false => format!("{number} of {all} {name}"),
        });
        cells.push(verdict(point.light, &words.collect::<Vec<_>>().join(", ")));
        cells.extend(metrics.iter().map(|metric| match point.interval(metric) {
            None => text_cell(NONE),
            Some(found) => {
                let half = found.half_width.map_or(String::new(), |half| format!("± {}", metric.shown(half)));
                let shown = html! { span.flag { (metric.shown(found.mean)) } " " span.flag { (half) } };
                Cell { shown, by: found.mean.to_string() }
            }
        }));
        cells
    };
    let lines: Vec<Vec<Cell>> = points.iter().map(line).collect();
    html! {
        p.soft { "Means of the repeats of each point ± half the width of their 95 % confidence interval \
                  (Student's t)." }
        (sorted("points", &columns, &lines))
    }
}

/// A row for each run.
pub(super) fn of_runs(swept: &Swept, metrics: &[Metric], beside: Option<&Path>) -> Markup {
    let keys = &swept.varied;
    let has_repeats = (0..swept.table.rows()).any(|row| swept.word("repeat", row) != "0");
    let mut columns = vec![column("run", false, false)];
    columns.extend(keys.iter().map(|key| column(&called(swept, key), is_number(swept, key), true)));
    if has_repeats {
        columns.push(column("repeat", true, true));
    }
    columns.push(column("verdict", false, true));
    columns.extend(metrics.iter().map(|metric| column(&metric.name, true, false)));
    let line = |row: usize| {
        let id = swept.word("run", row);
        let shown = match page_of(swept, &id, beside) {
            Some(link) => html! { a href=(link) { (id) } },
            None => html! { (id) },
        };
        let mut cells = vec![Cell { shown: html! { span.mono { (shown) } }, by: id }];
        cells.extend(keys.iter().map(|key| value_cell(swept, key, &swept.word(key, row))));
        if has_repeats {
            cells.push(text_cell(&swept.word("repeat", row)));
        }
        let (light, words) = wrongs(swept, row);
        cells.push(verdict(light, &words.join(", ")));
        cells.extend(metrics.iter().map(|metric| match metric.values[row] {
            None => text_cell(NONE),
            Some(value) => Cell { shown: html! { (metric.shown(value)) }, by: value.to_string() },
        }));
        cells
    };
    let lines: Vec<Vec<Cell>> = (0..swept.table.rows().min(ROWS)).map(line).collect();
    html! {
        @if swept.table.rows() > ROWS {
            p { "The first " (crate::base::number::count(ROWS as u64)) " runs are shown; " code { (Swept::ROWS_NAME) }
                " has all of them." }
        }
        (sorted("runs", &columns, &lines))
    }
}

/// Runs that a page shows.
const ROWS: usize = 2_000; // [A]

/// A link to a run's own page, where there is one and the sweep's page will lie beside or above it.
fn page_of(swept: &Swept, id: &str, beside: Option<&Path>) -> Option<String> {
    let folder = swept.folder.canonicalize().ok()?;
    let beside = beside?.canonicalize().ok()?;
    let page = folder.join("runs").join(id).join(crate::report::page::PAGE_NAME);
    let page = page.is_file().then_some(page)?;
    let link = page.strip_prefix(beside).ok()?;
    Some(link.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/"))
}
