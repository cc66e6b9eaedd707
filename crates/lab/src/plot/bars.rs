//! Stacked bars, lying: one row for each, with a legend below.

use super::font::text_width;
use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::{Anchor, Picture, cut_to};
use super::{FILLED, axis, colour};

const ROW: f64 = 34.0;
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
    /// What is on the horizontal axis.
    pub title: &'static str,
    /// What the bars are of.
    pub of: &'static str,
    /// Names of the parts, in order.
    pub names: Vec<&'static str>,
    /// How a length is told.
    pub show: fn(f64) -> String,
    pub bars: Vec<Bar>,
}

impl Bars {
    pub fn picture(&self) -> Picture {
        // Parts that no bar has would only fill the legend.
        let used = (0..self.names.len()).filter(|&part| {
            self.bars.iter().any(|bar| bar.parts.get(part).is_some_and(|length| *length > 0.0))
        });
        let keys: Vec<Key> = used
            .map(|part| Key { label: self.names[part].to_owned(), colour: colour(part), kind: KeyKind::Box })
            .collect();
        let longest = self.bars.iter().map(|bar| bar.parts.iter().sum()).fold(0.0, f64::max);
        // Shares of a whole add up to a little more or less than that.
        let marks = axis::linear((longest * 1e9).round() / 1e9);
        let end = marks.last().copied().unwrap_or(1.0);
        let marks = marks.iter().map(|mark| Mark::new(mark / end, (self.show)(*mark))).collect();
        let across = Scale { title: self.title.to_owned(), marks };
        let steps = self.bars.len();
        // The first bar is the topmost.
        let labels = self.bars.iter().enumerate();
        let labels = labels.map(|(row, bar)| Mark::of_step(steps - 1 - row, steps, bar.label.clone()));
        let up = Scale { title: self.of.to_owned(), marks: labels.collect() };
        if self.bars.is_empty() {
            return Frame::empty(&across, &up, "nothing to show");
        }
        let bars = self.bars.iter().filter(|bar| !bar.parts.is_empty());
        let beyond = bars.map(|bar| GAP + text_width(&bar.total)).fold(0.0, f64::max);
        let mut frame = Frame::new(
            &across,
            &up,
            &keys,
            if steps > MANY { NARROW_ROW } else { ROW } * steps as f64,
            beyond,
        );
        for (row, bar) in self.bars.iter().enumerate() {
            self.bar(&mut frame, bar, steps - 1 - row, end);
        }
        frame.picture
    }

    fn bar(&self, frame: &mut Frame, bar: &Bar, step: usize, end: f64) {
        let steps = self.bars.len() as f64;
        let [low, high] = [1.0 - FILLED, 1.0 + FILLED].map(|share| (step as f64 + share / 2.0) / steps);
        let mut before = 0.0;
        for (part, length) in bar.parts.iter().enumerate().filter(|(_, length)| **length > 0.0) {
            let hint = format!("{}: {}", self.names[part], (self.show)(*length));
            frame.rect((before / end, low), ((before + length) / end, high), colour(part), &hint);
            before += length;
        }
        let (x, y) = frame.place(before / end, (low + high) / 2.0);
        let room = frame.picture.width - x - 2.0 * GAP;
        frame.picture.text((x + GAP, y + 4.0), Anchor::Start, &cut_to(&bar.total, room));
    }
}
