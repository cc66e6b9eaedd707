//! What was measured, on two cards: the drive, and what it had to do.

use crate::base::number::{bytes, count, digits, duration, percent, si};
use crate::report::table;
use crate::result::RunResult;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a card says, line by line.
type Said = Vec<(&'static str, String)>;

/// Both cards of a result; below the name of the run, if it is one of several.
pub(super) fn cards(result: &RunResult, is_alone: bool) -> Markup {
    html! {
        div.cards {
            (card("Drive", &drive(result), is_alone))
            (card("Workload", &workload(result), is_alone))
            @if result.lifetime.budget_bytes.is_some() {
                (card("Lifetime", &lifetime(result), is_alone))
            }
        }
    }
}

/// How long a drive that is rated lasts.
fn lifetime(result: &RunResult) -> Said {
    let of = &result.lifetime;
    let years = |days: f64| format!("{} years", digits(days / 365.0));
    vec![
        (
            "If it goes on like this",
            of.days.map_or("nothing says: no time, or nothing programmed".to_owned(), years),
        ),
        ("Flash it is good for", of.budget_bytes.map_or(String::new(), |budget| si(budget, "B"))),
        ("By", of.budget_basis.clone()),
    ]
}

/// Both cards of several results, with what they say of all of them alone; `None` without any.
pub(super) fn in_common(results: &[RunResult]) -> Option<Markup> {
    let (first, others) = results.split_first()?;
    let of_all = |said: fn(&RunResult) -> Said| -> Said {
        let others: Vec<Said> = others.iter().map(said).collect();
        said(first).into_iter().filter(|line| others.iter().all(|other| other.contains(line))).collect()
    };
    Some(html! {
        div.cards {
            (card("Drive", &of_all(drive), true))
            (card("Workload", &of_all(workload), true))
        }
    })
}

fn card(title: &str, said: &Said, is_alone: bool) -> Markup {
    html! {
        div.card {
            @if is_alone { h3 { (title) } } @else { h4 { (title) } }
            dl { @for (name, what) in said.iter().filter(|(_, what)| !what.is_empty()) {
                div { dt { (name) } dd { (what) } }
            } }
        }
    }
}

/// A number of the configuration.
fn number(result: &RunResult, key: &str) -> Option<u64> {
    result.config.get(key).and_then(Value::as_u64)
}

/// A word of the configuration.
fn word<'r>(result: &'r RunResult, key: &str) -> Option<&'r str> {
    result.config.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The presets of a kind that the configuration comes from.
fn presets(result: &RunResult, kind: &str) -> String {
    let name = |origin: &String| {
        let preset = origin.strip_prefix("preset ")?.strip_prefix(kind)?.strip_prefix('/')?;
        Some(preset.split(':').next().unwrap_or(preset).to_owned())
    };
    let names: BTreeSet<String> = result.config_origins.values().filter_map(name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// How many settings of the drive the user has changed.
fn changed(result: &RunResult) -> usize {
    let is_drive = |key: &str| !key.starts_with("run.") && !key.starts_with("workload.");
    let is_own = |origin: &str| !origin.starts_with("preset ") && !origin.starts_with("sized ");
    result.config_origins.iter().filter(|(key, origin)| is_drive(key) && is_own(origin)).count()
}

fn drive(result: &RunResult) -> Said {
    let size = &result.drive;
    let model = match (presets(result, "drive"), changed(result)) {
        (preset, 0) => preset,
        (preset, 1) if !preset.is_empty() => format!("{preset}, with one setting changed"),
        (preset, settings) if !preset.is_empty() => format!("{preset}, with {settings} settings changed"),
        _ => "your own configuration".to_owned(),
    };
    let planes = number(result, "nand.geometry.planes_per_die")
        .map_or(String::new(), |planes| format!(", {planes} {} per die", plural(planes, "plane")));
    vec![
        ("Model", if result.config.is_empty() { String::new() } else { model }),
        (
            "Capacity",
            format!(
                "{} for the host, {} of flash",
                bytes(size.logical_bytes as f64),
                bytes(size.physical_bytes as f64)
            ),
        ),
        (
            "Layout",
            format!(
                "{} {}, {} {}{planes}",
                count(size.channels.into()),
                plural(size.channels.into(), "channel"),
                count(size.dies.into()),
                plural(size.dies.into(), "die")
            ),
        ),
        ("Cells", cells(result)),
        ("OP", table::over_provisioning(result)),
        ("Before", table::preconditioning(result)),
        ("Aged", result.preconditioning.age_steps.join(", ")),
    ]
}

/// One of them, or several.
fn plural(number: u64, name: &str) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}s") }
}

