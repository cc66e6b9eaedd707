//! Runs that are several in one: whether throughput, latency or write amplification changed for good on the way, so
//! that their means over the whole run are those of nothing.
//!
//! A run is cut into blocks of equal time. A change is where it falls into two windows of at least a tenth of it whose
//! means differ by a quarter or more, and which lie apart: the medians of their blocks differ as much, three quarters
//! of the blocks of one lie above three quarters of those of the other, and the step is a large multiple of what chance
//! would make of blocks that scatter as these do. The windows are looked at in the same way (binary segmentation: Scott
//! and Knott, "A cluster analysis method for grouping means in the analysis of variance", Biometrics 30, 1974).

use crate::base::number::{digits, duration, si};
use crate::measure::series::{SeriesValue, TimeSeries};
use crate::measure::windows::Windows;
use crate::result::verdict::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Blocks that a run is cut into.
const BLOCKS: usize = 40; // [A]
/// With fewer, chance and change look alike.
const BLOCKS_MIN: usize = 20; // [A]
/// A window is at least this part of a run.
const WINDOWS_MOST: usize = 10; // [A]
/// Means and medians differ by this factor.
const FACTOR: f64 = 1.25; // [A]
/// The step between two windows is so many times its standard error: of 40 blocks that scatter by chance the best cut
/// comes to 3.6 in one of a hundred; real blocks hang together.
const ERRORS: f64 = 6.0; // [A]

/// The metric of a change of latency.
pub(crate) const LATENCY: &str = "latency";

/// Where a run has changed for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What changed: `bandwidth`, `latency` or `write_amplification`.
    pub metric: String,
    /// When, from the start of the measurement, in ns: to within about a thousandth of the run.
    pub at_ns: u64,
    /// Its mean from the change before, or from the start, until then: MB/s, ns, or a ratio.
    pub before: f64,
    /// Its mean from then to the next change, or to the end.
    pub after: f64,
}

impl Change {
    /// The change in words: `bandwidth dropped from 575 MB/s to 35 MB/s at 3.2 s`.
    pub(crate) fn text(&self) -> String {
        text(std::slice::from_ref(self))
    }
}

/// What happened in a part of a run: its mean is the sum over the weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Block {
    end_ns: u64,
    sum: f64,
    weight: f64,
}

impl Block {
    fn mean(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }

    fn and(self, next: Block) -> Block {
        Block { end_ns: next.end_ns, sum: self.sum + next.sum, weight: self.weight + next.weight }
    }
}

/// What changed in a run, in the order of time. The throughput of requests that come by a clock is theirs, not the
/// drive's, unless it is too slow for them.
pub(crate) fn of(
    series: Option<&TimeSeries>,
    windows: &Windows,
    is_throughput_the_drives: bool,
) -> Vec<Change> {
    let mut all = Vec::new();
    if let Some(series) = series {
        if is_throughput_the_drives {
            all.extend(changes("bandwidth", &throughput(series), 0.0));
        }
        // Below one is what the buffer kept from flash, by the workload's leave.
        all.extend(changes("write_amplification", &amplification(series), 1.0));
    }
    all.extend(changes(LATENCY, &latencies(windows), 0.0));
    all.sort_by_key(|change| change.at_ns);
    all
}

/// Bytes over time, in MB/s.
fn throughput(series: &TimeSeries) -> Vec<Block> {
    let bytes = ["host.read_bytes", "host.written_bytes"].map(|name| series.column(name));
    let block = |row: &Vec<SeriesValue>| {
        let sum: u64 = bytes.iter().flatten().map(|&at| number(row[at])).sum();
        let [start, end] = [0, 1].map(|at| number(row[at]));
        Block { end_ns: end, sum: sum as f64 * 1e3, weight: end.saturating_sub(start) as f64 }
    };
    series.rows.iter().map(block).collect()
}

