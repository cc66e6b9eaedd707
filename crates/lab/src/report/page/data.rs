//! The data that a page's script draws: at most two megabytes, however much was measured.

use super::room::{RUNS_DRAWN, Room, number};
use super::run::Run;
use super::{charts, maps};
use crate::result::Distribution;
use serde_json::{Value, json};

/// The data as JSON that may stand in a page.
pub(super) fn text(runs: &[Run]) -> String {
    let drawn = &runs[..runs.len().min(RUNS_DRAWN)];
    let room = Room::of(drawn.len());
    let runs: Vec<Value> = drawn.iter().map(|run| of_run(run, room)).collect();
    // In a script element nothing is markup but what begins with this.
    json!({ "runs": runs }).to_string().replace('<', "\\u003c")
}

fn of_run(run: &Run, room: Room) -> Value {
    let of = &run.result.latency_ns;
    let shares: serde_json::Map<String, Value> =
        [("read", &of.read), ("write", &of.write), ("flush", &of.flush)]
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
    // All are longer than what is a little less than the shortest.
    let least_ns = of.min.unwrap_or_default();
    let mut steps: Vec<(u64, f64)> = vec![((least_ns - least_ns / 64).max(1), 1.0)];
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
