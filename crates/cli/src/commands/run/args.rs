//! The flags of `run`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::measurement::MeasurementArgs;
use super::outputs::OutputArgs;
use crate::drive_args::DriveArgs;
use crate::failure::Failure;
use crate::policy_args::PolicyArgs;
use crate::requiring::RequireArgs;
use crate::workload_args::{ReplayArgs, SyntheticArgs, TraceArgs};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline run data/rocksdb-ycsb-a-run1.csv.zst --out out/my
      a trace on a TLC drive made for it and aged first; tables here, files in out/my
  wordline run trace.csv.gz --drive qlc --set ftl.gc_victim.policy=cost_benefit --speed-up 2
  wordline run --columns time=1:us,op=3,offset=4:bytes,size=5 --device 3 mine.csv
      any CSV, of one device
  wordline run --workload websearch --footprint 2GiB --requests 1000000 --copies 4
      a stand-in for a paper's trace, shrunk to 2 GiB, with four users
  wordline run --synthetic zipf --zipf 80/20 --read-percent 70 --depth 32 --requests 500000
  wordline run two-drives.fio --drives each --out out/two
      jobs on /dev/nvme0n1 and /dev/nvme1n1: a drive and a result for each, and their sum
  wordline run job.fio --drive m64
      a fio job file: each job separately, with its own depth, rate and pauses (docs/fio.md)
  wordline run my.toml --json
      my.toml: a drive, with the tables [workload] and [run]
  wordline run --requests 100000 --set nand.errors.model=cells --age \"cycle to 3000\" --age \"retain 3 months\"
      a drive whose cells have aged: how often reads are retried, and what is lost
  wordline run --workload mailserver --footprint 2GiB --requests 300000 --versions versions.parquet
      how many old versions of each file flash holds
  wordline run data/slow/erases.toml --explain-tail 99.9
      what held up the slowest .1 % of requests
  wordline run data/slow/erases.toml --timeline stall.pftrace
      each flash operation around the longest time without a completion, for ui.perfetto.dev
  wordline run trace.csv --policy gc_victim=./mine.so
      your own policy decides which block is reclaimed (wordline new policy --help)
  wordline run --drive tlc --synthetic uniform
      the second time it takes a second or two: aged drives are cached (wordline cache --help)
  wordline run trace.csv --require 'steady,not-overloaded,read_latency_p99<300us'
      for scripts: exit code 3 if the result is not so, with what was found
  wordline run data/slow/erases.toml --watch
      throughput, latencies and what the flash does, drawn while it runs

Without --drive and without a drive in the configuration, the default drive is made small enough to fill quickly: fewer
blocks in each plane, then shorter ones, down to 8 to 12 GiB of flash, or more if the workload touches more. It is
filled, then overwritten by the workload's own writes and trims until it is steady (--precondition uniform: at random).
--size footprint makes it as small as the space touched, so that even a short trace causes garbage collection.
A drive that is named keeps its size, and gets the same past (--precondition none: none at all). Where the workload's
own writes cannot be known beforehand, as those of fio jobs, and on drives of papers, it is overwritten at random.

Steps of --age, taken in order on every block of a drive with nand.errors.model = \"cells\":
  cycle to N [with N UNIT dwell at N C]     it has had N program/erase cycles
  retain N UNIT [at N C]                    its data is that old
  disturb N reads [of wordline N]           it is read N times
UNIT is minutes, hours, days, weeks, months (730 hours) or years.";

/// Flags of `run`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub struct Run {
    /// A trace (any known format, plain or compressed; - for standard input), a fio job file (ends in .fio, or
    /// begins with a section), or a configuration (a file that ends in .toml)
    #[arg(value_name = "TRACE_OR_CONFIG")]
    pub(super) input: Option<PathBuf>,

    #[command(flatten)]
    pub(super) drive: DriveArgs,

    #[command(flatten)]
    pub(super) policies: PolicyArgs,

    #[command(flatten)]
    pub(super) trace: TraceArgs,

    #[command(flatten)]
    pub(super) replay: ReplayArgs,

    #[command(flatten)]
    pub(super) synthetic: SyntheticArgs,

    #[command(flatten)]
    pub(super) measurement: MeasurementArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    pub(super) require: RequireArgs,
}

impl Run {
    /// Where this process leaves its exit code, if another waits for that.
    pub fn note(&self) -> Option<&Path> {
        self.policies.note()
    }

    /// A failure with what else was meant perhaps.
    pub fn advised(&self, failure: Failure) -> Failure {
        let Some(input) = self.input.as_deref() else { return failure };
        let first = format!("{}:1: ", input.display());
        let is_named = self.trace.format.is_some();
        if is_named && failure.message().is_some_and(|message| message.starts_with(&first)) {
            return failure
                .and("    of another format? without --format it is recognised (wordline formats)");
        }
        crate::advice::of_input(failure, input)
    }
}
