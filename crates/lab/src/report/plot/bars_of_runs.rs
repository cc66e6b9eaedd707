//! Bars for runs: latencies, where their time went, write amplification by cause.

use super::axis;
use super::bars::{Bar, Bars};
use super::files::Plot;
use crate::base::by::Axis;
use crate::base::csv::Csv;
use crate::base::labels;
use crate::base::number::{digits, duration};
use crate::report::table::title;
use crate::result::time_spent::Spent;
use crate::result::{Distribution, RunResult};
use ssd::Part;
use ssd::flash::op::Cause;

/// Results that have a bar for each side of their latencies.
const FEW: usize = 4;

/// More curves than these could not be told apart.
pub(crate) const CURVES_MAX: usize = 11;

/// The heading of a result's group, if it is the first that has it.
fn heading(groups: &[String], number: usize) -> Option<Bar> {
    let group = groups.get(number)?;
    (number == 0 || groups[number - 1] != *group).then(|| Bar::heading(group))
}

/// Requests of a kind, and how their latencies are distributed.
type Kind = (&'static str, fn(&RunResult) -> &Distribution);
const KINDS: [Kind; 4] = [
    ("read", |result| &result.latency_ns.read),
    ("write", |result| &result.latency_ns.write),
    ("trim", |result| &result.latency_ns.trim),
    ("flush", |result| &result.latency_ns.flush),
];

/// The 99th percentiles of many results' requests of each kind, a bar for each.
pub(crate) fn latency_bars(results: &[RunResult], groups: &[String]) -> Plot {
    let p99 = |result: &RunResult, (_, of): Kind| of(result).p99.filter(|ns| result.takes_time() && *ns > 0);
    let all = results.iter().flat_map(|result| KINDS.map(|kind| p99(result, kind))).flatten();
    let (unit, unit_ns) = axis::unit_of(all.min().unwrap_or(1) as f64);
    let mut data = Csv::new(&["run", "requests", "percent", "latency_ns"]);
    let mut bars = Vec::new();
    for (number, result) in results.iter().enumerate() {
        bars.extend(heading(groups, number));
        for (part, kind) in KINDS.into_iter().enumerate() {
            let Some(ns) = p99(result, kind) else { continue };
            data.row(&[title(result), kind.0, "99", &ns.to_string()]);
            let mut parts = vec![0.0; KINDS.len()];
            parts[part] = ns as f64 / unit_ns;
            let label = format!("{} {}", title(result), kind.0);
            bars.push(Bar { label, parts, total: duration(ns as f64) });
        }
    }
    let names = KINDS.map(|(kind, _)| kind.to_owned()).into();
    Bars { title: format!("p99 latency ({unit})"), names, unit, bars }.plot(data)
}

/// Which requests a bar of the breakdown is of, by its label and in its numbers, and the time they spent in a part.
type Side = (&'static str, &'static str, fn(&Spent) -> Option<f64>);
const SIDES: [Side; 4] = [
    ("faster half", "to_p50", |spent| spent.mean_to_p50),
    ("all", "all", |spent| spent.mean),
    ("slowest 1 %", "from_p99", |spent| spent.mean_from_p99),
    ("slowest 0.1 %", "from_p99_9", |spent| spent.mean_from_p99_9),
];

/// Where the time of each kind of requests went: bars for the faster half, all and the slowest, each as shares of its
/// own mean latency, because these lie decades apart. Of many results there is one bar for each kind.
pub(crate) fn breakdown(results: &[RunResult], groups: &[String]) -> Plot {
    let mut bars = Vec::new();
    let mut data = Csv::new(&["run", "requests", "of", "part", "mean_ns", "share_percent"]);
    let has_sides = results.len() <= FEW;
    let sides = if has_sides { &SIDES[..] } else { &SIDES[1..2] };
    for (number, result) in results.iter().enumerate().filter(|(_, result)| result.takes_time()) {
        bars.extend(heading(groups, number));
        bars.extend((has_sides && results.len() > 1).then(|| Bar::heading(title(result))));
        for of_kind in result.time_of_kinds() {
            let (kind, spent) = (of_kind.name, of_kind.spent);
            for (side, key, of) in sides {
                let side = match *key {
                    "from_p99" => format!("slowest {}", of_kind.slowest_share(10)),
                    "from_p99_9" => format!("slowest {}", of_kind.slowest_share(1)),
                    _ => (*side).to_owned(),
                };
                let ns: Vec<f64> = spent.iter().map(|(_, spent)| of(spent).unwrap_or(0.0)).collect();
                let sum: f64 = ns.iter().sum();
                if sum <= 0.0 {
                    continue;
                }
                let shares: Vec<f64> = ns.iter().map(|ns| 100.0 * ns / sum).collect();
                for ((part, _), (ns, share)) in spent.iter().zip(ns.iter().zip(&shares)) {
                    let numbers = [ns, share].map(f64::to_string);
                    data.row(&[title(result), kind, key, Axis::name(part), &numbers[0], &numbers[1]]);
                }
                let label =
                    if has_sides { format!("{kind}, {side}") } else { format!("{} {kind}", title(result)) };
                bars.push(Bar { label, parts: shares, total: duration(sum) });
            }
        }
    }
    let names = Part::ALL.iter().map(|part| labels::part(*part).to_owned()).collect();
    Bars { title: "Fraction of mean latency (%)".to_owned(), names, unit: "%", bars }.plot(data)
}

/// Write amplification by cause, one bar for each result.
pub(crate) fn write_amplification(results: &[RunResult], groups: &[String]) -> Plot {
    let mut data = Csv::new(&["run", "cause", "write_amplification"]);
    let mut bars = Vec::new();
    for (number, result) in results.iter().enumerate() {
        bars.extend(heading(groups, number));
        let Some(total) = result.write_amplification.filter(|total| *total > 0.0) else { continue };
        for (cause, share) in result.write_amplification_by_cause.iter() {
            data.row(&[title(result), Axis::name(cause), &share.unwrap_or(0.0).to_string()]);
        }
        let parts =
            result.write_amplification_by_cause.iter().map(|(_, share)| share.unwrap_or(0.0)).collect();
        bars.push(Bar { label: title(result).to_owned(), parts, total: digits(total) });
    }
    let names = Cause::ALL.iter().map(|cause| labels::cause(Axis::name(*cause))).collect();
    Bars { title: "Write amplification".to_owned(), names, unit: "", bars }.plot(data)
}
