//! What a sweep has written, read for its page: the files that tell of all its runs, whatever version wrote them.

use super::labels::Labels;
use crate::base::columns::{Column, Table, Values};
use crate::base::csv::records;
use crate::base::error::ReportError;
use crate::result::RunResult;
use crate::result::caution::is_older_caution;
use crate::result::problem::Problem;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use workload::whole::{self, RESULT_BYTES_MAX};

/// What all figures of a page may take; bytes.
const FIGURES_MOST: u64 = 2_000_000; // [A]

/// Why a folder of a sweep cannot be read.
#[derive(Debug)]
pub(crate) enum NoSweep {
    /// No run of it is done.
    NoResults,
    /// A file in it cannot be read.
    Unread(ReportError),
}

impl From<ReportError> for NoSweep {
    fn from(error: ReportError) -> Self {
        NoSweep::Unread(error)
    }
}

/// What is kept of a run.
#[derive(Deserialize)]
struct Kept {
    result: Option<RunResult>,
}

/// What is wrong with a run, as `problems.json` tells it.
#[derive(Debug, Deserialize)]
pub(crate) struct Told {
    pub run: String,
    pub name: String,
    pub problems: Vec<Problem>,
}

/// A figure: what it shows, and the picture.
pub(crate) struct Figure {
    pub stem: String,
    pub svg: Vec<u8>,
}

/// A sweep.
pub(crate) struct Swept {
    /// The name of its folder.
    pub name: String,
    pub folder: PathBuf,
    /// The keys that vary.
    pub varied: Vec<String>,
    /// A row for each run.
    pub table: Table,
    /// Whether it tells which runs have problems.
    pub knows_problems: bool,
    /// What is wrong with runs, in words, where that was written.
    pub told: Vec<Told>,
    pub figures: Vec<Figure>,
    /// Figures that there was no room for.
    pub figures_left: usize,
    /// Results with each value of what varies, as far as they can be read: for what does not vary.
    pub examples: Vec<RunResult>,
    /// The sweep's own file.
    pub file: String,
    /// What that calls things.
    pub labels: Labels,
}

impl Swept {
    /// Name of a sweep's own file in its folder.
    pub const FILE_NAME: &str = "sweep.toml";
    /// Name of the file with a row for each run.
    pub const ROWS_NAME: &str = "runs.csv";

    /// Reads the folder of a sweep.
    pub fn read(folder: &Path) -> Result<Self, NoSweep> {
        let rows = folder.join(Self::ROWS_NAME);
        if !rows.is_file() {
            return Err(NoSweep::NoResults);
        }
        let wrong = |text: String| ReportError::new(&rows, "understand", text);
        let table = table(&text_of(&rows)?).map_err(wrong)?;
        let place = |name: &str| table.columns().iter().position(|column| column.name == name);
        let (Some(status), Some(repeat), Some(_), Some(0)) =
            (place("status"), place("repeat"), place("seed"), place("run"))
        else {
            let found =
                "it is not the table of a sweep, which begins with run and status and has repeat and seed";
            return Err(wrong(found.to_owned()).into());
        };
        let has_any = |name: &str| {
            let values = table.values(name).and_then(Values::names);
            values.is_some_and(|all| all.iter().any(|status| *status != "missing"))
        };
        if !has_any("status") {
            return Err(NoSweep::NoResults);
        }
        let between = table.columns().get(status + 1..repeat).unwrap_or_default();
        // A list of one value varies nothing.
        let varies = |column: &&Column| {
            (1..column.values.len()).any(|row| column.values.text(row) != column.values.text(0))
        };
        let varied: Vec<String> =
            between.iter().filter(varies).map(|column| column.name.clone().into_owned()).collect();
        let problems = folder.join("problems.json");
        let told = match problems.is_file() {
            true => serde_json::from_str(&text_of(&problems)?)
                .map_err(|error| ReportError::new(&problems, "understand", error))?,
            false => Vec::new(),
        };
        let (figures, figures_left) = figures(folder)?;
        let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = absolute.file_name().map_or("sweep".into(), |name| name.to_string_lossy().into_owned());
        let file = folder.join(Self::FILE_NAME);
        let file = if file.is_file() { text_of(&file)? } else { String::new() };
        Ok(Swept {
            name,
            folder: folder.to_owned(),
            labels: Labels::of(&file, &varied, &table),
            examples: examples(folder, &table, &varied),
            varied,
            knows_problems: table.values("problems").is_some(),
            told,
            figures,
            figures_left,
            file,
            table,
        })
    }

