//! What was found, as a table for a person.

use std::collections::BTreeMap;
use std::io::Write;

use workload::analysis::{Analysis, Popularity, Tallied};
use workload::{PAGE_BYTES, SECTOR_BYTES, SourceReport, Spec};

use super::found::{Found, HOTTEST_PERCENT, PERCENTILES, TOP_PERCENT, name_of};
use crate::failure::Failure;
use crate::text::{Columns, bytes, thousands, time};

/// Sizes that are shown, the most frequent first.
const SIZES_SHOWN: usize = 6;
/// Devices, processes and so on that are shown, those with most bytes first.
const NUMBERS_SHOWN: usize = 6;
/// Powers of two between two caches that are shown, and the smallest of them.
const CACHE_STEP: u32 = 2;
const CACHE_BYTES_MIN: u64 = 1 << 20;

/// Prints it.
pub fn write(out: &mut dyn Write, found: &Found) -> Result<(), Failure> {
    let is_trace = matches!(found.spec, Spec::Trace(_));
    writeln!(out, "{}", found.title)?;
    let mut columns = Columns::default();
    totals(&mut columns, &found.analysis);
    places(&mut columns, &found.analysis);
    again(&mut columns, &found.analysis);
    let by = &found.analysis.by;
    // Several formats tell the device as the stream.
    let is_of_devices = by.device.counts.iter().filter(|(number, _)| *number != 0).eq(&by.stream.counts);
    for (name, tallied) in by.named() {
        let is_shown = match name {
            "devices" => tallied.counts.len() > 1,
            "streams" => !is_of_devices,
            _ => true,
        };
        if is_shown && !tallied.counts.is_empty() {
            columns.row([name, &numbers(tallied, |number| name_of(&found.report, name, number))]);
        }
    }
    for (size, buffer) in &found.buffers {
        let (hits, reads) = buffer.counts();
        let counts = format!("{} of {} pages", thousands(hits), thousands(reads));
        columns
            .row([format!("LRU {size}"), format!("{:.2} % of reads hit ({counts})", buffer.hit_percent())]);
    }
    if is_trace {
        columns.row(["lines", &thousands(found.report.lines)]);
        columns.row(["skipped", &thousands(found.report.skipped_total())]);
    }
    columns.write(out, 2)?;
    let has_remarks = is_trace || found.spec.is_driven();
    let report = if has_remarks { SourceReport::remarks(&found.report) } else { Vec::new() };
    for remark in sampled(&found.analysis).into_iter().chain(report) {
        writeln!(out, "  note: {remark}")?;
    }
    Ok(())
}

/// How much is asked for.
fn totals(columns: &mut Columns, analysis: &Analysis) {
    let footprint = &analysis.footprint;
    let requests = thousands(footprint.requests);
    let of_bytes =
        footprint.read_bytes_percent().map_or(String::new(), |percent| format!(", {percent:.1} % of bytes"));
    columns.row(["requests", &format!("{requests} ({:.1} % reads{of_bytes})", footprint.read_percent())]);
    for (name, count, moved, sizes) in [
        ("reads", footprint.reads, footprint.bytes_read, &analysis.read_sizes),
        ("writes", footprint.writes, footprint.bytes_written, &analysis.write_sizes),
    ] {
        if count > 0 {
            columns.row([name, &format!("{}, {}{}", thousands(count), bytes(moved), common(sizes))]);
        }
    }
    for (name, count) in [("trims", footprint.trims), ("flushes", footprint.flushes), ("FUA", analysis.fua)] {
        if count > 0 {
            columns.row([name, &thousands(count)]);
        }
    }
    let seconds = footprint.duration_ns as f64 / 1e9;
    let rate = if seconds > 0.0 {
        let rates = &analysis.rates;
        format!(
            ", {:.0} requests/s; in one second up to {} requests, {}",
            footprint.requests as f64 / seconds,
            thousands(rates.requests_per_s_max),
            bytes(rates.bytes_per_s_max)
        )
    } else {
        String::new()
    };
    columns.row(["duration", &format!("{}{rate}", time(footprint.duration_ns))]);
}

