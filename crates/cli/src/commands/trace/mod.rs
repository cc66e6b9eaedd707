//! `wordline trace`: what is in a trace or another workload, and how it becomes another trace; nothing is simulated.

mod info;
mod input;
mod write;

use std::io::Write;

use clap::{Args, Subcommand};

use crate::failure::Failure;

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
