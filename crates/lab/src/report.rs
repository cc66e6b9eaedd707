//! Results for people: tables, plots, folders.

use crate::compare::side_by_side;
use crate::error::ReportError;
use crate::plot;
use crate::result::{FILE_NAME, RunResult};
use crate::table;
use std::path::{Path, PathBuf};

/// One result as a table for people.
pub fn table(result: &RunResult) -> String {
    table::one(result)
}

/// Several results side by side, each with its ratio to the first.
pub fn compare(results: &[RunResult]) -> String {
    side_by_side(results)
}

/// Writes a folder of results: `result.json`, `latency.svg`, `breakdown.svg`, and `config.toml` with the resolved
/// configuration; of a drive whose cells age `retries.svg` too. Returns the files.
pub fn write(folder: &Path, result: &RunResult, config_toml: &str) -> Result<Vec<PathBuf>, ReportError> {
    let results = std::slice::from_ref(result);
    let mut files = vec![
        (FILE_NAME, result.to_json()),
        ("latency.svg", plot::latency(results)),
        ("breakdown.svg", plot::breakdown(results)),
        ("config.toml", config_toml.to_owned()),
    ];
    if result.has_errors() {
        files.push(("retries.svg", plot::retries(results)));
    }
    write_all(folder, files)
}

/// Writes a folder with a comparison: `comparison.txt`, `latency.svg`, `breakdown.svg` and `write_amplification.svg`;
/// if the cells of one of the drives age `retries.svg` too. Returns the files.
pub fn write_comparison(folder: &Path, results: &[RunResult]) -> Result<Vec<PathBuf>, ReportError> {
    let mut files = vec![
        ("comparison.txt", compare(results)),
        ("latency.svg", plot::latency(results)),
        ("breakdown.svg", plot::breakdown(results)),
        ("write_amplification.svg", plot::write_amplification(results)),
    ];
    if results.iter().any(RunResult::has_errors) {
        files.push(("retries.svg", plot::retries(results)));
    }
    write_all(folder, files)
}

fn write_all(folder: &Path, files: Vec<(&str, String)>) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(folder).map_err(|error| ReportError::new(folder, "create", error))?;
    let mut written = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| ReportError::new(&path, "write", error))?;
        written.push(path);
    }
    Ok(written)
}
