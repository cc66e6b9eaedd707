//! Numbers of results by name: what is compared of them, swept and required.

use crate::base::by::{Axis, is_rare};
use crate::base::labels;
use crate::base::number::{digits, duration, percent, si};
use crate::result::{Distribution, RunResult};
use ssd::Stats;
use ssd::flash::op::Cause;

/// The number of a metric in a result, if it has one.
pub(crate) type Number = Box<dyn Fn(&RunResult) -> Option<f64>>;
/// The distribution of one kind of requests in a result.
type Spread = fn(&RunResult) -> &Distribution;

/// A point of a distribution, if there is one.
pub(crate) type Point = fn(&Distribution) -> Option<u64>;

/// The points of a distribution that tables show, with their names.
pub(crate) const POINTS: [(&str, Point); 6] = [
    ("min", |spread| spread.min),
    ("p50", |spread| spread.p50),
    ("p99", |spread| spread.p99),
    ("p99.9", |spread| spread.p99_9),
    ("p99.99", |spread| spread.p99_99),
    ("max", |spread| spread.max),
];

/// The distributions of all kinds of requests.
const SPREADS: [(&str, Spread); 4] = [
    ("read", |r| &r.latency_ns.read),
    ("write", |r| &r.latency_ns.write),
    ("trim", |r| &r.latency_ns.trim),
    ("flush", |r| &r.latency_ns.flush),
];

/// A metric of a comparison: how it is told of a result, and its number, if ratios of it mean something.
pub(crate) struct Metric {
    /// What tables call it; what is a part of the one above stands further to the right.
    pub name: String,
    /// What `--keys` and columns of a CSV call it.
    pub key: String,
    /// How its number is told.
    pub show: fn(f64) -> String,
    /// Its number, where a result has one.
    pub value: Number,
}

impl Metric {
    /// The same, which tables call otherwise; its key stays.
    fn called(self, name: impl Into<String>) -> Self {
        Metric { name: name.into(), ..self }
    }
}

fn metric(
    name: impl Into<String>,
    show: fn(f64) -> String,
    value: impl Fn(&RunResult) -> Option<f64> + 'static,
) -> Metric {
    let name = name.into();
    let key = name.trim().replace(' ', "_").replace(['(', ')', ',', '\''], "");
    Metric { name, key, show, value: Box::new(value) }
}

fn plain_si(value: f64) -> String {
    si(value, "")
}

fn megabytes(value: f64) -> String {
    si(value * 1e6, "B/s")
}

/// Requests from which a ratio of this latency says something: at least one lies beyond a percentile.
fn requests_needed(name: &str) -> u64 {
    match name {
        "p99" => 100,
        "p99.9" => 1_000,
        "p99.99" => 10_000,
        _ => 20,
    }
}

/// Metrics of drives that may lose or move data, of which it is news that there was none.
pub(crate) const ZERO_TELLS: [&str; 5] = [
    "uncorrectable_reads",
    "requests_uncorrectable",
    "units_lost",
    "pages_moved_for_reads",
    "pages_moved_for_reads.of_these_premature",
];

/// All metrics. Keys of those that are parts begin with that of the whole: `write_amplification.gc`.
pub(crate) fn metrics() -> Vec<Metric> {
    let mut all = of_all();
    let mut whole = String::new();
    for metric in &mut all {
        if metric.name.starts_with(' ') {
            metric.key = format!("{whole}.{}", metric.key);
        } else {
            whole.clone_from(&metric.key);
        }
    }
    all
}

/// What `--keys` and the columns of a CSV call the metrics.
pub fn metric_keys() -> Vec<String> {
    metrics().into_iter().map(|metric| metric.key).collect()
}

/// A number of results, each in the units of `result.json`.
pub(crate) struct Scalar {
    /// What columns of a CSV call it.
    pub key: String,
    /// Whether it is a time in ns.
    pub is_time: bool,
    /// Of each result; `None` where it has none.
    pub values: Vec<Option<f64>>,
}

/// All numbers of results that can be compared.
pub(crate) fn scalars(results: &[&RunResult]) -> Vec<Scalar> {
    let of = |metric: Metric| Scalar {
        is_time: (metric.show)(1e3) == duration(1e3),
        values: results.iter().map(|result| (metric.value)(result)).collect(),
        key: metric.key,
    };
    metrics().into_iter().map(of).collect()
}

/// Whether the number of that key is a time in ns; `None` if there is no such key.
pub(crate) fn is_time(key: &str) -> Option<bool> {
    let metric = metrics().into_iter().find(|metric| metric.key == key)?;
    Some((metric.show)(1e3) == duration(1e3))
}

/// How a number is told.
pub(crate) type Show = fn(f64) -> String;

/// What tables call the number of that key, and how they tell it; `None` if there is no such key.
pub(crate) fn told_as(key: &str) -> Option<(String, Show)> {
    let metric = metrics().into_iter().find(|metric| metric.key == key)?;
    let name = match metric.name.strip_prefix(' ') {
        // A part is told with its whole.
        Some(part) => format!("{}: {}", key.split('.').next().unwrap_or(key).replace('_', " "), part.trim()),
        None => metric.name.clone(),
    };
    Some((name, metric.show))
}

