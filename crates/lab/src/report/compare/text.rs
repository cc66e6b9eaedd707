//! Text for a terminal and for Markdown.

use crate::base::number::digits;
use ssd::config::{control_escape, is_control};

/// Columns of a terminal.
pub(super) const WIDTH: usize = 120;

/// Text in lines of a terminal; those after the first stand further to the right.
pub(crate) fn wrapped(text: &str) -> String {
    let margin = text.len() - text.trim_start().len();
    let mut out = String::new();
    let mut line = " ".repeat(margin);
    let mut is_first = true;
    for word in text.split_whitespace() {
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&format!("{line}\n"));
            line = " ".repeat(margin + 4);
            is_first = true;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
        is_first = false;
    }
    out + &line + "\n"
}

/// Rows as a table of Markdown; the first is its head, and the first `left` columns are text.
pub(crate) fn markdown(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cell = |at| row.get(at).map_or(String::new(), |cell: &String| escaped(cell.trim()));
        text.push_str(&line((0..columns).map(cell).collect()));
        if number == 0 {
            let rule = (0..columns).map(|column| if column < left { "---" } else { "---:" }.to_owned());
            text.push_str(&line(rule.collect()));
        }
    }
    text
}

/// Text for a cell of Markdown: it stays what it is, and becomes no tag, link or other cell.
pub(super) fn escaped(text: &str) -> String {
    let is_letter = |c: &char| c.is_alphanumeric();
    let mut out = String::new();
    let (mut before, mut letters) = (' ', text.chars().peekable());
    while let Some(c) = letters.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Between letters it is no mark of emphasis.
            '_' if is_letter(&before) && letters.peek().is_some_and(is_letter) => out.push(c),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => out.extend(['\\', c]),
            c if is_control(c) => out.push_str(&format!("\\{}", control_escape(c))),
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// The ratio of a value to the baseline's, where both have one.
pub(super) fn ratio(value: Option<f64>, base: Option<f64>) -> String {
    match (value, base) {
        (Some(value), Some(base)) if base > 0.0 => format!("x{}", digits(value / base)),
        _ => String::new(),
    }
}

/// Of a path its last part.
pub(super) fn last_part(value: &str) -> String {
    value.rsplit('/').next().unwrap_or(value).to_owned()
}
