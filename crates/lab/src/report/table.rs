//! Results as text tables: aligned, with units, without colours.

use crate::base::by::{Axis, By};
use crate::base::labels;
use crate::base::number::{bytes, count, digits, duration, of_things, percent, si};
use crate::measure::stalls::Stalls;
use crate::measure::versions::{Versions, VersionsOf};
use crate::report::cells::{NONE, cells, or_none};
use crate::report::share_rows::{drive_rows, job_rows, member_rows};
use crate::report::short;
use crate::result::lifetime::Lifetime;
use crate::result::metrics::POINTS;
use crate::result::separation::StreamWork;
use crate::result::time_spent::Spent;
use crate::result::{Busy, Distribution, JobResult, RunResult};
use crate::run::drives::DrivesResult;
use serde_json::Value;
use ssd::Part;
use ssd::config::escaped;
use ssd::flash::op::Cause;
use ssd::sections::ErrorModel;

/// Rows of cells as lines: the first column to the left, the others to the right, two spaces between them.
pub(crate) fn grid(rows: &[Vec<String>]) -> String {
    aligned(rows, 1)
}

/// The same with the first `left` columns to the left.
pub(crate) fn aligned(rows: &[Vec<String>], left: usize) -> String {
    // Cells have names from outside, and a table goes to a terminal.
    let plain = |row: &Vec<String>| row.iter().map(|cell| escaped(cell).into_owned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(plain).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut text = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            text.push_str(if column > 0 { "  " } else { "" });
            match column < left {
                true => text.push_str(&format!("{cell:<width$}")),
                false => text.push_str(&format!("{cell:>width$}")),
            }
        }
        text.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// One result.
pub(crate) fn one(result: &RunResult) -> String {
    let (latencies, times) = match result.takes_time() {
        true => (latencies(result), time_spent(result)),
        false => (String::new(), String::new()),
    };
    let counts = errors(result) + &rest(result);
    let tables = [
        short::line(result) + &head(result),
        latencies,
        grid(&job_rows(&result.jobs)),
        grid(&member_rows(result)),
        amplification(result),
        operations(result),
        counts,
        times,
    ];
    tables.into_iter().filter(|table| !table.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Drives of which each has its table; of more, each has a line.
const DRIVES_TOLD: usize = 4;

/// Several drives: each, and a row for each and their sum.
pub(crate) fn of_drives(of: &DrivesResult) -> String {
    let is_told = of.drives.len() <= DRIVES_TOLD;
    let each = of.drives.iter().map(|result| {
        let name = escaped(&result.name);
        if is_told {
            format!("drive {name}\n{}\n", one(result))
        } else {
            format!("{name}: {}", short::brief(result))
        }
    });
    each.collect::<String>() + &sum_of_drives(of)
}

/// A row for each of several drives and for their sum; and for jobs that work on more than one.
pub(crate) fn sum_of_drives(of: &DrivesResult) -> String {
    let works_on = |job: &JobResult| {
        of.drives.iter().filter(|result| result.jobs.iter().any(|own| own.name == job.name)).count()
    };
    let is_volume = of.stripe_kib.is_some();
    let is_spread = |job: &&JobResult| is_volume || works_on(job) > 1;
    let spread: Vec<JobResult> = of.sum.jobs.iter().filter(is_spread).cloned().collect();
    let tables = [grid(&drive_rows(of)), grid(&job_rows(&spread))];
    tables.into_iter().filter(|table| !table.is_empty()).collect::<Vec<_>>().join("\n")
}

pub(crate) fn title(result: &RunResult) -> &str {
    if result.name.is_empty() { "result" } else { &result.name }
}

fn head(result: &RunResult) -> String {
    let drive = &result.drive;
    let rows = [
        (
            "drive",
            format!(
                "{} for the host, {} of flash, {} channels, {} dies",
                bytes(drive.logical_bytes as f64),
                bytes(drive.physical_bytes as f64),
                drive.channels,
                drive.dies,
            ),
        ),
        ("before", preconditioning(result)),
        ("OP", over_provisioning(result)),
        ("aged", result.preconditioning.age_steps.join(", ")),
        ("requests", requests(result)),
        (
            "simulated",
            if result.takes_time() {
                format!(
                    "{}, {} in flight on average",
                    duration(result.simulated_ns as f64),
                    or_none(result.in_flight_mean, digits),
                )
            } else {
                "no time: this run only counts (run.executor = \"functional\")".to_owned()
            },
        ),
        (
            "hashes",
            format!(
                "config {}, workload {}, events {}",
                result.config_hash, result.workload_hash, result.event_hash
            ),
        ),
        ("version", format!("{}, seed {}", result.version, result.seed)),
    ];
    let mut text = format!("{}: {}\n", escaped(title(result)), escaped(&result.ended));
    for (name, what) in rows.into_iter().filter(|(_, what)| !what.is_empty()) {
        text.push_str(&format!("  {name:<10} {what}\n"));
    }
    for remark in &result.remarks {
        text.push_str(&format!("  {:<10} {}\n", "remark", escaped(remark)));
    }
    text
}

/// What was done to the drive before the run.
pub(crate) fn preconditioning(result: &RunResult) -> String {
    let done = &result.preconditioning;
    if done.units_filled == 0 {
        return "not preconditioned by this run".to_owned();
    }
    let mut text = of_things(done.units_filled, "unit") + " filled";
    if done.units_overwritten > 0 {
        text.push_str(&format!(", {} overwritten", count(done.units_overwritten)));
        text.push_str(&match (done.past.as_str(), done.passes) {
            ("own", 1) => " by a pass of the workload's own writes".to_owned(),
            ("own", passes) => format!(" by {} passes of the workload's own writes", count(passes)),
            _ if done.past_reason.is_empty() => format!(" at random{}", asked_for(result)),
            _ => format!(" at random ({})", done.past_reason),
        });
    }
    if !done.state.is_empty() {
        text.push_str(&format!(": {}", done.state));
    }
    if !done.aged_as.is_empty() {
        text.push_str(&format!("; aged with {}", done.aged_as.join(", ")));
    }
    if done.kept {
        text.push_str("; reused from the cache");
    }
    text
}

/// Who asked for a past at random, where the result tells.
fn asked_for(result: &RunResult) -> String {
    result
        .config_origins
        .get("run.past")
        .map_or_else(String::new, |origin| format!(" (asked for by {origin})"))
}

/// Room beyond the data at the first request; nothing where a result does not tell.
pub(crate) fn over_provisioning(result: &RunResult) -> String {
    let spare = &result.preconditioning.spare;
    let (Some(gross), Some(net)) = (spare.gross, spare.net) else { return String::new() };
    format!(
        "over-provisioning {} of the data; effective for garbage collection (GC): {}",
        percent(gross),
        percent(net)
    )
}

fn requests(result: &RunResult) -> String {
    let how = match (result.depth, result.jobs.len()) {
        (Some(depth), _) => format!("closed loop, {depth} in flight per queue"),
        (None, 0) => "open loop".to_owned(),
        (None, 1) => "one job".to_owned(),
        (None, jobs) => format!("{jobs} jobs"),
    };
    let mut text = format!(
        "{} of {} served ({} reads, {} writes",
        count(result.requests_served),
        count(result.requests_total.unwrap_or(result.requests_generated)),
        count(result.reads),
        count(result.writes),
    );
    for (number, name) in [(result.trims, "trims"), (result.flushes, "flushes")] {
        if number > 0 {
            text.push_str(&format!(", {} {name}", count(number)));
        }
    }
    text.push_str(&format!("), {how}"));
    if result.requests_warm_up > 0 {
        text.push_str(&format!(", {} as a warm-up", count(result.requests_warm_up)));
    }
    for (status, number) in &result.failed_by_status {
        text.push_str(&format!(", {} failed: {status}", count(*number)));
    }
    text
}

fn latencies(result: &RunResult) -> String {
    grid(&latency_rows(result))
}

/// A row for each kind of requests that there were, under a head.
pub(crate) fn latency_rows(result: &RunResult) -> Vec<Vec<String>> {
    let mut rows = vec![cells(["latency", "IOPS", "bandwidth", "mean"])];
    rows[0].extend(POINTS.map(|(name, _)| name.to_owned()));
    let latency = &result.latency_ns;
    let (iops, bandwidth) = (&result.iops, &result.bandwidth_mb_s);
    let kinds = [
        ("all", &latency.all, iops.all, bandwidth.all),
        ("read", &latency.read, iops.read, bandwidth.read),
        ("write", &latency.write, iops.write, bandwidth.write),
        ("trim", &latency.trim, per_second(result, &latency.trim), None),
        ("flush", &latency.flush, per_second(result, &latency.flush), None),
    ];
    for (name, spread, iops, bandwidth) in kinds.into_iter().filter(|(_, spread, ..)| spread.count > 0) {
        let mut row = vec![
            name.to_owned(),
            or_none(iops, |rate| si(rate, "")),
            or_none(bandwidth, |rate| si(rate * 1e6, "B/s")),
            or_none(spread.mean, duration),
        ];
        row.extend(POINTS.map(|(_, point)| or_none(point(spread), |ns| duration(ns as f64))));
        rows.push(row);
    }
    rows
}

/// Requests of a distribution that were served a second.
fn per_second(result: &RunResult, of: &Distribution) -> Option<f64> {
    (result.simulated_ns > 0).then(|| of.count as f64 * 1e9 / result.simulated_ns as f64)
}

fn amplification(result: &RunResult) -> String {
    let Some(total) = result.write_amplification.filter(|total| *total > 0.0) else {
        let all_are_buffered = "nothing was programmed: all writes are still in the buffer";
        let what = if result.bytes_written > 0 { all_are_buffered } else { NONE };
        return format!("write amplification  {what}\n");
    };
    let shares =
        result.write_amplification_by_cause.iter().filter_map(|(cause, share)| Some((cause, (*share)?)));
    let shown = shares.filter(|(cause, share)| *share > 0.0 || *cause == Cause::Host);
    let causes: Vec<String> =
        shown.map(|(cause, share)| format!("{} {}", labels::cause(cause.name()), digits(share))).collect();
    format!("write amplification  {} = {}\n", digits(total), causes.join(" + "))
}

fn operations(result: &RunResult) -> String {
    let mut rows = vec![vec!["flash operations".to_owned(), "total".to_owned()]];
    let flash = &result.flash;
    // What has not been is not shown.
    let moves = &result.ftl.moved_units;
    let is_shown = |cause: Cause| {
        flash.reads[cause]
            + flash.programs[cause]
            + flash.erases[cause]
            + flash.copybacks[cause]
            + moves[cause]
            > 0
    };
    let causes = Cause::ALL.iter().filter(|cause| is_shown(**cause));
    rows[0].extend(causes.map(|cause| labels::cause(Axis::name(*cause))));
    let kinds: [(&str, &By<Cause, u64>); 5] = [
        ("page reads", &flash.reads),
        ("uncorrectable", &flash.uncorrectable),
        ("page programs", &flash.programs),
        ("block erases", &flash.erases),
        ("copybacks", &flash.copybacks),
    ];
    for (name, by_cause) in kinds {
        let is_told = name != "uncorrectable" || result.has_errors();
        if !is_told || by_cause.sum() == 0 {
            continue;
        }
        let mut row = vec![format!("  {name}"), count(by_cause.sum())];
        let shown = by_cause.iter().filter(|(cause, _)| is_shown(*cause));
        row.extend(shown.map(|(_, number)| count(*number)));
        rows.push(row);
    }
    grid(&rows)
}

/// What became of bit errors; nothing where there are none.
fn errors(result: &RunResult) -> String {
    if !result.has_errors() {
        return String::new();
    }
    let retries = &result.flash.retries;
    let tries = match (retries.mean, retries.share, retries.max) {
        (Some(mean), Some(share), Some(max)) => {
            let share = percent(share);
            format!(
                "{} per page read on average, {max} at most; {share} of page reads took at least one",
                digits(mean)
            )
        }
        _ => "no pages were read".to_owned(),
    };
    let lost = format!(
        "{} ended uncorrectable, {} lost",
        of_things(result.requests_uncorrectable, "request"),
        of_things(result.ftl.lost_units, "unit"),
    );
    let reclaim = &result.ftl.read_reclaim;
    let moved = reclaim.most_disturbed.map(|most| {
        let moved = format!(
            "{} pages by `{}`, {} of them with more than half of their margin left; the latest at {} of its limit",
            count(reclaim.pages),
            reclaim.policy,
            count(reclaim.premature_pages),
            percent(most),
        );
        ("read reclaim", moved)
    });
    // Cells that make no errors are read once, and lose data only where others of their wordline are reprogrammed.
    let tries = (result.error_model != ErrorModel::None.name()).then_some(("retries", tries));
    tries
        .into_iter()
        .chain([("data loss", lost)])
        .chain(moved)
        .map(|(name, what)| format!("{name:<14} {what}\n"))
        .collect()
}

/// How busy units were; empty where no time passes.
fn busy(result: &RunResult, busy: &Busy) -> String {
    match (busy.mean, busy.max) {
        _ if !result.takes_time() => String::new(),
        // Less than is shown.
        (Some(_), Some(max)) if max < 0.0005 => String::new(),
        (Some(mean), Some(max)) => format!("{} on average, {} at most", percent(mean), percent(max)),
        _ => NONE.to_owned(),
    }
}

/// How often blocks were erased since the drive was built; nothing if none ever was.
fn erase_counts(result: &RunResult) -> String {
    let wear = &result.erase_count;
    if wear.max == 0 && wear.retired == 0 {
        return String::new();
    }
    let (blocks, what) = (count(u64::from(wear.blocks)), firmware_blocks(result));
    let mean = digits(wear.mean);
    format!("{} to {}, mean {mean}, of {blocks} {what}; {} retired", wear.min, wear.max, wear.retired)
}

/// Endurance of a drive that wore out; nothing of others.
fn lifetime(lifetime: &Lifetime) -> String {
    let Some(tbw) = lifetime.tbw else { return String::new() };
    let (written, dwpd) = (si(tbw * 1e12, "B"), or_none(lifetime.dwpd, digits));
    format!("{written} written by the host until worn out, {dwpd} drive writes a day over 5 years")
}

/// How long a rated drive would last; nothing of others.
pub(crate) fn lasts(lifetime: &Lifetime) -> String {
    let (Some(days), Some(budget)) = (lifetime.days, lifetime.budget_bytes) else { return String::new() };
    let years = digits(days / 365.0);
    format!("{years} years if it goes on like this: {} of flash, {}", si(budget, "B"), lifetime.budget_basis)
}

fn rest(result: &RunResult) -> String {
    let lines = [
        ("erase counts", erase_counts(result)),
        ("GC victims", victims(result)),
        ("separation", separation(result)),
        ("uni-version", versions(result, |versions| &versions.uv)),
        ("multi-version", versions(result, |versions| &versions.mv)),
        ("lifetime", lifetime(&result.lifetime)),
        ("lasts", lasts(&result.lifetime)),
        ("dies busy", busy(result, &result.utilisation.array)),
        ("dies occupied", busy(result, &result.utilisation.die)),
        ("channels busy", busy(result, &result.utilisation.channel)),
        ("buffer", buffer(result)),
        ("stalls", stalls(&result.stalls)),
        (
            "cost",
            format!(
                "{:.2} s of CPU time, {} requests per CPU second, peak memory {}",
                result.cpu_seconds,
                or_none(result.requests_per_cpu_second, |rate| si(rate, "")),
                or_none(result.peak_rss_bytes, |peak| bytes(peak as f64)),
            ),
        ),
    ];
    let shown = lines.into_iter().filter(|(_, what)| !what.is_empty());
    shown.map(|(name, what)| format!("{name:<14} {what}\n")).collect()
}

/// What DRAM did: what has been, and nothing where that is nothing.
fn buffer(result: &RunResult) -> String {
    let buffer = &result.buffer;
    let parts = [
        (buffer.hits, "units read from it"),
        (buffer.misses, "units read from flash"),
        (buffer.unmapped_reads, "units read that were never written"),
        (buffer.overwrites, "units overwritten in it"),
        (buffer.stalls, "writes waited for room"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    parts.map(|(number, what)| format!("{} {what}", count(number))).collect::<Vec<_>>().join(", ")
}

/// Times in which nothing completed; nothing if there were none.
fn stalls(stalls: &Stalls) -> String {
    let Some(longest) = stalls.longest.first() else { return String::new() };
    format!(
        "{}, {} together, the longest {} at {}: {}",
        count(stalls.count),
        duration(stalls.total_ns as f64),
        duration(longest.ns as f64),
        duration(longest.start_ns as f64),
        labels::part_of(&longest.part),
    )
}

/// What the blocks of the firmware are called, beside those of the chips: one of the former may be made of several of
/// the latter.
pub(crate) fn firmware_blocks(result: &RunResult) -> &'static str {
    let number = |key: &str| result.config.get(&format!("nand.geometry.{key}")).and_then(Value::as_u64);
    let mut block = ["wordlines_per_block", "bits_per_cell", "page_bytes"].into_iter().map(number);
    let block_bytes = block.try_fold(1, |all, number| Some(all * number?)).filter(|bytes| *bytes > 0);
    let of_chips = block_bytes.map(|bytes| result.drive.physical_bytes / bytes);
    // Some blocks of chips may be bad; a superblock is made of two or more.
    let is_larger = of_chips.is_some_and(|blocks: u64| 2 * blocks > 3 * u64::from(result.erase_count.blocks));
    if is_larger { "superblocks" } else { "blocks" }
}

/// Blocks that garbage collection emptied; nothing where it did not.
fn victims(result: &RunResult) -> String {
    let (victims, what) = (&result.ftl.victims, firmware_blocks(result));
    let Some(copied) = victims.copied() else { return String::new() };
    let (all, dead) = (count(victims.all()), count(victims.all_dead()));
    format!(
        "{all} {what} collected, {dead} of them without valid data; {} units copied from each on average",
        digits(copied)
    )
}

/// Versions of files of one kind; nothing if there are none, or nobody asked.
fn versions(result: &RunResult, kind: impl Fn(&Versions) -> &VersionsOf) -> String {
    let of = result.versions.as_ref().map(kind).filter(|of| of.files > 0);
    let Some(of) = of else { return String::new() };
    let (files, show) = (count(of.files), |value| or_none(value, digits));
    let (vaf, time) = (&of.vaf, &of.t_insecure);
    format!(
        "{files} files; invalid over valid units {} on average, {} at most; insecure while {} and {} of the drive \
         was written",
        show(vaf.mean),
        show(vaf.max),
        show(time.mean),
        show(time.max),
    )
}

/// Which data shared blocks; nothing where all does.
fn separation(result: &RunResult) -> String {
    let work = &result.ftl.stream;
    if matches!(work.policy.as_str(), "" | "none") {
        return String::new();
    }
    let StreamWork { policy, groups, contexts, contexts_turned_away, open_blocks_max, memory_bytes, .. } =
        work;
    let known = match (groups, contexts) {
        (0, 0) => String::new(),
        (0, contexts) => format!("{contexts} writers known; "),
        (groups, contexts) => format!("{groups} groups of {contexts} writers known; "),
    };
    let unknown = match contexts_turned_away {
        0 => String::new(),
        units => format!("{units} units of others, for which it has no room; "),
    };
    let most = work.units.iter().rposition(|units| *units > 0).map_or(0, |last| last + 1);
    let what = firmware_blocks(result);
    let open = format!("at most {open_blocks_max} {what} open in a lane");
    let memory = bytes(*memory_bytes as f64);
    format!("`{policy}`: data in {most} streams, {known}{unknown}{open}; {memory} of memory")
}

fn time_spent(result: &RunResult) -> String {
    let shown: Vec<_> =
        result.time_of_kinds().filter_map(|kind| Some((kind, kind.spent, kind.latency.mean?))).collect();
    if shown.is_empty() {
        return String::new();
    }
    let tells_slowest = shown.iter().any(|(_, by, _)| by[Part::Link].mean_from_p99_9.is_some());
    let columns = if tells_slowest { 2 } else { 1 };
    let mut rows = vec![vec!["where the time went (mean)".to_owned()]];
    for (kind, ..) in &shown {
        let slowest = format!("slowest {}", kind.slowest_share(1));
        rows[0].extend(cells([kind.name, "", &slowest, ""]).into_iter().take(2 * columns));
    }
    // Without errors nothing is decoded.
    for part in Part::ALL.into_iter().filter(|part| *part != Part::Decode || result.has_errors()) {
        let of = |spent: &Spent| [spent.mean, spent.mean_from_p99_9].map(Option::unwrap_or_default);
        // Some requests of a million may have waited: that is nothing of a mean.
        if shown.iter().all(|(_, by, _)| of(&by[part]).into_iter().all(|mean| mean < 1.0)) {
            continue;
        }
        let mut row = vec![format!("  {}", labels::part(part))];
        for (_, by, mean) in &shown {
            let slowest: f64 = Part::ALL.iter().map(|&part| of(&by[part])[1]).sum();
            for (ns, whole) in of(&by[part]).into_iter().zip([*mean, slowest]).take(columns) {
                row.extend([duration(ns), percent(if whole > 0.0 { ns / whole } else { 0.0 })]);
            }
        }
        rows.push(row);
    }
    grid(&rows)
}
