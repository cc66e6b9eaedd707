//! What a page says in words and tables.

use super::bars::{Row, bars};
use super::claims::{ClaimsOf, Judged};
use super::light::{prose, sentence};
use super::room::RUNS_DRAWN;
use super::run::Run;
use super::summary;
use super::tables::{Head, Line, Set, numbers, of_rows, table};
use crate::base::by::By;
use crate::base::labels;
use crate::base::number::{count, duration, of_things, percent};
use crate::measure::stalls::Stall;
use crate::measure::tail::{Example, Reason, Slowest, TailTold};
use crate::report::compare::Comparison;
use crate::report::counted;
use crate::report::table::firmware_blocks;
use crate::report::time_of_kinds::OfKind;
use crate::result::time_spent::Spent;
use crate::result::{RunResult, regimes};
use maud::{Markup, html};
use ssd::Part;
use ssd::counters::Counter;
use std::collections::BTreeSet;

/// A part of a page with its heading, and what links name it by.
pub(super) struct Section {
    pub anchor: &'static str,
    pub title: &'static str,
    pub body: Markup,
    /// Whether it is on paper, too: what has numbers that nobody types is not.
    pub is_printed: bool,
}

impl Section {
    pub fn new(anchor: &'static str, title: &'static str, body: Markup) -> Self {
        Section { anchor, title, body, is_printed: true }
    }

    /// A part that is only for the screen.
    pub fn on_screen(anchor: &'static str, title: &'static str, body: Markup) -> Self {
        Section { is_printed: false, ..Section::new(anchor, title, body) }
    }
}

/// All that have something to say of these runs and claims.
pub(super) fn parts(runs: &[Run], comparison: &Comparison, claims: &[ClaimsOf]) -> Vec<Section> {
    let results = comparison.results();
    let section = Section::new;
    let mut all = Vec::new();
    if !results.is_empty() {
        let body = if let [only] = results { summary::of_one(only) } else { summary::of_several(results) };
        all.push(section("summary", "Summary", body));
    }
    if results.len() > 1 {
        all.push(section("compared", "Side by side", side_by_side(comparison)));
    }
    let explained = why(results);
    if !explained.is_empty() {
        all.push(section("why", "Where the time went", html! { @for part in explained { (part) } }));
    }
    let drawn = &runs[..runs.len().min(RUNS_DRAWN)];
    let are_timed = drawn.iter().any(|run| run.result.takes_time());
    let has_latencies = |run: &Run| {
        let of = &run.result.latency_ns;
        run.result.takes_time() && of.read.count + of.write.count + of.flush.count > 0
    };
    if drawn.iter().any(has_latencies) {
        all.push(section(
            "shares",
            "Latency",
            html! {
                p.soft { "The share of requests that take longer than a time; both axes are logarithmic. The further \
                          right a curve ends, the longer its slowest request took. "
                    span.screen { "Drag to zoom, double-click to reset." } }
                div id="share" {}
            },
        ));
    }
    let has = |name: &str| drawn.iter().any(|run| run.table(name).is_some_and(|table| table.rows() > 0));
    if are_timed && has("series") {
        all.push(section("over-time", "Over time", over_time(drawn)));
    }
    if has("blocks") {
        all.push(Section::on_screen(
            "block-map",
            "Blocks at the end",
            html! {
                p.soft { (cells_of_map(results)) }
                div id="blocks" {}
            },
        ));
    }
    if runs.len() > RUNS_DRAWN {
        all.push(section("not-drawn", "Not drawn", html! {
            p { "Of " (runs.len()) " runs the first " (RUNS_DRAWN) " are drawn; the tables have all of them." }
        }));
    }
    if !results.is_empty() {
        if let Some(notes) = summary::notes(results) {
            all.push(Section::on_screen("notes", "How the workload was read", notes));
        }
        all.push(Section::on_screen("configuration", "Configuration", configuration(comparison)));
        all.push(Section::on_screen("counters", "All counters", counters(results)));
    }
    if !claims.is_empty() {
        all.push(section("claims", "Claims of papers", html! { @for paper in claims { (of_paper(paper)) } }));
    }
    all
}

