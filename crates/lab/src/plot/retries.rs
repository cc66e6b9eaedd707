//! How many attempts of page reads fail: a histogram, with a bar for each result.

use super::svg::{Anchor, Svg};
use super::{axis, colour};
use crate::number::{digits, percent};
use crate::result::RunResult;
use crate::table::title;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 54.0;
const LEGEND_LINE: f64 = 20.0;
/// Share of a step of the horizontal axis that its bars take.
const FILLED: f64 = 0.8;

/// Page reads by the number of attempts that failed, as a share of all page reads of a result.
pub(crate) fn retries(results: &[RunResult]) -> String {
    let shown: Vec<&RunResult> = results.iter().filter(|r| !r.flash.retries.histogram.is_empty()).collect();
    let mut svg = Svg::new(WIDTH, HEIGHT + LEGEND_LINE * shown.len() as f64);
    svg.title("Page reads by the number of attempts that failed");
    if shown.is_empty() {
        svg.text((LEFT, TOP + 16.0), Anchor::Start, "nothing to show");
        return svg.finish();
    }
    let shares = shown.iter().map(|result| {
        let reads = &result.flash.retries.histogram;
        let all: u64 = reads.iter().sum();
        reads.iter().map(|count| *count as f64 / all as f64).collect::<Vec<_>>()
    });
    let shares: Vec<Vec<f64>> = shares.collect();
    let steps = shares.iter().map(Vec::len).max().unwrap_or(1);
    let rows = axis::linear(shares.iter().flatten().copied().fold(0.0, f64::max));
    let step = (WIDTH - LEFT - RIGHT) / steps as f64;
    let top = rows.last().copied().unwrap_or(1.0);
    let place_y = |share: f64| HEIGHT - BOTTOM - share / top * (HEIGHT - TOP - BOTTOM);
    for row in rows {
        svg.line((LEFT, place_y(row)), (WIDTH - RIGHT, place_y(row)), "#dddddd");
        svg.text((LEFT - 8.0, place_y(row) + 4.0), Anchor::End, &percent(row));
    }
    let bar = step * FILLED / shown.len() as f64;
    for attempts in 0..steps {
        let left = LEFT + step * attempts as f64;
        svg.text((left + step / 2.0, HEIGHT - BOTTOM + 16.0), Anchor::Middle, &attempts.to_string());
        for (number, shares) in shares.iter().enumerate() {
            let share = shares.get(attempts).copied().unwrap_or(0.0);
            if share > 0.0 {
                let x = left + step * (1.0 - FILLED) / 2.0 + bar * number as f64;
                let hint = format!("{}, {attempts} failed: {}", title(shown[number]), percent(share));
                svg.rect((x, place_y(share)), (bar, place_y(0.0) - place_y(share)), colour(number), &hint);
            }
        }
    }
    svg.text((WIDTH / 2.0, HEIGHT - BOTTOM + 34.0), Anchor::Middle, "attempts that failed");
    for (number, result) in shown.iter().enumerate() {
        let at = HEIGHT + LEGEND_LINE * number as f64;
        let mean = result.flash.retries.mean.map(digits).unwrap_or_default();
        svg.rect((LEFT, at - 10.0), (12.0, 12.0), colour(number), title(result));
        svg.text((LEFT + 18.0, at), Anchor::Start, &format!("{}: {mean} in the mean", title(result)));
    }
    svg.finish()
}
