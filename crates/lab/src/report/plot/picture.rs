//! What is drawn: lines, curves, boxes and texts, before it is written in one of the formats.

use super::font::{advance_of, text_width};
use ssd::config::escaped;

/// Where a text is relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Points, x to the right and y downward, in pixels from the upper left corner.
pub(crate) type Point = (f64, f64);

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    Full,
    Dashed,
    Dotted,
    DashDotted,
}

impl Stroke {
    /// Lengths that are drawn and left out in turn; none if all is drawn.
    pub(super) fn dashes(self) -> &'static [f32] {
        match self {
            Stroke::Full => &[],
            Stroke::Dashed => &[6.0, 3.0],
            Stroke::Dotted => &[2.0, 2.0],
            Stroke::DashDotted => &[6.0, 3.0, 2.0, 3.0],
        }
    }
}

/// One thing that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Line {
        from: Point,
        to: Point,
        colour: &'static str,
    },
    Curve {
        points: Vec<Point>,
        colour: &'static str,
        stroke: Stroke,
    },
    Dot {
        at: Point,
        colour: &'static str,
    },
    /// `hint` is shown where the pointer rests on it, in formats that can.
    Rect {
        corner: Point,
        size: (f64, f64),
        colour: &'static str,
        hint: String,
    },
    /// Turned around its point by so many degrees, clockwise.
    Text {
        at: Point,
        anchor: Anchor,
        turned: f64,
        text: String,
    },
}

/// A picture being drawn. Names in it come from users' files: what a terminal or a viewer would obey is written out as
/// it is taken in, so that no format has to see to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
    /// Told by the file, not drawn.
    pub(super) title: String,
}

impl Picture {
    pub fn new(width: f64, height: f64) -> Self {
        Picture { width, height, shapes: Vec::new(), title: String::new() }
    }

    /// With a title that programs show beside the picture; what belongs into it is on its axes.
    pub fn titled(mut self, title: String) -> Self {
        self.title = escaped(&title).into_owned();
        self
    }

    pub fn line(&mut self, from: Point, to: Point, colour: &'static str) {
        self.shapes.push(Shape::Line { from, to, colour });
    }

    /// A curve through points; if they all lie in one place, a dot there, or nothing would be seen.
    pub fn curve(&mut self, points: Vec<Point>, colour: &'static str, stroke: Stroke) {
        let Some(&first) = points.first() else { return };
        let is_near = |point: &Point| (point.0 - first.0).abs() < 0.5 && (point.1 - first.1).abs() < 0.5;
        self.shapes.push(if points.iter().all(is_near) {
            Shape::Dot { at: first, colour }
        } else {
            Shape::Curve { points, colour, stroke }
        });
    }

    /// The mark of a value that was measured.
    pub fn dot(&mut self, at: Point, colour: &'static str) {
        self.shapes.push(Shape::Dot { at, colour });
    }

    /// An upright interval, from one end to the other, with a short line across each.
    pub fn interval(&mut self, ends: [Point; 2], colour: &'static str) {
        const CAP: f64 = 3.0;
        self.line(ends[0], ends[1], colour);
        for (x, y) in ends {
            self.line((x - CAP, y), (x + CAP, y), colour);
        }
    }

    /// A filled box; `hint` is shown where the pointer rests on it.
    pub fn rect(&mut self, corner: Point, size: (f64, f64), colour: &'static str, hint: &str) {
        self.shapes.push(Shape::Rect { corner, size, colour, hint: escaped(hint).into_owned() });
    }

    pub fn text(&mut self, at: Point, anchor: Anchor, text: &str) {
        self.turned_text(at, anchor, 0.0, text);
    }

    pub fn turned_text(&mut self, at: Point, anchor: Anchor, turned: f64, text: &str) {
        self.shapes.push(Shape::Text { at, anchor, turned, text: escaped(text).into_owned() });
    }
}

/// The text, cut in its middle where it needs more room than there is: both ends of a name tell what it is of.
pub(super) fn cut_to(text: &str, room: f64) -> String {
    const GAP: &str = "...";
    let text = escaped(text);
    if text_width(&text) <= room {
        return text.into_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let (mut head, mut tail, mut width) = (0, 0, text_width(GAP));
    loop {
        let is_head = head <= tail;
        width += advance_of(letters[if is_head { head } else { letters.len() - 1 - tail }]);
        if width > room || head + tail + 1 == letters.len() {
            let [begin, end] = [&letters[..head], &letters[letters.len() - tail..]].map(String::from_iter);
            return format!("{}{GAP}{}", begin.trim_end(), end.trim_start());
        }
        *if is_head { &mut head } else { &mut tail } += 1;
    }
}

/// A text in lines that need no more room than there is; a single word may.
pub(super) fn lines_within(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}")) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_to_fit() {
        assert_eq!(cut_to("short", 100.0), "short");
        // Both ends stay, as much of them as there is room for.
        let name = "a technique on a workload";
        let cut = cut_to(name, 140.0);
        let (begin, end) = cut.split_once("...").unwrap();
        assert!(
            name.starts_with(begin) && name.ends_with(end) && begin.len().abs_diff(end.len()) < 2,
            "{cut}"
        );
        assert!((120.0..=140.0).contains(&text_width(&cut)), "{cut}");
        assert_eq!(["", "W", "a name"].map(|name| cut_to(name, 5.0)), ["", "...", "..."]);
        let lines = lines_within("one two three four five six", 80.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| text_width(line) <= 80.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six");
    }

    #[test]
    fn a_curve_in_one_place_is_a_dot() {
        let mut picture = Picture::new(10.0, 10.0);
        picture.curve(vec![(1.0, 2.0), (1.1, 2.0)], "#000000", Stroke::Dashed);
        picture.curve(Vec::new(), "#000000", Stroke::Full);
        assert_eq!(picture.shapes, [Shape::Dot { at: (1.0, 2.0), colour: "#000000" }]);
    }
}
