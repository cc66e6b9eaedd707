//! What a page says in words and tables.

use super::Run;
use super::bars::{Row, bars};
use super::claims::ClaimsOf;
use super::room::RUNS_DRAWN;
use crate::by::By;
use crate::compare::Comparison;
use crate::number::{count, duration, percent};
use crate::result::RunResult;
use crate::tail::{Slowest, TailTold};
use crate::time_of_kinds::OfKind;
use crate::time_spent::Spent;
use crate::{counted, short, slowest};
use maud::{Markup, html};
use ssd::Part;

/// A part of a page with its heading, and what links name it by.
pub(super) struct Section {
    pub anchor: &'static str,
    pub title: &'static str,
    pub body: Markup,
}

/// All that have something to say of these runs and claims.
pub(super) fn parts(runs: &[Run], comparison: &Comparison, claims: &[ClaimsOf]) -> Vec<Section> {
    let results = comparison.results();
    let section = |anchor, title, body| Section { anchor, title, body };
    let mut all = Vec::new();
    if !results.is_empty() {
        all.push(section("short", "In short", in_short(results)));
    }
    if results.len() > 1 {
        all.push(section("compared", "Side by side", table(&comparison.metric_rows())));
    }
    let explained = why(results);
    if !explained.is_empty() {
        all.push(section("why", "Where the time went", html! { @for part in explained { (part) } }));
    }
    let drawn = &runs[..runs.len().min(RUNS_DRAWN)];
    let are_timed = drawn.iter().any(|run| run.result.takes_time());
    let has_latencies = |run: &Run| {
        run.result.takes_time() && run.result.latency_ns.read.count + run.result.latency_ns.write.count > 0
    };
    if drawn.iter().any(has_latencies) {
        all.push(section(
            "shares",
            "Latency",
            html! {
                p.soft { "The share of requests that take longer, both axes logarithmic: the further right a \
                          curve "
                    "ends, the longer its slowest request took. Drag to zoom, double-click for all of it." }
                div id="share" {}
            },
        ));
    }
    let has = |name: &str| drawn.iter().any(|run| run.table(name).is_some_and(|table| table.rows() > 0));
    if are_timed && has("series") {
        all.push(section("over-time", "Over time", over_time()));
    }
    if has("blocks") {
        all.push(section("block-map", "Blocks at the end", html! {
            p.soft { "A cell is a block, lane below lane; beyond a hundred thousand, a cell is several of them." }
            div id="blocks" {}
        }));
    }
    if runs.len() > RUNS_DRAWN {
        all.push(section("not-drawn", "Not drawn", html! {
            p { "Of " (runs.len()) " runs the first " (RUNS_DRAWN) " are drawn; the tables have all of them." }
        }));
    }
    if !results.is_empty() {
        all.push(section("configuration", "Configuration", configuration(comparison)));
        all.push(section("counters", "Everything counted", counters(results)));
    }
    if !claims.is_empty() {
        all.push(section("claims", "Claims of papers", html! { @for paper in claims { (of_paper(paper)) } }));
    }
    all
}

fn in_short(results: &[RunResult]) -> Markup {
    html! {
        @for result in results {
            @if results.len() > 1 { h3 { (result.name) } }
            p.verdict { (short::line(result).trim_start_matches("in short: ").trim_end()) }
            @if !result.is_complete() { p { "The run ended early: " (result.ended) } }
            @for line in what_held(result) { p { (line) } }
            @if !result.remarks.is_empty() {
                ul { @for remark in &result.remarks { li { (remark) } } }
            }
        }
    }
}