/// What a cell of the map of blocks is: what the firmware erases at once.
fn cells_of_map(results: &[RunResult]) -> String {
    let kinds: BTreeSet<_> = results.iter().map(firmware_blocks).collect();
    let cell = match kinds.len() {
        1 if kinds.contains("superblocks") => "a superblock",
        1 => "a block",
        _ => "a block, or a superblock",
    };
    format!("A cell is {cell}, lane below lane; beyond a hundred thousand, a cell is several of them.")
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
            labels::reason(&most.what)
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
            let which = match kind.slowest_share(1).as_str() {
                "100 %" => format!("All {}", kind.plural()),
                share => format!("The slowest {share} of {}", kind.plural()),
            };
            all.push(format!(
                "{which} took {} on average, {} of it {}.",
                duration(sum),
                percent(of(&most) / sum),
                labels::spent(most)
            ));
        }
    }
    if let Some(longest) = result.stalls.longest.first() {
        all.push(format!(
            "{} of 5 ms or more, {} in all: requests waited and nothing completed. The longest \
             began at {} and took {}; the request that ended it had spent most of its time {}.",
            of_things(result.stalls.count, "stall"),
            duration(result.stalls.total_ns as f64),
            duration(longest.start_ns as f64),
            duration(longest.ns as f64),
            labels::spent_in(&longest.part),
        ));
    }
    all
}

fn tails(result: &RunResult) -> Vec<(&'static str, &Slowest)> {
    result.tail.iter().flat_map(TailTold::kinds).collect()
}

