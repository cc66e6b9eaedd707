//! From what was counted to what is told.

use super::intervals::{KINDS, OTHERS, Series, looks_in};
use super::table::{SeriesColumn, SeriesValue, TimeSeries};
use crate::base::labels;
use crate::measure::steps::{STEPS, quantile};
use ssd::counters::Counter;
use ssd::flash::op::{CAUSES, Cause};
use ssd::{Drive, Reading};

/// Percentiles that are told, of a million.
const QUANTILES: [(&str, u64, &str); 3] = [
    ("p50", 500_000, "Median latency"),
    ("p99", 990_000, "99 % of requests take no longer"),
    ("p99_9", 999_000, "99.9 % of requests take no longer"),
];
const NAMES: [(&str, &str); KINDS] = [("read", "reads"), ("write", "writes"), ("flush", "flushes")];

pub(super) fn column(name: impl Into<String>, unit: &str, doc: impl Into<String>) -> SeriesColumn {
    SeriesColumn { name: name.into(), unit: unit.to_owned(), doc: doc.into() }
}

/// What is told of all drives, in order.
pub(super) fn columns() -> Vec<SeriesColumn> {
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

impl Series {
    /// All intervals that are over.
    pub fn so_far(&self, drive: &Drive) -> TimeSeries {
        self.told(drive)
    }

    /// The run is over.
    pub fn finish(mut self, drive: &Drive) -> TimeSeries {
        self.end(drive);
        self.told(drive)
    }

    fn told(&self, drive: &Drive) -> TimeSeries {
        let counters: Vec<&Counter> = Reading::counters().collect();
        let written = counters.iter().position(|counter| counter.key == "host.written_bytes");
        let written = written.expect("a counter of the host's");
        let stats = drive.stats();
        let page_bytes = u64::from(stats.page_bytes);
        let (dies, channels) = (self.reading.dies.len(), self.reading.channels_ns.len());
        let none = vec![0; self.width];
        let mut table =
            TimeSeries { interval_ns: self.interval_ns, columns: columns(), ..TimeSeries::default() };
        for row in 0..self.over {
            let said = |row: usize| &self.said[row * self.width..][..self.width];
            let (before, after) = (row.checked_sub(1).map_or(&none[..], said), said(row));
            let between = Between { before, after };
            let start = row as u64 * self.interval_ns;
            let end = match self.is_over && row + 1 == self.over {
                true => self.reading.at.since(self.since),
                false => start + self.interval_ns,
            };
            let mut values = vec![SeriesValue::Number(start), SeriesValue::Number(end)];
            for kind in 0..KINDS {
                values.extend(of_requests(self, row, kind));
            }
            let totals = counters.len();
            let [free, dirty, commands] = [0, 1, 2].map(|at| after[totals + CAUSES + at]);
            let inside = self.requests[row].inside_ns as f64 / (end - start).max(1) as f64;
            let looks = looks_in(end - start);
            let dirty_looks = between.gained(totals + CAUSES + 3) as f64 / looks.max(1) as f64;
            let dirty_mean = if looks > 0 { dirty_looks } else { dirty as f64 };
            values.extend([commands, dirty].map(SeriesValue::Number));
            values.extend([inside, dirty_mean].map(SeriesValue::Ratio));
            values.push(SeriesValue::Number(free));
            let programmed: Vec<u64> =
                (0..CAUSES).map(|cause| between.gained(totals + cause) * page_bytes).collect();
            // What was dirty before and is not any more has left, too.
            let dirty_before =
                row.checked_sub(1).map_or(u64::from(self.dirty_before), |row| said(row)[totals + CAUSES + 1]);
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
}
