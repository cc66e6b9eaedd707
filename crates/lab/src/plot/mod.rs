//! Plots of results: as SVG and as PDF files that need nothing else, as text, and the numbers that they show as CSV.

pub(crate) mod axis;
mod bars;
mod font;
pub(crate) mod frame;
mod latency;
mod lines;
#[cfg(feature = "pdf")]
mod pdf;
pub(crate) mod picture;
mod retries;
mod svg;
mod text;
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

/// Results that have a bar for each side of their latencies.
const FEW: usize = 4;
/// Height of the inside of a frame.
pub(crate) const HEIGHT: f64 = 340.0;
/// Share of a step of an axis that its bars take.
pub(crate) const FILLED: f64 = 0.8;

/// Colours told apart by most eyes (Okabe and Ito, 2008), then greys and browns for long lists.
const COLOURS: [&str; 15] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22",
    "#1a1a1a", "#882255", "#44aa99", "#6a5acd", "#ddcc77", "#661100",
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

    /// The plot in letters, at most 120 to a line.
    pub fn text(&self) -> String {
        text::write(&self.picture)
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// All files of the plot with their names: `stem.svg`, `stem.pdf` (if the program can), `stem.txt` and `stem.csv`;
    /// none where there is nothing to show.
    pub fn files(&self, stem: &str) -> Vec<(String, Vec<u8>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut files = vec![(format!("{stem}.svg"), self.svg().into_bytes())];
        files.extend(self.pdf().map(|bytes| (format!("{stem}.pdf"), bytes)));
        files.push((format!("{stem}.txt"), self.text().into_bytes()));
        files.push((format!("{stem}.csv"), self.data.text().as_bytes().to_vec()));
        files
    }
}

/// More curves than these could not be told apart.
pub(crate) const CURVES_MAX: usize = 11;

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
        title: "99th percentile of latency",
        of: "",
        names: vec!["read", "write"],
        show: duration,
        bars,
    };
    Plot::new(plot.picture(), latency::numbers(results))
}

/// Which requests a bar of the breakdown is of, by its label and in its numbers, and the time they spent in a part.
type Side = (&'static str, &'static str, fn(&Spent) -> Option<f64>);
const SIDES: [Side; 4] = [
    ("faster half", "to_p50", |spent| spent.mean_to_p50),
    ("all", "all", |spent| spent.mean),
    ("slowest 1 %", "from_p99", |spent| spent.mean_from_p99),
    ("slowest 0.1 %", "from_p99_9", |spent| spent.mean_from_p99_9),
];

/// Where the time of reads and writes went: bars for the faster half, all and the slowest, each as shares of its own
/// mean latency, because these lie decades apart. Of many results there is one bar for each of reads and writes.
pub(crate) fn breakdown(results: &[RunResult], groups: &[String]) -> Plot {
    let mut bars = Vec::new();
    let mut data = Csv::new(&["run", "requests", "of", "part", "mean_ns"]);
    let sides = if results.len() > FEW { &SIDES[1..2] } else { &SIDES[..] };
    for (number, result) in results.iter().enumerate().filter(|(_, result)| result.takes_time()) {
        bars.extend(heading(groups, number));
        let kinds = [
            ("read", &result.breakdown_ns.read, &result.latency_ns.read),
            ("write", &result.breakdown_ns.write, &result.latency_ns.write),
        ];
        for (kind, spent, _) in kinds.into_iter().filter(|(.., latency)| latency.count > 0) {
            let run = if results.len() > 1 { format!("{} {kind}", title(result)) } else { kind.to_owned() };
            for (side, key, of) in sides {
                let ns: Vec<f64> = spent.iter().map(|(_, spent)| of(spent).unwrap_or(0.0)).collect();
                let sum: f64 = ns.iter().sum();
                if sum <= 0.0 {
                    continue;
                }
                for ((part, _), ns) in spent.iter().zip(&ns) {
                    data.row(&[title(result), kind, key, Axis::name(part), &ns.to_string()]);
                }
                let label = if sides.len() > 1 { format!("{run}, {side}") } else { run.clone() };
                bars.push(Bar { label, parts: ns.iter().map(|ns| ns / sum).collect(), total: duration(sum) });
            }
        }
    }
    let names = Part::ALL.iter().map(|part| Axis::name(*part)).collect();
    let bars = Bars { title: "Fraction of mean latency", of: "", names, show: whole_percent, bars };
    Plot::new(bars.picture(), data)
}

/// A share in percent, without zeros at the end.
fn whole_percent(share: f64) -> String {
    format!("{} %", digits(share * 100.0))
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
    let bars = Bars {
        title: "Write amplification",
        of: "",
        names: Cause::ALL.iter().map(|cause| Axis::name(*cause)).collect(),
        show: digits,
        bars,
    };
    Plot::new(bars.picture(), data)
}
