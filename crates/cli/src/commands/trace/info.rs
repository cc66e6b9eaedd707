//! `wordline trace info`: what is in a trace or another workload.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use serde_json::json;
use ssd::OpCode;
use workload::{Footprint, Prepared, ReadBuffer, SECTOR_BYTES, Skew, SourceReport, Spec, WorkloadError};

use super::Input;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::size::GENERATOR_SPACE_BYTES;
use crate::text::{Columns, bytes, thousands, time};
use crate::workload_args::size;

/// Examples for the help text.
const EXAMPLES: &str = "\
Examples:
  wordline trace info data/rocksdb-ycsb-a-run1.csv.zst
  wordline trace info --first 100000 --json src1_0.csv.gz
  wordline trace info --workload ads --buffer 64MiB,128MiB,256MiB
  wordline trace info --format spc --skip-bad-lines Financial1.spc";

/// Sizes that are shown, the most frequent first.
const SIZES_SHOWN: usize = 6;

/// Parts of the space, in percent, whose share of the accesses is shown.
const HOTTEST_PERCENT: [f64; 3] = [1.0, 10.0, 20.0];
/// Pages of a read buffer, unless the user says otherwise.
const BUFFER_PAGE: &str = "8KiB";

/// Flags of `trace info`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Info {
    #[command(flatten)]
    input: Input,

    /// Share of reads that an LRU read buffer answers: of one size, or several such as 64MiB,256MiB
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    buffer: Vec<String>,

    /// Pages of that buffer
    #[arg(long, value_name = "SIZE", default_value = BUFFER_PAGE, requires = "buffer")]
    buffer_page: String,

    /// Leave out the first N requests when hits are counted: the buffer fills
    #[arg(long, value_name = "N", default_value_t = 0, requires = "buffer")]
    buffer_warm_up: u64,

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

/// What a pass over all requests finds.
#[derive(Default)]
struct Pass {
    sizes: Sizes,
    skew: Skew,
    /// With the size of each as the user wrote it.
    buffers: Vec<(String, ReadBuffer)>,
}

/// Looks through the workload and says what it found.
pub fn run(args: &Info, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = args.input.spec()?;
    let mut pass = Pass { buffers: args.buffers()?, ..Pass::default() };
    let progress = Progress::new(false);
    let prepared = progress.survey(&spec)?;
    let space = prepared.space_sectors().unwrap_or(GENERATOR_SPACE_BYTES / SECTOR_BYTES);
    pass.run(&prepared, space, args.buffer_warm_up)?;
    progress.finish();
    let footprint = prepared.footprint(space)?;
    let report = prepared.report();
    if args.json {
        writeln!(out, "{:#}", as_json(&spec, &footprint, &report, &pass))?;
        return Ok(());
    }
    print(out, &args.input.title(&spec), &footprint, matches!(spec, Spec::Trace(_)).then_some(&report), &pass)
}

impl Info {
    fn buffers(&self) -> Result<Vec<(String, ReadBuffer)>, Failure> {
        let page = size(&self.buffer_page).map_err(|e| e.about("--buffer-page"))?;
        if page < SECTOR_BYTES || page % SECTOR_BYTES != 0 {
            let found = &self.buffer_page;
            return Err(Failure::usage(format!(
                "--buffer-page: found {found:?}, allowed: a multiple of 512 bytes"
            )));
        }
        let buffer = |text: &String| {
            let bytes = size(text).map_err(|e| e.about("--buffer"))?;
            if bytes < page {
                return Err(Failure::usage(format!("--buffer: found {text:?}, allowed: a page or more")));
            }
            Ok((text.trim().to_owned(), ReadBuffer::new(bytes, page)))
        };
        self.buffer.iter().map(buffer).collect()
    }
}

