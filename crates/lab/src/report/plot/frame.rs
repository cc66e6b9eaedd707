//! The frame of a plot: two axes with their titles, grid, marks and labels, and a legend below; the same for all.

use super::font::{FONT_SIZE, text_width};
use super::picture::{Anchor, Picture, Point, Stroke, cut_to, lines_within};

/// 420 points in a PDF: as wide as a page's text, or two beside each other at half the size.
const WIDTH: f64 = 560.0;
/// Room around everything.
const MARGIN: f64 = 8.0;
const GAP: f64 = 7.0;
const LINE: f64 = 21.0;
/// From the middle of a text's height down to the line that it stands on.
pub(super) const DROP: f64 = 0.36 * FONT_SIZE;
pub(super) const GRID: &str = "#dddddd";
const AXIS: &str = "#555555";
/// Labels that do not fit beside each other stand at this angle, or upright.
const TURNED: f64 = -40.0;
const UPRIGHT: f64 = -90.0;
/// Labels of the vertical axis, and turned ones, take at most so much of the width.
const LABELS_MAX: f64 = 220.0;
const TURNED_MAX: f64 = 170.0;
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
    Line(Stroke),
    Box,
    /// Nothing: the label says it all.
    None,
}

impl KeyKind {
    /// Room that it takes before the name.
    fn room(self) -> f64 {
        match self {
            KeyKind::Line(_) => KEY_WIDTH + GAP,
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

/// Which of these labels do not touch one before them; each has its middle and the room it needs.
fn apart(labels: impl Iterator<Item = (f64, f64)>) -> Vec<bool> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let labels = labels.map(|(at, room)| {
        let is_free = kept.iter().all(|(other, own)| (at - other).abs() >= (room + own) / 2.0);
        kept.extend(is_free.then_some((at, room)));
        is_free
    });
    labels.collect()
}

impl Frame {
    /// The frame's inside is `height` high; `beyond` is room on its right for what stands behind bars.
    pub fn new(across: &Scale, up: &Scale, keys: &[Key], height: f64, beyond: f64) -> Frame {
        let widest = |scale: &Scale| scale.marks.iter().map(|m| text_width(&m.label)).fold(0.0, f64::max);
        let titles = lines_within(&up.title, height + LINE);
        let left = MARGIN + titles.len() as f64 * LINE + widest(up).min(LABELS_MAX) + GAP;
        let half = |mark: &Mark| if mark.line { text_width(&mark.label) / 2.0 } else { 0.0 };
        let right = WIDTH - MARGIN - across.marks.iter().map(half).fold(beyond, f64::max);
        // The label of the topmost mark is half above it.
        let top = MARGIN + FONT_SIZE / 2.0;
        let bottom = top + height;
        let step = (right - left) / across.marks.iter().filter(|mark| !mark.line).count().max(1) as f64;
        let turned = if !across.marks.iter().any(|mark| !mark.line && text_width(&mark.label) > step - GAP) {
            0.0
        } else if step * TURNED.to_radians().sin().abs() >= FONT_SIZE {
            TURNED
        } else {
            UPRIGHT
        };
        let labels = LINE + widest(across).min(TURNED_MAX) * turned.to_radians().sin().abs();
        let below = lines_within(&across.title, WIDTH - 2.0 * MARGIN);
        // A name wider than the picture is cut.
        let fits = |key: &Key| cut_to(&key.label, WIDTH - 2.0 * MARGIN - key.kind.room() - 2.0 * GAP);
        let keys: Vec<Key> = keys.iter().map(|key| Key { label: fits(key), ..*key }).collect();
        let (places, rows) = rows_of_keys(&keys, WIDTH - 2.0 * MARGIN);
        let title_y = bottom + labels + LINE * below.len() as f64;
        let end = title_y + if rows == 0 { 0.0 } else { GAP + LINE * rows as f64 };
        let mut frame = Frame { picture: Picture::new(WIDTH, end + MARGIN), left, right, top, bottom };
        frame.across(across, turned);
        frame.up(up, &titles);
        for (line, y) in below.iter().rev().zip((0..).map(|line| title_y - LINE * f64::from(line))) {
            let line = cut_to(line, WIDTH - 2.0 * MARGIN);
            let most = WIDTH - MARGIN - text_width(&line) / 2.0;
            let middle = f64::midpoint(left, right).min(most).max(WIDTH - most);
            frame.picture.text((middle, y), Anchor::Middle, &line);
        }
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

    fn across(&mut self, scale: &Scale, turned: f64) {
        let (sin, cos) = turned.to_radians().sin_cos();
        let x_of = |mark: &Mark| self.left + mark.at * (self.right - self.left);
        // Turned labels are a text's height apart.
        let room = |mark: &Mark| if sin == 0.0 { text_width(&mark.label) + GAP } else { FONT_SIZE / -sin };
        let are_apart = apart(scale.marks.iter().map(|mark| (x_of(mark), room(mark))));
        for (mark, is_apart) in scale.marks.iter().zip(are_apart) {
            let x = self.place(mark.at, 0.0).0;
            if mark.line {
                self.picture.line((x, self.bottom), (x, self.top), GRID);
            }
            if is_apart && turned == 0.0 {
                self.picture.text((x, self.bottom + LINE + 1.0), Anchor::Middle, &mark.label);
            } else if is_apart {
                let at = (x - DROP * sin, self.bottom + GAP + FONT_SIZE / 2.0 * cos);
                // Its begin is to the left of its end.
                let room = (at.0 + FONT_SIZE * sin - MARGIN) / cos.max(1e-9);
                let label = cut_to(&mark.label, TURNED_MAX.min(room));
                self.picture.turned_text(at, Anchor::End, turned, &label);
            }
        }
        self.picture.line((self.left, self.bottom), (self.right, self.bottom), AXIS);
    }

    fn up(&mut self, scale: &Scale, titles: &[String]) {
        let y_of = |mark: &Mark| mark.at * (self.bottom - self.top);
        let are_apart = apart(scale.marks.iter().map(|mark| (y_of(mark), FONT_SIZE)));
        for (mark, is_apart) in scale.marks.iter().zip(are_apart) {
            let y = self.place(0.0, mark.at).1;
            if mark.line {
                self.picture.line((self.left, y), (self.right, y), GRID);
            }
            if is_apart {
                let label = cut_to(&mark.label, LABELS_MAX);
                self.picture.text((self.left - GAP, y + DROP), Anchor::End, &label);
            }
        }
        self.picture.line((self.left, self.bottom), (self.left, self.top), AXIS);
        let middle = f64::midpoint(self.top, self.bottom);
        for (number, line) in titles.iter().enumerate() {
            let x = MARGIN + 0.75 * FONT_SIZE + LINE * number as f64;
            let line = cut_to(line, self.picture.height - 2.0 * MARGIN);
            self.picture.turned_text((x, middle), Anchor::Middle, -90.0, &line);
        }
    }

    fn key(&mut self, key: &Key, (x, y): Point) {
        match key.kind {
            KeyKind::Line(stroke) => {
                let points = vec![(x, y - DROP), (x + KEY_WIDTH, y - DROP)];
                self.picture.curve(points, key.colour, stroke);
            }
            KeyKind::Box => {
                let corner = (x, y - DROP - BOX / 2.0);
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
    use super::*;

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let are_apart = |places: &[f64]| apart(places.iter().map(|at| (*at, 10.0)));
        assert_eq!(are_apart(&[0.0, 10.0, 20.0]), [true; 3]);
        assert_eq!(are_apart(&[0.0, 6.0, 12.0, 18.0]), [true, false, true, false]);
        // Whatever their order: that of a percentile between two others comes last.
        assert_eq!(are_apart(&[0.0, 30.0, 60.0, 9.0, 15.0]), [true, true, true, false, true]);
    }

    #[test]
    fn what_is_beyond_the_axes_is_drawn_at_their_ends() {
        let scale = |title: &str| Scale { title: title.to_owned(), marks: vec![Mark::new(0.0, "0")] };
        let frame = Frame::new(&scale("x"), &scale("y"), &[], 300.0, 0.0);
        assert_eq!(frame.place(2.0, -1.0), frame.place(1.0, 0.0));
    }
}
