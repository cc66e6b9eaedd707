//! `wordline compare`: the results of several runs side by side.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lab::{RunResult, report};

use crate::failure::Failure;
use crate::files;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline compare out/demo/greedy out/demo/fifo       a table, with ratios to the first
  wordline compare out/demo/* --out out/demo-compared  and plots";

/// Flags of `compare`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// Folders that `wordline run --out` has written, or result.json files
    #[arg(value_name = "DIR", required = true)]
    results: Vec<PathBuf>,

    /// Write comparison.txt and plots (SVG, PDF, and their data as CSV) to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print the results as a JSON array
    #[arg(long)]
    json: bool,
}

/// Compares results.
pub fn run(args: &Compare, out: &mut dyn Write) -> Result<(), Failure> {
    let load = |path: &PathBuf| {
        files::check(path, "read")?;
        RunResult::load(path).map_err(|error| Failure::usage(error.to_string()))
    };
    let results: Vec<RunResult> = args.results.iter().map(load).collect::<Result<_, _>>()?;
    if let Some(folder) = &args.out {
        report::write_comparison(folder, &results).map_err(Failure::from)?;
    }
    if args.json {
        let list: Vec<String> = results.iter().map(|result| result.to_json().trim_end().to_owned()).collect();
        writeln!(out, "[{}]", list.join(",\n"))?;
        return Ok(());
    }
    Ok(out.write_all(report::compare(&results).as_bytes())?)
}
