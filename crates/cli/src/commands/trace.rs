//! `wordline trace`: what is in a trace, without simulating anything.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use ssd::OpCode;
use workload::{Footprint, Prepared, SECTOR_BYTES, SourceReport, Spec, WorkloadError};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::text::{Columns, bytes, thousands, time};
use crate::workload_args::{TraceArgs, with_path};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline trace data/rocksdb-ycsb-a-run1.csv.zst
  wordline trace --first 100000 --json src1_0.csv.gz
  wordline trace --format spc --skip-bad-lines Financial1.spc";

/// Sizes that are shown, the most frequent first.
const SIZES_SHOWN: usize = 6;

/// Flags of `trace`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Trace {
    /// The trace: any known format, plain, gzip or zstd
    file: PathBuf,

    #[command(flatten)]
    trace: TraceArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How often each size occurs, in sectors.
#[derive(Default)]
struct Sizes {
    reads: BTreeMap<u32, u64>,
    writes: BTreeMap<u32, u64>,
}

/// Looks through the trace and says what it found.
pub fn run(args: &Trace, out: &mut dyn Write) -> Result<(), Failure> {
    let mut spec = with_path(None, &args.file);
    args.trace.apply(&mut spec)?;
    let progress = Progress::new(false);
    let prepared = progress.survey(&spec)?;
    let sizes = sizes(&prepared)?;
    progress.finish();
    let footprint = prepared.footprint(0)?;
    let report = prepared.report();
    if args.json {
        writeln!(out, "{:#}", as_json(&spec, &footprint, &report, &sizes))?;
        return Ok(());
    }
    print(out, &args.file.display().to_string(), &footprint, &report, &sizes)
}

/// A second pass, for the sizes of requests.
fn sizes(prepared: &Prepared) -> Result<Sizes, WorkloadError> {
    let mut sizes = Sizes::default();
    let mut source = prepared.open(prepared.space_sectors().unwrap_or(0))?;
    while let Some(request) = source.next()? {
        match request.op {
            OpCode::Read => *sizes.reads.entry(request.sectors).or_default() += 1,
            OpCode::Write => *sizes.writes.entry(request.sectors).or_default() += 1,
            OpCode::Trim | OpCode::Flush => {}
        }
    }
    Ok(sizes)
}

fn print(
    out: &mut dyn Write,
    file: &str,
    footprint: &Footprint,
    report: &SourceReport,
    sizes: &Sizes,
) -> Result<(), Failure> {
    let seconds = footprint.duration_ns as f64 / 1e9;
    let rate = if seconds > 0.0 {
        format!(", {:.0} requests/s", footprint.requests as f64 / seconds)
    } else {
        String::new()
    };
    writeln!(out, "{file}")?;
    let mut columns = Columns::default();
    let requests = thousands(footprint.requests);
    columns.row(["requests", &format!("{requests} ({:.1} % reads)", footprint.read_percent())]);
    for (name, count, moved, sizes) in [
        ("reads", footprint.reads, footprint.bytes_read, &sizes.reads),
        ("writes", footprint.writes, footprint.bytes_written, &sizes.writes),
    ] {
        columns.row([name, &format!("{}, {}{}", thousands(count), bytes(moved), common(sizes))]);
    }
    columns.row(["trims", &thousands(footprint.trims)]);
    columns.row(["flushes", &thousands(footprint.flushes)]);
    columns.row(["duration", &format!("{}{rate}", time(footprint.duration_ns))]);
    let pages = thousands(footprint.pages);
    columns.row(["footprint", &format!("{} ({pages} pages of 4 KiB)", bytes(footprint.bytes()))]);
    columns.row(["last address", &bytes(footprint.end_lba.saturating_mul(SECTOR_BYTES))]);
    columns.row(["lines", &thousands(report.lines)]);
    columns.row(["skipped", &thousands(report.skipped_total())]);
    columns.write(out, 2)?;
    for remark in report.remarks() {
        writeln!(out, "  note: {remark}")?;
    }
    Ok(())
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

fn as_json(spec: &Spec, footprint: &Footprint, report: &SourceReport, sizes: &Sizes) -> serde_json::Value {
    let by_bytes = |counts: &BTreeMap<u32, u64>| -> serde_json::Map<String, serde_json::Value> {
        let in_bytes = |sectors: u32| (u64::from(sectors) * SECTOR_BYTES).to_string();
        counts.iter().map(|(sectors, count)| (in_bytes(*sectors), json!(count))).collect()
    };
    let skipped: serde_json::Map<String, serde_json::Value> =
        report.skipped.iter().map(|s| (s.reason.name().to_owned(), json!(s.count))).collect();
    let file = if let Spec::Trace(trace) = spec { trace.path.as_str() } else { "" };
    json!({
        "file": file,
        "requests": footprint.requests,
        "reads": footprint.reads,
        "writes": footprint.writes,
        "trims": footprint.trims,
        "flushes": footprint.flushes,
        "read_percent": footprint.read_percent(),
        "bytes_read": footprint.bytes_read,
        "bytes_written": footprint.bytes_written,
        "duration_ns": footprint.duration_ns,
        "footprint_bytes": footprint.bytes(),
        "end_lba": footprint.end_lba,
        "lines": report.lines,
        "lines_skipped": skipped,
        "time_steps_back": report.time_steps_back,
        "read_sizes_bytes": by_bytes(&sizes.reads),
        "write_sizes_bytes": by_bytes(&sizes.writes),
    })
}
