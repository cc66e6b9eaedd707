//! What a page is made of, read from the folders that runs and papers have written.

use super::claims::ClaimsOf;
use super::{Run, page};
use crate::block_table;
use crate::columns::Table;
use crate::error::ReportError;
use crate::reproduce::PaperError;
use crate::result::{FILE_NAME, RunResult};
use crate::series::NAMES_OF_TABLES;
use std::fmt;
use std::path::{Path, PathBuf};
use workload::whole::{self, RESULT_BYTES_MAX};

/// Runs and claims, read, for a page.
#[derive(Default)]
pub struct Reported {
    runs: Vec<Run>,
    claims: Vec<ClaimsOf>,
}

/// Why a folder cannot be reported on.
#[derive(Debug)]
pub enum NoFolder {
    /// There is neither a run's result nor a paper's.
    Nothing(PathBuf),
    /// A file of a run in it cannot be read.
    Unread(ReportError),
    /// A paper's results in it cannot be read.
    Paper(PaperError),
}

impl fmt::Display for NoFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoFolder::Nothing(folder) => write!(
                f,
                "{}\n    found:   neither {FILE_NAME} nor {}\n    allowed: a folder of `wordline run --out` or \
                 `wordline reproduce --out`, or such a file",
                folder.display(),
                ClaimsOf::FILE_NAME
            ),
            NoFolder::Unread(error) => error.fmt(f),
            NoFolder::Paper(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoFolder {}

impl From<ReportError> for NoFolder {
    fn from(error: ReportError) -> Self {
        NoFolder::Unread(error)
    }
}

impl From<PaperError> for NoFolder {
    fn from(error: PaperError) -> Self {
        NoFolder::Paper(error)
    }
}

impl Reported {
    /// Adds what is in a folder that a run or `reproduce` has written, or is one of their files.
    pub fn add(&mut self, path: &Path) -> Result<(), NoFolder> {
        let (folder, named) = match path.is_dir() {
            true => (path, None),
            false => (path.parent().unwrap_or(Path::new("")), path.file_name()),
        };
        let has = |name: &str| named.map_or_else(|| folder.join(name).is_file(), |named| named == name);
        let (is_run, is_paper) = (has(FILE_NAME), has(ClaimsOf::FILE_NAME));
        if is_run {
            let result = RunResult::load(&folder.join(FILE_NAME))?;
            let names = NAMES_OF_TABLES.into_iter().chain([block_table::NAME]);
            let tables =
                names.filter_map(|name| table(folder, name).transpose()).collect::<Result<_, _>>()?;
            self.runs.push(Run { from: folder.to_owned(), result, tables });
        }
        if is_paper {
            self.claims.push(ClaimsOf::read(&folder.join(ClaimsOf::FILE_NAME))?);
        }
        if is_run || is_paper { Ok(()) } else { Err(NoFolder::Nothing(path.to_owned())) }
    }

    /// Adds a run that is in memory.
    pub fn add_result(&mut self, result: &RunResult) {
        self.runs.push(Run::of(result));
    }

    /// The page of all that.
    pub fn page(self) -> String {
        page(self.runs, &self.claims)
    }
}

/// A table of a folder, if it is there.
fn table(folder: &Path, name: &'static str) -> Result<Option<Table>, ReportError> {
    let path = folder.join(format!("{name}.csv"));
    if !path.exists() {
        return Ok(None);
    }
    let text =
        whole::read_text(&path, RESULT_BYTES_MAX).map_err(|error| ReportError::new(&path, "read", error))?;
    Table::of_csv(name, &text).map(Some).map_err(|wrong| ReportError::new(&path, "understand", wrong))
}
