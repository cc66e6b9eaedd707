//! `wordline compare`: the results of several runs side by side.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lab::files::FolderLock;
use lab::result::FILE_NAME;
use lab::{RunResult, report};

use crate::failure::Failure;
use crate::files;
use crate::places::Places;

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
    let _lock = args.claim()?;
    let load = |path: &PathBuf| {
        let file = if path.is_dir() { path.join(FILE_NAME) } else { path.clone() };
        files::check(&file, "read")?;
        RunResult::load(path).map_err(|error| Failure::usage(error.to_string()))
    };
    let results: Vec<RunResult> = args.results.iter().map(load).collect::<Result<_, _>>()?;
    if args.json {
        let list: Vec<String> = results.iter().map(|result| result.to_json().trim_end().to_owned()).collect();
        writeln!(out, "[{}]", list.join(",\n"))?;
    } else {
        out.write_all(report::compare(&results).as_bytes())?;
    }
    out.flush()?;
    let Some(folder) = &args.out else { return Ok(()) };
    report::write_comparison(folder, &results).map(drop).map_err(Failure::from)
}

impl Compare {
    /// The folder of `--out` for this comparison alone, without the files of a run in it.
    fn claim(&self) -> Result<Option<FolderLock>, Failure> {
        let Some(folder) = &self.out else { return Ok(None) };
        let mut places = Places::default();
        for path in &self.results {
            let file = if path.is_dir() { path.join(FILE_NAME) } else { path.clone() };
            places.reads("the result", &file);
        }
        places.prints();
        for name in report::comparison_files() {
            places.writes("a file of --out,", &folder.join(name));
        }
        places.check()?;
        let lock = FolderLock::take(folder).map_err(Failure::from)?;
        if report::holds_a_run(folder) {
            let folder = folder.display();
            return Err(Failure::usage(format!(
                "--out {folder}\n    found:   the result of a run, whose plots would be replaced\n    allowed: another \
                 folder"
            )));
        }
        Ok(Some(lock))
    }
}
