//! Pivot tables: a metric over the keys that were varied.

use super::interval::Interval;
use crate::compare::markdown;
use crate::csv::Csv;
use crate::number::digits;
use crate::plot::grouped::{Group, grouped};
use crate::plot::{Line, Lines, Plot};
use crate::problem::{legend, letters, marked};
use crate::table::{NONE, aligned};
use ssd::config::{control_escape, is_control};
use std::collections::{BTreeMap, BTreeSet};
use toml::de::DeValue;

/// Columns of a terminal.
const WIDTH: usize = 120;
/// The most columns that are chosen for a table, where none are asked for.
const COLUMNS_MAX: usize = 12;

/// A point of a sweep, with what all its runs measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Varied keys and their values in TOML, in the sweep's order.
    pub varied: Vec<(String, String)>,
    /// For each metric the values of all repeats, in the metric's unit.
    pub values: BTreeMap<String, Vec<f64>>,
    /// Names of the problems that any of the repeats has ([`crate::problems`]).
    pub problems: BTreeSet<String>,
}

impl Row {
    fn value(&self, key: &str) -> &str {
        self.varied.iter().find(|(name, _)| name == key).map_or(NONE, |(_, value)| value)
    }

    fn values_of(&self, keys: &[String]) -> Vec<&str> {
        keys.iter().map(|key| self.value(key)).collect()
    }
}

