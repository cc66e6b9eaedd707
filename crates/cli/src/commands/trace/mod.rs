//! `wordline trace`: what is in a trace or another workload, and how it becomes another trace; nothing is simulated.

mod info;
mod write;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lab::job::GENERATOR_SPACE_BYTES;
use lab::job::with_path;
use workload::{Recorded, SECTOR_BYTES, Spec};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::workload_args::{SyntheticArgs, TraceArgs};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline trace info data/rocksdb-ycsb-a-run1.csv.zst
  wordline trace data/rocksdb-ycsb-a-run1.csv.zst --json      the same: `info` may be left out
  wordline trace convert src1_0.csv.gz --to fio_iolog --out src1_0.iolog
  wordline trace job.fio      what the jobs ask for, without a drive
  wordline trace cut src1_0.csv.gz --first 100000 --out head.wl.zst";

/// `trace` and its commands.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Trace {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    info: info::Info,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Describe a trace or another workload
    Info(Box<info::Info>),
    /// Write a trace, or the output of a generator, in another format
    Convert(Box<write::Convert>),
    /// Turn a captured program's file operations into the requests that reach a drive
    FromCapture(Box<write::FromCapture>),
    /// Write part of a trace, with everything known about its requests
    Cut(Box<write::Cut>),
}

/// Looks into a workload, or writes it.
pub fn run(args: &Trace, out: &mut dyn Write) -> Result<(), Failure> {
    match &args.what {
        None => info::run(&args.info, out),
        Some(What::Info(args)) => info::run(args, out),
        Some(What::Convert(args)) => write::convert(args, out),
        Some(What::FromCapture(args)) => write::from_capture(args, out),
        Some(What::Cut(args)) => write::cut(args, out),
    }
}

/// The workload that is looked into or written: a trace or a generator.
#[derive(Args, Debug)]
struct Input {
    /// The trace: any known format, plain or compressed; - is standard input
    file: Option<PathBuf>,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    synthetic: SyntheticArgs,
}

impl Input {
    /// The trace named, or the generator described.
    fn spec(&self) -> Result<Spec, Failure> {
        let mut spec = match (&self.file, self.synthetic.any()) {
            (Some(file), false) => with_path(None, file).into(),
            (None, true) => self.synthetic.start(None)?,
            (Some(file), true) => return Err(self.synthetic.refused_beside(file, false)),
            (None, false) => {
                let message = "no workload: name a trace, or --workload NAME, or --synthetic PATTERN";
                return Err(Failure::usage(message));
            }
        };
        self.trace.apply(&mut spec)?;
        self.synthetic.apply(&mut spec)?;
        spec.spec.check()?;
        Ok(spec.spec)
    }

    /// What to call it.
    fn title(&self, spec: &Spec) -> String {
        self.file.as_ref().map_or_else(|| spec.title(), |file| file.display().to_string())
    }
}

/// Requests between two looks at how far it is.
const PROGRESS_REQUESTS: u64 = 1 << 16;

/// Hands each request of a workload to `each`, showing how far it is; returns the stream at its end.
fn for_each(
    spec: &Spec,
    what: &str,
    mut each: impl FnMut(&workload::Record) -> Result<(), Failure>,
) -> Result<Recorded, Failure> {
    let progress = Progress::new(false);
    progress.keep_standard_input(spec)?;
    let mut recorded = Recorded::open(spec, GENERATOR_SPACE_BYTES / SECTOR_BYTES)?;
    let total = recorded.progress().total;
    progress.begin(what, total);
    let mut requests = 0u64;
    while let Some(record) = recorded.next_record()? {
        each(&record)?;
        requests += 1;
        if requests.is_multiple_of(PROGRESS_REQUESTS) {
            // What is generated has no end that is known; its requests are told instead.
            progress.at(if total > 0 { recorded.progress().done } else { requests });
        }
    }
    progress.finish();
    Ok(recorded)
}
