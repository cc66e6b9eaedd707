//! `wordline trace convert` and `wordline trace cut`: requests written as a trace.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use lab::files::{FileLock, Replacement};
use workload::Spec;
use workload::convert::{Packing, TargetInfo, TraceWriter, Written, targets};

use super::input::{Input, for_each};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::terminal;
use crate::text::thousands;
use crate::workload_args::{Flagged, set};
use lab::places::{Force, Kind, Places, claim_file};

/// Examples of `convert`.
const CONVERT_EXAMPLES: &str = "\
Examples:
  wordline trace convert data/rocksdb-ycsb-a-run1.csv.zst --out ycsb.wl.zst
  wordline trace convert --to fio_iolog Financial1.spc --out financial1.iolog
  wordline trace convert --workload ads --requests 100000 --to mqsim --out ads.trace
  wordline trace convert --to csv src1_0.csv.gz | head

Formats:
  wordline   everything about a request, hints included (`wordline formats wordline`)
  mqsim      MQSim's text: reads and writes, time in ns, device, sectors
  fio_iolog  for fio --read_iolog, version 3: times in us; trims and flushes too
  csv        everything in columns, addresses in bytes";

/// Examples of `cut`.
const CUT_EXAMPLES: &str = "\
Examples:
  wordline trace cut --first 10000 data/rocksdb-ycsb-a-run1.csv.zst --out head.wl
  wordline trace cut --first 10000 --to mqsim src1_0.csv.gz --out head.trace
  wordline trace cut --first 5 data/rocksdb-ycsb-a-run1.csv.zst
  wordline trace cut --process java --seconds 60..120 node9.blkparse --out java.wl.zst
  wordline trace cut --operations write --addresses 0..64GiB --skip 1000 src1_0.csv.gz --out part.wl";

/// Examples of `from-capture`.
const FROM_CAPTURE_EXAMPLES: &str = "\
Examples:
  wordline trace from-capture data/captures/sqlite.capture --out sqlite.wl.zst
  wordline trace from-capture --flusher --cache-mib 256 my.capture --out my.wl.zst
  wordline trace from-capture --to csv data/captures/git.capture | head
  wordline trace from-capture --set journal_mib=4 --set 'map_hints=context -> stream % 8' my.capture --out my.wl.zst

Files are laid out by a file system like ext4 with a journal, below a page cache (docs/capture.md). `wordline run` and
`wordline trace info` take a capture as it is.";

/// The file at the end of the way.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
struct Output {
    /// Write to this file, compressed if it ends in .zst or .gz [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Format to write
    #[arg(long, value_name = "FORMAT", default_value = "wordline")]
    to: String,

    /// Replace an earlier trace in that format
    #[arg(long, requires = "out")]
    force: bool,
}

/// Flags of `trace convert`.
#[derive(Args, Debug)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct Convert {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    output: Output,
}

/// Flags of `trace cut`.
#[derive(Args, Debug)]
#[command(after_help = CUT_EXAMPLES)]
pub struct Cut {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    output: Output,
}

/// Flags of `trace from-capture`.
#[derive(Args, Debug)]
#[command(after_help = FROM_CAPTURE_EXAMPLES)]
pub struct FromCapture {
    /// The capture, as written by `wordline capture`
    capture: PathBuf,

    /// Size of the page cache in MiB [default: 64]
    #[arg(long, value_name = "MIB")]
    cache_mib: Option<String>,

    /// A page cache with an operating system's rules: dirty pages are also written when they are 30 s old or too many
    #[arg(long)]
    flusher: bool,

    /// Size of the file system in GiB [default: what its files need]
    #[arg(long, value_name = "GIB")]
    footprint_gib: Option<String>,

    /// Number of passes over the capture
    #[arg(long, value_name = "N")]
    repeat: Option<String>,

    /// Set any other key of the capture's [workload] table (repeatable): `journal_mib=4`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,

    #[command(flatten)]
    output: Output,
}