/// Sentences on what the slowest requests waited for, and on the longest stall.
fn what_held(result: &RunResult) -> Vec<String> {
    let mut all = Vec::new();
    for (kind, told) in tails(result) {
        let Some(most) = told.reasons.first() else { continue };
        all.push(format!(
            "The slowest {kind} ({} from {} up) spent {} of their time on: {}.",
            count(told.requests),
            duration(told.from_ns as f64),
            percent(most.share),
            slowest::words(&most.what)
        ));
    }
    if all.is_empty() {
        for kind in result.time_of_kinds() {
            let of = |part: &Part| kind.spent[*part].mean_from_p99_9.unwrap_or(0.0);
            let sum: f64 = Part::ALL.iter().map(of).sum();
            let Some(most) =
                Part::ALL.into_iter().max_by(|a, b| of(a).total_cmp(&of(b))).filter(|_| sum > 0.0)
            else {
                continue;
            };
            all.push(format!(
                "The slowest {} of {} took {} on average, {} of it {}. To see what held them up, run again with \
                 --explain-tail 99.9.",
                kind.slowest_share(1),
                kind.plural(),
                duration(sum),
                percent(of(&most) / sum),
                phrase(most),
            ));
        }
    }
    if let Some(longest) = result.stalls.longest.first() {
        let part = Part::ALL.iter().find(|part| part.name() == longest.part);
        all.push(format!(
            "{} stalls of 5 ms or more, {} in all: requests waited and nothing completed. The longest \
             began at {} and took {}; the request that ended it had spent most of its time {}.",
            count(result.stalls.count),
            duration(result.stalls.total_ns as f64),
            duration(longest.start_ns as f64),
            duration(longest.ns as f64),
            part.map_or(longest.part.as_str(), |part| phrase(*part)),
        ));
    }
    all
}

/// Where a request is, in words that follow "spent ...".
fn phrase(part: Part) -> &'static str {
    match part {
        Part::HostQueue => "outside a full queue",
        Part::Submission => "in its queue",
        Part::Firmware => "in the firmware",
        Part::LinkWait => "waiting for the host link",
        Part::Link => "on the host link",
        Part::BufferWait => "waiting for space in the buffer",
        Part::Buffer => "in the buffer",
        Part::Dispatch => "before its flash operation was queued",
        Part::DieWait => "waiting for a die",
        Part::ChannelWait => "waiting for the channel",
        Part::Array => "in the array",
        Part::Transfer => "on the channel",
        Part::Decode => "being decoded",
        Part::Suspended => "suspended for others' reads",
        Part::LockWait => "waiting for locks",
    }
}

fn tails(result: &RunResult) -> Vec<(&'static str, &Slowest)> {
    result.tail.iter().flat_map(TailTold::kinds).collect()
}

/// Pictures and tables of where time went, run by run.
fn why(results: &[RunResult]) -> Vec<Markup> {
    let mut all = Vec::new();
    for result in results.iter().filter(|result| result.takes_time()) {
        let mut parts = Vec::new();
        if let Some(picture) = breakdown(result) {
            parts.push(picture);
        }
        parts.extend(tails(result).into_iter().map(|(kind, told)| holders(kind, told)));
        parts.extend(stalls(result));
        if parts.is_empty() {
            continue;
        }
        if results.len() > 1 {
            all.push(html! { h3 { (result.name) } });
        }
        all.append(&mut parts);
    }
    all
}

/// The time in a part that some of the requests have spent on average.
type Side = fn(&Spent) -> Option<f64>;

/// The parts of a request's life, each bar whole, whatever the latencies are: of the fast half, of all, of the slow.
fn breakdown(result: &RunResult) -> Option<Markup> {
    let sides = |kind: &OfKind<'_>| -> [(String, Side); 4] {
        let slowest = |of_thousand| format!("the slowest {}", kind.slowest_share(of_thousand));
        [
            ("the faster half".to_owned(), |spent| spent.mean_to_p50),
            ("all".to_owned(), |spent| spent.mean),
            (slowest(10), |spent| spent.mean_from_p99),
            (slowest(1), |spent| spent.mean_from_p99_9),
        ]
    };
    let row = |kind: &str, side: &str, spent: &By<Part, Spent>, of: Side| {
        let ns: Vec<f64> = Part::ALL.iter().map(|part| of(&spent[*part]).unwrap_or(0.0)).collect();
        let sum: f64 = ns.iter().sum();
        let share = |(number, ns): (usize, f64)| (ns > 0.0).then_some((number, ns / sum));
        let parts = ns.into_iter().enumerate().filter_map(share).collect();
        (sum > 0.0).then(|| Row { name: format!("{kind}, {side}"), parts, total: duration(sum) })
    };
    let rows: Vec<Row> = result
        .time_of_kinds()
        .flat_map(|kind| {
            sides(&kind).into_iter().filter_map(move |(side, of)| row(kind.plural(), &side, kind.spent, of))
        })
        .collect();
    let names: Vec<String> = Part::ALL.iter().map(|part| part.name().replace('_', " ")).collect();
    (!rows.is_empty())
        .then(|| bars("Parts of a request's life, as shares of the mean latency", &rows, &names))
}

