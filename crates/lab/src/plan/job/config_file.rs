//! A configuration file: tables of the drive, and those of the run and the workload beside them.

use super::error::JobError;
use super::files;
use ssd::config::Layer;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use workload::{Problem, Spec, WorkloadError};

/// Tables of a configuration file that are not the drive's; `pinned` is what a stand-in matches.
pub const FOREIGN: &[&str] = &["workload", "run", "policy", "policies", "pinned"];

/// The same of a file of a sweep.
pub(super) const FOREIGN_IN_SWEEPS: &[&str] =
    &["workload", "run", "policy", "policies", "pinned", "sweep", "grid", "zip", "sample", "labels"];

/// Keys by which the user says how large the drive is; with one of them it is not sized.
pub(super) const CAPACITY_KEYS: &[&str] =
    &["nand.geometry.blocks_per_plane", "drive.raw_gib", "drive.logical_gib"];

/// A configuration file, read.
#[derive(Clone)]
pub(super) struct ConfigFile {
    pub path: PathBuf,
    pub name: String,
    pub text: String,
    pub foreign: &'static [&'static str],
    /// Whether it has keys of a drive.
    pub names_a_drive: bool,
}

impl ConfigFile {
    pub fn read(path: &Path) -> Result<Self, JobError> {
        let text = files::read_text(path, "read the configuration")?;
        refuse_jobs(path, &text)?;
        let file = ConfigFile::new(path, text);
        // Said before anything is looked for in it: what is not found may stand behind the mistake.
        file.layer().check()?;
        Ok(file)
    }

    pub fn new(path: &Path, text: String) -> Self {
        ConfigFile::with_foreign(path, text, FOREIGN)
    }

    pub fn layer(&self) -> Layer {
        Layer::file(&self.name, &self.text)
    }

    pub fn with_foreign(path: &Path, text: String, foreign: &'static [&'static str]) -> Self {
        // A file that is not TOML is refused, with the line, when it is resolved.
        let names_a_drive = DeTable::parse(&text).map_or(true, |table| {
            table.get_ref().iter().any(|(key, _)| !foreign.contains(&key.get_ref().as_ref()))
        });
        let name = path.display().to_string();
        ConfigFile { path: path.to_path_buf(), name, text, foreign, names_a_drive }
    }

    /// Whether it says how large its drive is.
    pub fn fixes_capacity(&self) -> bool {
        let Ok(document) = DeTable::parse(&self.text) else { return false };
        let at = |key: &str| {
            let mut parts = key.split('.');
            let first = document.get_ref().get(parts.next()?)?;
            parts.try_fold(first, |at, part| match at.get_ref() {
                DeValue::Table(table) => table.get(part),
                _ => None,
            })
        };
        CAPACITY_KEYS.iter().any(|key| at(key).is_some())
    }

    pub fn workload(&self) -> Result<Option<Spec>, JobError> {
        let Ok(document) = DeTable::parse(&self.text) else {
            return self.layer().check().map(|()| None).map_err(JobError::from);
        };
        let Some((key, value)) = document.get_ref().get_key_value("workload") else { return Ok(None) };
        let DeValue::Table(table) = value.get_ref() else {
            let line = self.line(key.span().start);
            return Err(JobError::new(format!(
                "{}:{line}: workload: allowed: a table, [workload]",
                self.name
            )));
        };
        let mut spec = Spec::from_table(table).map_err(|e| self.place(e, key.span().start))?;
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            spec.resolve_path(folder);
        }
        Ok(Some(spec))
    }

    /// The lines of the keys of its `[workload]` table.
    pub fn workload_lines(&self) -> BTreeMap<String, usize> {
        workload_lines(&self.text)
    }

    /// The error with the file and line it stands in.
    fn place(&self, error: WorkloadError, table: usize) -> JobError {
        let place = match error.problem() {
            Problem::Setting { span: Some(span), .. } => span.start,
            _ => table,
        };
        JobError::from(error).about(&format!("{}:{}", self.name, self.line(place)))
    }

    pub fn line(&self, byte: usize) -> usize {
        line(&self.text, byte)
    }
}

fn line(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|b| *b == b'\n').count()
}

/// The lines of the keys of a text's `[workload]` table; none if it has no such table.
pub(super) fn workload_lines(text: &str) -> BTreeMap<String, usize> {
    let Ok(document) = DeTable::parse(text) else { return BTreeMap::new() };
    let Some(DeValue::Table(table)) = document.get_ref().get("workload").map(|value| value.get_ref()) else {
        return BTreeMap::new();
    };
    table.keys().map(|key| (key.get_ref().to_string(), line(text, key.span().start))).collect()
}

/// Refuses a job file of fio, which looks much like a configuration, where one must stand.
fn refuse_jobs(path: &Path, text: &str) -> Result<(), JobError> {
    let is_fio = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fio"));
    let of_fio = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        ["[global]", "rw", "readwrite", "ioengine"].contains(&key)
    };
    let is_job_file = is_fio
        || (workload::fio::is_job_file(path) && DeTable::parse(text).is_err() && text.lines().any(of_fio));
    if !is_job_file {
        return Ok(());
    }
    let path = path.display();
    Err(JobError::new(format!(
        "--config {path}\n    found:   a fio job file: a workload, not a drive\n    allowed: a configuration \
         (TOML); the jobs run by `wordline run {path}`, or by jobs = \"{path}\" under [workload] \
         (docs/fio.md)"
    )))
}
