//! Curves over two linear axes.

use super::svg::{Anchor, Svg};
use super::{axis, colour};
use crate::number::digits;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 54.0;
const LEGEND_LINE: f64 = 18.0;

/// A curve with its name and its points.
pub(crate) struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A plot of curves. The vertical axis begins at 0, the horizontal one at the lowest x, but at most at 0.
pub(crate) struct Lines<'a> {
    /// Headline.
    pub title: &'a str,
    /// What is on the horizontal axis, with its unit.
    pub across: &'a str,
    /// The curves.
    pub lines: &'a [Line],
}

impl Lines<'_> {
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(WIDTH, HEIGHT + LEGEND_LINE * self.lines.len() as f64);
        svg.title(self.title);
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let bound = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let below = bound(&mut points().map(|(x, _)| -x)).ceil();
        let columns = axis::linear(bound(&mut points().map(|(x, _)| x + below)));
        let rows = axis::linear(bound(&mut points().map(|(_, y)| *y)));
        let end = |marks: &[f64]| marks.last().copied().unwrap_or(1.0);
        let (right, top) = (end(&columns), end(&rows));
        let place_x = |x: f64| LEFT + (x + below) / right * (WIDTH - LEFT - RIGHT);
        let place_y = |y: f64| HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM);
        for column in columns {
            let x = place_x(column - below);
            svg.line((x, place_y(0.0)), (x, place_y(top)), "#dddddd");
            svg.text((x, HEIGHT - BOTTOM + 16.0), Anchor::Middle, &digits(column - below));
        }
        for row in rows {
            svg.line((LEFT, place_y(row)), (WIDTH - RIGHT, place_y(row)), "#dddddd");
            svg.text((LEFT - 8.0, place_y(row) + 4.0), Anchor::End, &digits(row));
        }
        svg.text((WIDTH / 2.0, HEIGHT - BOTTOM + 34.0), Anchor::Middle, self.across);
        for (number, line) in self.lines.iter().enumerate() {
            let points: Vec<_> = line.points.iter().map(|(x, y)| (place_x(*x), place_y(*y))).collect();
            svg.path(&points, colour(number), false);
            let at = HEIGHT + LEGEND_LINE * number as f64;
            svg.path(&[(LEFT, at), (LEFT + 36.0, at)], colour(number), false);
            svg.text((LEFT + 44.0, at + 4.0), Anchor::Start, &line.name);
        }
        svg.finish()
    }
}
