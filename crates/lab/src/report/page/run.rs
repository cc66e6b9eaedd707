//! A run as a page shows it, and how files of pages are known.

use crate::base::columns::Table;
use crate::result::RunResult;
use std::path::PathBuf;

/// Name of the file with the page of a run.
pub const PAGE_NAME: &str = "report.html";

/// What every page of ours begins with, by which it is known again.
pub const BEGINS: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
                          <meta name=\"generator\" content=\"wordline\">";

/// A run with its tables, as a page shows it.
pub(crate) struct Run {
    /// Its folder, which tells runs of one name apart.
    pub from: PathBuf,
    pub result: RunResult,
    /// The series of the run, of its dies, of its channels, and the blocks, by their names.
    pub tables: Vec<Table>,
}

impl Run {
    /// A run that is in memory.
    pub fn of(result: &RunResult) -> Self {
        let series = result.series.iter().flat_map(|series| series.tables());
        let tables = series.chain(result.blocks.as_ref().map(|blocks| blocks.table())).collect();
        Run { from: PathBuf::from(&result.name), result: result.clone(), tables }
    }

    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
