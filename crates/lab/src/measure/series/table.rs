//! Time series as tables: one of the run, one of its dies, one of its channels.

use super::{KINDS, OTHERS, Series, looks_in};
use crate::base::columns::{Column, Table, Values};
use crate::base::labels;
use crate::measure::steps::{STEPS, quantile};
use serde::{Deserialize, Serialize};
use ssd::counters::Counter;
use ssd::flash::op::{CAUSES, Cause};
use ssd::{Drive, Reading};

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

/// Percentiles that are told, of a million.
const QUANTILES: [(&str, u64, &str); 3] = [
    ("p50", 500_000, "Median latency"),
    ("p99", 990_000, "99 % of requests take no longer"),
    ("p99_9", 999_000, "99.9 % of requests take no longer"),
];
const NAMES: [(&str, &str); KINDS] = [("read", "reads"), ("write", "writes"), ("flush", "flushes")];

fn column(name: impl Into<String>, unit: &str, doc: impl Into<String>) -> SeriesColumn {
    SeriesColumn { name: name.into(), unit: unit.to_owned(), doc: doc.into() }
}

/// What is told of all drives, in order.
fn columns() -> Vec<SeriesColumn> {
    let mut all = vec![
        column("start_ns", "ns", "Start of the interval, from the start of the measurement"),
        column("end_ns", "ns", "Its end"),
    ];
    for (name, several) in NAMES {
        all.push(column(several, "requests", format!("{several} that succeeded")));
        for (quantile, _, doc) in QUANTILES {
            all.push(column(
                format!("{name}_{quantile}_ns"),
                "ns",
                format!("{doc}, for {several}; up to 1/32 too high"),
            ));
        }
        all.push(column(format!("{name}_max_ns"), "ns", format!("The longest of these {several}")));
    }
    all.push(column("commands", "commands", "In the drive at the end of the interval"));
    all.push(column("dirty_units", "units", "In the buffer then, not in flash nor on the way there"));
    all.push(column("commands_mean", "", "Commands in the drive, on average over the interval"));
    all.push(column("dirty_units_mean", "", "Dirty units in the buffer, on average over eight looks"));
    all.push(column("free_blocks", "blocks", "Free then, in all lanes; superblocks count as one"));
    let left = "Bytes written by the host that left the buffer: sent to flash, or overwritten or trimmed before that";
    all.push(column("bytes_left_buffer", "bytes", left));
    all.push(column("write_amplification", "", "Bytes programmed divided by bytes that left the buffer"));
    for cause in Cause::ALL {
        let doc = format!("Bytes programmed for {}, counting whole pages", labels::cause(cause.name()));
        all.push(column(format!("bytes_programmed.{}", cause.name()), "bytes", doc));
    }
    all.extend(Reading::counters().map(|counter| column(counter.key, counter.unit, counter.doc)));
    all
}

/// Two readings, at the start and at the end of an interval.
struct Between<'a> {
    before: &'a [u64],
    after: &'a [u64],
}

impl Between<'_> {
    fn gained(&self, at: usize) -> u64 {
        self.after[at].saturating_sub(self.before[at])
    }

    /// What a counter says: what came to it, or the most so far.
    fn counter(&self, at: usize, counter: &Counter) -> u64 {
        if counter.adds_up() { self.gained(at) } else { self.after[at] }
    }
}

impl TimeSeries {
    pub(super) fn of(series: &Series, drive: &Drive) -> Self {
        let counters: Vec<&Counter> = Reading::counters().collect();
        let written = counters.iter().position(|counter| counter.key == "host.written_bytes");
        let written = written.expect("a counter of the host's");
        let stats = drive.stats();
        let page_bytes = u64::from(stats.page_bytes);
        let (dies, channels) = (series.reading.dies.len(), series.reading.channels_ns.len());
        let none = vec![0; series.width];
        let mut table =
            TimeSeries { interval_ns: series.interval_ns, columns: columns(), ..TimeSeries::default() };
        for row in 0..series.over {
            let said = |row: usize| &series.said[row * series.width..][..series.width];
            let (before, after) = (row.checked_sub(1).map_or(&none[..], said), said(row));
            let between = Between { before, after };
            let start = row as u64 * series.interval_ns;
            let end = match series.is_over && row + 1 == series.over {
                true => series.reading.at.since(series.since),
                false => start + series.interval_ns,
            };
            let mut values = vec![SeriesValue::Number(start), SeriesValue::Number(end)];
            for kind in 0..KINDS {
                values.extend(of_requests(series, row, kind));
            }
            let totals = counters.len();
            let [free, dirty, commands] = [0, 1, 2].map(|at| after[totals + CAUSES + at]);
            let inside = series.requests[row].inside_ns as f64 / (end - start).max(1) as f64;
            let looks = looks_in(end - start);
            let dirty_looks = between.gained(totals + CAUSES + 3) as f64 / looks.max(1) as f64;
            let dirty_mean = if looks > 0 { dirty_looks } else { dirty as f64 };
            values.extend([commands, dirty].map(SeriesValue::Number));
            values.extend([inside, dirty_mean].map(SeriesValue::Ratio));
            values.push(SeriesValue::Number(free));
            let programmed: Vec<u64> =
                (0..CAUSES).map(|cause| between.gained(totals + cause) * page_bytes).collect();
            // What was dirty before and is not any more has left, too.
            let dirty_before = row
                .checked_sub(1)
                .map_or(u64::from(series.dirty_before), |row| said(row)[totals + CAUSES + 1]);
            let left = i128::from(between.gained(written))
                + (i128::from(dirty_before) - i128::from(dirty)) * i128::from(stats.unit_bytes);
            let left = u64::try_from(left).unwrap_or(0);
            values.push(SeriesValue::Number(left));
            values.push(match left {
                0 => SeriesValue::Nothing,
                _ => SeriesValue::Ratio(programmed.iter().sum::<u64>() as f64 / left as f64),
            });
            values.extend(programmed.into_iter().map(SeriesValue::Number));
            let counted = counters.iter().enumerate().map(|(at, counter)| between.counter(at, counter));
            values.extend(counted.map(SeriesValue::Number));
            table.rows.push(values);
            let first = totals + OTHERS;
            let of_die = |die: usize| [0, 1].map(|at| between.gained(first + 2 * die + at));
            table.dies.push((0..dies).map(of_die).collect());
            let first = first + 2 * dies;
            table.channels.push((0..channels).map(|channel| between.gained(first + channel)).collect());
        }
        table
    }

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

/// What the requests of a kind met in an interval.
fn of_requests(series: &Series, row: usize, kind: usize) -> Vec<SeriesValue> {
    let requests = &series.requests[row];
    // Only where something is.
    let touched = requests.touched(kind);
    let first = touched.start - (requests.slot * KINDS + kind) * STEPS;
    let steps = &series.steps[touched];
    let (count, (_, longest)) = (requests.counts[kind], requests.spread_ns[kind]);
    let number = |found: Option<u64>| found.map_or(SeriesValue::Nothing, SeriesValue::Number);
    let mut values = vec![SeriesValue::Number(count)];
    values.extend(QUANTILES.map(|(_, of_million, _)| number(quantile(first, steps, of_million, longest))));
    values.push(number((count > 0).then_some(longest)));
    values
}