/// Where requests go.
fn places(columns: &mut Columns, analysis: &Analysis) {
    let footprint = &analysis.footprint;
    let pages = thousands(footprint.pages);
    columns.row(["footprint", &format!("{} ({pages} pages of 4 KiB)", bytes(footprint.bytes()))]);
    columns.row(["last address", &bytes(footprint.end_lba.saturating_mul(SECTOR_BYTES))]);
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let sequence = &analysis.sequence;
    columns.row([
        "sequential",
        &format!(
            "{:.1} % of requests ({:.1} % of reads, {:.1} % of writes)",
            share(sequence.reads + sequence.writes, footprint.requests),
            share(sequence.reads, footprint.reads),
            share(sequence.writes, footprint.writes)
        ),
    ]);
    let found = &analysis.popularity;
    let shares: Vec<String> = HOTTEST_PERCENT
        .iter()
        .map(|space| format!("{:.1} % to {space:.0} %", found.extents.top_percent(*space).unwrap_or(0.0)))
        .collect();
    columns.row(["skew", &format!("{} of the 64-KiB extents touched", shares.join(", "))]);
    for (name, popularity) in [("page reads", &found.reads), ("page writes", &found.writes)] {
        if let Some(text) = skew(popularity) {
            columns.row([name, &text]);
        }
    }
}

/// Program contexts that are told to do most of the updates (redFTL section 5.2 tells of five).
const TOP_CONTEXTS: usize = 5;

/// How unevenly accesses fall on pages.
fn skew(popularity: &Popularity) -> Option<String> {
    let gini = popularity.gini()?;
    let top = |percent: f64| Some(format!("{:.1} % to {percent:.0} %", popularity.top_percent(percent)?));
    let shares: Vec<String> = TOP_PERCENT.into_iter().filter_map(top).collect();
    let each = popularity.accesses() as f64 / popularity.pages() as f64;
    Some(format!("{each:.1} a page, {} of these pages, Gini {gini:.2}", shares.join(", ")))
}

/// How soon pages are accessed again.
fn again(columns: &mut Columns, analysis: &Analysis) {
    let rewrites = &analysis.rewrites;
    if let Some(percent) = rewrites.percent() {
        let list = |value: fn(&workload::analysis::Rewrites, f64) -> Option<u64>, show: fn(u64) -> String| {
            let all: Vec<String> = PERCENTILES.iter().filter_map(|p| value(rewrites, *p)).map(show).collect();
            all.join(", ")
        };
        let times = list(|rewrites, p| rewrites.interval_ns(p), time);
        let written = list(|rewrites, p| rewrites.interval_bytes(p), bytes);
        let after = match (written.is_empty(), analysis.footprint.duration_ns) {
            (true, _) => String::new(),
            (false, 0) => format!("; 10, 50, 90 % of them within {written} written"),
            (false, _) => format!("; 10, 50, 90 % of them within {times}, or {written} written"),
        };
        columns.row(["rewrites", &format!("{percent:.1} % of page writes{after}")]);
    }
    if let Some(percent) = analysis.updates.top_percent(TOP_CONTEXTS) {
        let contexts = thousands(analysis.updates.contexts.len() as u64);
        let told = match analysis.updates.contexts.len() {
            1 => "by one context".to_owned(),
            count if count <= TOP_CONTEXTS => format!("by {contexts} contexts"),
            _ => format!("by {contexts} contexts; {percent:.1} % by {TOP_CONTEXTS} of them"),
        };
        columns.row(["updates", &told]);
    }
    let [all, reads, _] = &analysis.miss_ratio;
    let distances: Vec<String> =
        PERCENTILES.iter().filter_map(|p| all.percentile(*p)).map(thousands).collect();
    if !distances.is_empty() {
        let text = format!("10, 50, 90 % of them within {} other pages", distances.join(", "));
        let again = 100.0 * (1.0 - all.at(u64::MAX).unwrap_or(1.0));
        columns.row(["reuse", &format!("{again:.1} % of page accesses; {text}")]);
    }
    let sizes = all
        .cache_pages(1)
        .map(|pages| pages * PAGE_BYTES)
        .filter(|size| *size >= CACHE_BYTES_MIN && size.ilog2().is_multiple_of(CACHE_STEP));
    let at = |name: String, pages: u64| {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let of_reads = reads.at(pages).map_or("-".to_owned(), percent);
        Some(format!("{name} {} ({of_reads})", percent(all.at(pages)?)))
    };
    let misses = sizes.filter_map(|size| at(format!("{}:", bytes(size)), size / PAGE_BYTES));
    let misses: Vec<String> = misses.chain(at("of any size:".to_owned(), u64::MAX)).collect();
    if !misses.is_empty() {
        columns.row(["LRU misses", &format!("{} % of page accesses (of page reads)", misses.join(", "))]);
    }
}

