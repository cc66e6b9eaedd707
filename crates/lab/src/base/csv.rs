//! Tables as CSV (RFC 4180).

use ssd::config::{control_escape, is_control};
use std::borrow::Cow;

/// Rows of values with commas between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Csv {
    text: String,
}

impl Csv {
    /// No rows yet; the names of the columns.
    pub fn new(columns: &[&str]) -> Self {
        let mut csv = Csv { text: String::new() };
        csv.row(columns);
        csv
    }

    /// The rows so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole table.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Adds a row; values with commas, quotes or line breaks stand in quotes (RFC 4180, section 2), and what a
    /// spreadsheet would calculate behind an apostrophe.
    pub fn row<S: AsRef<str>>(&mut self, values: &[S]) {
        for (place, value) in values.iter().enumerate() {
            let value = guarded(value.as_ref());
            let comma = if place == 0 { "" } else { "," };
            self.text.push_str(comma);
            if value.contains([',', '"', '\n', '\r']) {
                self.text.push_str(&format!("\"{}\"", value.replace('"', "\"\"")));
            } else {
                self.text.push_str(&value);
            }
        }
        self.text.push('\n');
    }
}

/// Beginnings of what spreadsheets take for a formula (OWASP, CSV Injection).
const FORMULAS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

fn is_formula(value: &str) -> bool {
    // One that was written with its apostrophe gets another, which is taken away again. A dash stands for nothing.
    let value = value.trim_start_matches('\'');
    value.starts_with(FORMULAS) && value != "-" && value.parse::<f64>().is_err()
}

/// A value as text: nothing that a spreadsheet calculates, nor a terminal obeys. Numbers stay as they are.
fn guarded(value: &str) -> Cow<'_, str> {
    let is_kept = |c: char| ['\n', '\r', '\t'].contains(&c);
    let mut text = Cow::Borrowed(value);
    if value.contains(|c| is_control(c) && !is_kept(c)) {
        let one = |c: char| if is_control(c) && !is_kept(c) { control_escape(c) } else { c.to_string() };
        text = Cow::Owned(value.chars().map(one).collect());
    }
    if is_formula(&text) { Cow::Owned(format!("'{text}")) } else { text }
}

/// The rows of a table, its head first; values in quotes may have commas, quotes and line breaks in them (RFC 4180,
/// section 2). Tables that a spreadsheet has saved are read, too: with a byte order mark, and with lines that end in
/// carriage returns. What is wrong is said with its line.
pub(crate) fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rows, mut row, mut line) = (Vec::new(), Vec::new(), 1);
    while !rest.is_empty() {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(inside) => quoted(inside, line)?,
            None => plain(rest, line)?,
        };
        line += cell.matches('\n').count();
        row.push(unguarded(&cell).to_owned());
        if let Some(next) = after.strip_prefix(',') {
            rest = next;
            // A comma at the very end stands before an empty value.
            if next.is_empty() {
                row.push(String::new());
            }
            continue;
        }
        let Some(next) = ends_line(after) else {
            return Err(format!("line {line}: a comma or the end of the line must follow a closing quote"));
        };
        rest = next;
        line += 1;
        // An empty line is no row.
        match row.as_slice() {
            [only] if only.is_empty() => row.clear(),
            _ => rows.push(std::mem::take(&mut row)),
        }
    }
    rows.extend((!row.is_empty()).then_some(row));
    Ok(rows)
}

