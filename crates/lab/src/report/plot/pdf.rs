//! A picture as PDF: one page as large as the picture, with texts that can be searched, in a font that the file holds.

use super::font::{self, FONT_SIZE, text_width};
use super::picture::{Anchor, Picture, Point, Shape, Stroke};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::FontFlags;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::io::Write as _;

/// Points (1/72 inch) for each pixel (1/96 inch).
const SCALE: f32 = 0.75;
const FONT: Name<'_> = Name(b"WordlinePlot");
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
    text.chars().map(|c| u8::try_from(u32::from(font::known(c))).unwrap_or(b'?')).collect()
}

/// Deflated, as streams of a file may be.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    let written = packed.write_all(bytes).and_then(|()| packed.finish());
    written.unwrap_or_else(|error| unreachable!("memory takes whatever is written: {error}"))
}

/// Puts the font in: its file, what it measures (PDF 32000-1, 9.8), and how wide its characters are.
fn embed(pdf: &mut Pdf, [font, descriptor, file]: [Ref; 3]) {
    let face = font::face();
    let thousandths = |units: f64| (units * 1000.0 / font::units()) as f32;
    let of = |units: i16| thousandths(f64::from(units));
    let (first, last) = (32, 255);
    // The writer has no words for simple fonts of this kind.
    let mut written = pdf.indirect(font).dict();
    written.pair(Name(b"Type"), Name(b"Font")).pair(Name(b"Subtype"), Name(b"TrueType"));
    written.pair(Name(b"BaseFont"), FONT).pair(Name(b"Encoding"), Name(b"WinAnsiEncoding"));
    written.pair(Name(b"FirstChar"), i32::from(first)).pair(Name(b"LastChar"), i32::from(last));
    let widths = (first..=last).map(|code: u8| thousandths(font::advance(char::from(code))));
    written.insert(Name(b"Widths")).array().items(widths);
    written.pair(Name(b"FontDescriptor"), descriptor);
    written.finish();
    let bounds = face.global_bounding_box();
    pdf.font_descriptor(descriptor)
        .name(FONT)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(of(bounds.x_min), of(bounds.y_min), of(bounds.x_max), of(bounds.y_max)))
        .italic_angle(0.0)
        .ascent(of(face.ascender()))
        .descent(of(face.descender()))
        .cap_height(face.capital_height().map_or(0.0, of))
        // Not said by the font; that of Helvetica (Adobe, Core 14 font metrics).
        .stem_v(88.0)
        .font_file2(file);
    let stream = deflated(font::FILE);
    pdf.stream(file, &stream).filter(Filter::FlateDecode).pair(Name(b"Length1"), font::FILE.len() as i32);
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

    fn stroke(&mut self, colour: &str, width: f32, stroke: Stroke) {
        let [red, green, blue] = rgb(colour);
        self.content.set_stroke_rgb(red, green, blue).set_line_width(width);
        self.content.set_dash_pattern(stroke.dashes().iter().copied(), 0.0);
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
                self.stroke(colour, 1.0, Stroke::Full);
                self.curve(&[*from, *to]);
            }
            Shape::Curve { points, colour, stroke } => {
                self.stroke(colour, 2.0, *stroke);
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
    let [catalog, pages, page, font, descriptor, file, content, info] =
        [1, 2, 3, 4, 5, 6, 7, 8].map(Ref::new);
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
    embed(&mut pdf, [font, descriptor, file]);
    if !picture.title.is_empty() {
        pdf.document_info(info).title(TextStr(&picture.title));
    }
    let drawn = deflated(&drawn.content.finish());
    pdf.stream(content, &drawn).filter(Filter::FlateDecode);
    pdf.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn colours_and_texts_are_those_of_the_picture() {
        assert_eq!(rgb("#ff0033"), [1.0, 0.0, 0.2]);
        assert_eq!(encoded("a\u{e4}\u{3b1}\n"), b"a\xe4??");
        let mut picture = Picture::new(200.0, 100.0);
        picture.text((10.0, 20.0), Anchor::Start, "read (x)");
        picture.curve(vec![(0.0, 0.0), (4.0, 100.0)], "#0072b2", Stroke::Dashed);
        let bytes = write(&picture);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        // The page's content is the last stream.
        let starts: Vec<usize> =
            (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"stream\n")).collect();
        let content = starts.iter().rfind(|&&at| !bytes[..at].ends_with(b"end")).unwrap();
        let mut inflated = String::new();
        flate2::read::ZlibDecoder::new(&bytes[content + 7..]).read_to_string(&mut inflated).unwrap();
        text.insert_str(9, &inflated);
        assert!(text.starts_with("%PDF-1.") && text.trim_end().ends_with("%%EOF"), "{text}");
        // The box in points, the text at its place from below, the curve from top to bottom.
        for part in ["[0 0 150 75]", "1 0 0 1 10 80 Tm", "(read (x)) Tj", "0 100 m\n4 0 l\nS"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
