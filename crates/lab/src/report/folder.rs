//! Folders of results.

use crate::base::columns::Table;
use crate::base::error::ReportError;
use crate::base::files::{FolderLock, write_set};
use crate::measure::series::NAMES_OF_TABLES;
use crate::plan::claim::{Force, Set, check_folder};
use crate::plan::job::{JobError, files as read};
use crate::report::compare::Comparison;
use crate::report::page::{PAGE_NAME, of_result};
use crate::report::plot::{self, Plot};
use crate::result::{FILE_NAME, RunResult, block_table, version};
use crate::run::drives::DrivesResult;
use std::iter;
use std::path::{Path, PathBuf};

/// Name of the file with the configuration that repeats a run.
pub const CONFIG_NAME: &str = "config.toml";
/// Name of the file with the table of a comparison.
const COMPARISON_NAME: &str = "comparison.txt";
/// The plot that only comparisons have.
const AMPLIFICATION: &str = "write_amplification";
/// The plot that only runs have.
const VERSIONS: &str = "versions";
/// Plots of a run, without the endings of their files.
const PLOTS: [&str; 4] = ["latency", "breakdown", "retries", "victims"];
/// Endings of the files that a table may come in.
const TABLE_ENDINGS: [&str; 2] = ["csv", "parquet"];

/// Stems of the names of a workload's plots.
pub const WORKLOAD_PLOTS: [&str; 6] =
    ["miss_ratio", "requests_per_s", "mb_per_s", "popularity", "rewrites", "updates"];

/// Plots of what a workload is like, with the stems of their files' names, [`WORKLOAD_PLOTS`].
pub fn workload_plots(analysis: &workload::analysis::Analysis) -> Vec<(&'static str, Plot)> {
    plot::workload(analysis)
}

/// Writes a folder of results: `result.json`, the plots `latency` and `breakdown` (where time passes), `retries` (of a
/// drive whose cells age), `victims` (of one that was cleaned) and `versions` (if asked for), each as SVG, PDF and CSV,
/// the tables `series`, `series_dies`, `series_channels` (where time passes) and `blocks` (if they were put in), each
/// as CSV and Parquet, `config.toml` with the resolved configuration, and the page `report.html`. Returns the files.
pub fn write(folder: &Path, result: &RunResult, config_toml: &str) -> Result<Vec<PathBuf>, ReportError> {
    // The plots can be made again of the rest.
    let mut files = vec![(FILE_NAME.to_owned(), result.to_json().into_bytes())];
    files.push((CONFIG_NAME.to_owned(), config_toml.as_bytes().to_vec()));
    files.extend(plots(std::slice::from_ref(result), &[]));
    if let Some(series) = &result.series {
        files.extend(series.tables().iter().flat_map(table_files));
    }
    if let Some(blocks) = &result.blocks {
        files.extend(table_files(&blocks.table()));
    }
    if let Some(versions) = &result.versions {
        files.extend(plot::versions(versions).files(VERSIONS));
    }
    files.push((PAGE_NAME.to_owned(), of_result(result).into_bytes()));
    write_all(folder, RUN, &files)
}

/// Writes a folder of the results of several drives: `result.json` with all of them and their sum, and for each drive a
/// folder of its name, as [`write()`] has it, with the configuration that `config` tells.
pub fn write_drives(
    folder: &Path,
    of: &DrivesResult,
    config: impl Fn(usize) -> String,
) -> Result<(), ReportError> {
    for (number, result) in of.drives.iter().enumerate() {
        write(&folder.join(&result.name), result, &config(number))?;
    }
    write_all(folder, RUN, &[(FILE_NAME.to_owned(), of.to_json().into_bytes())]).map(drop)
}

/// Writes a folder with a comparison: `comparison.txt` and the plots that [`write()`] has, and `write_amplification`.
/// Returns the files.
pub fn write_comparison(folder: &Path, of: &Comparison) -> Result<Vec<PathBuf>, ReportError> {
    let mut files = vec![(COMPARISON_NAME.to_owned(), of.text().into_bytes())];
    files.extend(plots(of.results(), &of.groups()));
    files.extend(plot::write_amplification(of.results(), &of.groups()).files(AMPLIFICATION));
    write_all(folder, COMPARISON, &files)
}

