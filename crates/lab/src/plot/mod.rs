//! Plots of results as SVG files that need nothing else.

pub(crate) mod axis;
mod bars;
mod latency;
mod lines;
mod retries;
pub(crate) mod svg;

use crate::by::Axis;
use crate::number::{digits, duration};
use crate::result::{RunResult, Spent};
use crate::table::title;
use bars::{Bar, Bars};
use ssd::Part;
use ssd::flash::op::Cause;

pub(crate) use latency::latency;
pub(crate) use lines::{Line, Lines};
pub(crate) use retries::retries;

/// Colours told apart by most eyes (Okabe and Ito, 2008), then greys and browns for long lists.
const COLOURS: [&str; 11] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22",
    "#1a1a1a", "#882255",
];

/// The colour of the series of that number.
pub(crate) fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// Where the time of reads and writes went, one bar for each.
pub(crate) fn breakdown(results: &[RunResult]) -> String {
    let mut bars = Vec::new();
    for result in results {
        let kinds = [
            ("read", &result.breakdown_ns.read, &result.latency_ns.read),
            ("write", &result.breakdown_ns.write, &result.latency_ns.write),
        ];
        for (kind, spent, latency) in kinds.into_iter().filter(|(.., latency)| latency.count > 0) {
            let label = if results.len() > 1 { format!("{} {kind}", title(result)) } else { kind.to_owned() };
            let parts = spent.iter().map(|(_, spent): (Part, &Spent)| spent.mean.unwrap_or(0.0)).collect();
            let total = latency.mean.map(duration).unwrap_or_default();
            bars.push(Bar { label, parts, total });
        }
    }
    Bars {
        title: "Where the time of a request goes (mean)",
        names: Part::ALL.iter().map(|part| Axis::name(*part)).collect(),
        show: duration,
        bars,
    }
    .to_svg()
}

/// Write amplification by cause, one bar for each result.
pub(crate) fn write_amplification(results: &[RunResult]) -> String {
    let bar = |result: &RunResult| {
        let total = digits(result.write_amplification?);
        let parts =
            result.write_amplification_by_cause.iter().map(|(_, share)| share.unwrap_or(0.0)).collect();
        Some(Bar { label: title(result).to_owned(), parts, total })
    };
    Bars {
        title: "Write amplification by cause",
        names: Cause::ALL.iter().map(|cause| Axis::name(*cause)).collect(),
        show: digits,
        bars: results.iter().filter_map(bar).collect(),
    }
    .to_svg()
}