/// Bytes programmed over those that left the host's buffer.
fn amplification(series: &TimeSeries) -> Vec<Block> {
    let programmed = series.columns.iter().enumerate();
    let programmed = programmed.filter(|(_, column)| column.name.starts_with("bytes_programmed."));
    let programmed: Vec<usize> = programmed.map(|(at, _)| at).collect();
    let left = series.column("bytes_left_buffer");
    let block = |row: &Vec<SeriesValue>| Block {
        end_ns: number(row[1]),
        sum: programmed.iter().map(|&at| number(row[at])).sum::<u64>() as f64,
        weight: left.map_or(0, |at| number(row[at])) as f64,
    };
    series.rows.iter().map(block).collect()
}

fn latencies(windows: &Windows) -> Vec<Block> {
    let length = windows.length_ns();
    let block = |(at, window): (usize, crate::measure::windows::Window)| Block {
        end_ns: (at as u64 + 1) * length,
        sum: window.latency_ns() as f64,
        weight: window.requests as f64,
    };
    windows.all().into_iter().enumerate().map(block).collect()
}

fn number(value: SeriesValue) -> u64 {
    match value {
        SeriesValue::Number(number) => number,
        SeriesValue::Ratio(_) | SeriesValue::Nothing => 0,
    }
}

/// What changed in these parts, of equal length. What lies below `floor` is all one.
fn changes(metric: &str, parts: &[Block], floor: f64) -> Vec<Change> {
    let each = parts.len().div_ceil(BLOCKS).max(1);
    let together = |parts: &[Block]| parts.iter().fold(Block::default(), |sum, part| sum.and(*part));
    let blocks: Vec<Block> = parts.chunks(each).map(together).collect();
    if blocks.len() < BLOCKS_MIN {
        return Vec::new();
    }
    // What is a thousandth of the whole is nothing, and two such windows are one.
    let floor = together(parts).mean().map_or(floor, |mean| floor.max(mean / 1e3));
    let least = blocks.len().div_ceil(WINDOWS_MOST);
    let mut cuts = Vec::new();
    let raised = |block: &Block| Block { sum: block.sum.max(floor * block.weight), ..*block };
    cut(&blocks.iter().map(raised).collect::<Vec<_>>(), 0, least, &mut cuts);
    let cuts = refined(parts, each, &cuts);
    let begins: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).collect();
    let ends = cuts.iter().copied().chain([parts.len()]);
    let means: Vec<f64> =
        begins.iter().zip(ends).filter_map(|(&begin, end)| together(&parts[begin..end]).mean()).collect();
    let of = |(&at, means): (&usize, &[f64])| Change {
        metric: metric.to_owned(),
        at_ns: parts[at - 1].end_ns,
        before: means[0],
        after: means[1],
    };
    cuts.iter().zip(means.windows(2)).map(of).collect()
}

/// Cuts between blocks of so many parts, as cuts between parts: a block that a change falls into is neither regime's.
fn refined(parts: &[Block], each: usize, cuts: &[usize]) -> Vec<usize> {
    let mean = |from: usize, to: usize| {
        parts[from.min(to)..to].iter().fold(Block::default(), |sum, part| sum.and(*part)).mean()
    };
    let mut refined = Vec::new();
    for (number, &cut) in cuts.iter().enumerate() {
        let begin = number.checked_sub(1).map_or(0, |before| cuts[before] * each);
        let end = cuts.get(number + 1).map_or(parts.len(), |next| next * each);
        let (first, last) = ((cut - 1) * each, ((cut + 1) * each).min(end));
        let (Some(before), Some(after)) = (mean(begin, first), mean(last, end)) else {
            refined.push(cut * each);
            continue;
        };
        let squares = |parts: &[Block], from: f64| -> f64 {
            parts.iter().filter_map(|part| part.mean()).map(|value| (value - from).powi(2)).sum()
        };
        let cost = |at: &usize| squares(&parts[first..*at], before) + squares(&parts[*at..last], after);
        let at = (first.max(begin + 1)..=last.min(end - 1)).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        refined.push(at.unwrap_or(cut * each));
    }
    refined
}

/// Finds where these blocks fall apart, and looks at both sides in the same way; places are told in order.
fn cut(blocks: &[Block], begin: usize, least: usize, cuts: &mut Vec<usize>) {
    let places = least..(blocks.len() + 1).saturating_sub(least);
    let best = places.filter_map(|at| Some((step(&blocks[..at], &blocks[at..])?, at)));
    let Some((_, at)) = best.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { return };
    cut(&blocks[..at], begin, least, cuts);
    cuts.push(begin + at);
    cut(&blocks[at..], begin + at, least, cuts);
}

