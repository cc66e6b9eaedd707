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
/// section 2). What is wrong is said with its line.
pub(crate) fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut line, mut begun) = (false, 1, 1);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        line += u64::from(letter == '\n');
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => {
                is_quoted = !is_quoted;
                begun = line;
            }
            _ if is_quoted => cell.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            ',' | '\n' => {
                row.push(unguarded(&cell).to_owned());
                cell.clear();
                if letter == '\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            letter => cell.push(letter),
        }
    }
    if is_quoted {
        return Err(format!("line {begun}: a quote that is not closed"));
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(unguarded(&cell).to_owned());
        rows.push(row);
    }
    Ok(rows)
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
        assert_eq!(records("a\n\"b\nc").unwrap_err(), "line 2: a quote that is not closed");
    }

    #[test]
    fn values_with_commas_and_quotes_stand_in_quotes() {
        let mut csv = Csv::new(&["run", "value"]);
        csv.row(&["first in, first out", "1"]);
        csv.row(&["a \"b\"", "2"]);
        assert_eq!(csv.text, "run,value\n\"first in, first out\",1\n\"a \"\"b\"\"\",2\n");
    }
}
