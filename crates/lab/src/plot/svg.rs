//! A picture as SVG.

use super::picture::{Anchor, FONT_SIZE, Picture, Shape};
use std::fmt::Write as _;

/// A text with the characters replaced that mean something in XML, or that it may not hold.
fn escape(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}'), "\u{FFFD}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn shape(body: &mut String, shape: &Shape) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Shape::Line { from: (x1, y1), to: (x2, y2), colour } => writeln!(
            body,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
        ),
        Shape::Curve { points, colour, dashed } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let dash = if *dashed { " stroke-dasharray=\"6 3\"" } else { "" };
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
        Shape::Text { at: (x, y), anchor, turned, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = match *turned {
                0.0 => String::new(),
                turned => format!(" transform=\"rotate({turned:.0} {x:.1} {y:.1})\""),
            };
            writeln!(
                body,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{turn}>{}</text>",
                escape(text)
            )
        }
    };
}

pub(super) fn write(picture: &Picture) -> String {
    let Picture { width, height, shapes, title } = picture;
    let mut body = String::new();
    if !title.is_empty() {
        body.push_str(&format!("<title>{}</title>\n", escape(title)));
    }
    for each in shapes {
        shape(&mut body, each);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"{FONT_SIZE}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}
