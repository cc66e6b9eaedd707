//! The font of plots: Liberation Sans by Ascender (SIL Open Font License), as wide as Helvetica, with the characters of
//! Latin-1. Pictures carry what they show of it, so that they look and print alike everywhere.

use ssd::config::escaped;
use std::fmt::Write as _;
use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Size of all texts: 7 points where a picture is as wide as a column of 3.3 inches.
pub(super) const FONT_SIZE: f64 = 16.5;

/// The font, as PDF files hold it.
pub(super) const FILE: &[u8] = include_bytes!("../../../vendor/plot-font/WordlinePlot.ttf");

static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(FILE, 0).unwrap_or_else(|error| unreachable!("it is ours: {error}")));

/// The font with all that it measures.
#[cfg(feature = "pdf")]
pub(super) fn face() -> &'static Face<'static> {
    &FACE
}

/// The character itself, or a question mark where the font has none.
pub(super) fn known(c: char) -> char {
    if FACE.glyph_index(c).is_some() { c } else { '?' }
}

fn glyph(c: char) -> GlyphId {
    FACE.glyph_index(known(c)).unwrap_or_default()
}

/// How wide a character is, in units of which the font's size has [`units`].
pub(super) fn advance(c: char) -> f64 {
    f64::from(FACE.glyph_hor_advance(glyph(c)).unwrap_or(0))
}

/// Units of the font's size.
pub(super) fn units() -> f64 {
    f64::from(FACE.units_per_em())
}

/// How wide a character is drawn.
pub(super) fn advance_of(c: char) -> f64 {
    advance(c) * FONT_SIZE / units()
}

/// How wide a text is drawn, with control characters written out.
pub(crate) fn text_width(text: &str) -> f64 {
    escaped(text).chars().map(advance_of).sum()
}

/// The outline of a character as a path of SVG, in the font's units, upward; empty of a blank.
pub(super) fn outline(c: char) -> String {
    let mut path = Path::default();
    FACE.outline_glyph(glyph(c), &mut path);
    path.0
}

/// Commands of a path (SVG 1.1, 8.3).
#[derive(Default)]
struct Path(String);

impl Path {
    fn command(&mut self, letter: char, numbers: &[f32]) {
        self.0.push(letter);
        for (at, number) in numbers.iter().enumerate() {
            // A minus parts numbers as well as a blank does.
            let blank = if at > 0 && *number >= 0.0 { " " } else { "" };
            let _ = write!(self.0, "{blank}{number}");
        }
    }
}

impl OutlineBuilder for Path {
    fn move_to(&mut self, x: f32, y: f32) {
        self.command('M', &[x, y]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.command('L', &[x, y]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.command('Q', &[x1, y1, x, y]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.command('C', &[x1, y1, x2, y2, x, y]);
    }

    fn close(&mut self) {
        self.0.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths of Helvetica's digits, space, capital letters and some others, in thousandths of the font's size (Adobe,
    /// Core 14 font metrics).
    #[test]
    fn it_is_as_wide_as_helvetica() {
        let letters = [
            ("0123456789", vec![556; 10]),
            (" ", vec![278]),
            ("AMWailm", vec![667, 833, 944, 556, 222, 222, 833]),
            (".,:-%()", vec![278, 278, 278, 333, 889, 333, 333]),
        ];
        for (text, widths) in letters {
            for (c, width) in text.chars().zip(widths) {
                let found = advance(c) * 1000.0 / units();
                assert!((found - f64::from(width)).abs() < 1.0, "{c}: {found}, not {width}");
            }
        }
        assert!((text_width("10 0") - (3.0 * 556.0 + 278.0) * FONT_SIZE / 1000.0).abs() < 0.03);
        assert!(text_width("") == 0.0);
    }

    #[test]
    fn every_character_of_latin_1_has_an_outline_and_others_are_asked_for() {
        for c in ('!'..='~').chain('\u{a1}'..='\u{ff}').filter(|c| *c != '\u{ad}') {
            let path = outline(c);
            assert!(known(c) == c && path.starts_with('M') && path.ends_with('Z'), "{c}: {path}");
        }
        assert_eq!((outline(' '), outline('\u{a0}')), (String::new(), String::new()));
        assert_eq!(['\u{3b1}', '\u{1f600}', '\n', '\0'].map(known), ['?'; 4]);
        assert_eq!(outline('\u{3b1}'), outline('?'));
    }
}
