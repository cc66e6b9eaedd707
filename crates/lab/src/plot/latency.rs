//! Distributions of latencies: time on a logarithmic axis, percentiles on one that gives each nine the same room.

use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::Picture;
use super::{HEIGHT, Plot, axis, colour};
use crate::csv::Csv;
use crate::number::duration;
use crate::result::{Distribution, RunResult};
use crate::table::title;

/// Nines that are always shown: up to 99.99 %.
const NINES_AT_LEAST: f64 = 4.0;

/// One line of the plot.
struct Curve<'a> {
    label: String,
    spread: &'a Distribution,
    colour: &'static str,
    kind: KeyKind,
}

/// How many nines a percentage is: 99.9 % is 3.
fn nines(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

/// The mark of so many nines: 0 %, 90 %, 99 %, 99.9 %.
fn nines_label(nines: u32) -> String {
    match nines {
        0 => "0 %".to_owned(),
        1 => "90 %".to_owned(),
        2 => "99 %".to_owned(),
        more => format!("99.{} %", "9".repeat(more as usize - 2)),
    }
}

/// Times from the least to the most on a logarithmic axis: its marks, and the share of it that a time is at.
pub(crate) fn log_marks<'a>(
    spreads: impl Iterator<Item = &'a Distribution> + Clone,
) -> (Vec<Mark>, impl Fn(f64) -> f64) {
    let least = spreads.clone().filter_map(|spread| spread.min).min().unwrap_or(1);
    let most = spreads.filter_map(|spread| spread.max).max().unwrap_or(1);
    let (low, high) = axis::decades(least as f64, most as f64);
    let share = move |ns: f64| (ns.max(1.0).log10() - f64::from(low)) / f64::from(high - low);
    let mark = |decade: i32| Mark::new(share(10f64.powi(decade)), duration(10f64.powi(decade)));
    ((low..=high).map(mark).collect(), share)
}

/// The plot of all results' reads (full lines) and writes (dashed); where no time passes, there is nothing to show.
pub(crate) fn latency(results: &[RunResult]) -> Plot {
    let mut curves = Vec::new();
    for (number, result) in results.iter().enumerate().filter(|(_, result)| result.takes_time()) {
        let kinds = [
            ("read", &result.latency_ns.read, KeyKind::Line),
            ("write", &result.latency_ns.write, KeyKind::Dashed),
        ];
        for (kind, spread, key) in kinds.into_iter().filter(|(_, spread, _)| spread.count > 0) {
            let label = if results.len() > 1 { format!("{} {kind}", title(result)) } else { kind.to_owned() };
            curves.push(Curve { label, spread, colour: colour(number), kind: key });
        }
    }
    Plot::new(draw(&curves), numbers(results))
}

/// The distributions of all results' reads and writes.
pub(crate) fn numbers(results: &[RunResult]) -> Csv {
    let mut data = Csv::new(&["run", "requests", "percent", "latency_ns"]);
    for result in results.iter().filter(|result| result.takes_time()) {
        for (kind, spread) in [("read", &result.latency_ns.read), ("write", &result.latency_ns.write)] {
            for (percent, ns) in &spread.percentiles {
                data.row(&[title(result), kind, &percent.to_string(), &ns.to_string()]);
            }
        }
    }
    data
}

fn draw(curves: &[Curve<'_>]) -> Picture {
    let (marks, x) = log_marks(curves.iter().map(|curve| curve.spread));
    let across = Scale { title: "Latency".to_owned(), marks };
    // The longest of n requests is the only one beyond 1 - 1/n.
    let requests = curves.iter().map(|curve| curve.spread.count).max().unwrap_or(1);
    let top = (requests as f64).log10().ceil().max(NINES_AT_LEAST);
    let marks = (0..=top as u32).map(|mark| (f64::from(mark), nines_label(mark)));
    let marks = marks.chain([(nines(50.0), "50 %".to_owned())]);
    let marks = marks.map(|(nines, label)| Mark::new(nines / top, label)).collect();
    let up = Scale { title: "Percentile of requests".to_owned(), marks };
    if curves.is_empty() {
        return Frame::empty(&across, &up, "nothing to show");
    }
    let key = |curve: &Curve<'_>| Key { label: curve.label.clone(), colour: curve.colour, kind: curve.kind };
    let keys: Vec<Key> = curves.iter().map(key).collect();
    let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
    for curve in curves {
        let last = (curve.spread.count as f64).log10();
        let place = |percent: f64, ns: u64| frame.place(x(ns as f64), nines(percent).min(last) / top);
        let points = curve.spread.percentiles.iter().map(|&(percent, ns)| place(percent, ns));
        let points = curve.spread.min.map(|ns| place(0.0, ns)).into_iter().chain(points).collect();
        frame.picture.curve(points, curve.colour, curve.kind == KeyKind::Dashed);
    }
    frame.picture
}
