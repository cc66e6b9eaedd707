//! Results side by side.

use crate::by::{Axis, is_rare};
use crate::number::{digits, duration, percent, si};
use crate::result::{Distribution, RunResult};
use crate::table::{NONE, POINTS, grid, title};
use serde_json::Value;
use ssd::Stats;
use ssd::flash::op::Cause;
use std::collections::BTreeSet;

/// The number of a metric in a result, if it has one.
type Number = Box<dyn Fn(&RunResult) -> Option<f64>>;
/// The distribution of one kind of requests in a result.
type Spread = fn(&RunResult) -> &Distribution;

/// A metric of a comparison: how it is told of a result, and its number, if ratios of it mean something.
struct Metric {
    name: String,
    show: fn(f64) -> String,
    value: Number,
}

fn metric(
    name: impl Into<String>,
    show: fn(f64) -> String,
    value: impl Fn(&RunResult) -> Option<f64> + 'static,
) -> Metric {
    Metric { name: name.into(), show, value: Box::new(value) }
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

fn metrics() -> Vec<Metric> {
    let mut all = vec![
        metric("requests served", plain_si, |r| Some(r.requests_served as f64)),
        metric("simulated time", duration, |r| r.takes_time().then_some(r.simulated_ns as f64)),
        metric("IOPS", plain_si, |r| r.iops.all),
        metric("read bandwidth", megabytes, |r| r.bandwidth_mb_s.read),
        metric("write bandwidth", megabytes, |r| r.bandwidth_mb_s.write),
    ];
    let spreads: [(&str, Spread); 2] = [("read", |r| &r.latency_ns.read), ("write", |r| &r.latency_ns.write)];
    for (kind, spread) in spreads {
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
        all.push(metric(format!("  {}", Axis::name(cause)), digits, value));
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
        metric("erase count max", digits, |r| Some(f64::from(r.erase_count.max))),
        metric("dies busy", percent, |r| r.utilisation.die.mean),
        metric("channels busy", percent, |r| r.utilisation.channel.mean),
        metric("processor time (s)", digits, |r| Some(r.cpu_seconds)),
    ]);
    all
}

/// What tells separators of data apart.
fn of_separation() -> [Metric; 4] {
    [
        metric("victims of cleaning", plain_si, |r| Some(r.ftl.victims.all() as f64)),
        metric("  of these dead", plain_si, |r| Some(r.ftl.victims.all_dead() as f64)),
        metric("  units copied of one", digits, |r| r.ftl.victims.copied()),
        metric("separator's memory", plain_si, |r| {
            (r.ftl.stream.memory_bytes > 0).then_some(r.ftl.stream.memory_bytes as f64)
        }),
    ]
}

/// The ratio of a value to the first result's, where both have one.
fn ratio(value: Option<f64>, first: Option<f64>) -> String {
    match (value, first) {
        (Some(value), Some(first)) if first > 0.0 => format!("x{}", digits(value / first)),
        _ => String::new(),
    }
}

/// The configuration values that are not the same in all results, one column each; nothing if there are none.
fn differences(results: &[RunResult]) -> String {
    let keys: BTreeSet<&String> = results.iter().flat_map(|result| result.config.keys()).collect();
    let shown = |result: &RunResult, key: &String| match result.config.get(key) {
        None => NONE.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let mut rows = vec![vec!["configuration".to_owned()]];
    rows[0].extend(results.iter().map(|result| title(result).to_owned()));
    for key in keys {
        let values: Vec<String> = results.iter().map(|result| shown(result, key)).collect();
        // A result without any configuration differs in nothing.
        let known =
            || values.iter().zip(results).filter(|(_, of)| !of.config.is_empty()).map(|(value, _)| value);
        if known().any(|value| Some(value) != known().next()) {
            rows.push([vec![key.clone()], values].concat());
        }
    }
    let mut text = String::new();
    if rows.len() > 1 {
        text.push_str(&format!("\n{}", grid(&rows)));
    }
    for result in results.iter().filter(|result| result.config.is_empty()) {
        text.push_str(&format!(
            "{} is of an earlier version: its configuration is not known.\n",
            title(result)
        ));
    }
    text
}

/// Several results, one column each, with the ratio of each value to the first result's beside it.
pub(crate) fn side_by_side(results: &[RunResult]) -> String {
    let Some(first) = results.first() else { return String::new() };
    let mut head = vec![String::new()];
    let mut ended = vec!["ended".to_owned()];
    for (number, result) in results.iter().enumerate() {
        head.push(title(result).to_owned());
        // A word is enough here; each result's own table has the whole reason.
        ended.push(result.ended.split(':').next().unwrap_or_default().to_owned());
        if number > 0 {
            head.push(String::new());
            ended.push(String::new());
        }
    }
    let mut rows = vec![head, ended];
    let mut left_out = false;
    for metric in metrics() {
        if results.iter().all(|result| (metric.value)(result).is_none()) {
            left_out |= metric.name.contains("latency") && results.iter().any(RunResult::takes_time);
            continue;
        }
        let mut row = vec![metric.name.clone()];
        let base = (metric.value)(first);
        for (number, result) in results.iter().enumerate() {
            let value = (metric.value)(result);
            row.push(value.map_or(NONE.to_owned(), metric.show));
            if number > 0 {
                row.push(ratio(value, base));
            }
        }
        rows.push(row);
    }
    let differs = |get: fn(&RunResult) -> &str| results.iter().any(|result| get(result) != get(first));
    let mut text = grid(&rows);
    if left_out {
        text.push_str(
            "Latencies of too few requests are left out: fewer than one beyond a percentile, or 20 in all.\n",
        );
    }
    for result in results.iter().filter(|result| !result.preconditioning.age_steps.is_empty()) {
        text.push_str(&format!(
            "{} was aged: {}.\n",
            title(result),
            result.preconditioning.age_steps.join(", ")
        ));
    }
    for result in results {
        for remark in &result.remarks {
            text.push_str(&format!("{}: {remark}.\n", title(result)));
        }
    }
    if differs(|result| &result.workload_hash) {
        text.push_str("The workloads are not the same.\n");
    }
    text.push_str(&differences(results));
    if results.len() > 1 && !differs(|result| &result.config_hash) {
        text.push_str("The drives' configurations are the same.\n");
    }
    text
}