impl Pass {
    fn run(&mut self, prepared: &Prepared, space: u64, warm_up: u64) -> Result<(), WorkloadError> {
        let mut source = prepared.open(space)?;
        let mut seen = 0;
        while let Some(request) = source.next()? {
            match request.op {
                OpCode::Read => *self.sizes.reads.entry(request.sectors).or_default() += 1,
                OpCode::Write => *self.sizes.writes.entry(request.sectors).or_default() += 1,
                OpCode::Trim | OpCode::Flush => {}
            }
            self.skew.add(&request);
            for (_, buffer) in &mut self.buffers {
                if seen == warm_up {
                    buffer.start_counting();
                }
                buffer.add(&request);
            }
            seen += 1;
        }
        Ok(())
    }
}

fn print(
    out: &mut dyn Write,
    file: &str,
    footprint: &Footprint,
    report: Option<&SourceReport>,
    pass: &Pass,
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
        ("reads", footprint.reads, footprint.bytes_read, &pass.sizes.reads),
        ("writes", footprint.writes, footprint.bytes_written, &pass.sizes.writes),
    ] {
        columns.row([name, &format!("{}, {}{}", thousands(count), bytes(moved), common(sizes))]);
    }
    columns.row(["trims", &thousands(footprint.trims)]);
    columns.row(["flushes", &thousands(footprint.flushes)]);
    columns.row(["duration", &format!("{}{rate}", time(footprint.duration_ns))]);
    let pages = thousands(footprint.pages);
    columns.row(["footprint", &format!("{} ({pages} pages of 4 KiB)", bytes(footprint.bytes()))]);
    columns.row(["last address", &bytes(footprint.end_lba.saturating_mul(SECTOR_BYTES))]);
    let shares = pass.skew.access_percent(&HOTTEST_PERCENT).into_iter().zip(HOTTEST_PERCENT);
    let shares: Vec<String> =
        shares.map(|(access, space)| format!("{access:.1} % to {space:.0} %")).collect();
    columns.row(["skew", &format!("{} of the 64-KiB extents touched", shares.join(", "))]);
    for (size, buffer) in &pass.buffers {
        let (hits, reads) = buffer.counts();
        let counts = format!("{} of {} pages", thousands(hits), thousands(reads));
        columns
            .row([format!("LRU {size}"), format!("{:.2} % of reads hit ({counts})", buffer.hit_percent())]);
    }
    if let Some(report) = report {
        columns.row(["lines", &thousands(report.lines)]);
        columns.row(["skipped", &thousands(report.skipped_total())]);
    }
    columns.write(out, 2)?;
    for remark in report.map(SourceReport::remarks).unwrap_or_default() {
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

fn as_json(spec: &Spec, footprint: &Footprint, report: &SourceReport, pass: &Pass) -> serde_json::Value {
    let by_bytes = |counts: &BTreeMap<u32, u64>| -> serde_json::Map<String, serde_json::Value> {
        let in_bytes = |sectors: u32| (u64::from(sectors) * SECTOR_BYTES).to_string();
        counts.iter().map(|(sectors, count)| (in_bytes(*sectors), json!(count))).collect()
    };
    let skipped: serde_json::Map<String, serde_json::Value> =
        report.skipped.iter().map(|s| (s.reason.name().to_owned(), json!(s.count))).collect();
    let sizes = &pass.sizes;
    let hits: serde_json::Map<String, serde_json::Value> =
        pass.buffers.iter().map(|(size, buffer)| (size.clone(), json!(buffer.hit_percent()))).collect();
    let hottest: serde_json::Map<String, serde_json::Value> = HOTTEST_PERCENT
        .iter()
        .zip(pass.skew.access_percent(&HOTTEST_PERCENT))
        .map(|(space, access)| (space.to_string(), json!(access)))
        .collect();
    let file = if let Spec::Trace(trace) = spec { trace.path.as_str() } else { "" };
    json!({
        "file": file,
        "title": spec.title(),
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
        "access_percent_by_hottest_percent": hottest,
        "buffer_hit_percent": hits,
    })
}
