//! What is drawn over time: columns of a run's series, thinned so that least and greatest values stay.

use super::maps;
use super::room::{Room, number};
use super::run::Run;
use crate::base::columns::Table;
use crate::base::labels;
use crate::result::regimes::Change;
use serde_json::{Value, json};
use ssd::Reading;
use ssd::flash::op::Cause;

/// Colours of the page's script, by what is drawn in them.
const BLUE: usize = 0;
const RED: usize = 1;
const GREEN: usize = 2;
const ORANGE: usize = 4;
const GREY: usize = 7;

/// Windows of ratios, at most.
const WINDOWS: f64 = 200.0; // [A]

/// One line of a chart.
struct Line {
    name: String,
    colour: usize,
    /// Of the line; CSS pixels.
    width: f64,
    values: Vec<Option<f64>>,
}

struct Chart {
    key: &'static str,
    title: &'static str,
    /// `ns`, `B/s`, or nothing.
    unit: &'static str,
    log: bool,
    stacked: bool,
    /// Rows of the series that its values begin with.
    starts: Vec<usize>,
    lines: Vec<Line>,
}

/// The series of a run as numbers.
struct Series<'a> {
    table: &'a Table,
    seconds: Vec<f64>,
}

impl Series<'_> {
    fn column(&self, name: &str) -> Vec<Option<f64>> {
        let values = self.table.values(name);
        (0..self.table.rows()).map(|row| values.and_then(|values| values.number(row))).collect()
    }

    /// What came in an interval, a second.
    fn rate(&self, name: &str) -> Vec<Option<f64>> {
        let values = self.column(name).into_iter().zip(&self.seconds);
        values.map(|(value, seconds)| value.filter(|_| *seconds > 0.0).map(|value| value / seconds)).collect()
    }

    /// Where windows begin in each of which a 200th of all of this came at least: of what comes in shorter times,
    /// ratios say little.
    fn windows(&self, of: &str) -> Vec<usize> {
        let of: Vec<f64> = self.column(of).into_iter().map(Option::unwrap_or_default).collect();
        let least = of.iter().sum::<f64>() / WINDOWS;
        let (mut starts, mut came, mut left) = (vec![0], 0.0, of.iter().sum::<f64>());
        for (row, value) in of.iter().enumerate() {
            // What is left must be enough for a window.
            if came >= least && left >= least && left > 0.0 {
                starts.push(row);
                came = 0.0;
            }
            (came, left) = (came + value, left - value);
        }
        starts
    }

    /// What came in each window for each of something else.
    fn ratio(&self, starts: &[usize], name: &str, of: &str) -> Vec<Option<f64>> {
        let (values, of) = (self.column(name), self.column(of));
        let sum = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>();
        let ends = starts.iter().skip(1).copied().chain([values.len()]);
        let windows =
            starts.iter().zip(ends).map(|(&start, end)| (sum(&values[start..end]), sum(&of[start..end])));
        windows.map(|(value, of)| (of > 0.0).then(|| value / of)).collect()
    }
}

