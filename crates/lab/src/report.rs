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

/// Writes a folder of results: `result.json`, the plots `latency` and `breakdown` (where time passes) and `retries`
/// (of a drive whose cells age), each as SVG, PDF and CSV, and `config.toml` with the resolved configuration. Returns
/// the files.
pub fn write(folder: &Path, result: &RunResult, config_toml: &str) -> Result<Vec<PathBuf>, ReportError> {
    let mut files = vec![(FILE_NAME.to_owned(), result.to_json().into_bytes())];
    files.extend(plots(std::slice::from_ref(result)));
    files.push(("config.toml".to_owned(), config_toml.as_bytes().to_vec()));
    write_all(folder, files)
}

/// Writes a folder with a comparison: `comparison.txt` and the plots that [`write()`] has, and `write_amplification`.
/// Returns the files.
pub fn write_comparison(folder: &Path, results: &[RunResult]) -> Result<Vec<PathBuf>, ReportError> {
    let mut files = vec![("comparison.txt".to_owned(), compare(results).into_bytes())];
    files.extend(plots(results));
    files.extend(plot::write_amplification(results).files("write_amplification"));
    write_all(folder, files)
}

/// The plots that have something to show of the results' kind.
fn plots(results: &[RunResult]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    if results.iter().any(RunResult::takes_time) {
        files.extend(plot::latency(results).files("latency"));
        files.extend(plot::breakdown(results).files("breakdown"));
    }
    if results.iter().any(RunResult::has_errors) {
        files.extend(plot::retries(results).files("retries"));
    }
    files
}

fn write_all(folder: &Path, files: Vec<(String, Vec<u8>)>) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(folder).map_err(|error| ReportError::new(folder, "create", error))?;
    let mut written = Vec::new();
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::write(&path, content).map_err(|error| ReportError::new(&path, "write", error))?;
        written.push(path);
    }
    Ok(written)
}
