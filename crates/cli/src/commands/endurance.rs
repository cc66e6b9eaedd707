//! `wordline endurance`: how long a drive lasts under a load.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use lab::endurance::{EnduranceError, Wanted, table};
use lab::job::{is_config, with_path};
use workload::{AddressPolicy, Spec};

use crate::drive_args::DriveArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::{LINE_EVERY, Progress};
use crate::workload_args::{Flagged, TraceArgs};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline endurance --writes 864GB/day --pattern log --capacity 1TB --tbw 500
      a blockchain node on a drive of 1 TB that its maker rates for 500 TB
  wordline endurance --writes 864GB/day --capacity 1TB --tbw 500
      the same where nobody knows where it writes: a range
  wordline endurance data/rocksdb-ycsb-a-run1.csv.zst --capacity 480GB --tbw 600 --rated sequential
      a trace, in its own time
  wordline endurance --writes 2TB/day --pattern mixed --drive client_tlc --pe 1500 --years 3
      a cache on flash, by the cycles of the cells
  wordline endurance --reads 2GiB/s --writes 1TB/day --pattern log --drive qlc --pe 1000
      what reads wear, too: blocks that are read often are moved

The budget is the rating times the write amplification of the rating's workload on this drive, in bytes of flash: a
workload that the drive amplifies less lasts longer than its bytes say. With --pe the cycles of all its flash are a
second budget, and the smaller one counts. Write amplification is measured on a drive like it, made small, until it is
steady.

Patterns: log (in order), random (4 KiB), mixed (a cache for objects: 4 % of the space random, the rest a log, half of
the bytes each), jesd219 (a stand-in for the enterprise mix of JESD219, from the published shares).";

/// Flags of `endurance`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Endurance {
    /// A trace, a fio job file, or a configuration (ends in .toml) with the table [workload]; without it: --writes
    #[arg(value_name = "WORKLOAD")]
    input: Option<PathBuf>,

    #[command(flatten)]
    drive: DriveArgs,

    /// Capacity of the drive, such as 960GB or 1.92TB, in place of --drive: one like the default drive
    #[arg(long, value_name = "BYTES")]
    capacity: Option<String>,

    /// Terabytes that its maker lets the host write, or with a unit: 600, 1.2PB [default: drive.rating.tbw]
    #[arg(long, value_name = "TB")]
    tbw: Option<String>,

    /// Workload that this number is for: random (4 KiB), sequential or jesd219 [default: drive.rating.workload]
    #[arg(long, value_name = "WORKLOAD")]
    rated: Option<String>,

    /// Program/erase cycles of its blocks [default: nand.reliability.endurance_cycles]
    #[arg(long, value_name = "CYCLES")]
    pe: Option<u32>,

    /// Years that it is to last [default: 5]
    #[arg(long, value_name = "YEARS")]
    years: Option<f64>,

    /// What the host writes, such as 864GB/day or 10MB/s [default: the workload, in its own time]
    #[arg(long, value_name = "BYTES/TIME")]
    writes: Option<String>,

    /// Where it writes, if no workload says: log, random, mixed or jesd219 [default: a range from log to random]
    #[arg(long, value_name = "PATTERN")]
    pattern: Option<String>,

    /// What the host reads, such as 2GiB/s: blocks that are read often are moved, which wears the drive
    #[arg(long, value_name = "BYTES/TIME")]
    reads: Option<String>,

    /// Reads of its pages after which a block is moved [default: ftl.read_reclaim, or what the cells endure]
    #[arg(long, value_name = "READS")]
    reclaim_reads: Option<f64>,

    /// Do not measure what else could be (more over-provisioning, placement ids, larger units)
    #[arg(long)]
    no_what_if: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Show no progress
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    trace: TraceArgs,
}

impl Endurance {
    fn wanted(&self) -> Wanted {
        Wanted {
            capacity: self.capacity.clone(),
            tbw: self.tbw.clone(),
            rated: self.rated.clone(),
            pe: self.pe,
            years: self.years,
            writes: self.writes.clone(),
            reads: self.reads.clone(),
            pattern: self.pattern.clone(),
            reclaim_reads: self.reclaim_reads,
            is_short: self.no_what_if,
            dashes: "--",
        }
    }

    /// The workload: the file named, or the table of the configuration.
    fn workload(&self, job: &lab::Job) -> Result<Option<Spec>, Failure> {
        let configured = job.workload()?;
        let mut spec = match self.input.as_deref().filter(|path| !is_config(path)) {
            Some(path) => Flagged::from(with_path(configured, path)),
            None => match configured {
                Some(spec) => spec.into(),
                None => return Ok(None),
            },
        };
        self.trace.apply(&mut spec)?;
        let mut spec = spec.spec;
        // Its pages lie side by side, whichever drive it is.
        if let Spec::Trace(trace) = &mut spec {
            trace.address = AddressPolicy::Compact;
        }
        job.settle(&mut spec, true)?;
        Ok(Some(spec))
    }
}

/// Answers.
pub fn run(args: &Endurance, out: &mut dyn Write) -> Result<(), Failure> {
    let config = args.input.as_deref().filter(|path| is_config(path));
    let job = args.drive.job(config, Vec::new())?;
    let wanted = args.wanted();
    // What is wrong with the question is told before a workload is looked through.
    wanted.question(&job, None)?;
    let spec = args.workload(&job)?;
    let progress = Progress::new(args.quiet);
    let prepared = spec.as_ref().map(|spec| progress.survey(spec)).transpose()?;
    let question = wanted.question(&job, spec.as_ref().zip(prepared.as_ref()))?;
    let interrupt = Interrupt::listen();
    let (begun, is_watched) = (Instant::now(), std::io::stderr().is_terminal());
    let tell = |done: usize, all: usize| {
        if !args.quiet && (is_watched || begun.elapsed() >= LINE_EVERY) {
            crate::terminal::tell(&format!("write amplification: {done} of {all} measured"));
        }
    };
    let answer = question.answer(&interrupt.stop, &tell);
    progress.finish();
    let answer = answer.map_err(|error| match error {
        EnduranceError::Asked(error) => Failure::from(error),
        EnduranceError::Failed(_) if interrupt.stop.is_asked() => {
            Failure::Interrupted { signal: interrupt.signal(), message: error.to_string() }
        }
        EnduranceError::Failed(error) => Failure::work(error.to_string()),
    })?;
    let text = if args.json { answer.to_json() } else { table(&answer) };
    Ok(write!(out, "{text}")?)
}