/// All charts of a run over time; nothing if it has no series.
pub(super) fn over_time(run: &Run, room: Room) -> Value {
    let Some(table) = run.table("series").filter(|table| table.rows() > 0) else { return Value::Null };
    let time = |name: &str| -> Vec<f64> {
        let values = table.values(name);
        (0..table.rows())
            .map(|row| values.and_then(|values| values.number(row)).unwrap_or(0.0) / 1e9)
            .collect()
    };
    let (starts, ends) = (time("start_ns"), time("end_ns"));
    let end = ends.last().copied().unwrap_or(0.0);
    if end <= 0.0 {
        return Value::Null;
    }
    let interval = starts.get(1).copied().unwrap_or(end);
    let seconds = starts.iter().zip(&ends).map(|(start, end)| end - start).collect();
    let series = Series { table, seconds };
    let charts = charts(&series);
    let counters = counters(&series);
    // Half for what everybody looks at, half for all the rest.
    let lines: usize = charts.iter().map(|chart| chart.lines.len() + 1).sum();
    let most = (room.numbers / 2 / lines.max(1)).min(table.rows());
    let drawn: Vec<Value> = charts.iter().map(|chart| told(chart, most)).collect();
    let most = (room.numbers / 2 / (counters.len() + 1)).min(table.rows());
    let columns: Vec<&[Option<f64>]> = counters.iter().map(|(_, values)| &values[..]).collect();
    let at = kept_together(&columns, most);
    let counters: Vec<Value> = counters
        .iter()
        .map(|(head, values)| {
            json!({
                "key": head.key, "unit": head.unit, "doc": head.doc,
                "values": at.iter().map(|&row| of(values[row])).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "interval": interval,
        "end": end,
        "changes": changes(run),
        "charts": drawn,
        "counters_at": at,
        "counters": counters,
        "use": maps::used(run, room),
    })
}

/// When the run changed for good, and what, in words.
fn changes(run: &Run) -> Vec<Value> {
    let told = |change: &Change| json!({ "at": change.at_ns as f64 / 1e9, "text": change.text() });
    run.result.changes.iter().map(told).collect()
}

fn of(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

/// A chart of these lines, on a linear axis, with a value for each row.
fn chart(
    series: &Series<'_>,
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    lines: Vec<Line>,
) -> Chart {
    let starts = (0..series.table.rows()).collect();
    Chart { key, title, unit, log: false, stacked: false, starts, lines }
}

fn line(name: &str, colour: usize, values: Vec<Option<f64>>) -> Line {
    Line { name: name.to_owned(), colour, width: 1.4, values }
}

/// Percentiles of the latencies of a kind, and the longest: first, and broad, so that what is as long lies upon it and
/// both are seen.
fn latencies(series: &Series<'_>, kind: &str) -> Vec<Line> {
    let names = [("max", GREY), ("p99_9", RED), ("p99", BLUE), ("p50", GREEN)];
    let of = |(name, colour): (&str, usize)| {
        let of = line(&name.replace('_', "."), colour, series.column(&format!("{kind}_{name}_ns")));
        Line { width: if name == "max" { 4.0 } else { of.width }, ..of }
    };
    names.map(of).into()
}

/// A line for each cause of programs that there was any of.
fn by_cause(values: impl Fn(&str) -> Vec<Option<f64>>) -> Vec<Line> {
    let of = |(colour, cause): (usize, &Cause)| {
        let values = values(&format!("bytes_programmed.{}", cause.name()));
        line(&labels::cause(cause.name()), colour, values)
    };
    Cause::ALL.iter().enumerate().map(of).filter(tells).collect()
}

fn charts(series: &Series<'_>) -> Vec<Chart> {
    const WRITTEN: &str = "host.written_bytes";
    // Earlier tables have neither.
    let known = |name: &'static str, before| if series.table.values(name).is_some() { name } else { before };
    let left = known("bytes_left_buffer", WRITTEN);
    let chart = |key, title, unit, lines| chart(series, key, title, unit, lines);
    let log = |key, title, kind| Chart { log: true, ..chart(key, title, "ns", latencies(series, kind)) };
    let throughput =
        vec![line("read", BLUE, series.rate("host.read_bytes")), line("written", RED, series.rate(WRITTEN))];
    let requests = vec![
        line("reads", BLUE, series.rate("reads")),
        line("writes", RED, series.rate("writes")),
        line("flushes", GREEN, series.rate("flushes")),
    ];
    let starts = series.windows(left);
    let shares = by_cause(|name| series.ratio(&starts, name, left));
    let programmed = by_cause(|name| series.rate(name));
    let one = |name: &str, colour, column: &str| vec![line(name, colour, series.column(column))];
    let all = [
        chart("throughput", "Throughput", "B/s", throughput),
        chart("requests", "Requests per second", "", requests),
        log("read_latency", "Latency of reads", "read"),
        log("write_latency", "Latency of writes", "write"),
        log("flush_latency", "Latency of flushes", "flush"),
        Chart { stacked: true, starts, ..chart("amplification", "Write amplification by cause", "", shares) },
        Chart { stacked: true, ..chart("programmed", "Programmed to flash, by cause", "B/s", programmed) },
        chart(
            "commands",
            "Commands in the drive",
            "",
            one("commands", BLUE, known("commands_mean", "commands")),
        ),
        chart(
            "dirty",
            "Dirty units in the buffer",
            "",
            one("units", ORANGE, known("dirty_units_mean", "dirty_units")),
        ),
        chart("free", "Free blocks (a superblock counts as one)", "", one("blocks", GREY, "free_blocks")),
    ];
    // A chart of nothing is none.
    let with_something = |mut chart: Chart| {
        chart.lines.retain(tells);
        (!chart.lines.is_empty()).then_some(chart)
    };
    all.into_iter().filter_map(with_something).collect()
}

fn tells(line: &Line) -> bool {
    line.values.iter().flatten().any(|value| *value != 0.0)
}

struct Head {
    key: &'static str,
    unit: String,
    doc: &'static str,
}

/// Every counter that has counted something, as it came: a second, or the most so far.
fn counters(series: &Series<'_>) -> Vec<(Head, Vec<Option<f64>>)> {
    let of = |counter: &'static ssd::counters::Counter| {
        let (values, unit) = match counter.adds_up() {
            true => (series.rate(counter.key), format!("{}/s", counter.unit)),
            false => (series.column(counter.key), counter.unit.to_owned()),
        };
        let head = Head { key: counter.key, unit, doc: counter.doc };
        values.iter().flatten().any(|value| *value != 0.0).then_some((head, values))
    };
    Reading::counters().filter_map(of).collect()
}

fn told(chart: &Chart, most: usize) -> Value {
    let columns: Vec<&[Option<f64>]> = chart.lines.iter().map(|line| &line.values[..]).collect();
    let at = match chart.stacked {
        false => kept(&columns, most),
        // What is seen of a stack is its height.
        true => {
            let rows = columns.first().map_or(0, |column| column.len());
            let height = |row: usize| columns.iter().map(|column| column[row]).sum::<Option<f64>>();
            let heights: Vec<Option<f64>> = (0..rows).map(height).collect();
            kept(&[&heights], most)
        }
    };
    let columns: Vec<Vec<Value>> =
        columns.iter().map(|column| at.iter().map(|&row| of(column[row])).collect()).collect();
    json!({
        "key": chart.key,
        "title": chart.title,
        "unit": chart.unit,
        "log": chart.log,
        "stacked": chart.stacked,
        "names": chart.lines.iter().map(|line| &line.name).collect::<Vec<_>>(),
        "widths": chart.lines.iter().map(|line| line.width).collect::<Vec<_>>(),
        "colours": chart.lines.iter().map(|line| line.colour).collect::<Vec<_>>(),
        "at": at.iter().map(|&row| chart.starts[row]).collect::<Vec<_>>(),
        "columns": columns,
    })
}

/// At most about `most` rows of these columns: all, or of equal stretches the rows with the least and the greatest
/// value of each column, so that no peak is lost. The first and the last are kept.
fn kept(columns: &[&[Option<f64>]], most: usize) -> Vec<usize> {
    let rows = columns.first().map_or(0, |column| column.len());
    if rows <= most.max(2) {
        return (0..rows).collect();
    }
    let stretches = (most / (2 * columns.len())).max(1);
    let mut kept = vec![0, rows - 1];
    for stretch in 0..stretches {
        let of = rows * stretch / stretches..rows * (stretch + 1) / stretches;
        for column in columns {
            let known = || of.clone().filter(|&row| column[row].is_some());
            let value = |row: &usize| column[*row].unwrap_or_default();
            kept.extend(known().min_by(|a, b| value(a).total_cmp(&value(b))));
            kept.extend(known().max_by(|a, b| value(a).total_cmp(&value(b))));
        }
        // Where nothing was, nothing is drawn.
        if columns.iter().all(|column| of.clone().all(|row| column[row].is_none())) {
            kept.extend(of.clone().next());
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// The same of columns that are drawn one at a time: each keeps its greatest, as far as there is room.
fn kept_together(columns: &[&[Option<f64>]], most: usize) -> Vec<usize> {
    let rows = columns.first().map_or(0, |column| column.len());
    let sums: Vec<Option<f64>> = (0..rows)
        .map(|row| {
            let share = |column: &&[Option<f64>]| {
                let greatest = column.iter().flatten().fold(0.0, |a: f64, b| a.max(*b));
                column[row].map(|value| if greatest > 0.0 { value / greatest } else { 0.0 })
            };
            columns.iter().filter_map(share).reduce(f64::max)
        })
        .collect();
    kept(&[&sums], most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::columns::{Column, Values};

    /// Each window has enough to say something, and together they are everything.
    #[test]
    fn windows_of_a_ratio_lose_nothing() {
        let written: Vec<u64> =
            (0..1_000).map(|row| if row % 90 < 30 { 100 + row } else { row % 2 }).collect();
        let programmed: Vec<u64> = written.iter().map(|bytes| 3 * bytes).collect();
        let columns = [("written", written.clone()), ("programmed", programmed)];
        let columns = columns.map(|(name, values)| Column::new(name, Values::Counts(values)));
        let table = Table::new("series", columns.into());
        let series = Series { table: &table, seconds: vec![1.0; 1_000] };
        let starts = series.windows("written");
        let least = written.iter().sum::<u64>() as f64 / WINDOWS;
        assert!(starts.len() > 100 && starts[0] == 0 && starts.is_sorted_by(|a, b| a < b), "{starts:?}");
        let ends = starts.iter().skip(1).copied().chain([1_000]);
        for (&start, end) in starts.iter().zip(ends) {
            assert!(written[start..end].iter().sum::<u64>() as f64 >= least, "{start} to {end}");
        }
        assert_eq!(series.ratio(&starts, "programmed", "written"), vec![Some(3.0); starts.len()]);
        let nothing = Table::new("series", vec![Column::new("written", Values::Counts(vec![0; 9]))]);
        let series = Series { table: &nothing, seconds: vec![1.0; 9] };
        assert_eq!(series.windows("written"), [0]);
        assert_eq!(series.ratio(&[0], "written", "written"), [None]);
    }

    /// Whatever is thinned, the greatest and the least of every column stay, and so do both ends.
    #[test]
    fn thinning_keeps_extremes_and_ends() {
        let wave = |step: f64| -> Vec<Option<f64>> {
            (0..5_000).map(|row| (row % 7 != 0).then(|| (f64::from(row) * step).sin())).collect()
        };
        let mut columns = [wave(0.01), wave(0.7), vec![None; 5_000]];
        columns[0][3_333] = Some(99.0);
        columns[1][17] = Some(-99.0);
        let columns: Vec<&[Option<f64>]> = columns.iter().map(|column| &column[..]).collect();
        for most in [0, 2, 10, 100, 1_000, 4_999] {
            let kept = kept(&columns, most);
            assert!(kept.len() <= most.max(2 * 3 + 2) + 2, "{most}: {}", kept.len());
            assert!(kept.is_sorted_by(|a, b| a < b) && kept[0] == 0 && kept[kept.len() - 1] == 4_999);
            assert!(kept.contains(&3_333) && kept.contains(&17), "{most}");
        }
        assert_eq!(kept(&columns, 5_000).len(), 5_000);
    }
}