/// Pictures and tables of where time went, run by run.
fn why(results: &[RunResult]) -> Vec<Markup> {
    let mut all = Vec::new();
    for result in results.iter().filter(|result| result.takes_time()) {
        let held = what_held(result);
        let mut parts: Vec<Markup> = held.iter().map(|line| html! { p { (prose(line)) } }).collect();
        if let Some(picture) = breakdown(result) {
            parts.push(picture);
            if result.tail.is_none() {
                let hint =
                    prose("To see what delayed the slowest requests, run again with --explain-tail 99.9.");
                parts.push(html! { p.soft.screen { (hint) } });
            }
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
    let mut rows: Vec<Row> = result
        .time_of_kinds()
        .flat_map(|kind| {
            sides(&kind).into_iter().filter_map(move |(side, of)| row(kind.plural(), &side, kind.spent, of))
        })
        .collect();
    // Where many take as long as each other, the slowest of a hundred and of a thousand are the same.
    rows.dedup_by(|row, before| row.name == before.name);
    let names: Vec<String> = Part::ALL.iter().map(|part| labels::part(*part).to_owned()).collect();
    (!rows.is_empty()).then(|| {
        let heads = ["requests", "share of their time, by part", "mean latency"];
        bars("Where the requests spent their time", heads, &rows, &names)
    })
}

/// What is drawn of whom the slowest waited for.
const SHARE: &str = "share of their time";

/// What takes less of the time of the slowest than this is not drawn.
const LEAST: f64 = 0.0005;

/// Whom the slowest requests waited for.
fn holders(kind: &str, told: &Slowest) -> Markup {
    let mean = |ns: u64| duration(ns as f64 / told.requests.max(1) as f64);
    let row = |reason: &Reason| Row {
        name: labels::reason(&reason.what),
        parts: vec![(0, reason.share)],
        total: format!("{}, {}", percent(reason.share), mean(reason.ns)),
    };
    let rows: Vec<Row> =
        told.reasons.iter().take(12).filter(|reason| reason.share >= LEAST).map(row).collect();
    let caption = format!(
        "What delayed the slowest {kind}: {} requests, {} and up, mean {}",
        count(told.requests),
        duration(told.from_ns as f64),
        mean(told.sum_ns),
    );
    let examples = told.reasons.iter().take(12).filter_map(|reason| Some((reason, reason.longest?)));
    html! {
        (bars(&caption, ["delayed by", SHARE, "share, mean"], &rows, &[SHARE.to_owned()]))
        details {
            summary { "The slowest of the " (kind) " delayed by each" }
            (table(
                "",
                &numbers("delayed by", ["requests", "the slowest", "arrived at", "LBA", "sectors"]),
                &examples.map(example).collect::<Vec<_>>(),
            ))
        }
    }
}

/// The slowest request that was held up most by something.
fn example((reason, longest): (&Reason, Example)) -> Line {
    let cells = [
        count(reason.requests),
        duration(longest.latency_ns as f64),
        duration(longest.arrival_ns as f64),
        count(longest.lba),
        count(u64::from(longest.sectors)),
    ];
    Line::new(html! { (labels::reason(&reason.what)) }, cells.map(|cell| html! { (cell) }).into())
}

/// The longest times in which nothing completed.
fn stalls(result: &RunResult) -> Option<Markup> {
    let longest = &result.stalls.longest;
    let mut heads = numbers("began at", ["took", "requests waiting"]);
    heads.push(Head("the request that ended it was mostly".to_owned(), Set::Text));
    let line = |stall: &Stall| {
        let mut mostly = labels::spent_in(&stall.part).to_owned();
        if let Some(share) = stall.part_share {
            mostly.push_str(&format!(" ({})", percent(share)));
        }
        let cells = [duration(stall.ns as f64), count(stall.waiting), mostly];
        Line::new(html! { (duration(stall.start_ns as f64)) }, cells.map(|cell| html! { (cell) }).into())
    };
    (!longest.is_empty()).then(|| {
        html! {
            details {
                summary { "Stalls: " (count(result.stalls.count)) ", the longest " (duration(longest[0].ns as f64)) }
                (table("", &heads, &longest.iter().map(line).collect::<Vec<_>>()))
            }
        }
    })
}

fn over_time(runs: &[Run]) -> Markup {
    let changed: Vec<&Run> = runs.iter().filter(|run| !run.result.changes.is_empty()).collect();
    html! {
        @if !changed.is_empty() {
            p.soft {
                "Broken lines mark where a run changed for good. "
                @for (at, run) in changed.iter().enumerate() {
                    @if at > 0 { " " }
                    @if runs.len() > 1 { (run.result.name) ": " }
                    (prose(&sentence(&regimes::text(&run.result.changes))))
                }
            }
        }
        div.tools role="toolbar" aria-label="Time that is shown" hidden {
            button type="button" id="time-in" { "zoom in (+)" }
            button type="button" id="time-out" { "zoom out (-)" }
            button type="button" id="time-earlier" { "earlier (←)" }
            button type="button" id="time-later" { "later (→)" }
            button type="button" id="time-all" { "reset (0)" }
            output id="shown-time" aria-live="polite" {}
        }
        p.soft.screen { "Drag over any chart to zoom all of them; double-click to reset. A click on a name "
            "hides its line." }
        div id="time" tabindex="0" role="group" aria-label="Charts over time" {}
    }
}

/// All metrics, with the ratio of each run to the first.
fn side_by_side(comparison: &Comparison) -> Markup {
    let mut rows = comparison.metric_rows();
    if let Some(head) = rows.first_mut() {
        "metric".clone_into(&mut head[0]);
        for cell in head.iter_mut().filter(|cell| cell.is_empty()) {
            "ratio".clone_into(cell);
        }
    }
    for row in rows.iter_mut().skip(1) {
        row[0] = row[0].replace('_', " ");
    }
    let first = rows.first().and_then(|head| head.get(1)).cloned().unwrap_or_default();
    html! {
        p.soft { "Ratios are to " (first) "." }
        (of_rows("", &rows))
        @if let Some(legend) = comparison.marks_explained() { p.soft { (legend) } }
    }
}

/// A value of a configuration, as text.
fn shown(result: &RunResult, key: &str) -> String {
    match result.config.get(key) {
        None => crate::report::cells::NONE.to_owned(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Keys that differ first, then those that the user set, those of presets, the workload's, and what nobody set.
fn configuration(comparison: &Comparison) -> Markup {
    let results = comparison.results();
    let differing = comparison.differing_keys();
    let mut groups: [(&str, Vec<&String>); 4] = [
        ("Set for the run", Vec::new()),
        ("Set by presets", Vec::new()),
        (WORKLOAD, Vec::new()),
        ("Defaults", Vec::new()),
    ];
    for key in comparison.keys_in_force().into_iter().filter(|key| !differing.contains(key)) {
        let origins = || results.iter().filter_map(|result| result.config_origins.get(key));
        let group = match (origins().next(), origins().all(|origin| origin.starts_with("preset "))) {
            (None, _) if key.starts_with("workload.") => 2,
            (None, _) => 3,
            (Some(_), true) => 1,
            (Some(_), false) => 0,
        };
        groups[group].1.push(key);
    }
    let origin = |result: &RunResult, key: &str| match result.config_origins.get(key) {
        Some(origin) => origin.clone(),
        None if key.starts_with("workload.") => workload_origin(result, key),
        None => "default".to_owned(),
    };
    let text = |name: &str| Head(name.to_owned(), Set::Text);
    let key = || Head("key".to_owned(), Set::Key);
    let names: Vec<Head> = std::iter::once(key()).chain(results.iter().map(|of| text(&of.name))).collect();
    let differently = |key: &str| {
        let cell = |result: &RunResult| html! { (shown(result, key)) small { (origin(result, key)) } };
        Line::new(html! { (key) }, results.iter().map(cell).collect())
    };
    let heads = [key(), text("value"), text("from")];
    let line = |key: &str, width: usize| {
        let cells = [shown(&results[0], key), origin(&results[0], key)];
        let cells = cells.into_iter().take(width - 1);
        Line::new(html! { (key) }, cells.map(|cell| html! { (cell) }).collect())
    };
    let is_known = results[0].workload_origins.is_some();
    let heads_of = |title: &str| if title == WORKLOAD && !is_known { &heads[..2] } else { &heads[..] };
    html! {
        @if !differing.is_empty() {
            h3 { "Settings that differ" }
            (table("", &names, &differing.iter().map(|key| differently(key)).collect::<Vec<_>>()))
        }
        @for (number, (title, keys)) in groups.iter().enumerate().filter(|(_, (_, keys))| !keys.is_empty()) {
            details open[number == 0] {
                summary { (title) " (" (keys.len()) ")" }
                @let heads = heads_of(title);
                (table("", heads, &keys.iter().map(|key| line(key, heads.len())).collect::<Vec<_>>()))
            }
        }
        @if results.iter().all(|result| result.config.is_empty()) {
            p.none { "The result does not contain its configuration." }
        }
    }
}

/// The group of the workload's keys.
const WORKLOAD: &str = "Workload";

/// Where a key of the workload was set; nothing if the result does not tell.
fn workload_origin(result: &RunResult, key: &str) -> String {
    let Some(origins) = &result.workload_origins else { return String::new() };
    origins.get(key).cloned().unwrap_or_else(|| "default".to_owned())
}

/// What the drives counted, where any is not zero.
fn counters(results: &[RunResult]) -> Markup {
    let rows = counted::rows(results);
    let mut heads = vec![Head("counter".to_owned(), Set::Key)];
    let name =
        |result: &RunResult| if results.len() > 1 { result.name.clone() } else { "counted".to_owned() };
    heads.extend(results.iter().map(|result| Head(name(result), Set::Number)));
    heads.extend(["unit", "what it is"].map(|name| Head(name.to_owned(), Set::Text)));
    let line = |(counter, sums): &(&'static Counter, Vec<u64>)| {
        let sums = sums.iter().map(|sum| html! { (count(*sum)) });
        let about = [counter.unit, counter.doc].map(|text| html! { (text) });
        Line::new(html! { (counter.key) }, sums.chain(about).collect())
    };
    html! {
        details {
            summary { (rows.len()) " counters that are not zero" }
            (table("", &heads, &rows.iter().map(line).collect::<Vec<_>>()))
        }
    }
}

fn of_paper(of: &ClaimsOf) -> Markup {
    let heads = [
        ("where", Set::Text),
        ("claim", Set::Text),
        ("claimed", Set::Number),
        ("measured", Set::Number),
        ("verdict", Set::Text),
        ("rests on", Set::Text),
    ];
    let heads = heads.map(|(name, set)| Head(name.to_owned(), set));
    let line = |claim: &Judged| Line {
        class: claim.verdict.clone(),
        ..Line::new(
            html! { (claim.place) },
            vec![
                html! { (claim.text) },
                html! { (claim.claimed) },
                html! { (claim.measured) },
                html! { span.claim-verdict { (claim.verdict) } @if !claim.why.is_empty() { small { (claim.why) } } },
                html! { (claim.basis) },
            ],
        )
    };
    let verdicts = ["met", "missed", "open", "not judged"];
    let counts = verdicts.map(|verdict| format!("{} {verdict}", of.count(verdict)));
    html! {
        h3 { (of.paper) }
        p { (counts.join(", ")) }
        (table("", &heads, &of.claims.iter().map(line).collect::<Vec<_>>()))
    }
}
