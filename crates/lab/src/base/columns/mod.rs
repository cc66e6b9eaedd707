//! Tables in memory, column by column, which become CSV and Parquet.

#[cfg(feature = "parquet")]
mod parquet;

use crate::base::csv::{Csv, unguarded};
use std::borrow::Cow;
use std::fmt::Write;
use std::str::FromStr;

/// The values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Names.
    Words(Vec<String>),
    /// Names of a few that are known.
    Names(Vec<&'static str>),
    /// Measured numbers.
    Numbers(Vec<f64>),
    /// Counts.
    Counts(Vec<u64>),
    /// Numbers, where there is one.
    NumbersOrNone(Vec<Option<f64>>),
    /// Counts, where there is one.
    CountsOrNone(Vec<Option<u64>>),
}

/// A column with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name.
    pub name: Cow<'static, str>,
    /// Values.
    pub values: Values,
}

impl Column {
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, values: Values) -> Self {
        Column { name: name.into(), values }
    }
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Words(values) => values.len(),
            Values::Names(values) => values.len(),
            Values::Numbers(values) => values.len(),
            Values::Counts(values) => values.len(),
            Values::NumbersOrNone(values) => values.len(),
            Values::CountsOrNone(values) => values.len(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row as text; a number reads back as it was, and where there is none, the text is empty.
    pub fn text(&self, row: usize) -> String {
        let mut text = String::new();
        self.write(row, &mut text);
        text
    }

    /// The names in all rows; none where they are numbers.
    pub fn names(&self) -> Option<Vec<&str>> {
        match self {
            Values::Words(values) => Some(values.iter().map(String::as_str).collect()),
            Values::Names(values) => Some(values.clone()),
            _ => None,
        }
    }

    /// The number in a row; none where there is none, or a word.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            Values::Words(_) | Values::Names(_) => None,
            Values::Numbers(values) => Some(values[row]),
            Values::Counts(values) => Some(values[row] as f64),
            Values::NumbersOrNone(values) => values[row],
            Values::CountsOrNone(values) => values[row].map(|value| value as f64),
        }
    }

    /// Values from their texts: counts if all are, else numbers if all are, else words.
    pub(crate) fn of_texts(texts: &[&str]) -> Self {
        fn all<T: FromStr>(texts: &[&str]) -> Option<Vec<Option<T>>> {
            let value = |text: &&str| match *text {
                "" => Some(None),
                text => text.parse().ok().map(Some),
            };
            texts.iter().map(value).collect()
        }
        all(texts)
            .map(Values::CountsOrNone)
            .or_else(|| all(texts).map(Values::NumbersOrNone))
            .unwrap_or_else(|| Values::Words(texts.iter().map(|text| (*text).to_owned()).collect()))
    }

    fn write(&self, row: usize, text: &mut String) {
        // A string takes whatever is written to it.
        _ = match self {
            Values::Words(values) => write!(text, "{}", values[row]),
            Values::Names(values) => write!(text, "{}", values[row]),
            Values::Numbers(values) => write!(text, "{}", values[row]),
            Values::Counts(values) => write!(text, "{}", values[row]),
            Values::NumbersOrNone(values) => values[row].map_or(Ok(()), |value| write!(text, "{value}")),
            Values::CountsOrNone(values) => values[row].map_or(Ok(()), |value| write!(text, "{value}")),
        };
    }
}

/// A table: columns of the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Stem of the names of its files.
    pub name: &'static str,
    columns: Vec<Column>,
}

impl Table {
    pub(crate) fn new(name: &'static str, columns: Vec<Column>) -> Self {
        debug_assert!(columns.iter().all(|column| column.values.len() == columns[0].values.len()));
        Table { name, columns }
    }

    /// A table from CSV as [`Table::csv`] writes it, without quotes. What is wrong with it is said with its line.
    pub(crate) fn of_csv(name: &'static str, text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().ok_or("it is empty")?.split(',').collect();
        let mut cells: Vec<Vec<&str>> = vec![Vec::new(); names.len()];
        for (number, line) in lines.enumerate() {
            let mut count = 0;
            for (at, cell) in line.split(',').enumerate() {
                if let Some(column) = cells.get_mut(at) {
                    column.push(unguarded(cell));
                }
                count = at + 1;
            }
            if count != names.len() {
                return Err(format!("line {}: {count} values, and {} columns", number + 2, names.len()));
            }
        }
        let columns = names.iter().zip(cells);
        let columns = columns.map(|(name, cells)| Column::new((*name).to_owned(), Values::of_texts(&cells)));
        Ok(Table::new(name, columns.collect()))
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns, taken out.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The values of a column.
    pub fn values(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// As CSV: a line of names, then one for each row.
    pub fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| &*column.name).collect();
        let mut csv = Csv::new(&names);
        let mut cells = vec![String::new(); self.columns.len()];
        for row in 0..self.rows() {
            for (cell, column) in cells.iter_mut().zip(&self.columns) {
                cell.clear();
                column.values.write(row, cell);
            }
            csv.row(&cells);
        }
        csv.into_text()
    }

    /// As Parquet, with what is told of it as the file's metadata; `None` in a program built without.
    #[cfg(not(feature = "parquet"))]
    pub fn parquet(&self, _: &[(&'static str, String)]) -> Option<Vec<u8>> {
        None
    }
}
