//! Plots of results: as SVG and as PDF files that need nothing else, as text, and the numbers that they show as CSV.

pub(crate) mod axis;
mod bars;
pub(crate) mod font;
pub(crate) mod frame;
pub(crate) mod grouped;
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

use crate::base::by::Axis;
use crate::base::csv::Csv;
use crate::base::labels;
use crate::base::number::{digits, duration};
use crate::report::table::title;
use crate::result::time_spent::Spent;
use crate::result::{Distribution, RunResult};
use bars::{Bar, Bars};
use picture::Picture;
use ssd::Part;
use ssd::flash::op::Cause;

pub(crate) use latency::{latency, steps};
use lines::Across;
pub(crate) use lines::{Line, Lines, Measured};
pub(crate) use retries::retries;
pub(crate) use versions::versions;
pub(crate) use victims::victims;
pub use workload::workload;

/// Results that have a bar for each side of their latencies.
const FEW: usize = 4;
/// Height of the inside of a frame.
pub(crate) const HEIGHT: f64 = 300.0;
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

/// Endings of the files that a plot may come in.
const ENDINGS: [&str; 4] = ["svg", "pdf", "txt", "csv"];

/// Whether any of the series has more than one point and more than zeros.
pub(crate) fn shows<'a>(series: impl IntoIterator<Item = &'a [(f64, f64)]>) -> bool {
    series
        .into_iter()
        .any(|points| points.iter().any(|(_, y)| *y != 0.0) && points.iter().any(|point| *point != points[0]))
}

/// A plot, and the numbers that it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    picture: Picture,
    data: Csv,
    shows: bool,
}

impl Plot {
    /// `shows` is whether there is more to it than zeros or a single point.
    pub(crate) fn new(picture: Picture, data: Csv, shows: bool) -> Self {
        Plot { picture, data, shows }
    }

    /// Names of all files that a plot may come in.
    pub fn names(stem: &str) -> impl Iterator<Item = String> {
        ENDINGS.iter().map(move |ending| format!("{stem}.{ending}"))
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

    /// Whether there is nothing to show: no series with more than zeros or a single point.
    pub fn is_empty(&self) -> bool {
        !self.shows
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
