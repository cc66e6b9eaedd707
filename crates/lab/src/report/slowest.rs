//! The tables of whom the slowest requests waited for ([`crate::measure::tail`]).

use crate::base::labels;
use crate::base::number::{count, duration, percent};
use crate::measure::tail::{Example, Reason, Slowest, TailTold};
use crate::report::cells::cells;
use crate::report::table::grid;
use crate::report::time_of_kinds::slowest_share;
use crate::result::RunResult;

/// Reasons that the table tells.
const ROWS: usize = 12;

/// What making room went to, of the lack of a page: what is a twentieth of it or more.
fn making_room(reason: &Reason) -> impl Iterator<Item = Vec<String>> {
    let shown = reason.went_to.iter().filter(|part| part.what != reason.what && part.ns * 20 >= reason.ns);
    shown.map(|part| {
        let share = reason.share * part.ns as f64 / reason.ns as f64;
        vec![format!("    of it {}", labels::reason(&part.what)), percent(share)]
    })
}

/// What share of the requests of a kind its slowest are, as text.
fn share_of(told: &TailTold, slowest: &Slowest, name: &str, result: &RunResult) -> String {
    let all = result.time_of_kinds().find(|kind| kind.plural() == name).map_or(0, |kind| kind.latency.count);
    slowest_share(Some(slowest.requests), all, (100.0 - told.percent) / 100.0)
}

/// Tables of it; empty if there are no requests.
pub(crate) fn tables(told: &TailTold, result: &RunResult) -> String {
    let of_kind = |(name, slowest): (&str, &Slowest)| {
        let share = share_of(told, slowest, name, result);
        let mean = slowest.sum_ns as f64 / slowest.requests.max(1) as f64;
        let title = format!(
            "slowest {share} of {name}: {} requests, {} and up, mean {}",
            count(slowest.requests),
            duration(slowest.from_ns as f64),
            duration(mean)
        );
        let mut rows =
            vec![cells(["cause", "of their time", "mean", "main cause for", "the slowest of them"])];
        for reason in slowest.reasons.iter().take(ROWS) {
            let longest = reason.longest.map_or(String::new(), |longest| {
                let Example { arrival_ns, latency_ns, lba, .. } = longest;
                let [latency, arrival] = [latency_ns, arrival_ns].map(|ns| duration(ns as f64));
                format!("{latency} at {arrival}, LBA {lba}")
            });
            rows.push(vec![
                format!("  {}", labels::reason(&reason.what)),
                percent(reason.share),
                duration(reason.ns as f64 / slowest.requests.max(1) as f64),
                count(reason.requests),
                longest,
            ]);
            rows.extend(making_room(reason));
        }
        let rest = slowest.reasons.iter().skip(ROWS).map(|reason| reason.share).sum::<f64>();
        if rest > 0.0 {
            rows.push(vec!["  all else".to_owned(), percent(rest)]);
        }
        format!("{title}\n{}", grid(&rows))
    };
    told.kinds().map(of_kind).collect::<Vec<_>>().join("\n")
}