/// A value as a place on an axis.
fn place(value: &str) -> Option<f64> {
    value.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

/// A metric's means with their 95 % confidence intervals, over some keys down and others across.
#[derive(Clone, Debug, PartialEq)]
pub struct Pivot {
    metric: String,
    rows: Vec<String>,
    columns: Vec<String>,
    /// What heads each row: a value of each row key.
    down: Vec<Vec<String>>,
    /// What heads each column.
    across: Vec<String>,
    cells: Vec<Vec<Option<Interval>>>,
    /// Letters of the problems of each cell's runs.
    marks: Vec<Vec<String>>,
}

impl Pivot {
    /// Of all points. A key that varies and is in neither list goes to the rows, so that nothing is averaged but
    /// repeats; if no columns are asked for, the last key with which the table has no holes makes them.
    pub fn new(from: &[Row], rows: &[String], columns: &[String], metric: &str) -> Self {
        let (rows, columns) = layout(from, rows, columns);
        let (down, across) = (distinct(from, &rows), distinct(from, &columns));
        let place = |of: &[Vec<&str>]| -> BTreeMap<Vec<String>, usize> {
            let owned = |values: &Vec<&str>| values.iter().map(|value| (*value).to_owned()).collect();
            of.iter().enumerate().map(|(at, values)| (owned(values), at)).collect()
        };
        let (at_row, at_column) = (place(&down), place(&across));
        let mut samples = vec![vec![Vec::new(); across.len()]; down.len()];
        let mut marks = vec![vec![BTreeSet::new(); across.len()]; down.len()];
        for row in from {
            let at = |places: &BTreeMap<Vec<String>, usize>, keys| {
                let values: Vec<String> = row.values_of(keys).into_iter().map(str::to_owned).collect();
                places.get(&values).copied().unwrap_or_default()
            };
            let (row_at, column_at) = (at(&at_row, &rows), at(&at_column, &columns));
            samples[row_at][column_at].extend(row.values.get(metric).into_iter().flatten());
            marks[row_at][column_at].extend(row.problems.iter().cloned());
        }
        let cells = samples.iter().map(|row| row.iter().map(|cell| Interval::of(cell)).collect()).collect();
        let shown = |keys: &[String], heads: &[Vec<&str>]| -> Vec<Vec<String>> {
            let names: Vec<BTreeMap<&str, String>> = keys.iter().map(|key| names(from, key)).collect();
            let one =
                |head: &Vec<&str>| head.iter().zip(&names).map(|(value, of)| of[value].clone()).collect();
            heads.iter().map(one).collect()
        };
        let across = shown(&columns, &across).into_iter().map(|values| values.join(", ")).collect();
        let letters = |of: &BTreeSet<String>| letters(of.iter().map(String::as_str));
        let marks = marks.iter().map(|row| row.iter().map(letters).collect()).collect();
        Pivot { metric: metric.to_owned(), down: shown(&rows, &down), across, rows, columns, cells, marks }
    }

    /// What the table shows, in one line.
    pub fn title(&self) -> String {
        let counts: BTreeSet<usize> = self.cells.iter().flatten().flatten().map(|cell| cell.n).collect();
        let of = match (counts.first(), counts.last()) {
            (_, None | Some(1)) => String::new(),
            (Some(low), Some(high)) if low < high => {
                format!(", mean ± 95 % confidence interval of {low} to {high} runs")
            }
            (_, Some(n)) => format!(", mean ± 95 % confidence interval of {n} runs"),
        };
        let across = match self.columns.as_slice() {
            [] => String::new(),
            columns => format!("; columns: {}", columns.join(", ")),
        };
        format!("{}{of}{across}", self.metric)
    }

    /// As a figure: curves over the one key down the side, if its values are numbers; else bars in groups.
    pub fn plot(&self) -> Plot {
        let name = |at: usize| self.across.get(at).filter(|name| !name.is_empty()).unwrap_or(&self.metric);
        let names: Vec<&str> = (0..self.across.len()).map(|at| name(at).as_str()).collect();
        let places: Option<Vec<f64>> = match self.rows.as_slice() {
            [_] => self.down.iter().map(|head| place(&head[0])).collect(),
            _ => None,
        };
        let mean = |row: usize, column: usize| self.cells[row][column].map(|cell| cell.mean);
        let heads: Vec<String> = self.down.iter().map(|head| head.join(", ")).collect();
        let keys = short(&self.rows).join(", ");
        if let Some(places) = places.filter(|places| places.len() > 2) {
            let line = |(column, name): (usize, &&str)| {
                let point = |(row, x): (usize, &f64)| Some((*x, mean(row, column)?));
                let mut points: Vec<(f64, f64)> = places.iter().enumerate().filter_map(point).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                Line { name: (*name).to_owned(), points }
            };
            let lines: Vec<Line> = names.iter().enumerate().map(line).collect();
            return Lines { up: &self.metric, across: &keys, lines: &lines }.plot();
        }
        let mut data = Csv::new(&["row", "column", "mean", "half_width", "runs", "problems"]);
        let mut groups = Vec::new();
        for (row, head) in heads.iter().enumerate() {
            let bars: Vec<Option<f64>> = (0..names.len()).map(|column| mean(row, column)).collect();
            for (column, cell) in self.cells[row].iter().enumerate() {
                let Some(cell) = cell else { continue };
                let half = cell.half_width.map_or(String::new(), |half| half.to_string());
                let marks = &self.marks[row][column];
                data.row(&[head, names[column], &cell.mean.to_string(), &half, &cell.n.to_string(), marks]);
            }
            groups.push(Group { name: head.clone(), bars });
        }
        let values = groups.iter().flat_map(|group| &group.bars).flatten();
        let shows = values.filter(|value| **value != 0.0).count() > 1;
        Plot::new(grouped(&keys, self.metric.clone(), &names, &groups), data, shows)
    }

    /// The head, with the row keys in it.
    fn head(&self) -> Vec<String> {
        let across = if self.columns.is_empty() { std::slice::from_ref(&self.metric) } else { &self.across };
        short(&self.rows).into_iter().chain(across.iter().cloned()).collect()
    }

    /// All cells with their heads, and with marks where their runs have problems.
    fn table(&self) -> Vec<Vec<String>> {
        let marked = |(of, marks): (&Option<Interval>, &String)| match of {
            None => cell(of),
            Some(_) => marked(cell(of), marks),
        };
        let row = |at: usize| -> Vec<String> {
            let cells = self.cells[at].iter().zip(&self.marks[at]).map(marked);
            self.down[at].iter().cloned().chain(cells).collect()
        };
        std::iter::once(self.head()).chain((0..self.down.len()).map(row)).collect()
    }

    /// What the marks in its cells mean; nothing without marks.
    fn footnote(&self) -> Option<String> {
        let legend = legend(self.marks.iter().flatten().map(String::as_str))?;
        Some(format!("Some or all runs of a cell are {legend}."))
    }

    /// As aligned text; columns for which a terminal has no room follow below, with the rows' heads again.
    pub fn text(&self) -> String {
        let (table, left) = (self.table(), self.rows.len());
        let width = |at: usize| table.iter().map(|row| row[at].chars().count()).max().unwrap_or(0) + 2;
        let heads: usize = (0..left).map(width).sum();
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut room = 0;
        for at in left..table[0].len() {
            match blocks.last_mut() {
                Some(block) if width(at) <= room => block.push(at),
                _ => {
                    blocks.push(vec![at]);
                    room = (WIDTH + 2).saturating_sub(heads);
                }
            }
            room = room.saturating_sub(width(at));
        }
        let block = |columns: &Vec<usize>| {
            let part = |row: &Vec<String>| {
                (0..left).chain(columns.iter().copied()).map(|at| row[at].clone()).collect()
            };
            aligned(&table.iter().map(part).collect::<Vec<_>>(), left)
        };
        let note = self.footnote().map_or(String::new(), |note| format!("\n{note}\n"));
        format!("{}\n\n{}{note}", self.title(), blocks.iter().map(block).collect::<Vec<_>>().join("\n"))
    }

    /// As a table of GitHub's Markdown, under a line that says what it shows.
    pub fn markdown(&self) -> String {
        let note = self.footnote().map_or(String::new(), |note| format!("\n{note}\n"));
        format!("{}\n\n{}{note}", self.title(), markdown(&self.table(), self.rows.len()))
    }

    /// As a `tabular` of LaTeX with the rules of the package `booktabs`, under a comment that says what it shows.
    pub fn latex(&self) -> String {
        let table = self.table();
        let (left, right) = (self.rows.len(), table[0].len() - self.rows.len());
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let mut text = format!("% {}\n\\begin{{tabular}}{{", self.title());
        text.push_str(&format!("{}{}}}\n\\toprule\n", "l".repeat(left), "r".repeat(right)));
        if !self.columns.is_empty() {
            let keys = escaped(&self.columns.join(", "));
            text.push_str(&format!("{}\\multicolumn{{{right}}}{{c}}{{{keys}}} \\\\\n", "& ".repeat(left)));
            text.push_str(&format!("\\cmidrule(lr){{{}-{}}}\n", left + 1, left + right));
        }
        text.push_str(&line(&table[0]));
        text.push_str("\\midrule\n");
        text.extend(table[1..].iter().map(line));
        text.push_str("\\bottomrule\n");
        if let Some(note) = self.footnote() {
            let columns = left + right;
            text.push_str(&format!(
                "\\multicolumn{{{columns}}}{{l}}{{\\footnotesize {}}} \\\\\n",
                escaped(&note)
            ));
        }
        text + "\\end{tabular}\n"
    }
}

/// Distinct values of some keys, in the order in which they come.
fn distinct<'a>(from: &'a [Row], keys: &[String]) -> Vec<Vec<&'a str>> {
    let mut known = BTreeSet::new();
    from.iter().map(|row| row.values_of(keys)).filter(|values| known.insert(values.clone())).collect()
}

