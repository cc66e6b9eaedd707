//! Pivot tables: a metric over the keys that were varied.

use super::labels::Labels;
use crate::base::csv::Csv;
use crate::base::interval::Interval;
use crate::base::number::digits;
use crate::report::cells::NONE;
use crate::report::compare::markdown;
use crate::report::plot::grouped::{Group, grouped};
use crate::report::plot::{Line, Lines, Measured, Plot};
use crate::report::table::aligned;
use crate::result::problem::{legend, letters, marked};
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
    /// For each metric the values of its repeats, by their numbers, in the units of `result.json`.
    pub values: BTreeMap<String, Vec<(u32, f64)>>,
    /// Names of the problems that any of the repeats has ([`crate::result::problems`]).
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

/// A number that is shown of each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its key in rows.
    pub key: String,
    /// What tables and figures call it, with its unit.
    pub title: String,
    /// What its values are divided by for that unit.
    pub unit: f64,
}

/// What makes a table of points.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Keys down the side.
    pub rows: &'a [String],
    /// Keys across the top.
    pub columns: &'a [String],
    /// What keys and values are called.
    pub labels: &'a Labels,
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
    pub fn new(from: &[Row], of: Layout<'_>, measure: &Measure) -> Self {
        let (rows, columns) = layout(from, of.rows, of.columns);
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
            let values = row.values.get(&measure.key).into_iter().flatten();
            samples[row_at][column_at].extend(values.map(|(_, value)| value / measure.unit));
            marks[row_at][column_at].extend(row.problems.iter().cloned());
        }
        let cells = samples.iter().map(|row| row.iter().map(|cell| Interval::of(cell)).collect()).collect();
        let shown = |keys: &[String], heads: &[Vec<&str>]| -> Vec<Vec<String>> {
            let names: Vec<BTreeMap<&str, String>> =
                keys.iter().map(|key| names(from, key, of.labels)).collect();
            let one =
                |head: &Vec<&str>| head.iter().zip(&names).map(|(value, of)| of[value].clone()).collect();
            heads.iter().map(one).collect()
        };
        let across = shown(&columns, &across).into_iter().map(|values| values.join(", ")).collect();
        let letters = |of: &BTreeSet<String>| letters(of.iter().map(String::as_str));
        let marks = marks.iter().map(|row| row.iter().map(letters).collect()).collect();
        let down = shown(&rows, &down);
        let called = |keys: Vec<String>| match keys.iter().any(|key| of.labels.get(key).is_some()) {
            true => keys.iter().map(|key| of.labels.of(key).to_owned()).collect(),
            false => keys,
        };
        let (rows, columns) = (called(rows), called(columns));
        Pivot { metric: measure.title.clone(), down, across, rows, columns, cells, marks }
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
        let names = apart((0..self.across.len()).map(|at| name(at).clone()).collect());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let places: Option<Vec<f64>> = match self.rows.as_slice() {
            [_] => self.down.iter().map(|head| place(&head[0])).collect(),
            _ => None,
        };
        let mean = |row: usize, column: usize| self.cells[row][column].map(|cell| cell.mean);
        let heads = apart(self.down.iter().map(|head| head.join(", ")).collect());
        let keys = short(&self.rows).join(", ");
        if let Some(places) = places.filter(|places| places.len() > 2) {
            let line = |(column, name): (usize, &&str)| {
                let point =
                    |(row, x): (usize, &f64)| Some(((*x, mean(row, column)?), self.measured(row, column)));
                let mut points: Vec<_> = places.iter().enumerate().filter_map(point).collect();
                points.sort_by(|(a, _), (b, _)| a.0.total_cmp(&b.0));
                let (points, measured) = points.into_iter().unzip();
                Line { name: (*name).to_owned(), points, measured }
            };
            let lines: Vec<Line> = names.iter().enumerate().map(line).collect();
            return Lines { up: &self.metric, across: &keys, lines: &lines }.plot();
        }
        let mut data = Csv::new(&[&["row", "column", "mean"], &Measured::HEAD[..]].concat());
        let mut groups = Vec::new();
        for (row, head) in heads.iter().enumerate() {
            let bars: Vec<Option<f64>> = (0..names.len()).map(|column| mean(row, column)).collect();
            for (column, mean) in bars.iter().enumerate() {
                let Some(mean) = mean else { continue };
                let cells = [head.clone(), names[column].to_owned(), mean.to_string()];
                data.row(&[&cells[..], &self.measured(row, column).cells()].concat());
            }
            let half_widths = (0..names.len()).map(|column| self.measured(row, column).half_width).collect();
            groups.push(Group { name: head.clone(), bars, half_widths });
        }
        let values = groups.iter().flat_map(|group| &group.bars).flatten();
        let shows = values.filter(|value| **value != 0.0).count() > 1;
        Plot::new(grouped(&keys, self.metric.clone(), &names, &groups), data, shows)
    }

    /// How sure a cell is.
    fn measured(&self, row: usize, column: usize) -> Measured {
        let problems = self.marks[row][column].clone();
        let of = |cell: Interval| Measured {
            half_width: cell.half_width,
            runs: cell.n,
            problems: problems.clone(),
        };
        self.cells[row][column].map(of).unwrap_or_default()
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

    /// As a `table` of LaTeX with the rules of the package `booktabs`, with a caption that says what it shows, and the
    /// label `tab:NAME`.
    pub fn latex(&self, name: &str) -> String {
        let table = self.table();
        let (left, right) = (self.rows.len(), table[0].len() - self.rows.len());
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let mut text = format!("\\begin{{table}}\n\\centering\n\\caption{{{}.}}\n", escaped(&self.title()));
        text.push_str(&format!("\\label{{tab:{name}}}\n\\begin{{tabular}}{{"));
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
        text + "\\end{tabular}\n\\end{table}\n"
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

/// What tables call the values of a key: as their labels say; else without quotes, and of paths the last part, if these
/// tell them apart.
fn names<'a>(from: &'a [Row], key: &str, labels: &Labels) -> BTreeMap<&'a str, String> {
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
        let name = |value: &&'a str| labels.get(&plain(value)).map_or_else(|| name(value), str::to_owned);
        let names: BTreeMap<&str, String> = values.iter().map(|value| (*value, name(value))).collect();
        (names.values().collect::<BTreeSet<_>>().len() == values.len()).then_some(names)
    };
    let as_written = || values.iter().map(|value| (*value, (*value).to_owned())).collect();
    named(&last).or_else(|| named(&plain)).unwrap_or_else(as_written)
}

