//! Flags that say where results go.

use std::path::PathBuf;

use clap::Args;
use lab::TimelineSpec;

use crate::failure::Failure;
use crate::text::{check_table, parse_time, time};

/// Where results go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct OutputArgs {
    /// Write result.json, plots (SVG, PDF, CSV), time series, the drive's blocks and config.toml, which repeats the
    /// run, to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Replace what earlier runs have written there: the result in that folder, files of the same kind
    #[arg(long)]
    pub force: bool,

    /// Write one row per request to this file: .csv, .csv.zst (compressed) or .parquet
    #[arg(long, value_name = "FILE")]
    pub request_log: Option<PathBuf>,

    /// Write the result to this file in fio's layout (--output-format=json)
    #[arg(long, value_name = "FILE", conflicts_with = "precondition_only")]
    pub fio_json: Option<PathBuf>,

    /// Write what each die, plane and channel did around the longest time without a completion to this file, for
    /// Perfetto's viewer
    #[arg(long, value_name = "FILE", conflicts_with = "precondition_only")]
    pub timeline: Option<PathBuf>,

    /// Start of the timeline, from the beginning of the measurement, such as 1.5s or 20ms
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_time)]
    pub from: Option<u64>,

    /// End of the timeline
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_time)]
    pub to: Option<u64>,

    /// Record how many valid and invalid units of each file are in flash, one row per change: .csv, .csv.zst or
    /// .parquet; needs a workload that names the file of each write
    #[arg(long, value_name = "FILE")]
    pub versions: Option<PathBuf>,

    /// Write what each unit of the saved drive's flash holds: unit, version, file, class, time; for `wordline forensics
    /// --versions`
    #[arg(long, value_name = "FILE", requires = "save_snapshot", conflicts_with = "precondition_only")]
    pub keep_versions: Option<PathBuf>,

    /// Name of this run in tables [default: the last part of --out, or the name of the workload]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Print the result as JSON instead of tables
    #[arg(long)]
    pub json: bool,

    /// Also print every counter that is not zero
    #[arg(long, conflicts_with_all = ["json", "quiet", "brief", "precondition_only"])]
    pub counters: bool,

    /// Print the result in one line, with its remarks
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub brief: bool,

    /// Show throughput, latency and flash activity during the run, on standard error; without a terminal, as lines
    /// twice a second
    #[arg(long, conflicts_with_all = ["quiet", "precondition_only"])]
    pub watch: bool,

    /// Print nothing but errors, and what went wrong with cached drives
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,
}

impl OutputArgs {
    /// Refuses names that say nothing, or something else than what would be written.
    pub(super) fn check_names(&self) -> Result<(), Failure> {
        if self.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err(Failure::usage("--name: found nothing, allowed: a name for this run in tables"));
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from >= to
        {
            return Err(Failure::usage(format!(
                "--to: found {}, allowed: a time after that of --from, {}",
                time(to),
                time(from)
            )));
        }
        self.tables().try_for_each(|(flag, path)| check_table(flag, path))
    }

    /// What timeline is wanted.
    pub fn timeline(&self) -> Option<TimelineSpec> {
        let path = self.timeline.clone()?;
        Some(TimelineSpec { path, from_ns: self.from, to_ns: self.to })
    }

    /// Tables of many rows, with their flags.
    pub(super) fn tables(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let all = [
            ("--request-log", &self.request_log),
            ("--versions", &self.versions),
            ("--keep-versions", &self.keep_versions),
        ];
        all.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)))
    }
}