fn cells(result: &RunResult) -> String {
    let kind = number(result, "nand.geometry.bits_per_cell").map(|bits| match bits {
        1 => "SLC".to_owned(),
        2 => "MLC".to_owned(),
        3 => "TLC".to_owned(),
        4 => "QLC".to_owned(),
        5 => "PLC".to_owned(),
        bits => format!("{bits} bits per cell"),
    });
    let part =
        Some(presets(result, "nand")).filter(|part| !part.is_empty()).map(|part| format!("NAND part {part}"));
    let errors = if result.error_model == "none" { "no bit errors" } else { "cells that age" };
    let parts = [kind, part, Some(errors.to_owned())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn workload(result: &RunResult) -> Said {
    let served = result.requests_measured;
    let total = result.requests_total.unwrap_or(result.requests_generated);
    let mut requests = format!("{} of {} served", count(result.requests_served), count(total));
    if result.requests_warm_up > 0 {
        requests.push_str(&format!(", the first {} as a warm-up", count(result.requests_warm_up)));
    }
    let failed: Vec<String> = result
        .failed_by_status
        .iter()
        .map(|(status, number)| format!("{} {}", count(*number), status.replace('_', " ")))
        .collect();
    let written = match (result.bytes_written, result.drive.logical_bytes) {
        (0, _) | (_, 0) => String::new(),
        (written, logical) => format!(" ({} of the drive)", percent(written as f64 / logical as f64)),
    };
    let data = format!(
        "{} read, {} written{written}",
        bytes(result.bytes_read as f64),
        bytes(result.bytes_written as f64)
    );
    let time = match result.takes_time() {
        true => duration(result.simulated_ns as f64),
        false => "not simulated: this run only counts".to_owned(),
    };
    vec![
        ("Source", source(result)),
        ("Requests", requests),
        ("Failed", failed.join(", ")),
        ("Mix", if served > 0 { mix(result) } else { String::new() }),
        ("Data", data),
        ("Arrival", arrival(result)),
        ("Time", time),
    ]
}

/// Where the requests come from.
fn source(result: &RunResult) -> String {
    let file = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    if let Some(trace) = word(result, "workload.path") {
        return format!("trace {}", file(trace));
    }
    if let Some(jobs) = word(result, "workload.jobs") {
        return format!("fio job file {}", file(jobs));
    }
    match word(result, "workload.pattern") {
        Some(pattern) => format!("generator, {pattern}"),
        None => result.name.clone(),
    }
}

/// Shares of the kinds of requests, with the mean size of reads and writes.
fn mix(result: &RunResult) -> String {
    let all = (result.reads + result.writes + result.trims + result.flushes).max(1) as f64;
    let size = |bytes_of: u64, requests: u64| match requests {
        0 => String::new(),
        requests => format!(" of {}", bytes((bytes_of as f64 / requests as f64).round())),
    };
    let kinds = [
        ("reads", result.reads, size(result.bytes_read, result.latency_ns.read.count)),
        ("writes", result.writes, size(result.bytes_written, result.latency_ns.write.count)),
        ("trims", result.trims, String::new()),
        ("flushes", result.flushes, String::new()),
    ];
    let told = kinds.into_iter().filter(|(_, requests, _)| *requests > 0);
    let told: Vec<String> = told
        .map(|(kind, requests, size)| format!("{} {kind}{size}", percent(requests as f64 / all)))
        .collect();
    let is_mean = result.reads + result.writes > 0 && result.takes_time();
    told.join(", ") + if is_mean { " (mean sizes)" } else { "" }
}

/// When requests come.
fn arrival(result: &RunResult) -> String {
    let how = match (result.depth, result.jobs.len()) {
        (Some(depth), _) => format!("closed loop, {depth} in flight per queue"),
        (None, 0) => result.verdict.arrivals_per_second.map_or_else(
            || "open loop, at given times".to_owned(),
            |rate| format!("open loop, {} requests/s", si(rate, "")),
        ),
        (None, 1) => "as its job says".to_owned(),
        (None, jobs) => format!("as its {jobs} jobs say"),
    };
    let in_flight = result.in_flight_mean.filter(|_| result.takes_time() && result.depth.is_none());
    how + &in_flight.map_or(String::new(), |mean| format!("; {} in flight on average", digits(mean)))
}
