//! The frame of a plot: two axes with their titles, grid, marks and labels, and a legend below; the same for all.

use super::font::{FONT_SIZE, text_width};
use super::picture::{Anchor, Picture, Point, cut_to, lines_within};

const WIDTH: f64 = 860.0;
/// Room around everything.
const MARGIN: f64 = 12.0;
const GAP: f64 = 8.0;
const LINE: f64 = 18.0;
pub(super) const GRID: &str = "#dddddd";
const AXIS: &str = "#555555";
/// Labels that do not fit beside each other stand at this angle.
const TURNED: f64 = -40.0;
/// Labels of the vertical axis take at most so much of the width.
const LABELS_MAX: f64 = 300.0;
const KEY_WIDTH: f64 = 28.0;
const BOX: f64 = 11.0;

/// A label of an axis, from 0 (left or bottom) to 1 (right or top).
pub(crate) struct Mark {
    pub at: f64,
    pub label: String,
    /// Whether a line of the grid belongs to it.
    pub line: bool,
}

impl Mark {
    /// A mark with its line.
    pub fn new(at: f64, label: impl Into<String>) -> Self {
        Mark { at, label: label.into(), line: true }
    }

    /// The label of the step of that number, in its middle.
    pub fn of_step(number: usize, steps: usize, label: impl Into<String>) -> Self {
        Mark { at: (number as f64 + 0.5) / steps as f64, label: label.into(), line: false }
    }
}

/// An axis.
pub(crate) struct Scale {
    /// What is on it, with the unit.
    pub title: String,
    pub marks: Vec<Mark>,
}

/// An entry of the legend.
pub(crate) struct Key {
    pub label: String,
    pub colour: &'static str,
    pub kind: KeyKind,
}

/// What stands before a name in the legend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Line,
    Dashed,
    Box,
    /// Nothing: the label says it all.
    None,
}

impl KeyKind {
    /// Room that it takes before the name.
    fn room(self) -> f64 {
        match self {
            KeyKind::Line | KeyKind::Dashed => KEY_WIDTH + GAP,
            KeyKind::Box => BOX + GAP,
            KeyKind::None => 0.0,
        }
    }
}

/// A picture with its frame drawn, ready for curves and bars.
pub(crate) struct Frame {
    pub picture: Picture,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Keys in rows, each with its place from the left; as many in a row as fit.
fn rows_of_keys(keys: &[Key], room: f64) -> (Vec<(f64, usize)>, usize) {
    let (mut places, mut x, mut row) = (Vec::new(), 0.0, 0);
    for key in keys {
        let width = key.kind.room() + text_width(&key.label) + 2.0 * GAP;
        if x > 0.0 && x + width > room {
            (x, row) = (0.0, row + 1);
        }
        places.push((x, row));
        x += width;
    }
    (places, if keys.is_empty() { 0 } else { row + 1 })
}

impl Frame {
    /// The frame's inside is `height` high; `beyond` is room on its right for what stands behind bars.
    pub fn new(across: &Scale, up: &Scale, keys: &[Key], height: f64, beyond: f64) -> Frame {
        let widest = |scale: &Scale| scale.marks.iter().map(|m| text_width(&m.label)).fold(0.0, f64::max);
        let titles = lines_within(&up.title, height + LINE);
        let left = MARGIN + titles.len() as f64 * LINE + widest(up).min(LABELS_MAX) + GAP;
        let last = across
            .marks
            .last()
            .map_or(0.0, |mark| if mark.line { text_width(&mark.label) / 2.0 } else { 0.0 });
        let right = WIDTH - MARGIN - last.max(beyond);
        // The label of the topmost mark is half above it.
        let top = MARGIN + FONT_SIZE / 2.0;
        let bottom = top + height;
        let step = (right - left) / across.marks.iter().filter(|mark| !mark.line).count().max(1) as f64;
        let is_turned = across.marks.iter().any(|mark| !mark.line && text_width(&mark.label) > step);
        let labels =
            if is_turned { GAP + widest(across) * TURNED.to_radians().sin().abs() } else { 0.0 } + LINE;
        // A name wider than the picture is cut short.
        let fits = |key: &Key| cut_to(&key.label, WIDTH - 2.0 * MARGIN - key.kind.room() - 2.0 * GAP);
        let keys: Vec<Key> = keys.iter().map(|key| Key { label: fits(key), ..*key }).collect();
        let (places, rows) = rows_of_keys(&keys, WIDTH - 2.0 * MARGIN);
        let title_y = bottom + labels + LINE;
        let end = title_y + if rows == 0 { 0.0 } else { GAP + LINE * rows as f64 };
        let mut frame = Frame { picture: Picture::new(WIDTH, end + MARGIN), left, right, top, bottom };
        frame.across(across, is_turned);
        frame.up(up, &titles);
        frame.picture.text(((left + right) / 2.0, title_y), Anchor::Middle, &across.title);
        for (key, (x, row)) in keys.iter().zip(places) {
            frame.key(key, (MARGIN + x, title_y + GAP + LINE * (row + 1) as f64));
        }
        frame
    }

    /// A frame that says why it is empty.
    pub fn empty(across: &Scale, up: &Scale, why: &str) -> Picture {
        let mut frame = Frame::new(across, up, &[], 160.0, 0.0);
        let middle = frame.place(0.5, 0.5);
        frame.picture.text(middle, Anchor::Middle, why);
        frame.picture
    }