/// Whom the slowest requests waited for.
fn holders(kind: &str, told: &Slowest) -> Markup {
    let mean = |ns: u64| duration(ns as f64 / told.requests.max(1) as f64);
    let row = |reason: &crate::tail::Reason| Row {
        name: slowest::words(&reason.what),
        parts: vec![(0, reason.share)],
        total: format!("{}, {}", percent(reason.share), mean(reason.ns)),
    };
    let rows: Vec<Row> = told.reasons.iter().take(12).map(row).collect();
    let caption = format!(
        "What held up the slowest {kind}: {} requests, {} and up, mean {}",
        count(told.requests),
        duration(told.from_ns as f64),
        mean(told.sum_ns),
    );
    let examples = told.reasons.iter().take(12).filter_map(|reason| Some((reason, reason.longest?)));
    html! {
        (bars(&caption, &rows, &["share of their time".to_owned()]))
        details {
            summary { "The slowest " (kind) " held most by each" }
            table {
                (heads(["held by", "requests", "the slowest", "arrived at", "LBA", "sectors"]))
                @for (reason, longest) in examples {
                    tr {
                        td { (slowest::words(&reason.what)) }
                        td { (count(reason.requests)) }
                        td { (duration(longest.latency_ns as f64)) }
                        td { (duration(longest.arrival_ns as f64)) }
                        td { (longest.lba) }
                        td { (longest.sectors) }
                    }
                }
            }
        }
    }
}

/// The longest times in which nothing completed.
fn stalls(result: &RunResult) -> Option<Markup> {
    let longest = &result.stalls.longest;
    (!longest.is_empty()).then(|| {
        html! {
            details {
                summary { "Stalls: " (count(result.stalls.count)) ", the longest " (duration(longest[0].ns as f64)) }
                table {
                    (heads(["began at", "took", "requests waiting", "the request that ended it was mostly"]))
                    @for stall in longest {
                        tr {
                            td { (duration(stall.start_ns as f64)) }
                            td { (duration(stall.ns as f64)) }
                            td { (stall.waiting) }
                            td.text { (stall.part.replace('_', " "))
                                @if let Some(share) = stall.part_share { ", " (percent(share)) } }
                        }
                    }
                }
            }
        }
    })
}

fn over_time() -> Markup {
    html! {
        div.tools role="toolbar" aria-label="Time that is shown" {
            button type="button" id="time-in" { "zoom in (+)" }
            button type="button" id="time-out" { "zoom out (-)" }
            button type="button" id="time-earlier" { "earlier (←)" }
            button type="button" id="time-later" { "later (→)" }
            button type="button" id="time-all" { "all (0)" }
            output id="shown-time" aria-live="polite" {}
        }
        p.soft { "Drag over any chart to zoom all of them; double-click for all of the time. A click on a name "
            "hides its line." }
        div id="time" tabindex="0" role="group" aria-label="Charts over time" {}
    }
}

fn heads<const N: usize>(names: [&str; N]) -> Markup {
    html! { tr { @for name in names { th { (name) } } } }
}