/// Keys down and across: those asked for, and all that vary.
fn layout(from: &[Row], rows: &[String], columns: &[String]) -> (Vec<String>, Vec<String>) {
    let mut known: BTreeSet<&String> = rows.iter().chain(columns).collect();
    let keys = from.iter().flat_map(|row| row.varied.iter().map(|(key, _)| key));
    let number = |key: &String| distinct(from, std::slice::from_ref(key)).len();
    let more: Vec<String> =
        keys.filter(|key| known.insert(key)).filter(|key| number(key) > 1).cloned().collect();
    let mut rows: Vec<String> =
        rows.iter().chain(&more).filter(|key| !columns.contains(key)).cloned().collect();
    let mut columns = columns.to_vec();
    if columns.is_empty() && rows.len() > 1 {
        let all = distinct(from, &rows).len();
        let is_full = |key: &&String| {
            let others: Vec<String> = rows.iter().filter(|other| other != key).cloned().collect();
            number(key) <= COLUMNS_MAX && number(key) * distinct(from, &others).len() == all
        };
        columns.extend(more.iter().rev().find(is_full).cloned());
        rows.retain(|key| !columns.contains(key));
    }
    (rows, columns)
}

/// Keys by their last words, if these tell them apart.
fn short(keys: &[String]) -> Vec<String> {
    let last = |key: &String| {
        let key = key.strip_suffix(".policy").unwrap_or(key);
        key.rsplit('.').next().unwrap_or(key).to_owned()
    };
    let names: Vec<String> = keys.iter().map(last).collect();
    let is_apart = names.iter().collect::<BTreeSet<_>>().len() == keys.len();
    if is_apart { names } else { keys.to_vec() }
}

