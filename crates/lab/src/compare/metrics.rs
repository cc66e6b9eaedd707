//! What is compared of results.

use crate::by::{Axis, is_rare};
use crate::labels;
use crate::number::{digits, duration, percent, si};
use crate::result::{Distribution, RunResult};
use crate::table::POINTS;
use ssd::Stats;
use ssd::flash::op::Cause;

/// The number of a metric in a result, if it has one.
pub(super) type Number = Box<dyn Fn(&RunResult) -> Option<f64>>;
/// The distribution of one kind of requests in a result.
type Spread = fn(&RunResult) -> &Distribution;

/// The distributions of all kinds of requests.
const SPREADS: [(&str, Spread); 4] = [
    ("read", |r| &r.latency_ns.read),
    ("write", |r| &r.latency_ns.write),
    ("trim", |r| &r.latency_ns.trim),
    ("flush", |r| &r.latency_ns.flush),
];

/// A metric of a comparison: how it is told of a result, and its number, if ratios of it mean something.
pub(super) struct Metric {
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
pub(super) const ZERO_TELLS: [&str; 5] = [
    "uncorrectable_reads",
    "requests_uncorrectable",
    "units_lost",
    "pages_moved_for_reads",
    "pages_moved_for_reads.of_these_premature",
];

/// All metrics. Keys of those that are parts begin with that of the whole: `write_amplification.gc`.
pub(super) fn metrics() -> Vec<Metric> {
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