/// The plots that have something to show of the results' kind, of groups of results with their names. Curves of more
/// results than there are colours could not be told apart.
fn plots(results: &[RunResult], groups: &[String]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let are_few = results.len() <= plot::CURVES_MAX;
    if results.iter().any(RunResult::takes_time) {
        let latency = if are_few { plot::latency(results) } else { plot::latency_bars(results, groups) };
        files.extend(latency.files("latency"));
        files.extend(plot::breakdown(results, groups).files("breakdown"));
    }
    if are_few && results.iter().any(RunResult::has_errors) {
        files.extend(plot::retries(results).files("retries"));
    }
    if are_few && results.iter().any(|result| result.ftl.victims.all() > 0) {
        files.extend(plot::victims(results).files("victims"));
    }
    files
}

/// Names of all files that a run may write to its folder.
pub fn run_files() -> Vec<String> {
    let others = [FILE_NAME, CONFIG_NAME, PAGE_NAME].map(str::to_owned).into_iter();
    let tables = named(&[&NAMES_OF_TABLES[..], &[block_table::NAME]].concat(), &TABLE_ENDINGS);
    others.chain(tables).chain(plot_files(&PLOTS)).chain(plot_files(&[VERSIONS])).collect()
}

/// Names of all files that a comparison may write to its folder.
pub fn comparison_files() -> Vec<String> {
    let others = [COMPARISON_NAME.to_owned()];
    others.into_iter().chain(plot_files(&PLOTS)).chain(plot_files(&[AMPLIFICATION])).collect()
}

fn plot_files(plots: &[&'static str]) -> impl Iterator<Item = String> {
    plots.iter().flat_map(|stem| Plot::names(stem))
}

/// Files of these names, with each of the endings.
fn named(names: &[&str], endings: &[&str]) -> Vec<String> {
    let of = |name: &&str| endings.iter().map(|ending| format!("{name}.{ending}")).collect::<Vec<_>>();
    names.iter().flat_map(of).collect()
}

/// A table's files: CSV, and Parquet in a program built with it.
fn table_files(table: &Table) -> Vec<(String, Vec<u8>)> {
    let [csv, parquet] = TABLE_ENDINGS.map(|ending| format!("{}.{ending}", table.name));
    let parquet = table.parquet(&[("version", version())]).map(|bytes| (parquet, bytes));
    iter::once((csv, table.csv().into_bytes())).chain(parquet).collect()
}

/// The kinds of commands that write folders of results, in the folders' lists.
const RUN: &str = "run";
const COMPARISON: &str = "compare";

/// Whether a folder holds the result of a run.
pub fn holds_a_run(folder: &Path) -> bool {
    folder.join(FILE_NAME).exists()
}

/// The folder of a run's results for this run alone, if nothing is lost by it; `place` is what messages call it.
pub fn claim_run(folder: &Path, place: &str, force: Force) -> Result<FolderLock, JobError> {
    let mut lock = FolderLock::take(folder)?;
    read::check(&folder.join(FILE_NAME), "read")?;
    let before = RunResult::load(folder).ok();
    let what = before.as_ref().map_or("the result of a run".to_owned(), |result| {
        format!("the result of a run, {:?}, of {} requests", result.name, result.requests_served)
    });
    let set = Set { kind: RUN, what, names: &run_files(), is_known: before.is_some() };
    check_folder(folder, place, &set, force)?;
    // What a comparison has drawn is no run's.
    let drawn: Vec<String> =
        comparison_files().into_iter().filter(|name| !set.names.contains(name)).collect();
    let set = Set { names: &drawn, is_known: false, ..set };
    check_folder(folder, place, &set, force)?;
    lock.claim(folder, &run_files());
    Ok(lock)
}

/// The same of a comparison.
pub fn claim_comparison(folder: &Path, place: &str, force: Force) -> Result<FolderLock, JobError> {
    let mut lock = FolderLock::take(folder)?;
    if holds_a_run(folder) {
        let found = "the result of a run, whose plots would be replaced";
        let message = format!("{place}\n    found:   {found}\n    allowed: another folder");
        return Err(JobError::new(message));
    }
    let what = "a comparison".to_owned();
    let set = Set { kind: COMPARISON, what, names: &comparison_files(), is_known: false };
    check_folder(folder, place, &set, force)?;
    lock.claim(folder, set.names);
    Ok(lock)
}

/// Writes the files of a run or a comparison, and removes plots of an earlier one that this one does not have.
fn write_all(folder: &Path, kind: &str, files: &[(String, Vec<u8>)]) -> Result<Vec<PathBuf>, ReportError> {
    let stale = match (folder.join(FILE_NAME).exists(), folder.join(COMPARISON_NAME).exists()) {
        (true, _) => run_files(),
        (false, true) => comparison_files(),
        (false, false) => Vec::new(),
    };
    write_set(folder, kind, files, &stale)
}
