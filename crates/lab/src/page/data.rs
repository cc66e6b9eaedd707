//! The data that a page's script draws: at most two megabytes, however much was measured.

use super::{Run, charts, maps};
use crate::result::Distribution;
use serde_json::{Value, json};

/// What all data of a page may take; bytes.
pub(crate) const DATA_MOST: usize = 2_000_000;
/// Runs that are drawn; more have rows in the tables alone.
pub(crate) const RUNS_DRAWN: usize = 12; // [A]
/// What a number takes in the mean, with its comma; measured.
const NUMBER_BYTES: usize = 7;

/// Room for a run's data.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Points of a chart with one column.
    pub points: usize,
    /// Numbers of all charts over time together.
    pub numbers: usize,
    /// Cells of all maps of blocks together.
    pub blocks: usize,
    /// Cells of a picture of dies or channels over time.
    pub use_cells: usize,
}

impl Room {
    fn of(runs: usize) -> Self {
        // Names and words around the numbers take a tenth at most.
        let bytes = (DATA_MOST - DATA_MOST / 10) / runs.max(1);
        Room {
            points: (bytes / 20 / NUMBER_BYTES).min(1_000),
            numbers: bytes * 45 / 100 / NUMBER_BYTES,
            blocks: bytes * 35 / 100,
            use_cells: bytes * 15 / 100 / maps::PICTURES,
        }
    }
}

/// The data as JSON that may stand in a page.
pub(super) fn text(runs: &[Run]) -> String {
    let drawn = &runs[..runs.len().min(RUNS_DRAWN)];
    let room = Room::of(drawn.len());
    let runs: Vec<Value> = drawn.iter().map(|run| of_run(run, room)).collect();
    // In a script element nothing is markup but what begins with this.
    json!({ "runs": runs }).to_string().replace('<', "\\u003c")
}

fn of_run(run: &Run, room: Room) -> Value {
    let shares: serde_json::Map<String, Value> =
        [("read", &run.result.latency_ns.read), ("write", &run.result.latency_ns.write)]
            .into_iter()
            .filter(|(_, of)| run.result.takes_time() && of.count > 0)
            .map(|(kind, of)| (kind.to_owned(), longer(of, room.points)))
            .collect();
    json!({
        "name": run.result.name,
        "share": shares,
        "time": charts::over_time(run, room),
        "blocks": maps::blocks(run, room),
    })
}

/// Latencies, and the share of requests that take longer than each.
fn longer(of: &Distribution, most: usize) -> Value {
    let mut steps: Vec<(u64, f64)> = vec![(of.min.unwrap_or_default().max(1), 1.0)];
    for &(percent, ns) in &of.percentiles {
        let share = 1.0 - percent / 100.0;
        let (last_ns, last) = steps.last_mut().expect("one was put in");
        if *last_ns == ns { *last = share } else { steps.push((ns.max(1), share)) }
    }
    // Nothing is longer than the longest: the last step ends there.
    let longest = of.max.unwrap_or_default().max(1);
    let least = 1.0 / of.count as f64;
    steps.retain(|(ns, share)| *ns < longest && *share >= least * 0.5);
    let end = steps.last().map_or(1.0, |(_, share)| *share);
    steps.push((longest, end));
    // Steps come closer to each other towards the end: each takes off as great a part of what is left.
    let every = steps.len().div_ceil(most.max(2));
    let last = steps.len() - 1;
    let kept: Vec<&(u64, f64)> = steps
        .iter()
        .enumerate()
        .filter(|(at, _)| at % every == 0 || *at == last)
        .map(|(_, step)| step)
        .collect();
    let ns: Vec<Value> = kept.iter().map(|(ns, _)| number(*ns as f64)).collect();
    let share: Vec<Value> = kept.iter().map(|(_, share)| number(*share)).collect();
    json!([ns, share])
}

/// A number with four significant digits: more nobody sees.
pub(super) fn number(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 { (rounded as i64).into() } else { rounded.into() }
}
