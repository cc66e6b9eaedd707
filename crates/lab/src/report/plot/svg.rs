//! A picture as SVG. Texts are outlines, so that they look and print alike everywhere; what they say is told beside
//! them (`aria-label`), to those who listen and to programs.

use super::font::{self, FONT_SIZE};
use super::picture::{Anchor, Picture, Shape};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A text with the characters replaced that mean something in XML, or that it may not hold.
fn escape(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}'), "\u{FFFD}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The name of a character's outline.
fn id(c: char) -> String {
    format!("g{:x}", u32::from(font::known(c)))
}

/// A text as outlines, whose units are the font's.
fn text(body: &mut String, (x, y): (f64, f64), anchor: Anchor, turned: f64, text: &str) {
    let width = font::text_width(text);
    let before = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let turn = if turned == 0.0 { String::new() } else { format!(" rotate({turned:.0})") };
    let scale = FONT_SIZE / font::units();
    let label = escape(text);
    let _ = write!(
        body,
        "<g role=\"img\" aria-label=\"{label}\" transform=\"translate({x:.1} {y:.1}){turn} translate({:.1}) \
         scale({scale:.5} -{scale:.5})\">",
        -before
    );
    let mut at = 0.0;
    for c in text.chars() {
        if !font::outline(c).is_empty() {
            let _ = write!(body, "<use href=\"#{}\" x=\"{at:.0}\"/>", id(c));
        }
        at += font::advance(c);
    }
    body.push_str("</g>\n");
}

fn shape(body: &mut String, shape: &Shape) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Shape::Line { from: (x1, y1), to: (x2, y2), colour } => writeln!(
            body,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
        ),
        Shape::Curve { points, colour, stroke } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let dashes: Vec<String> = stroke.dashes().iter().map(f32::to_string).collect();
            let dash = match dashes.is_empty() {
                true => String::new(),
                false => format!(" stroke-dasharray=\"{}\"", dashes.join(" ")),
            };
            writeln!(
                body,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
                points.join(" ")
            )
        }
        Shape::Dot { at: (x, y), colour } => {
            writeln!(body, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>")
        }
        Shape::Rect { corner: (x, y), size: (width, height), colour, hint } => writeln!(
            body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\">\
             <title>{}</title></rect>",
            escape(hint)
        ),
        Shape::Text { at, anchor, turned, text: said } => {
            text(body, *at, *anchor, *turned, said);
            Ok(())
        }
    };
}

/// Outlines of all characters that a picture shows, once each.
fn outlines(shapes: &[Shape]) -> String {
    let texts = shapes.iter().filter_map(|shape| match shape {
        Shape::Text { text, .. } => Some(text),
        _ => None,
    });
    let shown: BTreeSet<char> = texts.flat_map(|text| text.chars().map(font::known)).collect();
    let defined = shown.into_iter().map(|c| (id(c), font::outline(c)));
    let defined = defined.filter(|(_, path)| !path.is_empty());
    defined.map(|(id, path)| format!("<path id=\"{id}\" d=\"{path}\"/>\n")).collect()
}

pub(super) fn write(picture: &Picture) -> String {
    let Picture { width, height, shapes, title } = picture;
    let mut body = String::new();
    if !title.is_empty() {
        body.push_str(&format!("<title>{}</title>\n", escape(title)));
    }
    body.push_str(&format!("<defs>\n{}</defs>\n", outlines(shapes)));
    for each in shapes {
        shape(&mut body, each);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}
