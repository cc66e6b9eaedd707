//! Plots of results: as SVG and as PDF files that need nothing else, and the numbers that they show as CSV.

pub(crate) mod axis;
mod bars;
pub(crate) mod frame;
mod latency;
mod lines;
#[cfg(feature = "pdf")]
mod pdf;
pub(crate) mod picture;
mod retries;
mod svg;
mod versions;
mod victims;
mod workload;

use crate::by::Axis;
use crate::csv::Csv;
use crate::number::{digits, duration};
use crate::result::{Distribution, RunResult};
use crate::table::title;
use crate::time_spent::Spent;
use bars::{Bar, Bars};
use picture::Picture;
use ssd::Part;
use ssd::flash::op::Cause;

pub(crate) use latency::{latency, log_marks};
use lines::Across;
pub(crate) use lines::{Line, Lines};
pub(crate) use retries::retries;
pub(crate) use versions::versions;
pub(crate) use victims::victims;
pub use workload::workload;

/// Height of the inside of a frame.
pub(crate) const HEIGHT: f64 = 340.0;
/// Share of a step of an axis that its bars take.
pub(crate) const FILLED: f64 = 0.8;

/// Colours told apart by most eyes (Okabe and Ito, 2008), then greys and browns for long lists.
const COLOURS: [&str; 11] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22",
    "#1a1a1a", "#882255",
];

/// The colour of the series of that number.
pub(crate) fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// A plot, and the numbers that it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    picture: Picture,
    data: Csv,
}

impl Plot {
    pub(crate) fn new(picture: Picture, data: Csv) -> Self {
        Plot { picture, data }
    }

    /// The plot as SVG.
    pub fn svg(&self) -> String {
        svg::write(&self.picture)
    }

    /// The numbers that it shows.
    pub fn csv(&self) -> &str {
        self.data.text()
    }

    /// The plot as PDF; `None` in a program built without.
    #[cfg(not(feature = "pdf"))]
    pub fn pdf(&self) -> Option<Vec<u8>> {
        None
    }

    /// The plot as PDF; `None` in a program built without.
    #[cfg(feature = "pdf")]
    pub fn pdf(&self) -> Option<Vec<u8>> {
        Some(pdf::write(&self.picture))
    }

    /// All files of the plot with their names: `stem.svg`, `stem.pdf` (if the program can) and `stem.csv`.
    pub fn files(&self, stem: &str) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![(format!("{stem}.svg"), self.svg().into_bytes())];
        files.extend(self.pdf().map(|bytes| (format!("{stem}.pdf"), bytes)));
        files.push((format!("{stem}.csv"), self.data.text().as_bytes().to_vec()));
        files
    }
}

/// As many curves as there are colours.
pub(crate) const CURVES_MAX: usize = COLOURS.len();

/// The heading of a result's group, if it is the first that has it.
fn heading(groups: &[String], number: usize) -> Option<Bar> {
    let group = groups.get(number)?;
    (number == 0 || groups[number - 1] != *group).then(|| Bar::heading(group))
}

/// The 99th percentiles of many results' reads and writes, a bar for each; the numbers are the whole distributions.
pub(crate) fn latency_bars(results: &[RunResult], groups: &[String]) -> Plot {
    let mut bars = Vec::new();
    for (number, result) in results.iter().enumerate() {
        bars.extend(heading(groups, number));
        let p99 = |spread: &Distribution| spread.p99.map_or(0.0, |ns| ns as f64);
        let (read, write) = (p99(&result.latency_ns.read), p99(&result.latency_ns.write));
        for (kind, parts) in [("read", vec![read, 0.0]), ("write", vec![0.0, write])] {
            let ns: f64 = parts.iter().sum();
            if ns > 0.0 {
                bars.push(Bar { label: format!("{} {kind}", title(result)), parts, total: duration(ns) });
            }
        }
    }
    let plot = Bars {
        title: "99 % of requests take at most so long",
        of: "requests",
        names: vec!["read", "write"],
        show: duration,
        bars,
    };
    Plot::new(plot.picture(), latency::numbers(results))
}

/// Where the time of reads and writes went, one bar for each.
pub(crate) fn breakdown(results: &[RunResult], groups: &[String]) -> Plot {
    let mut bars = Vec::new();
    let mut data = Csv::new(&["run", "requests", "part", "mean_ns"]);
    let timed = || results.iter().enumerate().filter(|(_, result)| result.takes_time());
    let mean = |spent: &Spent| spent.mean.unwrap_or(0.0);
    let spends = |part: &Part| {
        timed().any(|(_, result)| {
            let spent = &result.breakdown_ns;
            mean(&spent.read[*part]) + mean(&spent.write[*part]) > 0.0
        })
    };
    // A part that no time goes to has no colour.
    let shown: Vec<Part> = Part::ALL.into_iter().filter(spends).collect();
    for (number, result) in timed() {
        bars.extend(heading(groups, number));
        let kinds = [
            ("read", &result.breakdown_ns.read, &result.latency_ns.read),
            ("write", &result.breakdown_ns.write, &result.latency_ns.write),
        ];
        for (kind, spent, latency) in kinds.into_iter().filter(|(.., latency)| latency.count > 0) {
            let label = if results.len() > 1 { format!("{} {kind}", title(result)) } else { kind.to_owned() };
            for (part, spent) in spent.iter() {
                data.row(&[title(result), kind, Axis::name(part), &mean(spent).to_string()]);
            }
            let parts = shown.iter().map(|part| mean(&spent[*part])).collect();
            let total = latency.mean.map(duration).unwrap_or_default();
            bars.push(Bar { label, parts, total });
        }
    }
    let bars = Bars {
        title: "mean latency",
        of: "requests",
        names: shown.iter().map(|part| Axis::name(*part)).collect(),
        show: duration,
        bars,
    };
    Plot::new(bars.picture(), data)
}

/// Write amplification by cause, one bar for each result.
pub(crate) fn write_amplification(results: &[RunResult], groups: &[String]) -> Plot {
    let mut data = Csv::new(&["run", "cause", "write_amplification"]);
    let mut bars = Vec::new();
    for (number, result) in results.iter().enumerate() {
        bars.extend(heading(groups, number));
        let Some(total) = result.write_amplification else { continue };
        for (cause, share) in result.write_amplification_by_cause.iter() {
            data.row(&[title(result), Axis::name(cause), &share.unwrap_or(0.0).to_string()]);
        }
        let parts =
            result.write_amplification_by_cause.iter().map(|(_, share)| share.unwrap_or(0.0)).collect();
        bars.push(Bar { label: title(result).to_owned(), parts, total: digits(total) });
    }
    let bars = Bars {
        title: "bytes programmed for each byte written",
        of: "run",
        names: Cause::ALL.iter().map(|cause| Axis::name(*cause)).collect(),
        show: digits,
        bars,
    };
    Plot::new(bars.picture(), data)
}