/// How far two windows lie apart, in standard errors; `None` if that is no change.
fn step(before: &[Block], after: &[Block]) -> Option<f64> {
    let [one, other] = [before, after].map(Side::of);
    let (one, other) = (one?, other?);
    let (low, high) = if one.mean < other.mean { (&one, &other) } else { (&other, &one) };
    let are_apart = high.mean >= FACTOR * low.mean
        && high.quantile(2) >= FACTOR * low.quantile(2)
        && high.quantile(1) >= low.quantile(3);
    if !are_apart {
        return None;
    }
    let (n, m) = (low.logs.len() as f64, high.logs.len() as f64);
    let spread = (low.squares() + high.squares()) / (n + m - 2.0).max(1.0);
    let error = (spread * (1.0 / n + 1.0 / m)).sqrt();
    let step = (high.log_mean() - low.log_mean()) / error.max(1e-9);
    (step >= ERRORS).then_some(step)
}

/// A window.
struct Side {
    mean: f64,
    /// Of its blocks in which something happened, in order of size.
    values: Vec<f64>,
    logs: Vec<f64>,
}

impl Side {
    /// `None` if little happened in it.
    fn of(blocks: &[Block]) -> Option<Self> {
        let all = blocks.iter().fold(Block::default(), |sum, block| sum.and(*block));
        let mean = all.mean()?;
        let mut values: Vec<f64> = blocks.iter().filter_map(|block| block.mean()).collect();
        if values.len() < 2 || 2 * values.len() < blocks.len() {
            return None;
        }
        values.sort_by(f64::total_cmp);
        // What is a thousandth of the mean is nothing.
        let logs = values.iter().map(|value| value.max(mean / 1e3).max(f64::MIN_POSITIVE).ln()).collect();
        Some(Side { mean, values, logs })
    }

    /// A quartile.
    fn quantile(&self, quarters: usize) -> f64 {
        self.values[(self.values.len() - 1) * quarters / 4]
    }

    fn log_mean(&self) -> f64 {
        self.logs.iter().sum::<f64>() / self.logs.len() as f64
    }

    /// The squares of what its blocks differ from their mean.
    fn squares(&self) -> f64 {
        let mean = self.log_mean();
        self.logs.iter().map(|value| (value - mean).powi(2)).sum()
    }
}

/// Changes that the verdict does not tell of: a queue that grows makes latencies grow.
pub(crate) fn news(changes: &[Change], verdict: &Verdict) -> Vec<Change> {
    let is_news = |change: &&Change| change.metric != LATENCY || !verdict.is_overloaded();
    changes.iter().filter(is_news).cloned().collect()
}

/// The changes of a run in words: `bandwidth dropped from 575 MB/s to 35 MB/s at 3.2 s`; nothing if there are none.
pub(crate) fn text(changes: &[Change]) -> String {
    let mut metrics: Vec<&str> = changes.iter().map(|change| change.metric.as_str()).collect();
    metrics.sort_unstable();
    metrics.dedup();
    let told: Vec<String> = metrics
        .into_iter()
        .map(|metric| {
            let of: Vec<&Change> = changes.iter().filter(|change| change.metric == metric).collect();
            let name = metric.replace('_', " ");
            let steps = of.iter().enumerate().map(|(at, change)| {
                let went = if change.after < change.before { "dropped" } else { "rose" };
                let from =
                    if at == 0 { format!(" from {}", value(metric, change.before)) } else { String::new() };
                let (to, when) = (value(metric, change.after), duration(change.at_ns as f64));
                format!("{went}{from} to {to} at {when}")
            });
            format!("{name} {}", steps.collect::<Vec<_>>().join(", then "))
        })
        .collect();
    told.join("; ")
}

