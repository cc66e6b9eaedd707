//! A picture as PDF: one page as large as the picture, with texts that can be searched.

use super::picture::{Anchor, FONT_SIZE, Picture, Point, Shape, text_width};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

/// Points (1/72 inch) for each pixel (1/96 inch).
const SCALE: f32 = 0.75;
const FONT: Name<'_> = Name(b"Helvetica");
/// How far the control points of a quarter of a circle are from its ends, as a share of the radius.
const QUARTER: f32 = 0.5523;
const DOT_RADIUS: f32 = 4.0;

/// Red, green and blue of `#rrggbb`, each from 0 to 1.
fn rgb(colour: &str) -> [f32; 3] {
    let part =
        |at: usize| colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    [1, 3, 5].map(|at| f32::from(part(at)) / 255.0)
}

/// A text in the font's encoding, which is Latin-1; characters that it lacks become question marks.
fn encoded(text: &str) -> Vec<u8> {
    let byte = |c: char| u8::try_from(c as u32).ok().filter(|byte| (32..127).contains(byte) || *byte >= 160);
    text.chars().map(|c| byte(c).unwrap_or(b'?')).collect()
}

struct Page {
    content: Content,
    height: f64,
}

impl Page {
    /// Pages count upward from the lower left corner.
    fn place(&self, (x, y): Point) -> (f32, f32) {
        (x as f32, (self.height - y) as f32)
    }

    fn stroke(&mut self, colour: &str, width: f32, dashed: bool) {
        let [red, green, blue] = rgb(colour);
        self.content.set_stroke_rgb(red, green, blue).set_line_width(width);
        self.content.set_dash_pattern(if dashed { vec![6.0, 3.0] } else { Vec::new() }, 0.0);
    }

    fn fill(&mut self, colour: &str) {
        let [red, green, blue] = rgb(colour);
        self.content.set_fill_rgb(red, green, blue);
    }

    fn curve(&mut self, points: &[Point]) {
        for (number, point) in points.iter().enumerate() {
            let (x, y) = self.place(*point);
            if number == 0 {
                self.content.move_to(x, y)
            } else {
                self.content.line_to(x, y)
            };
        }
        self.content.stroke();
    }

    fn dot(&mut self, at: Point) {
        let ((x, y), r) = (self.place(at), DOT_RADIUS);
        let k = QUARTER * r;
        self.content.move_to(x + r, y);
        self.content.cubic_to(x + r, y + k, x + k, y + r, x, y + r);
        self.content.cubic_to(x - k, y + r, x - r, y + k, x - r, y);
        self.content.cubic_to(x - r, y - k, x - k, y - r, x, y - r);
        self.content.cubic_to(x + k, y - r, x + r, y - k, x + r, y);
        self.content.fill_nonzero();
    }

    fn text(&mut self, at: Point, anchor: Anchor, turned: f64, text: &str) {
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => text_width(text) / 2.0,
            Anchor::End => text_width(text),
        };
        let (sin, cos) = (-turned).to_radians().sin_cos();
        let (x, y) = self.place(at);
        let (x, y) = (x - (before * cos) as f32, y - (before * sin) as f32);
        let (sin, cos) = (sin as f32, cos as f32);
        self.fill("#000000");
        self.content.begin_text().set_font(FONT, FONT_SIZE as f32);
        self.content.set_text_matrix([cos, sin, -sin, cos, x, y]).show(Str(&encoded(text))).end_text();
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { from, to, colour } => {
                self.stroke(colour, 1.0, false);
                self.curve(&[*from, *to]);
            }
            Shape::Curve { points, colour, dashed } => {
                self.stroke(colour, 2.0, *dashed);
                self.curve(points);
            }
            Shape::Dot { at, colour } => {
                self.fill(colour);
                self.dot(*at);
            }
            Shape::Rect { corner: (x, y), size: (width, height), colour, .. } => {
                self.fill(colour);
                let (left, bottom) = self.place((*x, y + height));
                self.content.rect(left, bottom, *width as f32, *height as f32).fill_nonzero();
            }
            Shape::Text { at, anchor, turned, text } => self.text(*at, *anchor, *turned, text),
        }
    }
}

pub(super) fn write(picture: &Picture) -> Vec<u8> {
    let [catalog, pages, page, font, content, info] = [1, 2, 3, 4, 5, 6].map(Ref::new);
    let mut drawn = Page { content: Content::new(), height: picture.height };
    drawn.content.transform([SCALE, 0.0, 0.0, SCALE, 0.0, 0.0]);
    for shape in &picture.shapes {
        drawn.shape(shape);
    }
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut written = pdf.page(page);
    let size = [picture.width, picture.height].map(|pixels| pixels as f32 * SCALE);
    written.media_box(Rect::new(0.0, 0.0, size[0], size[1])).parent(pages).contents(content);
    written.resources().fonts().pair(FONT, font);
    written.finish();
    pdf.type1_font(font).base_font(FONT).encoding_predefined(Name(b"WinAnsiEncoding"));
    if !picture.title.is_empty() {
        pdf.document_info(info).title(TextStr(&picture.title));
    }
    pdf.stream(content, &drawn.content.finish());
    pdf.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_texts_are_those_of_the_picture() {
        assert_eq!(rgb("#ff0033"), [1.0, 0.0, 0.2]);
        assert_eq!(encoded("a\u{e4}\u{3b1}\n"), b"a\xe4??");
        let mut picture = Picture::new(200.0, 100.0);
        picture.text((10.0, 20.0), Anchor::Start, "read (x)");
        picture.curve(vec![(0.0, 0.0), (4.0, 100.0)], "#0072b2", true);
        let bytes = write(&picture);
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-1.") && text.trim_end().ends_with("%%EOF"), "{text}");
        // The box in points, the text at its place from below, the curve from top to bottom.
        for part in ["[0 0 150 75]", "1 0 0 1 10 80 Tm", "(read (x)) Tj", "0 100 m\n4 0 l\nS"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
