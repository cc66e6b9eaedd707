//! What is seen first of a result: whether it can be trusted, what it says, of what, and its numbers in a table.

use super::light::{self, Light, WITH_PROBLEMS, WITH_REMARKS, problems_of, prose, sentence, to_do};
use super::tables::{Head, Line, Set, numbers, of_rows, table};
use super::{cards, light::advice};
use crate::base::labels;
use crate::base::number::{digits, duration, si};
use crate::report::cells::NONE;
use crate::report::share_rows::{job_rows, member_rows};
use crate::report::table::latency_rows;
use crate::result::problem::MARKS;
use crate::result::{Distribution, Latencies, RunResult};
use maud::{Markup, html};
use ssd::flash::op::Cause;

/// The first screen of a page of one result.
pub(super) fn of_one(result: &RunResult) -> Markup {
    html! {
        (light::of_result(result, true))
        p.answer { (prose(&answer(result))) }
        (cards::cards(result, true))
        (results(result))
    }
}

/// The first screen of a page of several: a row for each, and what is wrong with any.
pub(super) fn of_several(results: &[RunResult]) -> Markup {
    let lights: Vec<Light> = results.iter().map(Light::of).collect();
    let problems = results.iter().filter(|result| !problems_of(result).is_empty()).count();
    let not_good = lights.iter().filter(|light| **light != Light::Good).count();
    let why = [(problems, WITH_PROBLEMS), (not_good - problems, WITH_REMARKS)];
    let named = |name: &str| {
        let has = |result: &&RunResult| problems_of(result).iter().any(|problem| problem.name == name);
        let names: Vec<&str> = results.iter().filter(has).map(|result| result.name.as_str()).collect();
        listed(&names)
    };
    let found = MARKS.iter().map(|(name, _, what)| (*name, *what, named(name)));
    let found: Vec<_> = found.filter(|(.., names)| !names.is_empty()).collect();
    html! {
        (light::of_lights(&lights, &why, &html! {
            @if !found.is_empty() {
                ul { @for (name, what, names) in &found {
                    li { (sentence(&format!("{what}: {names}"))) (to_do(advice(name, None))) }
                } }
            }
        }))
        (rows(results))
        @for result in results {
            h3 { (result.name) }
            (light::of_result(result, false))
            p.answer { (prose(&answer(result))) }
            (results_of(result))
            details { summary { "Drive and workload of " (result.name) } (cards::cards(result, false)) }
        }
    }
}

/// Some names, if there are many.
fn listed(names: &[&str]) -> String {
    let more = if names.len() > NAMES { format!(" and {} more", names.len() - NAMES) } else { String::new() };
    names[..names.len().min(NAMES)].join(", ") + &more
}

/// Names that are listed.
const NAMES: usize = 6;

/// The tables of a result, under a heading.
fn results(result: &RunResult) -> Markup {
    html! { h3 { "Results" } (results_of(result)) }
}

/// What was found, in a sentence or two.
pub(super) fn answer(result: &RunResult) -> String {
    // Then latencies are those of a queue that grows.
    let is_overloaded = result.verdict.is_overloaded();
    let mut parts = Vec::new();
    if !result.takes_time() {
        let served = crate::base::number::count(result.requests_served);
        parts.push(format!("{served} requests were counted, without simulating time"));
    } else if let Some(iops) = result.iops.all {
        let bandwidth = result.bandwidth_mb_s.all.filter(|rate| *rate > 0.0);
        let bandwidth = bandwidth.map_or(String::new(), |rate| format!(" ({})", si(rate * 1e6, "B/s")));
        let served = si(iops, "");
        parts.push(match (is_overloaded, result.verdict.arrivals_per_second) {
            (true, Some(arrive)) => {
                let arrive = si(arrive, "");
                format!(
                    "The drive could not keep up: of {arrive} requests that came per second it served \
                     {served}{bandwidth}"
                )
            }
            _ => format!("The drive served {served} requests per second{bandwidth}"),
        });
    }
    let latency = &result.latency_ns;
    let kinds = [("reads", &latency.read), ("writes", &latency.write), ("flushes", &latency.flush)];
    let within: Vec<String> = kinds
        .into_iter()
        .filter_map(|(kind, of)| {
            Some((kind, of.telling_p99().filter(|_| result.takes_time() && !is_overloaded)?))
        })
        .enumerate()
        .map(|(at, (kind, ns))| {
            let took = if at == 0 { " took" } else { "" };
            format!("99 % of {kind}{took} at most {}", duration(ns as f64))
        })
        .collect();
    if !within.is_empty() {
        parts.push(within.join(", "));
    }
    if let Some(factor) = result.write_amplification.filter(|factor| *factor > 0.0) {
        parts.push(format!("write amplification is {}", digits(factor)));
    }
    let verdict = &result.verdict.text;
    let is_said = problems_of(result).iter().any(|problem| problem.text == *verdict);
    let verdict =
        if is_said || verdict.is_empty() { String::new() } else { format!(" {}", sentence(verdict)) };
    sentence(&parts.join("; ")) + &verdict
}

