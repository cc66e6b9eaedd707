//! Bars of shares that lie beside each other, as pictures within a page.

use maud::{Markup, html};

/// Colours of the page's script, in its order.
const COLOURS: [&str; 15] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22",
    "#44aa99", "#882255", "#6a5acd", "#ddcc77", "#661100", "#117733",
];

pub(super) fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// A row: what it is of, its parts by number with their shares of 1, and what stands behind it.
pub(super) struct Row {
    pub name: String,
    pub parts: Vec<(usize, f64)>,
    pub total: String,
}

/// Rows of bars as wide as their shares, with the names of the parts that any of them shows.
pub(super) fn bars(caption: &str, rows: &[Row], names: &[String]) -> Markup {
    let is_shown = |number: &usize| {
        rows.iter().any(|row| row.parts.iter().any(|(of, share)| of == number && *share >= 0.001))
    };
    html! {
        div.bars {
            table {
                caption { (caption) }
                @for row in rows {
                    tr {
                        td.text { (row.name) }
                        td { (bar(row, names)) }
                        td { (row.total) }
                    }
                }
            }
            ul.names {
                @for number in (0..names.len()).filter(is_shown) {
                    li { (swatch(number)) (names[number]) }
                }
            }
        }
    }
}

fn swatch(number: usize) -> Markup {
    html! { svg viewBox="0 0 10 10" aria-hidden="true" { rect width="10" height="10" fill=(colour(number)) {} } }
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
    let said: Vec<String> = row
        .parts
        .iter()
        .map(|(number, share)| format!("{} {:.1} %", names[*number], share * 100.0))
        .collect();
    html! {
        svg.bar viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=(said.join(", ")) {
            @for (number, begin, width) in placed {
                rect x=(format!("{begin:.2}")) width=(format!("{width:.2}")) height="20" fill=(colour(number)) {
                    title { (names[number]) " " (format!("{:.1} %", width / 10.0)) }
                }
            }
        }
    }
}
