//! What fio would say of a run: its requests in the layout of fio's JSON output (`--output-format=json`, fio 3). What a
//! run does not know, such as the load of the host's cores, is not there.

use crate::measure::fio_tally::FioJob;
use crate::result::{RunResult, version};
use serde::Serialize;

/// The whole of it.
#[derive(Serialize)]
struct FioOutput {
    /// Which program wrote it, as fio says it of itself.
    #[serde(rename = "fio version")]
    version: String,
    /// No run knows what day it is.
    timestamp: u64,
    jobs: Vec<FioJob>,
}

/// What stands in the version before our own.
const PROGRAM: &str = "wordline-";

/// Whether a file that begins so is one of ours: fio's own name fio there.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.starts_with(format!("{{\n  \"fio version\": \"{PROGRAM}").as_bytes())
}

/// The text of the file: its jobs are the members of the workload, or its jobs, or the run as a whole. None of a run
/// that was not asked to tell it.
pub(crate) fn text(result: &RunResult) -> Option<String> {
    let named = |name: &str, job: &Option<Box<FioJob>>| {
        let job = job.as_deref()?.named(name);
        Some(if result.takes_time() { job } else { job.without_time() })
    };
    let jobs: Option<Vec<FioJob>> = if !result.members.is_empty() {
        result.members.iter().map(|member| named(&member.name, &member.share.fio)).collect()
    } else if !result.jobs.is_empty() {
        result.jobs.iter().map(|job| named(&job.name, &job.share.fio)).collect()
    } else {
        named(&result.name, &result.fio).map(|job| vec![job])
    };
    let output = FioOutput { version: format!("{PROGRAM}{}", version()), timestamp: 0, jobs: jobs? };
    let text = serde_json::to_string_pretty(&output);
    Some(text.unwrap_or_else(|error| unreachable!("plain data with text keys becomes JSON: {error}")) + "\n")
}
