//! Time series as tables: one of the run, one of its dies, one of its channels.

use crate::base::columns::{Column, Table, Values};
use serde::{Deserialize, Serialize};

/// A column of a time series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesColumn {
    /// Its name: that of a counter, or of what requests met.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it tells.
    pub doc: String,
}

impl SeriesColumn {
    /// Whether it holds ratios, which alone have no unit.
    fn is_ratio(&self) -> bool {
        self.unit.is_empty()
    }
}

/// A value of a time series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeriesValue {
    /// A count, a time, what stood at the end of the interval.
    Number(u64),
    /// A ratio.
    Ratio(f64),
    /// Nothing that could be told: no request completed, nothing was written.
    Nothing,
}

/// What requests met and what the drive counted, in intervals of simulated time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSeries {
    /// Length of the intervals but the last; ns.
    pub interval_ns: u64,
    /// What is told.
    pub columns: Vec<SeriesColumn>,
    /// By interval: a value for each column.
    pub rows: Vec<Vec<SeriesValue>>,
    /// By interval and die: how long it had work on it, and of this how long its array worked; ns.
    pub dies: Vec<Vec<[u64; 2]>>,
    /// By interval and channel: how long it carried something; ns.
    pub channels: Vec<Vec<u64>>,
}

/// Names of the tables: of the run, of its dies, of its channels.
pub(crate) const NAMES_OF_TABLES: [&str; 3] = ["series", "series_dies", "series_channels"];

impl TimeSeries {
    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The tables: of the run, of its dies, of its channels.
    pub fn tables(&self) -> [Table; 3] {
        let of_run = self.columns.iter().enumerate().map(|(at, column)| {
            let values = self.rows.iter().map(|row| row[at]);
            Column::new(column.name.clone(), collected(values, column.is_ratio()))
        });
        let dies = self.of_parts("die", &self.dies, &["busy_ns", "array_ns"], |die, at| die[at]);
        let channels = self.of_parts("channel", &self.channels, &["busy_ns"], |busy, _| *busy);
        [
            Table::new(NAMES_OF_TABLES[0], of_run.collect()),
            Table::new(NAMES_OF_TABLES[1], dies),
            Table::new(NAMES_OF_TABLES[2], channels),
        ]
    }

    /// Columns with a row for each interval and part of the drive.
    fn of_parts<T>(
        &self,
        what: &'static str,
        parts: &[Vec<T>],
        names: &[&'static str],
        value: impl Fn(&T, usize) -> u64,
    ) -> Vec<Column> {
        let times = || self.times().zip(parts).flat_map(|(times, parts)| parts.iter().map(move |_| times));
        let number = parts.iter().flat_map(|parts| 0..parts.len() as u64);
        let mut columns = vec![
            Column::new("start_ns", Values::Counts(times().map(|[start, _]| start).collect())),
            Column::new("end_ns", Values::Counts(times().map(|[_, end]| end).collect())),
            Column::new(what, Values::Counts(number.collect())),
        ];
        for (at, name) in names.iter().enumerate() {
            let values = parts.iter().flatten().map(|part| value(part, at));
            columns.push(Column::new(*name, Values::Counts(values.collect())));
        }
        columns
    }

    /// Start and end of each interval; ns.
    fn times(&self) -> impl Iterator<Item = [u64; 2]> {
        self.rows.iter().map(|row| match row[..2] {
            [SeriesValue::Number(start), SeriesValue::Number(end)] => [start, end],
            _ => [0; 2],
        })
    }
}

/// A column of these, of the same kind in every run.
fn collected(values: impl Iterator<Item = SeriesValue>, is_ratio: bool) -> Values {
    let count = |value| match value {
        SeriesValue::Number(number) => Some(number),
        SeriesValue::Ratio(_) | SeriesValue::Nothing => None,
    };
    let ratio = |value| match value {
        SeriesValue::Ratio(ratio) => Some(ratio),
        SeriesValue::Number(_) | SeriesValue::Nothing => None,
    };
    if is_ratio {
        Values::NumbersOrNone(values.map(ratio).collect())
    } else {
        Values::CountsOrNone(values.map(count).collect())
    }
}