/// Rows of cells, the first of them a head.
fn table(rows: &[Vec<String>]) -> Markup {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    html! {
        div.scroll {
            table {
                @for (number, row) in rows.iter().enumerate() {
                    tr {
                        @for at in 0..width {
                            @let cell = row.get(at).map_or("", String::as_str);
                            @if number == 0 { th { (cell) } } @else { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// A value of a configuration, as text.
fn shown(result: &RunResult, key: &str) -> String {
    match result.config.get(key) {
        None => crate::table::NONE.to_owned(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Keys that differ first, then those that the user set, those of presets, and what nobody set.
fn configuration(comparison: &Comparison) -> Markup {
    let results = comparison.results();
    let differing = comparison.differing_keys();
    let mut groups: [(&str, Vec<&String>); 3] = [
        ("Set for the run", Vec::new()),
        ("Set by presets", Vec::new()),
        ("Not set: defaults, and the workload", Vec::new()),
    ];
    for key in comparison.keys_in_force().into_iter().filter(|key| !differing.contains(key)) {
        let origins = || results.iter().filter_map(|result| result.config_origins.get(key));
        let group = match (origins().next(), origins().all(|origin| origin.starts_with("preset "))) {
            (None, _) => 2,
            (Some(_), true) => 1,
            (Some(_), false) => 0,
        };
        groups[group].1.push(key);
    }
    let origin = |result: &RunResult, key: &str| match result.config_origins.get(key) {
        Some(origin) => origin.clone(),
        None if key.starts_with("workload.") => String::new(),
        None => "default".to_owned(),
    };
    html! {
        @if !differing.is_empty() {
            h3 { "Set differently" }
            div.scroll { table {
                tr { th { "key" } @for result in results { th.text { (result.name) } } }
                @for key in &differing {
                    tr {
                        td.key { (key) }
                        @for result in results {
                            td.text { (shown(result, key)) small { (origin(result, key)) } }
                        }
                    }
                }
            } }
        }
        @for (number, (title, keys)) in groups.iter().enumerate().filter(|(_, (_, keys))| !keys.is_empty()) {
            details open[number == 0] {
                summary { (title) " (" (keys.len()) ")" }
                div.scroll { table {
                    tr { th { "key" } th.text { "value" } th.text { "from" } }
                    @for key in keys {
                        tr {
                            td.key { (key) }
                            td.text { (shown(&results[0], key)) }
                            td.text { (origin(&results[0], key)) }
                        }
                    }
                } }
            }
        }
        @if results.iter().all(|result| result.config.is_empty()) {
            p.none { "The result does not contain its configuration." }
        }
    }
}

/// What the drives counted, where any is not zero.
fn counters(results: &[RunResult]) -> Markup {
    let rows = counted::rows(results);
    html! {
        details {
            summary { (rows.len()) " counters that are not zero" }
            div.scroll { table {
                tr {
                    th { "counter" }
                    @for result in results { th { (result.name) } }
                    th.text { "unit" }
                    th.text { "what it is" }
                }
                @for (counter, sums) in rows {
                    tr {
                        td.key { (counter.key) }
                        @for sum in sums { td { (count(sum)) } }
                        td.text { (counter.unit) }
                        td.text { (counter.doc) }
                    }
                }
            } }
        }
    }
}

fn of_paper(of: &ClaimsOf) -> Markup {
    html! {
        h3 { (of.paper) }
        p { (of.count("met")) " met, " (of.count("missed")) " missed, " (of.count("not judged")) " not judged" }
        div.scroll { table {
            tr {
                th { "where" }
                th.text { "claim" }
                th { "claimed" }
                th { "measured" }
                th.text { "verdict" }
                th.text { "rests on" }
            }
            @for claim in &of.claims {
                tr class=(claim.verdict) {
                    td { (claim.place) }
                    td.text { (claim.text) }
                    td { (claim.claimed) }
                    td { (claim.measured) }
                    td.text.verdict { (claim.verdict) @if !claim.why.is_empty() { small { (claim.why) } } }
                    td.text { (claim.basis) }
                }
            }
        } }
    }
}
