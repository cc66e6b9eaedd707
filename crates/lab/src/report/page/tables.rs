//! Tables of a page: every column has a head, every row a name, and where a screen is narrow each cell says what it is.

use maud::{Markup, html};

/// How the cells of a column are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// To the left.
    Text,
    /// To the right.
    Number,
    /// A name that programs know.
    Key,
}

/// The head of a column, and how its cells are set.
pub(super) struct Head(pub String, pub Set);

/// A row: what it is about, and its other cells.
pub(super) struct Line {
    pub name: Markup,
    /// Whether it is a part of the row above it.
    pub is_part: bool,
    pub class: String,
    pub cells: Vec<Markup>,
}

impl Line {
    pub fn new(name: Markup, cells: Vec<Markup>) -> Self {
        Line { name, is_part: false, class: String::new(), cells }
    }
}

/// Heads of numbers, after that of what the rows are about.
pub(super) fn numbers<'a>(first: &str, rest: impl IntoIterator<Item = &'a str>) -> Vec<Head> {
    let rest = rest.into_iter().map(|name| Head(name.to_owned(), Set::Number));
    std::iter::once(Head(first.to_owned(), Set::Text)).chain(rest).collect()
}

/// A table with a caption, if that says something.
pub(super) fn table(caption: &str, heads: &[Head], lines: &[Line]) -> Markup {
    let class = |set: Set| match set {
        Set::Text => "text",
        Set::Number => "number",
        Set::Key => "key",
    };
    let name_class =
        |line: &Line| format!("{}{}", class(heads[0].1), if line.is_part { " part" } else { "" });
    html! {
        div.scroll {
            table.stack {
                @if !caption.is_empty() { caption { (caption) } }
                thead { tr { @for Head(name, set) in heads { th scope="col" class=(class(*set)) { (name) } } } }
                tbody {
                    @for line in lines {
                        tr class=[(!line.class.is_empty()).then_some(&line.class)] {
                            th class=(name_class(line)) scope="row" { (line.name) }
                            @for (cell, Head(name, set)) in line.cells.iter().zip(&heads[1..]) {
                                td class=(class(*set)) data-head=(name) { (cell) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Rows of text as a table: the first is its head, and what begins with blanks is a part of the row above it.
pub(super) fn of_rows(caption: &str, rows: &[Vec<String>]) -> Markup {
    let Some((head, rows)) = rows.split_first() else { return html! {} };
    let mut heads = numbers(&head[0], head[1..].iter().map(String::as_str));
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    while heads.len() < width {
        heads.push(Head(String::new(), Set::Number));
    }
    let line = |row: &Vec<String>| Line {
        is_part: row[0].starts_with(' '),
        ..Line::new(html! { (row[0].trim_start()) }, row[1..].iter().map(|cell| html! { (cell) }).collect())
    };
    table(caption, &heads, &rows.iter().map(line).collect::<Vec<_>>())
}
