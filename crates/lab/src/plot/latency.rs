//! Distributions of latencies: time on a logarithmic axis, percentiles on one that gives each nine the same room.

use super::svg::{Anchor, Svg};
use super::{axis, colour};
use crate::number::duration;
use crate::result::{Distribution, RunResult};
use crate::table::title;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 40.0;
const LEGEND_LINE: f64 = 18.0;
/// Nines that are always shown: up to 99.99 %.
const NINES_AT_LEAST: f64 = 4.0;

/// One line of the plot.
struct Curve<'a> {
    label: String,
    spread: &'a Distribution,
    colour: &'static str,
    dashed: bool,
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

/// The plot of all results' reads (full lines) and writes (dashed).
pub(crate) fn latency(results: &[RunResult]) -> String {
    let mut curves = Vec::new();
    for (number, result) in results.iter().enumerate() {
        let kinds = [("read", &result.latency_ns.read, false), ("write", &result.latency_ns.write, true)];
        for (kind, spread, dashed) in kinds.into_iter().filter(|(_, spread, _)| spread.count > 0) {
            let label = if results.len() > 1 { format!("{} {kind}", title(result)) } else { kind.to_owned() };
            curves.push(Curve { label, spread, colour: colour(number), dashed });
        }
    }
    draw(&curves)
}

fn draw(curves: &[Curve<'_>]) -> String {
    let mut svg = Svg::new(WIDTH, HEIGHT + LEGEND_LINE * curves.len() as f64);
    svg.title("Latency: so many percent of the requests take at most so long");
    if curves.is_empty() {
        svg.text((LEFT, TOP + 16.0), Anchor::Start, "nothing to show");
        return svg.finish();
    }
    let bound =
        |pick: fn(&Distribution) -> Option<u64>| curves.iter().filter_map(move |curve| pick(curve.spread));
    let least = bound(|spread| spread.min).min().unwrap_or(1);
    let most = bound(|spread| spread.max).max().unwrap_or(1);
    let (low, high) = axis::decades(least as f64, most as f64);
    // The longest of n requests is the only one beyond 1 - 1/n.
    let requests = curves.iter().map(|curve| curve.spread.count).max().unwrap_or(1);
    let top = (requests as f64).log10().ceil().max(NINES_AT_LEAST);
    let x = |ns: u64| {
        let share = ((ns.max(1) as f64).log10() - f64::from(low)) / f64::from(high - low);
        LEFT + share.max(0.0) * (WIDTH - LEFT - RIGHT)
    };
    let y = |nines: f64| HEIGHT - BOTTOM - nines.min(top) / top * (HEIGHT - TOP - BOTTOM);
    for decade in low..=high {
        let ns = 10u64.saturating_pow(decade as u32);
        svg.line((x(ns), y(0.0)), (x(ns), y(top)), "#dddddd");
        svg.text((x(ns), HEIGHT - BOTTOM + 16.0), Anchor::Middle, &duration(ns as f64));
    }
    let marks = (0..=top as u32).map(|mark| (f64::from(mark), nines_label(mark)));
    for (mark, label) in marks.chain([(nines(50.0), "50 %".to_owned())]) {
        svg.line((LEFT, y(mark)), (WIDTH - RIGHT, y(mark)), "#dddddd");
        svg.text((LEFT - 8.0, y(mark) + 4.0), Anchor::End, &label);
    }
    for (row, curve) in curves.iter().enumerate() {
        let last = (curve.spread.count as f64).log10();
        let points =
            curve.spread.percentiles.iter().map(|&(percent, ns)| (x(ns), y(nines(percent).min(last))));
        svg.path(&points.collect::<Vec<_>>(), curve.colour, curve.dashed);
        let at = HEIGHT + LEGEND_LINE * row as f64;
        svg.path(&[(LEFT, at), (LEFT + 36.0, at)], curve.colour, curve.dashed);
        svg.text((LEFT + 44.0, at + 4.0), Anchor::Start, &curve.label);
    }
    svg.finish()
}
