//! A table being written, whichever kind of file it is.

use super::cell::{Cell, Column, Of};
use super::csv::CsvRows;
#[cfg(feature = "parquet")]
use super::parquet::ParquetRows;
use crate::base::error::{Failure, ReportError};
use std::path::Path;

/// A kind of file.
enum Writer {
    Csv(CsvRows),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRows>),
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
            Writer::Csv(CsvRows::create(path, &columns, is("zst"))?)
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
    Ok(Writer::Parquet(Box::new(ParquetRows::create(path, what, &columns)?)))
}

#[cfg(not(feature = "parquet"))]
fn create_parquet(path: &Path, _: &str, _: Vec<Column>) -> Result<Writer, ReportError> {
    let message = "this program was built without Parquet; name the file .csv or .csv.zst, or build with \
                   cargo build --release -p wordline --features parquet";
    Err(ReportError::new(path, "create", message))
}
