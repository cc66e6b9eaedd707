//! Many results: a row each, in groups by what was set differently, no wider than a terminal.

use super::comparison::Comparison;
use super::keys::Key;
use super::text::{WIDTH, markdown, ratio, wrapped};
use crate::report::cells::NONE;
use crate::report::table::title;
use crate::result::metrics::Metric;
use crate::result::problem::marked;

/// The longest name that is shown whole, and value of a key.
const NAME_MAX: usize = 32;
const VALUE_MAX: usize = 18;
/// Keys that get columns.
const KEYS_MAX: usize = 4;

/// Metrics by their importance: what does not fit is left out from the end. Those first have ratios to the baseline.
const METRICS: [&str; 12] = [
    "write_amplification",
    "read_latency_p99",
    "IOPS",
    "read_latency_mean",
    "write_latency_p99",
    "trim_latency_p99",
    "flush_latency_p99",
    "write_latency_mean",
    "flash_erases",
    "dies_busy",
    "uncorrectable_reads",
    "read_bandwidth",
];
const WITH_RATIO: usize = 2;

/// A column: what stands above it, in lines from the top, and its cells.
struct Column {
    head: Vec<String>,
    cells: Vec<String>,
}

impl Column {
    fn new(head: Vec<String>, cells: Vec<String>) -> Self {
        Column { head, cells }
    }

    fn width(&self) -> usize {
        self.head.iter().chain(&self.cells).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

/// A text of at most so many letters: what is in its middle is left out.
fn shortened(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = ((most - 1) / 3, most - 1 - (most - 1) / 3);
    let tail = letters[letters.len() - tail..].iter();
    letters[..head].iter().chain(&['~']).chain(tail).collect()
}

/// A key above a column: its last words, a line each.
fn key_head(name: &str) -> Vec<String> {
    let parts: Vec<&str> = name.split('.').collect();
    match parts.as_slice() {
        [.., family, "policy"] => vec![(*family).to_owned()],
        [.., last] => last.split('_').map(str::to_owned).collect(),
        [] => Vec::new(),
    }
}

/// A value as it fits into a column: of a path, its last part.
fn value(key: &Key, result: usize) -> String {
    let text = key.shown(result);
    shortened(text.rsplit('/').next().unwrap_or(&text), VALUE_MAX)
}

/// All of a comparison.
pub(super) struct Rows<'a> {
    of: &'a Comparison,
    /// The key whose values head groups.
    group: Option<&'a Key>,
    columns: Vec<Column>,
    left_out: Vec<String>,
}

impl<'a> Rows<'a> {
    pub fn new(of: &'a Comparison) -> Self {
        let (keys, is_asked) = (of.keys(), of.has_choice());
        // One key alone needs no groups.
        let (group, keys) = match keys {
            [first, rest @ ..] if !rest.is_empty() && first.distinct().len() < of.results.len() => {
                (Some(first), rest)
            }
            keys => (None, keys),
        };
        let name = |result| marked(shortened(title(result), NAME_MAX), &Comparison::marks(result));
        let names = of.results.iter().map(name).collect();
        let mut columns = vec![Column::new(vec!["run".to_owned()], names)];
        for key in keys.iter().take(if is_asked { usize::MAX } else { KEYS_MAX }) {
            let cells = (0..of.results.len()).map(|result| value(key, result)).collect();
            columns.push(Column::new(key_head(&key.name), cells));
        }
        let mut rows = Rows { of, group, columns, left_out: Vec::new() };
        rows.add_metrics(is_asked);
        rows
    }

    /// Adds metrics as long as there is room, the most important ones first; all that were asked for.
    fn add_metrics(&mut self, is_asked: bool) {
        let metrics = self.of.metrics();
        let place = |metric: &Metric| METRICS.iter().position(|key| *key == metric.key);
        let mut wanted: Vec<&Metric> =
            metrics.iter().filter(|metric| is_asked || place(metric).is_some()).collect();
        if !is_asked {
            wanted.sort_by_key(|metric| place(metric));
        }
        for (number, metric) in wanted.into_iter().enumerate() {
            let added = self.metric(metric, is_asked || number < WITH_RATIO);
            let width: usize = self.columns.iter().chain(&added).map(|column| column.width() + 2).sum();
            if is_asked || width <= WIDTH {
                self.columns.extend(added);
            } else {
                self.left_out.push(metric.key.clone());
            }
        }
    }

    fn metric(&self, metric: &Metric, has_ratio: bool) -> Vec<Column> {
        let values: Vec<Option<f64>> = self.of.results.iter().map(|result| (metric.value)(result)).collect();
        let head = metric.name.trim().split(' ').map(str::to_owned).collect();
        let cells = values.iter().map(|value| value.map_or(NONE.to_owned(), metric.show)).collect();
        let mut columns = vec![Column::new(head, cells)];
        if has_ratio && self.of.results.len() > 1 {
            let bases = (0..values.len()).map(|result| values[self.of.base_of(result)]);
            let ratios = values.iter().zip(bases).map(|(value, base)| ratio(*value, base));
            columns.push(Column::new(vec!["ratio".to_owned()], ratios.collect()));
        }
        columns
    }

    /// Lines of a head that stands at the bottom, so that it ends where the cells begin.
    fn head(&self) -> Vec<Vec<String>> {
        let height = self.columns.iter().map(|column| column.head.len()).max().unwrap_or(0);
        let line = |row: usize| {
            let cell = |column: &Column| {
                let above = height - column.head.len();
                row.checked_sub(above).map_or(String::new(), |at| column.head[at].clone())
            };
            self.columns.iter().map(cell).collect()
        };
        (0..height).map(line).collect()
    }

    fn row(&self, result: usize) -> Vec<String> {
        self.columns.iter().map(|column| column.cells[result].clone()).collect()
    }

    /// As aligned text.
    pub fn text(&self) -> String {
        let widths: Vec<usize> = self.columns.iter().map(Column::width).collect();
        let line = |cells: Vec<String>| {
            let mut text = String::new();
            for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                match column {
                    0 => text.push_str(&format!("{cell:<width$}")),
                    _ => text.push_str(&format!("  {cell:>width$}")),
                }
            }
            text.trim_end().to_owned() + "\n"
        };
        let mut text: String = self.head().into_iter().map(line).collect();
        let mut before = None;
        for result in 0..self.of.results.len() {
            let group = self.group.map(|key| key.shown(result));
            if let (Some(key), true) = (self.group, group != before) {
                let value = key.shown(result);
                let value = value.rsplit('/').next().unwrap_or(&value);
                text.push_str(&format!("\n{} = {}\n", key.name, shortened(value, WIDTH / 2)));
            }
            before = group;
            text.push_str(&line(self.row(result)));
        }
        if !self.left_out.is_empty() {
            text.push_str(&wrapped(&format!(
                "Omitted for lack of space: {} (--keys selects columns, --csv has all).",
                self.left_out.join(", ")
            )));
        }
        text
    }

    /// As a table of Markdown, with the key of the groups as a column.
    pub fn markdown(&self) -> String {
        let names = self.columns.iter().map(|column| column.head.join(" "));
        let group = |cell: String| self.group.map(|_| cell);
        let of_group = self.group.map_or(String::new(), |key| key_head(&key.name).join(" "));
        let mut rows: Vec<Vec<String>> = vec![group(of_group).into_iter().chain(names).collect()];
        for result in 0..self.of.results.len() {
            let cell = self.group.map(|key| value(key, result));
            rows.push(cell.into_iter().chain(self.row(result)).collect());
        }
        markdown(&rows, 1)
    }
}