    fn across(&mut self, scale: &Scale, is_turned: bool) {
        for mark in &scale.marks {
            let x = self.place(mark.at, 0.0).0;
            if mark.line {
                self.picture.line((x, self.bottom), (x, self.top), GRID);
            }
            if is_turned {
                let at = (x + 4.0, self.bottom + LINE);
                self.picture.turned_text(at, Anchor::End, TURNED, &mark.label);
            } else {
                self.picture.text((x, self.bottom + LINE - 2.0), Anchor::Middle, &mark.label);
            }
        }
        self.picture.line((self.left, self.bottom), (self.right, self.bottom), AXIS);
    }

    fn up(&mut self, scale: &Scale, titles: &[String]) {
        for mark in &scale.marks {
            let y = self.place(0.0, mark.at).1;
            if mark.line {
                self.picture.line((self.left, y), (self.right, y), GRID);
            }
            let label = cut_to(&mark.label, LABELS_MAX);
            self.picture.text((self.left - GAP, y + 4.0), Anchor::End, &label);
        }
        self.picture.line((self.left, self.bottom), (self.left, self.top), AXIS);
        let middle = (self.top + self.bottom) / 2.0;
        for (number, line) in titles.iter().enumerate() {
            let x = MARGIN + FONT_SIZE - 2.0 + LINE * number as f64;
            self.picture.turned_text((x, middle), Anchor::Middle, -90.0, line);
        }
    }

    fn key(&mut self, key: &Key, (x, y): Point) {
        match key.kind {
            KeyKind::Line | KeyKind::Dashed => {
                let points = vec![(x, y - 4.0), (x + KEY_WIDTH, y - 4.0)];
                self.picture.curve(points, key.colour, key.kind == KeyKind::Dashed);
            }
            KeyKind::Box => {
                let corner = (x, y - BOX + 1.0);
                self.picture.rect(corner, (BOX, BOX), key.colour, &key.label);
            }
            KeyKind::None => {}
        }
        self.picture.text((x + key.kind.room(), y), Anchor::Start, &key.label);
    }

    /// The point at these shares of the axes; what lies beyond them is drawn at their ends.
    pub fn place(&self, across: f64, up: f64) -> Point {
        let x = self.left + across.clamp(0.0, 1.0) * (self.right - self.left);
        (x, self.bottom - up.clamp(0.0, 1.0) * (self.bottom - self.top))
    }

    /// A box between two points of the axes.
    pub fn rect(&mut self, from: (f64, f64), to: (f64, f64), colour: &'static str, hint: &str) {
        let (a, b) = (self.place(from.0, from.1), self.place(to.0, to.1));
        let size = ((a.0 - b.0).abs(), (a.1 - b.1).abs());
        self.picture.rect((a.0.min(b.0), a.1.min(b.1)), size, colour, hint);
    }
}

#[cfg(test)]
mod tests {
    use super::super::picture::Shape;
    use super::*;

    fn scale(title: &str, labels: &[&str]) -> Scale {
        let steps = labels.len();
        let marks = labels.iter().enumerate();
        let marks = marks.map(|(at, label)| Mark::of_step(at, steps, *label)).collect();
        Scale { title: title.to_owned(), marks }
    }

    fn key(label: &str) -> Key {
        Key { label: label.to_owned(), colour: "#000000", kind: KeyKind::Line }
    }

    /// Corners of all texts and boxes, as far as their shapes say.
    fn corners(picture: &Picture) -> Vec<Point> {
        let of = |shape: &Shape| match shape {
            Shape::Rect { corner: (x, y), size: (width, height), .. } => {
                vec![(*x, *y), (x + width, y + height)]
            }
            Shape::Text { at: (x, y), anchor, turned, text } => {
                let width = text_width(text);
                let (sin, cos) = turned.to_radians().sin_cos();
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width / 2.0,
                    Anchor::End => width,
                };
                let along = |by: f64| (x + by * cos, y + by * sin);
                vec![along(-before), along(width - before)]
            }
            _ => Vec::new(),
        };
        picture.shapes.iter().flat_map(of).collect()
    }

    #[test]
    fn everything_lies_within_the_picture() {
        let long = "a title that is by far too long for the height of the frame and so stands in two lines";
        let names =
            ["short", "a workload of many words", "another one of many words", "and one more of these"];
        let mut keys: Vec<Key> = (0..20).map(|n| key(&format!("a curve with the number {n}"))).collect();
        keys.push(key(&"a run whose name is longer than the picture is wide, ".repeat(9)));
        for across in [scale("x", &["1", "2"]), scale("x", &names.repeat(4)), scale("x", &[])] {
            let frame = Frame::new(&across, &scale(long, &names), &keys, 340.0, 60.0);
            for (x, y) in corners(&frame.picture) {
                let is_within = (0.0..=WIDTH).contains(&x) && (0.0..=frame.picture.height).contains(&y);
                assert!(is_within, "{x} {y}");
            }
            // What is beyond the axes is drawn at their ends.
            assert_eq!(frame.place(2.0, -1.0), frame.place(1.0, 0.0));
        }
    }
}