/// The numbers of a result: by kind of request, by job or phase, and write amplification by cause.
fn results_of(result: &RunResult) -> Markup {
    html! {
        @if result.takes_time() { (of_rows("", &headed("requests", latency_rows(result)))) }
        (amplification(result))
        (of_rows("Jobs", &job_rows(&result.jobs)))
        (of_rows(if result.members.iter().any(|of| !of.counters.is_empty()) { "Phases" } else { "Workloads" },
            &member_rows(result)))
    }
}

/// Rows under a head that begins with that name.
fn headed(name: &str, mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    if let Some(first) = rows.first_mut().and_then(|head| head.first_mut()) {
        name.clone_into(first);
    }
    rows
}

/// Bytes programmed for each byte that the host wrote, and why.
fn amplification(result: &RunResult) -> Markup {
    if result.bytes_written == 0 {
        return html! {};
    }
    let Some(total) = result.write_amplification.filter(|total| *total > 0.0) else {
        let nothing = "Write amplification: nothing was programmed; all writes are still in the buffer.";
        return html! { p.soft { (nothing) } };
    };
    let by_cause = result.write_amplification_by_cause.iter();
    let shares: Vec<(String, f64)> = by_cause
        .filter_map(|(cause, share)| Some((cause, (*share)?)))
        .filter(|(cause, share)| *share > 0.0 || *cause == Cause::Host)
        .map(|(cause, share)| (labels::cause(cause.name()), share))
        .collect();
    let mut heads = numbers("bytes programmed per byte written", ["all causes"]);
    heads.extend(shares.iter().map(|(cause, _)| Head(cause.clone(), Set::Number)));
    let cells = std::iter::once(total).chain(shares.iter().map(|(_, share)| *share));
    let cells = cells.map(|share| html! { (digits(share)) }).collect();
    table("", &heads, &[Line::new(html! { "write amplification" }, cells)])
}

/// Latencies of the requests of one kind.
type OfKind = fn(&Latencies) -> &Distribution;

/// What stands above the column of a kind that most workloads have.
const USUAL: [(&str, OfKind); 2] = [("read p99", |of| &of.read), ("write p99", |of| &of.write)];

/// The same of one that few have.
const RARE: [(&str, OfKind); 2] = [("trim p99", |of| &of.trim), ("flush p99", |of| &of.flush)];

/// A row for each result.
fn rows(results: &[RunResult]) -> Markup {
    // A kind of request that few workloads have needs no column where no run has it.
    let has = |of: OfKind| results.iter().any(|result| of(&result.latency_ns).count > 0);
    let rare = RARE.into_iter().filter(|(_, of)| has(*of));
    let kinds: Vec<(&str, OfKind)> = USUAL.into_iter().chain(rare).collect();
    let cell = |value: Option<String>| html! { (value.unwrap_or_else(|| NONE.to_owned())) };
    let p99 = |of: &Distribution| of.p99.map(|ns| duration(ns as f64));
    let line = |result: &RunResult| {
        let mut cells = vec![
            Light::of(result).named(),
            cell(result.iops.all.map(|rate| si(rate, ""))),
            cell(result.bandwidth_mb_s.all.map(|rate| si(rate * 1e6, "B/s"))),
        ];
        cells.extend(kinds.iter().map(|(_, of)| cell(p99(of(&result.latency_ns)))));
        cells.push(cell(result.write_amplification.map(digits)));
        Line::new(html! { (result.name) }, cells)
    };
    let mut heads = vec!["verdict", "IOPS", "bandwidth"];
    heads.extend(kinds.iter().map(|(head, _)| *head));
    heads.push("write amplification");
    let lines: Vec<Line> = results.iter().map(line).collect();
    table("", &numbers("run", heads), &lines)
}

/// Remarks that change nothing about the numbers: how the workload was read.
pub(super) fn notes(results: &[RunResult]) -> Option<Markup> {
    let minor = |result: &'_ RunResult| -> Vec<String> { result.notes().into_iter().map(sentence).collect() };
    results.iter().any(|result| !minor(result).is_empty()).then(|| {
        html! {
            @for result in results {
                @if results.len() > 1 && !minor(result).is_empty() { h3 { (result.name) } }
                ul { @for remark in minor(result) { li { (prose(&remark)) } } }
            }
        }
    })
}
