//! A small writer of SVG: lines, boxes, texts.

use std::fmt::Write as _;

/// Where a text is relative to its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture being drawn. Coordinates are in pixels from the upper left corner.
pub(crate) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// A text with the characters replaced that mean something in XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Self {
        Svg { width, height, body: String::new() }
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.body,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
        );
    }

    pub fn path(&mut self, points: &[(f64, f64)], colour: &str, dashed: bool) {
        let mut text = String::new();
        for (x, y) in points {
            let _ = write!(text, "{x:.1},{y:.1} ");
        }
        let dash = if dashed { " stroke-dasharray=\"6 3\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            text.trim_end()
        );
    }

    /// A filled box; `hint` is shown where the pointer rests on it.
    pub fn rect(&mut self, corner: (f64, f64), size: (f64, f64), colour: &str, hint: &str) {
        let ((x, y), (width, height)) = (corner, size);
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\">\
             <title>{}</title></rect>",
            escape(hint)
        );
    }

    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = at;
        let text = escape(text);
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }

    pub fn title(&mut self, text: &str) {
        let text = escape(text);
        let _ = writeln!(
            self.body,
            "<text x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{text}</text>"
        );
    }

    pub fn finish(self) -> String {
        let Svg { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
        )
    }
}
