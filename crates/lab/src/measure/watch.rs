//! A run that is under way in a few lines: what its series have told so far.

use crate::base::number::{digits, duration, si};
use crate::measure::series::{SeriesValue, TimeSeries};

/// Letters for values from the least to the greatest.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Letters to a row.
const WIDTH: usize = 60;

/// A row: what it tells, of which column, and how.
struct Row {
    name: &'static str,
    column: &'static str,
    /// What came is told a second.
    is_rate: bool,
    show: fn(f64) -> String,
}

const ROWS: [Row; 8] = [
    Row { name: "read", column: "host.read_bytes", is_rate: true, show: |value| si(value, "B/s") },
    Row { name: "written", column: "host.written_bytes", is_rate: true, show: |value| si(value, "B/s") },
    Row { name: "read p99", column: "read_p99_ns", is_rate: false, show: duration },
    Row { name: "write p99", column: "write_p99_ns", is_rate: false, show: duration },
    Row { name: "moved", column: "ftl.moved_units", is_rate: true, show: |value| si(value, "units/s") },
    Row { name: "erased", column: "ftl.erased_by_mode", is_rate: true, show: |value| si(value, "blocks/s") },
    Row { name: "in the drive", column: "commands", is_rate: false, show: digits },
    Row { name: "free blocks", column: "free_blocks", is_rate: false, show: digits },
];

/// Rows of what there is, from the start of the measurement to now: a letter for each stretch, as high as the greatest
/// value in it; behind them the last value and the greatest.
pub(crate) fn rows(series: &TimeSeries) -> String {
    ROWS.iter().filter_map(|row| row.text(series)).collect()
}

impl Row {
    fn text(&self, series: &TimeSeries) -> Option<String> {
        let at = series.column(self.column)?;
        let value = |row: &Vec<SeriesValue>| {
            let value = match row[at] {
                SeriesValue::Number(number) => number as f64,
                SeriesValue::Ratio(ratio) => ratio,
                SeriesValue::Nothing => return None,
            };
            let [SeriesValue::Number(start), SeriesValue::Number(end)] = row[..2] else { return None };
            let seconds = end.saturating_sub(start) as f64 / 1e9;
            match self.is_rate {
                true => (seconds > 0.0).then(|| value / seconds),
                false => Some(value),
            }
        };
        let values: Vec<Option<f64>> = series.rows.iter().map(value).collect();
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let last = values.iter().rev().flatten().next()?;
        if most <= 0.0 {
            return None;
        }
        let stretches = values.len().min(WIDTH);
        let letter = |stretch: usize| {
            let of = values.len() * stretch / stretches..values.len() * (stretch + 1) / stretches;
            let greatest = values[of].iter().flatten().copied().reduce(f64::max);
            greatest.map_or(' ', |value| LEVELS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1])
        };
        let line: String = (0..stretches).map(letter).collect();
        let pad = " ".repeat(WIDTH - stretches);
        let now =
            if values.last().is_some_and(Option::is_some) { (self.show)(*last) } else { "-".to_owned() };
        let name = self.name;
        Some(format!("{name:<13}{line}{pad} {now:>13}, at most {}\n", (self.show)(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::series::{Series, SeriesColumn};

    /// Every row tells of a column that there is.
    #[test]
    fn rows_are_of_columns_of_the_series() {
        let mut config = ssd::DriveConfig::default();
        (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
        let drive = ssd::Drive::new(&config).unwrap();
        let series = Series::new(&drive, 2).so_far(&drive);
        for row in &ROWS {
            assert!(series.column(row.column).is_some(), "{}", row.column);
        }
    }

    #[test]
    fn rows_are_as_high_as_what_they_tell() {
        let column =
            |name: &str| SeriesColumn { name: name.to_owned(), unit: String::new(), doc: String::new() };
        let mut series = TimeSeries {
            columns: ["start_ns", "end_ns", "host.read_bytes", "read_p99_ns", "free_blocks"]
                .map(column)
                .into(),
            ..TimeSeries::default()
        };
        for row in 0..8u64 {
            let number = SeriesValue::Number;
            let p99 = if row == 7 { SeriesValue::Nothing } else { number(1_000 * (row + 1)) };
            series.rows.push(vec![
                number(row * 1_000_000),
                number((row + 1) * 1_000_000),
                number(1_000 * (row + 1)),
                p99,
                number(0),
            ]);
        }
        let text = rows(&series);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "free blocks that never were are not told: {text}");
        assert!(lines[0].starts_with("read         ▁▂▃▄▅▆▇█ "), "{text}");
        assert!(lines[0].ends_with(" 8 MB/s, at most 8 MB/s"), "{text}");
        // Seven of them, the last of them the highest; the last interval had no reads.
        assert!(lines[1].contains("▂▃▄▅▆▇█  ") && lines[1].ends_with(" -, at most 7 us"), "{text}");
        assert!(rows(&TimeSeries::default()).is_empty());
        // Many intervals share a letter, which is as high as the highest of them.
        series.rows = (0..1_000)
            .map(|at| {
                let numbers = [at, at + 1, u64::from(at == 499)].map(SeriesValue::Number);
                [&numbers[..], &[SeriesValue::Nothing; 2]].concat()
            })
            .collect();
        let text = rows(&series);
        assert!(
            text.matches('█').count() == 1 && text.lines().all(|line| line.chars().count() <= 110),
            "{text}"
        );
    }
}
