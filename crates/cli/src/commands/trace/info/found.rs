//! What was found in a workload, and which of it is shown.

use workload::analysis::Analysis;
use workload::{ReadBuffer, SourceReport, Spec};

/// Parts of the space, in percent, whose share of the accesses is shown: of extents, and of pages.
pub(super) const HOTTEST_PERCENT: [f64; 3] = [1.0, 10.0, 20.0];

pub(super) const TOP_PERCENT: [f64; 3] = [1.0, 5.0, 20.0];

/// Percentiles of intervals and distances that are shown.
pub(super) const PERCENTILES: [f64; 3] = [10.0, 50.0, 90.0];

/// What was found.
pub(super) struct Found {
    pub title: String,
    pub spec: Spec,
    pub analysis: Analysis,
    pub report: SourceReport,
    /// With the size of each as the user wrote it.
    pub buffers: Vec<(String, ReadBuffer)>,
}

/// What the trace calls one of the `devices`, `files` or `processes`, by its number, where it has names and this one is
/// kept.
pub(super) fn name_of<'a>(report: &'a SourceReport, what: &str, number: u32) -> Option<&'a str> {
    let renumbered =
        report.renumbered.iter().find(|(other, _)| what == "devices" && u32::from(*other) == number);
    if let Some((_, name)) = renumbered {
        return Some(name);
    }
    let (names, first) = match what {
        "devices" => (&report.device_names, 0),
        "files" => (&report.files, 1),
        "processes" => (&report.processes, 1),
        _ => return None,
    };
    names.get((number as usize).checked_sub(first)?).map(String::as_str)
}
