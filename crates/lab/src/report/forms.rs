//! A result in each of its forms for people and programs.

use crate::report::compare::Comparison;
use crate::report::counted;
use crate::report::fio_json::text as fio_text;
use crate::report::page::of_result;
use crate::report::slowest::tables;
use crate::report::table::{of_drives, one, sum_of_drives};
use crate::result::{self, RunResult};
use crate::run::drives::DrivesResult;

/// One result as a table for people.
pub fn table(result: &RunResult) -> String {
    let tail = result.tail.as_ref().map_or(String::new(), |tail| format!("\n{}", tables(tail, result)));
    one(result) + &tail
}

/// One result in a line, with the remarks on it.
pub fn brief(result: &RunResult) -> String {
    crate::report::short::brief(result)
}

/// One result in the layout of fio's JSON output (`--output-format=json`, fio 3): the members of its workload as jobs,
/// or its jobs, or all of it as one. None of a run that did not count for it ([`crate::RunSpec::tells_fio`]).
pub fn fio_json(result: &RunResult) -> Option<String> {
    fio_text(result)
}

/// Everything that the drive counted and that is not zero, as a table for people.
pub fn counters(result: &RunResult) -> String {
    counted::table(result)
}

/// What `result.json` is: every key with its type and meaning, as a JSON Schema (draft 2020-12).
pub fn schema() -> String {
    format!("{:#}\n", result::schema())
}

/// Several results side by side, each with its ratio to the first.
pub fn compare(results: &[RunResult]) -> String {
    Comparison::of(results).text()
}

/// Results of several drives as tables for people: a row for each and their sum, and jobs on all drives together.
pub fn drives_table(of: &DrivesResult) -> String {
    of_drives(of)
}

/// The same in a line for each, with the remarks on it.
pub fn drives_brief(of: &DrivesResult) -> String {
    of.drives.iter().map(brief).collect::<String>() + &sum_of_drives(of)
}

/// One result as a page: a file that opens in any browser, without a network.
pub fn page(result: &RunResult) -> String {
    of_result(result)
}
