//! What is drawn: lines, curves, boxes and texts, before it is written in one of the formats.

/// Where a text is relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Size of all texts.
pub(super) const FONT_SIZE: f64 = 12.0;

/// Points, x to the right and y downward, in pixels from the upper left corner.
pub(crate) type Point = (f64, f64);

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
        dashed: bool,
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

/// A picture being drawn.
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
        self.title = title;
        self
    }

    pub fn line(&mut self, from: Point, to: Point, colour: &'static str) {
        self.shapes.push(Shape::Line { from, to, colour });
    }

    /// A curve through points; if they all lie in one place, a dot there, or nothing would be seen.
    pub fn curve(&mut self, points: Vec<Point>, colour: &'static str, dashed: bool) {
        let Some(&first) = points.first() else { return };
        let is_near = |point: &Point| (point.0 - first.0).abs() < 0.5 && (point.1 - first.1).abs() < 0.5;
        self.shapes.push(if points.iter().all(is_near) {
            Shape::Dot { at: first, colour }
        } else {
            Shape::Curve { points, colour, dashed }
        });
    }

    /// A filled box; `hint` is shown where the pointer rests on it.
    pub fn rect(&mut self, corner: Point, size: (f64, f64), colour: &'static str, hint: &str) {
        self.shapes.push(Shape::Rect { corner, size, colour, hint: hint.to_owned() });
    }

    pub fn text(&mut self, at: Point, anchor: Anchor, text: &str) {
        self.turned_text(at, anchor, 0.0, text);
    }

    pub fn turned_text(&mut self, at: Point, anchor: Anchor, turned: f64, text: &str) {
        self.shapes.push(Shape::Text { at, anchor, turned, text: text.to_owned() });
    }
}

/// Widths of Helvetica's characters from the space to the tilde, in thousandths of the font's size (Adobe, Core 14
/// font metrics).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// How wide a text is in Helvetica; characters beyond ASCII count as a capital letter.
pub(super) fn text_width(text: &str) -> f64 {
    let width = |c: char| (c as usize).checked_sub(32).and_then(|at| WIDTHS.get(at)).copied().unwrap_or(722);
    text.chars().map(|c| f64::from(width(c))).sum::<f64>() * FONT_SIZE / 1000.0
}

/// Room for a text: programs that lack Helvetica and its like show a wider font.
pub(super) fn text_room(text: &str) -> f64 {
    text_width(text) * 1.15
}

/// The text, cut short where it needs more room than there is.
pub(super) fn cut_to(text: &str, room: f64) -> String {
    if text_room(text) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    loop {
        kept.pop();
        let short = format!("{}...", kept.iter().collect::<String>().trim_end());
        if kept.is_empty() || text_room(&short) <= room {
            return short;
        }
    }
}

/// A text in lines that need no more room than there is; a single word may.
pub(super) fn lines_within(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_room(&format!("{line} {word}")) <= room => {
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
    fn texts_have_their_widths() {
        // 556 of 1000 for each digit, 278 for the space.
        assert!((text_width("10 0") - (3.0 * 556.0 + 278.0) * 0.012).abs() < 1e-9);
        assert!(text_width("\u{e4}") > text_width("a") && text_width("") == 0.0);
        assert_eq!(cut_to("short", 100.0), "short");
        let cut = cut_to("a name that is far too long", 100.0);
        assert!(cut.starts_with("a name") && cut.ends_with("...") && text_room(&cut) <= 100.0, "{cut}");
        let lines = lines_within("one two three four five six", 60.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| text_room(line) <= 60.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six");
    }

    #[test]
    fn a_curve_in_one_place_is_a_dot() {
        let mut picture = Picture::new(10.0, 10.0);
        picture.curve(vec![(1.0, 2.0), (1.1, 2.0)], "#000000", true);
        picture.curve(Vec::new(), "#000000", false);
        assert_eq!(picture.shapes, [Shape::Dot { at: (1.0, 2.0), colour: "#000000" }]);
    }
}
