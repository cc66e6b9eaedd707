//! Tables of many rows, written as a run goes on: CSV, plain or compressed, or Parquet; or kept in memory.

mod csv;
mod kept;
#[cfg(feature = "parquet")]
mod parquet;

use crate::base::error::{Failure, ReportError};
pub(crate) use kept::KeptRows;
use std::path::Path;

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Below 2^63.
    Number(u64),
    /// A word that needs no quotes.
    Word(&'static str),
    /// No number, in a column that may lack some.
    Nothing,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub of: Of,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Numbers,
    /// Numbers, where there is one.
    NumbersOrNone,
    Words,
}

impl Of {
    /// Whether a cell is one of these.
    fn takes(self, cell: &Cell) -> bool {
        match cell {
            Cell::Number(_) => self != Of::Words,
            Cell::Word(_) => self == Of::Words,
            Cell::Nothing => self == Of::NumbersOrNone,
        }
    }
}

impl Column {
    /// Columns of numbers.
    pub fn numbers(names: &[&str]) -> Vec<Column> {
        names.iter().map(|name| Column { name: (*name).to_owned(), of: Of::Numbers }).collect()
    }
}

/// A kind of file.
enum Writer {
    Csv(csv::CsvRows),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::ParquetRows>),
}

/// A table being written: it comes to its place when it is finished.
pub(crate) struct Rows {
    writer: Writer,
    /// What its columns hold.
    columns: Vec<Of>,
}

impl Rows {
    /// Creates the file; its name says what it is: `.parquet`, `.zst` for compressed CSV, all else is CSV. `what` is in
    /// the rows, as Parquet calls its schema.
    pub fn create(path: &Path, what: &str, columns: Vec<Column>) -> Result<Self, ReportError> {
        let is = |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        let kinds = columns.iter().map(|column| column.of).collect();
        let writer = if is("parquet") {
            create_parquet(path, what, columns)?
        } else {
            Writer::Csv(csv::CsvRows::create(path, &columns, is("zst"))?)
        };
        Ok(Rows { writer, columns: kinds })
    }

    /// Writes a row: a cell for each column, of its kind.
    pub fn add(&mut self, cells: &[Cell]) -> Result<(), ReportError> {
        debug_assert!(cells.len() == self.columns.len());
        debug_assert!(self.columns.iter().zip(cells).all(|(of, cell)| of.takes(cell)));
        match &mut self.writer {
            Writer::Csv(rows) => rows.add(cells),
            #[cfg(feature = "parquet")]
            Writer::Parquet(rows) => rows.add(cells),
        }
    }

    /// Writes what is left and closes the file.
    pub fn finish(self) -> Result<(), ReportError> {
        match self.writer {
            Writer::Csv(rows) => rows.finish(),
            #[cfg(feature = "parquet")]
            Writer::Parquet(rows) => rows.finish(),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Failure::Log(error)
    }
}

#[cfg(feature = "parquet")]
fn create_parquet(path: &Path, what: &str, columns: Vec<Column>) -> Result<Writer, ReportError> {
    Ok(Writer::Parquet(Box::new(parquet::ParquetRows::create(path, what, &columns)?)))
}

#[cfg(not(feature = "parquet"))]
fn create_parquet(path: &Path, _: &str, _: Vec<Column>) -> Result<Writer, ReportError> {
    let message = "this program was built without Parquet; name the file .csv or .csv.zst, or build with \
                   cargo build --release -p wordline --features parquet";
    Err(ReportError::new(path, "create", message))
}