/// Writes what reaches a drive of what a program did to files.
pub fn from_capture(args: &FromCapture, out: &mut dyn Write) -> Result<(), Failure> {
    let mut spec = Flagged::from(Spec::capture(&args.capture));
    let flusher = args.flusher.then_some("false");
    let settings = [
        ("--cache-mib", "cache_mib", args.cache_mib.as_deref()),
        ("--flusher", "plain_lru", flusher),
        ("--footprint-gib", "footprint_gib", args.footprint_gib.as_deref()),
        ("--repeat", "repeat", args.repeat.as_deref()),
    ];
    for (flag, key, value) in settings {
        set(&mut spec, flag, key, value)?;
    }
    for text in &args.set {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Failure::usage(format!(
                "--set {text}: found no =; allowed: KEY=VALUE, such as journal_mib=4"
            )));
        };
        let key = key.trim();
        set(&mut spec, "--set", key.strip_prefix("workload.").unwrap_or(key), Some(value.trim()))?;
    }
    write_spec(&spec.spec, &args.output, out)
}

/// Writes a workload in another format.
pub fn convert(args: &Convert, out: &mut dyn Write) -> Result<(), Failure> {
    write(&args.input, &args.output, out)
}

/// Writes a part of a trace.
pub fn cut(args: &Cut, out: &mut dyn Write) -> Result<(), Failure> {
    if !args.input.trace.selects() && args.input.file.is_some() {
        let allowed =
            "a flag that selects a part, such as --first (`wordline trace convert` writes everything)";
        return Err(Failure::usage(format!("nothing is cut; allowed: {allowed}")));
    }
    write(&args.input, &args.output, out)
}

/// The file, for this command alone.
struct Claimed<'a> {
    path: &'a Path,
    file: Replacement,
    _lock: Option<FileLock>,
}

impl Output {
    fn target(&self) -> Result<&'static TargetInfo, Failure> {
        let names: Vec<&str> = targets().iter().map(|target| target.name).collect();
        let found = targets().iter().find(|target| target.name == self.to);
        found.ok_or_else(|| Failure::no_such("format to write", &self.to, &names).about("--to"))
    }

    /// The file, unless it is standard output, where it can be written and nothing is lost by it.
    fn claim(&self, spec: &Spec, target: &'static TargetInfo) -> Result<Option<Claimed<'_>>, Failure> {
        let mut places = Places::default();
        places.reads_workload(spec);
        places.prints(std::io::stdout());
        let Some(path) = &self.out else { return Ok(places.check().map(|()| None)?) };
        places.writes("--out", path);
        places.check()?;
        let action = "write the trace";
        let lock = claim_file(path, Kind::Trace(target), action, Force::flag(self.force))?;
        let file = Replacement::create(path).map_err(|e| Failure::file(path, action, &e))?;
        Ok(Some(Claimed { path, file, _lock: lock }))
    }
}

fn write(input: &Input, output: &Output, out: &mut dyn Write) -> Result<(), Failure> {
    write_spec(&input.spec()?, output, out)
}

fn write_spec(spec: &Spec, output: &Output, out: &mut dyn Write) -> Result<(), Failure> {
    let target = output.target()?;
    match output.claim(spec, target)? {
        Some(Claimed { path, file, _lock }) => {
            let fail = |error: io::Error| Failure::file(path, "write the trace", &error);
            let (file, notes) = copy(spec, target, Packing::of(path), file, &fail)?;
            file.commit().map_err(fail)?;
            writeln!(out, "{}: {}", path.display(), notes.join("\n  note: "))?;
        }
        None => {
            let (_, notes) = copy(spec, target, Packing::None, &mut *out, &Failure::from)?;
            out.flush()?;
            terminal::tell(&notes.join("\n  note: "));
        }
    }
    Ok(())
}

/// Writes all requests; what is to be said of them comes back with the file.
fn copy<W: Write>(
    spec: &Spec,
    target: &TargetInfo,
    packing: Packing,
    file: W,
    fail: &impl Fn(io::Error) -> Failure,
) -> Result<(W, Vec<String>), Failure> {
    let mut writer = TraceWriter::new(target, packing, file).map_err(fail)?;
    let interrupt = Interrupt::listen();
    let recorded = for_each(spec, "writing trace", |record| {
        if interrupt.stop.is_asked() {
            let message = "interrupted: no trace is written".to_owned();
            return Err(Failure::Interrupted { signal: interrupt.signal(), message });
        }
        writer.add(record).map_err(fail)
    })?;
    let (file, Written { requests, lost }) = writer.finish().map_err(fail)?;
    let mut notes = vec![format!("{} requests in the format {}", thousands(requests), target.name)];
    notes.extend(lost.entries().map(|(_, count, text)| format!("{} {text}", thousands(count))));
    if !spec.has_times() {
        notes.push("the requests have no times: all arrive at 0".to_owned());
    }
    notes.extend(recorded.report().remarks());
    Ok((file, notes))
}