/// The numbers with most bytes, or their names, with their shares of the bytes: `2; by bytes java (97.1 %), 1 (2.9 %)`.
fn numbers<'a>(tallied: &Tallied, name: impl Fn(u32) -> Option<&'a str>) -> String {
    let all: f64 =
        tallied.counts.iter().map(|(_, bin)| bin.bytes() as f64).sum::<f64>() + tallied.others.bytes() as f64;
    let share = |bytes: u64| 100.0 * bytes as f64 / all.max(1.0);
    let shown = tallied.counts.iter().take(NUMBERS_SHOWN);
    let told = |number: u32| name(number).map_or_else(|| number.to_string(), str::to_owned);
    let shown: Vec<String> =
        shown.map(|(number, bin)| format!("{} ({:.1} %)", told(*number), share(bin.bytes()))).collect();
    let count = thousands(tallied.counts.len() as u64);
    let at_least = if tallied.others.requests() > 0 { " and more" } else { "" };
    let more = if tallied.counts.len() > NUMBERS_SHOWN { ", ..." } else { "" };
    format!("{count}{at_least}; by bytes {}{more}", shown.join(", "))
}

/// The most common sizes with their shares: `: 4 KiB 71 %, 16 KiB 20 %, ...`.
fn common(sizes: &BTreeMap<u32, u64>) -> String {
    let total: u64 = sizes.values().sum();
    let mut list: Vec<(u32, u64)> = sizes.iter().map(|(size, count)| (*size, *count)).collect();
    list.sort_by_key(|(size, count)| (std::cmp::Reverse(*count), *size));
    let shown = list.iter().take(SIZES_SHOWN).map(|(sectors, count)| {
        let share = 100.0 * *count as f64 / total as f64;
        format!("{} {share:.1} %", bytes(u64::from(*sectors) * SECTOR_BYTES))
    });
    let shown: Vec<String> = shown.collect();
    let more = if list.len() > SIZES_SHOWN {
        format!(", {} more sizes", list.len() - SIZES_SHOWN)
    } else {
        String::new()
    };
    if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) }
}

/// What is an estimate.
fn sampled(analysis: &Analysis) -> Vec<String> {
    let mut remarks = Vec::new();
    if analysis.pages_rate < 1.0 {
        remarks.push(format!(
            "footprint, skew and rewrites are estimated from 1 in {} 64-KiB extents: all of them would \
             need more than --memory-mib",
            thousands((1.0 / analysis.pages_rate) as u64)
        ));
    }
    if analysis.reuse_rate < 1.0 {
        let rate = 100.0 * analysis.reuse_rate;
        let why =
            if analysis.exact { "more would not fit in half of --memory-mib" } else { "--exact follows all" };
        remarks.push(format!("reuse and misses are estimates from {rate:.2} % of the pages ({why})"));
    }
    remarks
}