fn of_all() -> Vec<Metric> {
    let mut all = vec![
        metric("requests served", plain_si, |r| Some(r.requests_served as f64)),
        metric("simulated time", duration, |r| r.takes_time().then_some(r.simulated_ns as f64)),
        metric("IOPS", plain_si, |r| r.iops.all),
        metric("read bandwidth", megabytes, |r| r.bandwidth_mb_s.read),
        metric("write bandwidth", megabytes, |r| r.bandwidth_mb_s.write),
    ];
    for (kind, spread) in SPREADS {
        let enough = move |r: &RunResult, name| r.takes_time() && spread(r).count >= requests_needed(name);
        let mean = move |r: &RunResult| spread(r).mean.filter(|_| enough(r, "mean"));
        all.push(metric(format!("{kind} latency mean"), duration, mean));
        for (name, point) in POINTS {
            let value = move |r: &RunResult| point(spread(r)).filter(|_| enough(r, name)).map(|ns| ns as f64);
            all.push(metric(format!("{kind} latency {name}"), duration, value));
        }
    }
    all.push(metric("write amplification", digits, |r| r.write_amplification));
    for &cause in &Cause::ALL {
        let is_common = !is_rare(cause);
        let value = move |r: &RunResult| {
            r.write_amplification_by_cause[cause].filter(|share| is_common || *share > 0.0)
        };
        let label = format!("  {}", labels::cause(Axis::name(cause)));
        all.push(metric(Axis::name(cause), digits, value).called(label));
    }
    all.extend([
        metric("flash reads", plain_si, |r| Some(r.flash.reads.sum() as f64)),
        metric("flash programs", plain_si, |r| {
            Some((r.flash.programs.sum() + r.flash.copybacks.sum()) as f64)
        }),
        metric("flash erases", plain_si, |r| Some(r.flash.erases.sum() as f64)),
        metric("retries a page read", digits, |r| r.flash.retries.mean),
        metric("page reads retried", percent, |r| r.flash.retries.share),
        metric("uncorrectable reads", plain_si, |r| {
            r.has_errors().then(|| r.flash.uncorrectable.sum() as f64)
        }),
        metric("requests uncorrectable", plain_si, |r| {
            r.has_errors().then_some(r.requests_uncorrectable as f64)
        }),
        metric("units lost", plain_si, |r| r.has_errors().then_some(r.ftl.lost_units as f64)),
        metric("pages moved for reads", plain_si, |r| {
            let reclaim = &r.ftl.read_reclaim;
            (!matches!(reclaim.policy.as_str(), "" | "never")).then_some(reclaim.pages as f64)
        }),
        metric("  of these premature", plain_si, |r| {
            r.ftl.read_reclaim.most_disturbed.map(|_| r.ftl.read_reclaim.premature_pages as f64)
        }),
        metric("read reclaim tables", plain_si, |r| {
            let reclaim = &r.ftl.read_reclaim;
            (reclaim.table_bytes > 0).then_some(reclaim.table_bytes as f64)
        }),
    ]);
    all.extend(of_separation());
    // Counters that no other key of a result tells of, where they counted.
    for counter in Stats::all_counters().filter(|counter| counter.told_in.is_none()) {
        all.push(metric(counter.key, plain_si, |r| {
            r.counters.get(counter.key).map(|count| count.sum() as f64).filter(|sum| *sum > 0.0)
        }));
    }
    all.extend([
        metric("erase count mean", digits, |r| Some(r.erase_count.mean)),
        metric("erase count of run", digits, |r| Some(r.erase_count.of_run)),
        metric("erase count max", digits, |r| Some(f64::from(r.erase_count.max))),
    ]);
    all.extend(of_parts());
    all.push(metric("processor time (s)", digits, |r| Some(r.cpu_seconds)));
    all
}

/// How busy a drive's parts were.
fn of_parts() -> [Metric; 6] {
    [
        metric("dies busy", percent, |r| r.utilisation.array.mean),
        metric("  the busiest", percent, |r| r.utilisation.array.max),
        metric("dies occupied", percent, |r| r.utilisation.die.mean),
        metric("dies waiting", percent, |r| r.utilisation.waiting.mean).called("dies occupied, not busy"),
        metric("channels busy", percent, |r| r.utilisation.channel.mean),
        metric("  the busiest", percent, |r| r.utilisation.channel.max),
    ]
}

/// What tells separators of data apart.
fn of_separation() -> [Metric; 4] {
    [
        metric("victims of cleaning", plain_si, |r| Some(r.ftl.victims.all() as f64)).called("GC victims"),
        metric("of these dead", plain_si, |r| Some(r.ftl.victims.all_dead() as f64))
            .called("  without valid data"),
        metric("  units copied per victim", digits, |r| r.ftl.victims.copied()),
        metric("separator's memory", plain_si, |r| {
            (r.ftl.stream.memory_bytes > 0).then_some(r.ftl.stream.memory_bytes as f64)
        }),
    ]
}
