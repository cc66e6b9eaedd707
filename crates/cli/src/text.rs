//! Text for people: aligned columns, wrapped sentences, numbers with thousands and sizes with units.

pub use lab::sizing::bytes;
use ssd::config::{Value, in_unit};
use std::io::{self, Write};
use std::path::Path;

use crate::failure::Failure;

/// Columns of a line of prose.
const WIDTH: usize = 100;

/// Rows of cells, printed in aligned columns.
#[derive(Default)]
pub struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Writes all rows, each `indent` from the left; the last column may be of any width.
    pub fn write(&self, out: &mut dyn Write, indent: usize) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter(|row| row.len() > column + 1);
            cells.map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(&format!("{cell:<width$}  "));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Writes prose in lines of at most 100 columns, each `indent` from the left.
pub fn wrapped(out: &mut dyn Write, indent: usize, text: &str) -> io::Result<()> {
    let margin = " ".repeat(indent);
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{margin}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.is_empty() { Ok(()) } else { writeln!(out, "{margin}{line}") }
}

/// Refuses a table of rows that ends in something else than what would be written.
pub fn check_table(flag: &str, path: &Path) -> Result<(), Failure> {
    let Some(ending) = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()) else {
        return Ok(());
    };
    if ["csv", "zst", "parquet"].contains(&ending.as_str()) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{flag} {}: found a file that ends in .{ending}, allowed: .csv, .csv.zst (compressed) or .parquet",
        path.display()
    )))
}

/// A whole number with its thousands set apart: `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time in the unit that suits it: `12.5 us`, `3.20 s`.
pub fn time(ns: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
    let (unit, scale) = UNITS.into_iter().find(|(_, scale)| ns as f64 >= *scale).unwrap_or(("ns", 1.0));
    if scale == 1.0 { format!("{ns} ns") } else { format!("{:.2} {unit}", ns as f64 / scale) }
}

/// A time such as `20ms` or `1.5 s`, in nanoseconds.
pub fn parse_time(text: &str) -> Result<u64, String> {
    match in_unit(text, "ns") {
        Some(Value::Integer(ns)) if ns >= 0 => Ok(ns as u64),
        _ => Err("allowed: a whole number of nanoseconds, as a number and ns, us, ms or s, such as 20ms"
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let good = ["20ms", "1.5 s", "7us", "3ns", "0s", "1e3us"].map(parse_time);
        assert_eq!(good, [20_000_000, 1_500_000_000, 7_000, 3, 0, 1_000_000].map(Ok));
        let bad = ["", "20", "ms", "-1s", "nans", "1h", "0.5ns", "99999999999999999999s"];
        assert!(bad.map(parse_time).iter().all(Result::is_err));
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(4_096), "4 KiB");
        assert_eq!(bytes(1_610_612_736), "1.50 GiB");
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(24_700_000_000), "24.70 s");
    }

    #[test]
    fn columns_line_up_and_prose_wraps() {
        let mut columns = Columns::default();
        columns.row(["a", "long one", "x"]);
        columns.row(["abc", "b", "y"]);
        let mut out = Vec::new();
        columns.write(&mut out, 2).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  a    long one  x\n  abc  b         y\n");
        let mut out = Vec::new();
        wrapped(&mut out, 4, &"word ".repeat(40)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().count() == 3 && text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }
}