/// Letters of a name that a figure has room for.
const NAME_MAX: usize = 24;

/// Names for a figure: if it has no room for one of them, all without the words that all begin or end with, so that
/// what tells them apart is not what is cut.
fn apart(names: Vec<String>) -> Vec<String> {
    let length = |name: &String| name.chars().count();
    let [Some(shortest), Some(longest)] = [names.iter().map(length).min(), names.iter().map(length).max()]
    else {
        return names;
    };
    if names.len() < 2 || longest <= NAME_MAX {
        return names;
    }
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let first = &letters[0];
    // Up to where a word begins.
    let is_alike = |at: &usize| letters.iter().all(|name| name[*at] == first[*at]);
    let alike = (0..shortest).take_while(is_alike).count();
    let head = (0..=alike).rev().find(|&at| at == 0 || !first[at - 1].is_alphanumeric()).unwrap_or(0);
    let is_alike =
        |back: &usize| letters.iter().all(|name| name[name.len() - back] == first[first.len() - back]);
    let alike = (1..=shortest - head).take_while(is_alike).count();
    let tail = (0..=alike)
        .rev()
        .find(|&back| back == 0 || !first[first.len() - back].is_alphanumeric())
        .unwrap_or(0);
    let dots = |cut: usize| if cut == 0 { "" } else { "..." };
    let short = |name: &Vec<char>| {
        let middle: String = name[head..name.len() - tail].iter().collect();
        format!("{}{middle}{}", dots(head), dots(tail))
    };
    letters.iter().map(short).collect()
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
        // As `rounded` writes it.
        0.. => digits(value).replace(',', ""),
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
