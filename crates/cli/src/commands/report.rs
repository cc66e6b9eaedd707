//! `wordline report`: results as a page for a browser.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lab::files::{FileLock, replace};
use lab::report::page::Reported;

use crate::failure::Failure;
use lab::places::{Force, Kind, Places, claim_file};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline report out/my                                      out/my as one file, report.html
  wordline report out/demo/greedy out/demo/fifo -o demo.html  two runs side by side
  wordline report out/grid -o grid.html                       a sweep: tables to sort and filter, figures, problems
  wordline report papers/pds papers/hire -o claims.html       papers' claims beside measurements

The report is one file: it opens in any browser, without a network, and can be mailed, archived and printed.
`wordline run --out DIR` writes DIR/report.html by itself. To see what held up the slowest requests, run with
--explain-tail 99.9.";

/// Flags of `report`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// Folders written by `wordline run --out` or `wordline reproduce --out`, or one by `wordline sweep -o`
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// The report
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,

    /// Replace an earlier report
    #[arg(long)]
    force: bool,
}

/// Writes the page.
pub fn run(args: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    let _lock = args.claim()?;
    let beside = args.output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut reported = Reported::beside(beside.unwrap_or(Path::new(".")));
    for folder in &args.folders {
        reported.add(folder).map_err(|wrong| Failure::usage(wrong.to_string()))?;
    }
    replace(&args.output, reported.page().as_bytes())?;
    Ok(writeln!(out, "{}", args.output.display())?)
}

impl Report {
    /// The page's place for this command alone, if it can be written there and nothing is lost by it.
    fn claim(&self) -> Result<Option<FileLock>, Failure> {
        let mut places = Places::default();
        for folder in &self.folders {
            places.reads("the results", folder);
        }
        places.prints(std::io::stdout());
        places.writes("--output", &self.output);
        places.check()?;
        Ok(claim_file(&self.output, Kind::Report, "write the report", Force::flag(self.force))?)
    }
}
