//! Stacked bars, lying: one row for each, with a legend below.

use super::svg::{Anchor, Svg};
use super::{axis, colour};

const WIDTH: f64 = 860.0;
/// Room for the rows' names and for their totals.
const LEFT: f64 = 200.0;
const RIGHT: f64 = 90.0;
const TOP: f64 = 44.0;
const ROW: f64 = 34.0;
const BAR: f64 = 22.0;
const LEGEND_LINE: f64 = 20.0;
const LEGEND_COLUMNS: usize = 5;
/// Characters of a name that fit on the left.
const LABEL_CHARS: usize = 28;

/// One bar: its name, the lengths of its parts, and what stands behind it.
pub(super) struct Bar {
    pub label: String,
    pub parts: Vec<f64>,
    pub total: String,
}

/// A plot of bars.
pub(super) struct Bars {
    pub title: &'static str,
    /// Names of the parts, in order.
    pub names: Vec<&'static str>,
    /// How a length is told.
    pub show: fn(f64) -> String,
    pub bars: Vec<Bar>,
}

impl Bars {
    pub fn to_svg(&self) -> String {
        let bottom = TOP + ROW * self.bars.len().max(1) as f64;
        // Parts that no bar has would only fill the legend.
        let used: Vec<usize> =
            (0..self.names.len()).filter(|&part| self.bars.iter().any(|bar| bar.parts[part] > 0.0)).collect();
        let lines = used.len().div_ceil(LEGEND_COLUMNS) as f64;
        let mut svg = Svg::new(WIDTH, bottom + 44.0 + lines * LEGEND_LINE);
        svg.title(self.title);
        if self.bars.is_empty() {
            svg.text((LEFT, TOP + BAR), Anchor::Start, "nothing to show");
        }
        let longest = self.bars.iter().map(|bar| bar.parts.iter().sum()).fold(0.0, f64::max);
        let marks = axis::linear(longest);
        let scale = (WIDTH - LEFT - RIGHT) / marks.last().copied().unwrap_or(1.0);
        for mark in &marks {
            let x = LEFT + mark * scale;
            svg.line((x, TOP), (x, bottom), "#dddddd");
            svg.text((x, bottom + 16.0), Anchor::Middle, &(self.show)(*mark));
        }
        for (row, bar) in self.bars.iter().enumerate() {
            self.bar(&mut svg, bar, TOP + ROW * row as f64, scale);
        }
        for (place, &part) in used.iter().enumerate() {
            let x = 16.0 + (place % LEGEND_COLUMNS) as f64 * (WIDTH - 32.0) / LEGEND_COLUMNS as f64;
            let y = bottom + 40.0 + (place / LEGEND_COLUMNS) as f64 * LEGEND_LINE;
            svg.rect((x, y - 10.0), (12.0, 12.0), colour(part), self.names[part]);
            svg.text((x + 18.0, y), Anchor::Start, self.names[part]);
        }
        svg.finish()
    }

    fn bar(&self, svg: &mut Svg, bar: &Bar, top: f64, scale: f64) {
        let middle = top + ROW / 2.0 + 4.0;
        let label: String = bar.label.chars().take(LABEL_CHARS).collect();
        svg.text((LEFT - 8.0, middle), Anchor::End, &label);
        let mut x = LEFT;
        for (part, length) in bar.parts.iter().enumerate().filter(|(_, length)| **length > 0.0) {
            let hint = format!("{}: {}", self.names[part], (self.show)(*length));
            svg.rect((x, top + (ROW - BAR) / 2.0), (length * scale, BAR), colour(part), &hint);
            x += length * scale;
        }
        svg.text((x + 6.0, middle), Anchor::Start, &bar.total);
    }
}