    /// The words of a column in a row; empty where there is no such column.
    pub fn word(&self, column: &str, row: usize) -> String {
        self.table.values(column).map_or_else(String::new, |values| values.text(row))
    }

    /// What is shown for the value of a varied key in a row.
    pub fn shown(&self, key: &str, row: usize) -> String {
        self.labels.value(key, &self.word(key, row)).to_owned()
    }

    /// The remarks on a run that change how its numbers are read; empty if there are none.
    pub fn cautions(&self, row: usize) -> String {
        if self.table.values("cautions").is_some() {
            return self.word("cautions", row);
        }
        // A sweep of an earlier version does not tell them apart.
        let remarks = self.word("remarks", row);
        remarks.split("; ").filter(|remark| is_older_caution(remark)).collect::<Vec<_>>().join("; ")
    }

    /// Names of the problems of a run.
    pub fn problems(&self, row: usize) -> Vec<String> {
        self.word("problems", row).split_whitespace().map(str::to_owned).collect()
    }
}

fn text_of(path: &Path) -> Result<String, ReportError> {
    whole::read_text(path, RESULT_BYTES_MAX).map_err(|error| ReportError::new(path, "read", error))
}

/// A table from its text.
fn table(text: &str) -> Result<Table, String> {
    let mut rows = records(text)?.into_iter();
    let names = rows.next().ok_or("it is empty")?;
    let rows: Vec<Vec<String>> = rows.collect();
    if let Some(at) = rows.iter().position(|row| row.len() != names.len()) {
        return Err(format!("row {}: {} values, and {} columns", at + 1, rows[at].len(), names.len()));
    }
    let column = |(at, name): (usize, String)| {
        let texts: Vec<&str> = rows.iter().map(|row| row[at].as_str()).collect();
        // A name that looks like a number is one.
        let is_name = ["run", "status", "problems", "cautions", "remarks"].contains(&name.as_str());
        let words = || Values::Words(texts.iter().map(|text| (*text).to_owned()).collect());
        Column::new(name, if is_name { words() } else { Values::of_texts(&texts) })
    };
    Ok(Table::new("runs", names.into_iter().enumerate().map(column).collect()))
}

/// The figures of a folder, by their names, and how many there was no room for.
fn figures(folder: &Path) -> Result<(Vec<Figure>, usize), ReportError> {
    let list = fs::read_dir(folder).map_err(|error| ReportError::new(folder, "read", error))?;
    let mut paths: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "svg") && path.is_file());
    paths.sort();
    let (mut all, mut left, mut room) = (Vec::new(), 0, FIGURES_MOST);
    for path in paths {
        let svg = fs::read(&path).map_err(|error| ReportError::new(&path, "read", error))?;
        match room.checked_sub(svg.len() as u64) {
            Some(rest) => {
                room = rest;
                let stem = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
                all.push(Figure { stem, svg });
            }
            None => left += 1,
        }
    }
    Ok((all, left))
}

/// The results of the first run, of the first with each other value of a key that varies, and of the last run, which
/// tells what a seed changes.
fn examples(folder: &Path, table: &Table, varied: &[String]) -> Vec<RunResult> {
    let Some(ids) = table.values("run") else { return Vec::new() };
    let of = |row: usize| {
        let path = folder.join("runs").join(format!("{}.json", ids.text(row)));
        // Without it there is less to see: one of another version may not be readable.
        let text = whole::read_text(&path, RESULT_BYTES_MAX).ok()?;
        serde_json::from_str::<Kept>(&text).ok()?.result
    };
    let Some(first) = (0..table.rows()).take(EXAMPLES).find(|row| of(*row).is_some()) else {
        return Vec::new();
    };
    let mut rows = BTreeSet::from([first, table.rows() - 1]);
    for values in varied.iter().filter_map(|key| table.values(key)) {
        let mut seen = BTreeSet::from([values.text(first)]);
        rows.extend((first..table.rows()).filter(|row| seen.insert(values.text(*row))));
    }
    rows.into_iter().take(EXAMPLES).filter_map(of).collect()
}

/// The most results that are read to learn what they have in common.
const EXAMPLES: usize = 100; // [A]
