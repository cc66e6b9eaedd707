//! Bars of shares that lie beside each other, as pictures within a page.

use crate::base::number::percent;
use maud::{Markup, html};

/// How many colours the page's style has: `--c0`, `--c1` and so on, for light and for dark paper.
pub(super) const COLOURS: usize = 15;

/// Rows of a single kind of bars, the longest first, that are on paper.
const PRINTED: usize = 5;

/// The class of what is filled with a colour.
fn colour(number: usize) -> String {
    format!("c{}", number % COLOURS)
}

/// A row: what it is of, its parts by number with their shares of 1, and what stands behind it.
pub(super) struct Row {
    pub name: String,
    pub parts: Vec<(usize, f64)>,
    pub total: String,
}

/// Rows of bars as wide as their shares, with the names of the parts that any of them shows.
pub(super) fn bars(caption: &str, heads: [&str; 3], rows: &[Row], names: &[String]) -> Markup {
    let is_shown = |number: &usize| {
        rows.iter().any(|row| row.parts.iter().any(|(of, share)| of == number && *share >= 0.001))
    };
    html! {
        div.bars {
            table {
                caption { (caption) }
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { @for (at, row) in rows.iter().enumerate() {
                    tr class=[(names.len() == 1 && at >= PRINTED).then_some("screen")] {
                        th scope="row" { (row.name) }
                        td.drawn { (bar(row, names)) }
                        td { (row.total) }
                    }
                } }
            }
            @if names.len() > 1 { ul.names {
                @for number in (0..names.len()).filter(is_shown) {
                    li { (swatch(number)) (names[number]) }
                }
            } }
        }
    }
}

fn swatch(number: usize) -> Markup {
    html! { svg viewBox="0 0 10 10" aria-hidden="true" { rect.(colour(number)) width="10" height="10" {} } }
}

fn bar(row: &Row, names: &[String]) -> Markup {
    let mut from = 0.0;
    let placed: Vec<(usize, f64, f64)> = row
        .parts
        .iter()
        .map(|&(number, share)| {
            let begin = from;
            from += share * 1000.0;
            (number, begin, share * 1000.0)
        })
        .collect();
    let said: Vec<String> =
        row.parts.iter().map(|(number, share)| format!("{} {}", names[*number], percent(*share))).collect();
    html! {
        svg.bar viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=(said.join(", ")) {
            @for (number, begin, width) in placed {
                rect.(colour(number)) x=(format!("{begin:.2}")) width=(format!("{width:.2}")) height="20" {
                    title { (names[number]) " " (percent(width / 1000.0)) }
                }
            }
        }
    }
}