/// What follows the end of a line, if there is one here, or the end of everything.
fn ends_line(text: &str) -> Option<&str> {
    if text.is_empty() { Some(text) } else { text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')) }
}

/// A value behind its opening quote, and what follows the closing one.
fn quoted(text: &str, line: usize) -> Result<(String, &str), String> {
    let mut from = 0;
    while let Some(found) = text[from..].find('"') {
        let end = from + found;
        match text[end + 1..].strip_prefix('"') {
            Some(_) => from = end + 2,
            None => return Ok((text[..end].replace("\"\"", "\""), &text[end + 1..])),
        }
    }
    Err(format!("line {line}: a quote that is not closed"))
}

/// A value without quotes, and what follows it.
fn plain(text: &str, line: usize) -> Result<(String, &str), String> {
    let end = text.find([',', '\n']).unwrap_or(text.len());
    // The return before a line feed belongs to the end of the line.
    let is_line = text[end..].starts_with('\n');
    let end = if is_line && text[..end].ends_with('\r') { end - 1 } else { end };
    match text[..end].contains('"') {
        true => Err(format!("line {line}: a quote within a value that does not begin with one")),
        false => Ok((text[..end].to_owned(), &text[end..])),
    }
}

/// The value that was written so.
pub(crate) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|value| is_formula(value)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_calculate_is_text() {
        for formula in ["=1+1.csv", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=\"a\"", "--"]
        {
            let mut csv = Csv::new(&["run"]);
            csv.row(&[formula]);
            let cell = csv.text.strip_prefix("run\n").unwrap().trim_start_matches('"');
            assert!(cell.starts_with('\''), "{formula:?}: {cell:?}");
            assert_eq!(unguarded(&guarded(formula)), formula);
        }
        for value in ["-5", "+3.5", "-1e-9", "-inf", "-", "", "a=b", "'quoted", "1-2"] {
            assert!(matches!(guarded(value), Cow::Borrowed(_)), "{value}");
            assert_eq!(unguarded(value), value);
        }
        assert_eq!(guarded("\u{1b}[31mred"), "\\u001b[31mred");
    }

    #[test]
    fn what_was_written_is_read() {
        let rows = [["run", "why"], ["a,\nb", "say \"x\""], ["", "=1+1"], ["-5", "'"]];
        let mut csv = Csv::new(&rows[0]);
        rows[1..].iter().for_each(|row| csv.row(row));
        assert_eq!(records(csv.text()).unwrap(), rows);
        assert_eq!(records("a,b\r\n1,2").unwrap(), [["a", "b"], ["1", "2"]]);
        assert_eq!(records("").unwrap(), Vec::<Vec<String>>::new());
        assert_eq!(records("\u{feff}a,b\r\n1,\r\n\r\n").unwrap(), [["a", "b"], ["1", ""]]);
        assert_eq!(records("a,\n,b\n,").unwrap(), [["a", ""], ["", "b"], ["", ""]]);
        for (text, wrong) in [
            ("a\n\"b\nc", "line 2: a quote that is not closed"),
            ("a\nb\"c\n", "line 2: a quote within a value that does not begin with one"),
            ("\"a\nb\" c\n", "line 2: a comma or the end of the line must follow a closing quote"),
        ] {
            assert_eq!(records(text).unwrap_err(), wrong, "{text:?}");
        }
    }

    #[test]
    fn any_table_that_was_written_is_read_as_it_was() {
        let parts = ["", "a", ",", "\"", "\n", "\r", "\r\n", "'", "=1", "-", "é", " "];
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..2_000 {
            let (columns, height) = (2 + next(3), 1 + next(4));
            let mut cell = || (0..next(5)).map(|_| parts[next(parts.len())]).collect::<String>();
            let rows: Vec<Vec<String>> =
                (0..height).map(|_| (0..columns).map(|_| cell()).collect()).collect();
            let mut csv = Csv { text: String::new() };
            rows.iter().for_each(|row| csv.row(row));
            assert_eq!(records(csv.text()).as_ref(), Ok(&rows), "{:?}", csv.text());
        }
    }

    #[test]
    fn values_with_commas_and_quotes_stand_in_quotes() {
        let mut csv = Csv::new(&["run", "value"]);
        csv.row(&["first in, first out", "1"]);
        csv.row(&["a \"b\"", "2"]);
        assert_eq!(csv.text, "run,value\n\"first in, first out\",1\n\"a \"\"b\"\"\",2\n");
    }
}