/// A value with its unit.
fn value(metric: &str, value: f64) -> String {
    match metric {
        "bandwidth" => si(value * 1e6, "B/s"),
        LATENCY => duration(value),
        _ => digits(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;

    /// Blocks of these values, a second each.
    fn blocks(values: impl IntoIterator<Item = f64>) -> Vec<Block> {
        let block =
            |(at, sum): (usize, f64)| Block { end_ns: (at as u64 + 1) * 1_000_000_000, sum, weight: 1.0 };
        values.into_iter().enumerate().map(block).collect()
    }

    fn found(values: impl IntoIterator<Item = f64>) -> Vec<Change> {
        changes("bandwidth", &blocks(values), 0.0)
    }

    /// About 1, by so much more or less.
    fn noise(rng: &mut Rng, by: f64) -> f64 {
        1.0 + by * (rng.below(2_000_001) as f64 / 1e6 - 1.0)
    }

    #[test]
    fn a_cliff_is_found_where_it_is() {
        for (length, at) in [(40, 4), (40, 20), (40, 36), (1_000, 130), (997, 500), (20, 10)] {
            let mut rng = Rng::named(length as u64, "regimes");
            let cliff = |x: usize| if x < at { 575.0 } else { 35.0 };
            let found = found((0..length).map(|x| cliff(x) * noise(&mut rng, 0.1)));
            let [change] = &found[..] else { panic!("{length}, {at}: {found:?}") };
            assert_eq!(change.at_ns, at as u64 * 1_000_000_000, "{length}, {at}");
            assert!((change.before - 575.0).abs() < 30.0 && (change.after - 35.0).abs() < 2.0, "{change:?}");
        }
        let text = text(&found((0..40).map(|x| if x < 10 { 575.0 } else { 35.0 })));
        assert_eq!(text, "bandwidth dropped from 575 MB/s to 35 MB/s at 10 s");
    }

    #[test]
    fn three_regimes_and_climbs_are_several_changes() {
        let stopped = found((0..120).map(|x| if x < 40 { 500.0 } else { [0.0, 0.001, 0.1][x % 80 / 27] }));
        assert_eq!(stopped.len(), 1, "{stopped:?}");
        let steps = found((0..120).map(|x| [5.0, 9.0, 2.0][x / 40]));
        assert_eq!(
            steps.iter().map(|change| (change.before, change.after)).collect::<Vec<_>>(),
            [(5.0, 9.0), (9.0, 2.0)]
        );
        let climb = found((0..200).map(|x| 1.0 + f64::from(x) / 25.0));
        assert!(climb.len() >= 2 && climb[0].before < 3.0 && climb[climb.len() - 1].after > 7.0, "{climb:?}");
    }

    #[test]
    fn less_than_a_quarter_and_less_than_a_tenth_is_no_change() {
        assert_eq!(found((0..100).map(|x| if x < 50 { 100.0 } else { 120.0 })), []);
        assert_eq!(found((0..100).map(|x| if x < 5 { 100.0 } else { 1.0 })), []);
        assert_eq!(found((0..19).map(|x| if x < 10 { 100.0 } else { 1.0 })), [], "too short");
        assert_eq!(changes("write_amplification", &blocks((0..100).map(|x| f64::from(x) / 100.0)), 1.0), []);
        assert_eq!(found([]), []);
        assert_eq!(found((0..100).map(|_| 0.0)), []);
    }

    /// Of a thousand series by chance alone, with scatter of all sizes and some that hang together, one in a hundred at
    /// most seems to change.
    #[test]
    fn chance_is_no_change() {
        let mut wrong = 0;
        for seed in 0..1_000 {
            let mut rng = Rng::named(seed, "regimes");
            let by = rng.below(100) as f64 / 100.0;
            let hangs = if seed % 2 == 0 { 0.0 } else { 0.7 };
            let mut state = 1.0;
            let values: Vec<f64> = (0..400)
                .map(|_| {
                    state = hangs * state + (1.0 - hangs) * noise(&mut rng, by);
                    // Now and then one that is far off, as the slowest requests are.
                    if rng.below(200) == 0 { 20.0 * state } else { state }
                })
                .collect();
            wrong += u32::from(!found(values).is_empty());
        }
        assert!(wrong <= 10, "{wrong} of 1000");
    }
}
