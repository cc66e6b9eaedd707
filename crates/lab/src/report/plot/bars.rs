//! Stacked bars, lying: one row for each, with a legend below.

use super::axis::Numbers;
use super::font::text_width;
use super::frame::{DROP, Frame, Key, KeyKind, Mark, Scale};
use super::picture::{Anchor, Picture, cut_to};
use super::{FILLED, Plot, colour};
use crate::base::csv::Csv;
use crate::base::number::digits;

const ROW: f64 = 30.0;
/// Of many.
const NARROW_ROW: f64 = 20.0;
const MANY: usize = 20;
const GAP: f64 = 6.0;

/// One bar: its name, the lengths of its parts, and what stands behind it.
pub(super) struct Bar {
    pub label: String,
    pub parts: Vec<f64>,
    pub total: String,
}

impl Bar {
    /// A line above the bars of a group, which says what they have in common.
    pub fn heading(text: &str) -> Bar {
        Bar { label: String::new(), parts: Vec::new(), total: text.to_owned() }
    }
}

/// A plot of bars.
pub(super) struct Bars {
    /// What is on the horizontal axis, with its unit.
    pub title: String,
    /// Names of the parts, in order.
    pub names: Vec<String>,
    /// The unit of a part's length.
    pub unit: &'static str,
    pub bars: Vec<Bar>,
}

impl Bars {
    /// Whether there is more than one length that is not zero.
    fn shows(&self) -> bool {
        self.bars.iter().flat_map(|bar| &bar.parts).filter(|length| **length > 0.0).count() > 1
    }

    /// The axis of lengths. Those of parts on top of each other tell shares only where it is linear.
    fn lengths(&self) -> Numbers {
        let of = |bar: &Bar| bar.parts.iter().filter(|length| **length > 0.0).count();
        let totals = self.bars.iter().map(|bar| bar.parts.iter().sum());
        if self.bars.iter().any(|bar| of(bar) > 1) {
            Numbers::linear(totals)
        } else {
            Numbers::of_bars(totals)
        }
    }

    pub fn plot(&self, data: Csv) -> Plot {
        Plot::new(self.picture(), data, self.shows())
    }

    fn picture(&self) -> Picture {
        // Parts that no bar has would only fill the legend.
        let used = (0..self.names.len()).filter(|&part| {
            self.bars.iter().any(|bar| bar.parts.get(part).is_some_and(|length| *length > 0.0))
        });
        let keys: Vec<Key> = used
            .map(|part| Key { label: self.names[part].clone(), colour: colour(part), kind: KeyKind::Box })
            .collect();
        let lengths = self.lengths();
        let across = lengths.scale(self.title.as_str());
        let steps = self.bars.len();
        // The first bar is the topmost.
        let labels = self.bars.iter().enumerate();
        let labels = labels.map(|(row, bar)| Mark::of_step(steps - 1 - row, steps, bar.label.clone()));
        let up = Scale { title: String::new(), marks: labels.collect() };
        if self.bars.is_empty() {
            return Frame::empty(&across, &up, "nothing to show");
        }
        let bars = self.bars.iter().filter(|bar| !bar.parts.is_empty());
        let beyond = bars.map(|bar| GAP + text_width(&bar.total)).fold(0.0, f64::max);
        let row = if steps > MANY { NARROW_ROW } else { ROW };
        let mut frame = Frame::new(&across, &up, &keys, row * steps as f64, beyond);
        for (row, bar) in self.bars.iter().enumerate() {
            self.bar(&mut frame, bar, steps - 1 - row, &lengths);
        }
        frame.picture
    }

    fn bar(&self, frame: &mut Frame, bar: &Bar, step: usize, lengths: &Numbers) {
        let steps = self.bars.len() as f64;
        let [low, high] = [1.0 - FILLED, 1.0 + FILLED].map(|share| (step as f64 + share / 2.0) / steps);
        let mut before = 0.0;
        for (part, length) in bar.parts.iter().enumerate().filter(|(_, length)| **length > 0.0) {
            let hint = format!("{}: {} {}", self.names[part], digits(*length), self.unit);
            let hint = hint.trim_end();
            let [from, to] = [before, before + length].map(|length| lengths.share(length));
            frame.rect((from, low), (to, high), colour(part), hint);
            before += length;
        }
        let (x, y) = frame.place(lengths.share(before), f64::midpoint(low, high));
        let room = frame.picture.width - x - 2.0 * GAP;
        frame.picture.text((x + GAP, y + DROP), Anchor::Start, &cut_to(&bar.total, room));
    }
}