/// What tables call the values of a key: without quotes, and of paths the last part, if these tell them apart.
fn names<'a>(from: &'a [Row], key: &str) -> BTreeMap<&'a str, String> {
    let values: BTreeSet<&str> = from.iter().map(|row| row.value(key)).collect();
    let plain = |value: &&'a str| match DeValue::parse(value) {
        Ok(parsed) => parsed.get_ref().as_str().unwrap_or(value).to_owned(),
        Err(_) => (*value).to_owned(),
    };
    let last = |value: &&'a str| {
        let plain = plain(value);
        plain.rsplit('/').next().filter(|last| !last.is_empty()).map_or(plain.clone(), str::to_owned)
    };
    let named = |name: &dyn Fn(&&'a str) -> String| {
        let names: BTreeMap<&str, String> = values.iter().map(|value| (*value, name(value))).collect();
        (names.values().collect::<BTreeSet<_>>().len() == values.len()).then_some(names)
    };
    let as_written = || values.iter().map(|value| (*value, (*value).to_owned())).collect();
    named(&last).or_else(|| named(&plain)).unwrap_or_else(as_written)
}

/// A mean with its interval; the mean alone of a single run.
fn cell(of: &Option<Interval>) -> String {
    match of {
        None => NONE.to_owned(),
        Some(Interval { mean, half_width: None, .. }) => alone(*mean),
        // Less than doubles tell.
        Some(Interval { mean, half_width: Some(half), .. }) if *half <= mean.abs() * 1e-12 => {
            format!("{} ± 0", alone(*mean))
        }
        Some(Interval { mean, half_width: Some(half), .. }) => {
            let last = exponent(*half) - 1;
            format!("{} ± {}", rounded(*mean, last), rounded(*half, last))
        }
    }
}

/// Four digits, of small numbers too.
fn alone(value: f64) -> String {
    match exponent(value) {
        0.. => digits(value),
        // Far below what tables show in full.
        ..-6 => format!("{value:.3e}"),
        exponent => rounded(value, exponent - 3).trim_end_matches('0').to_owned(),
    }
}

/// The power of ten of the first of two digits; 0 of 0.
fn exponent(value: f64) -> i32 {
    format!("{value:.1e}").rsplit('e').next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A number up to the digit of that power of ten.
fn rounded(value: f64, last: i32) -> String {
    match last {
        1.. => {
            let step = 10f64.powi(last);
            format!("{:.0}", (value / step).round() * step)
        }
        last => format!("{value:.*}", last.unsigned_abs() as usize),
    }
}

/// Text for LaTeX.
fn escaped(text: &str) -> String {
    let one = |c: char| match c {
        '&' | '%' | '_' | '#' | '$' | '{' | '}' => format!("\\{c}"),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '\\' => "\\textbackslash{}".to_owned(),
        '±' => "$\\pm$".to_owned(),
        c if is_control(c) => format!("\\textbackslash{{}}{}", &control_escape(c)[1..]),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests;
