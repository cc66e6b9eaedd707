//! What a page is made of, read from the folders that runs and papers have written.

use super::claims::ClaimsOf;
use super::run::Run;
use super::shell::{page, page_of_sweep};
use super::sweep::{NoSweep, Swept};
use crate::base::columns::Table;
use crate::base::document::PaperError;
use crate::base::error::ReportError;
use crate::measure::series::NAMES_OF_TABLES;
use crate::result::{FILE_NAME, RunResult, block_table};
use std::fmt;
use std::path::{Path, PathBuf};
use workload::whole::{self, RESULT_BYTES_MAX};

/// Runs and claims, read, for a page.
#[derive(Default)]
pub struct Reported {
    runs: Vec<Run>,
    claims: Vec<ClaimsOf>,
    sweep: Option<Swept>,
    beside: Option<PathBuf>,
}

/// Why a folder cannot be reported on.
#[derive(Debug)]
pub enum NoFolder {
    /// There is neither a run's result, nor a paper's, nor a sweep's.
    Nothing(PathBuf),
    /// A sweep of which no run is done.
    NoResults(PathBuf),
    /// A sweep beside something else.
    NotAlone(PathBuf),
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
                "{}\n    found:   neither {FILE_NAME} nor {} nor {}\n    allowed: a folder of `wordline run --out`, \
                 `wordline sweep -o` or `wordline reproduce --out`, or such a file",
                folder.display(),
                ClaimsOf::FILE_NAME,
                Swept::FILE_NAME,
            ),
            NoFolder::NoResults(folder) => write!(
                f,
                "{}\n    found:   a sweep without results: {} has no run that is done\n    allowed: a sweep of which \
                 one run or more is done (`wordline sweep FILE -o {}`)",
                folder.display(),
                Swept::ROWS_NAME,
                folder.display(),
            ),
            NoFolder::NotAlone(folder) => write!(
                f,
                "{}\n    found:   a sweep beside something else\n    allowed: one sweep alone, which has a page of \
                 its own, or runs and papers",
                folder.display(),
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
    /// Nothing yet, for a page in this folder: pages of runs that lie there or below it are linked.
    pub fn beside(folder: &Path) -> Self {
        Reported { beside: Some(folder.to_owned()), ..Reported::default() }
    }

    /// Adds what is in a folder that a run, a sweep or `reproduce` has written, or is one of their files.
    pub fn add(&mut self, path: &Path) -> Result<(), NoFolder> {
        let (folder, named) = match path.is_dir() {
            true => (path, None),
            false => (path.parent().unwrap_or(Path::new("")), path.file_name()),
        };
        let has = |name: &str| named.map_or_else(|| folder.join(name).is_file(), |named| named == name);
        let (is_run, is_paper) = (has(FILE_NAME), has(ClaimsOf::FILE_NAME));
        let is_sweep = !is_run && (has(Swept::FILE_NAME) || has(Swept::ROWS_NAME));
        let has_others = !self.runs.is_empty() || !self.claims.is_empty();
        if self.sweep.is_some() || is_sweep && has_others {
            return Err(NoFolder::NotAlone(path.to_owned()));
        }
        if is_sweep {
            let read = Swept::read(folder).map_err(|error| match error {
                NoSweep::NoResults => NoFolder::NoResults(folder.to_owned()),
                NoSweep::Unread(error) => error.into(),
            });
            self.sweep = Some(read?);
            return Ok(());
        }
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
    pub fn add_result(&mut self, result: &RunResult) -> Result<(), NoFolder> {
        if self.sweep.is_some() {
            return Err(NoFolder::NotAlone(PathBuf::from(&result.name)));
        }
        self.runs.push(Run::of(result));
        Ok(())
    }

    /// The page of all that.
    pub fn page(self) -> String {
        match self.sweep {
            Some(sweep) => page_of_sweep(&sweep, self.beside.as_deref()),
            None => page(self.runs, &self.claims),
        }
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
