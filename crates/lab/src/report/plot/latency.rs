//! Distributions of latencies: time on a logarithmic axis, percentiles on one that gives each nine the same room.

use super::axis::Times;
use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::{Picture, Stroke};
use super::{HEIGHT, Plot, colour, shows};
use crate::base::csv::Csv;
use crate::report::table::title;
use crate::report::time_of_kinds::OfKind;
use crate::result::{Distribution, RunResult};

/// Nines that are always shown: up to 99.99 %.
const NINES_AT_LEAST: f64 = 4.0;

/// One line of the plot.
struct Curve<'a> {
    run: &'a str,
    of: &'static str,
    label: String,
    spread: &'a Distribution,
    colour: &'static str,
    stroke: Stroke,
}

impl Curve<'_> {
    /// Nanoseconds and nines. The longest of n requests is the only one beyond 1 - 1/n.
    fn points(&self) -> Vec<(f64, f64)> {
        let last = (self.spread.count as f64).log10();
        let steps = steps(self.spread);
        steps.map(|(percent, ns)| (ns as f64, nines(percent).min(last))).collect()
    }
}

/// The steps of a distribution, from its least on.
pub(crate) fn steps(spread: &Distribution) -> impl Iterator<Item = (f64, u64)> {
    spread.min.map(|ns| (0.0, ns)).into_iter().chain(spread.percentiles.iter().copied())
}

/// How many nines a percentage is: 99.9 % is 3.
fn nines(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

/// The mark of so many nines, in percent: 0, 90, 99, 99.9.
fn nines_label(nines: u32) -> String {
    match nines {
        0 => "0".to_owned(),
        1 => "90".to_owned(),
        2 => "99".to_owned(),
        more => format!("99.{}", "9".repeat(more as usize - 2)),
    }
}

/// How the curve of a kind of requests is drawn.
fn stroke_of(kind: &str) -> Stroke {
    match kind {
        "read" => Stroke::Full,
        "write" => Stroke::Dashed,
        "trim" => Stroke::Dotted,
        _ => Stroke::DashDotted,
    }
}

/// The plot of all results' reads (full lines), writes (dashed), trims (dotted) and flushes (dashes and dots); where no
/// time passes, there is nothing to show.
pub(crate) fn latency(results: &[RunResult]) -> Plot {
    let mut curves = Vec::new();
    for (number, result) in results.iter().enumerate().filter(|(_, result)| result.takes_time()) {
        for OfKind { name: of, latency: spread, .. } in result.time_of_kinds() {
            let run = title(result);
            let label = if results.len() > 1 { format!("{run} {of}") } else { of.to_owned() };
            curves.push(Curve { run, of, label, spread, colour: colour(number), stroke: stroke_of(of) });
        }
    }
    let mut data = Csv::new(&["run", "requests", "percent", "latency_ns"]);
    for curve in &curves {
        for (percent, ns) in steps(curve.spread) {
            data.row(&[curve.run, curve.of, &percent.to_string(), &ns.to_string()]);
        }
    }
    let points: Vec<_> = curves.iter().map(Curve::points).collect();
    Plot::new(draw(&curves), data, shows(points.iter().map(Vec::as_slice)))
}

fn draw(curves: &[Curve<'_>]) -> Picture {
    let times = Times::around(curves.iter().map(|curve| curve.spread));
    let first = curves.first().map_or("", |curve| curve.of);
    let across = times.scale(match first {
        _ if curves.iter().any(|curve| curve.of != first) => "Latency",
        "read" => "Read latency",
        "write" => "Write latency",
        "trim" => "Trim latency",
        "flush" => "Flush latency",
        _ => "Latency",
    });
    let requests = curves.iter().map(|curve| curve.spread.count).max().unwrap_or(1);
    let top = (requests as f64).log10().ceil().max(NINES_AT_LEAST);
    let marks = (0..=top as u32).map(|mark| (f64::from(mark), nines_label(mark)));
    let marks = marks.chain([(nines(50.0), "50".to_owned())]);
    let marks = marks.map(|(nines, label)| Mark::new(nines / top, label)).collect();
    let up = Scale { title: "Percentile of requests (%)".to_owned(), marks };
    if curves.is_empty() {
        return Frame::empty(&across, &up, "nothing to show");
    }
    let key = |curve: &Curve<'_>| Key {
        label: curve.label.clone(),
        colour: curve.colour,
        kind: KeyKind::Line(curve.stroke),
    };
    let keys: Vec<Key> = curves.iter().map(key).collect();
    let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
    for curve in curves {
        let points = curve.points().into_iter().map(|(ns, nines)| frame.place(times.share(ns), nines / top));
        let points = points.collect();
        frame.picture.curve(points, curve.colour, curve.stroke);
    }
    frame.picture
}
