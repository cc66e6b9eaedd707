//! `wordline report`: results as a page for a browser.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use lab::files::replace;
use lab::page::{BEGINS, Reported};

use crate::failure::Failure;
use lab::places::Places;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline report out/my                                      out/my as one file, report.html
  wordline report out/demo/greedy out/demo/fifo -o demo.html  two runs side by side
  wordline report papers/pds papers/hire -o claims.html       papers' claims beside measurements

The report is one file: it opens in any browser, without a network, and can be mailed, archived and printed.
`wordline run --out DIR` writes DIR/report.html by itself. To see what held up the slowest requests, run with
--explain-tail 99.9.";

/// Flags of `report`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// Folders written by `wordline run --out` or `wordline reproduce --out`
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,

    /// The report; replaces only an earlier report
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
}

/// Writes the page.
pub fn run(args: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    args.check()?;
    let mut reported = Reported::default();
    for folder in &args.folders {
        reported.add(folder).map_err(|wrong| Failure::usage(wrong.to_string()))?;
    }
    replace(&args.output, reported.page().as_bytes())?;
    Ok(writeln!(out, "{}", args.output.display())?)
}

impl Report {
    /// Whether the page can be written where it is wanted, and nothing is lost by it.
    fn check(&self) -> Result<(), Failure> {
        const WRITING: &str = "write the report";
        let mut places = Places::default();
        for folder in &self.folders {
            places.reads("the results", folder);
        }
        places.prints(std::io::stdout());
        places.writes("--output", &self.output);
        places.check()?;
        let folder = self.output.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(Failure::file(&self.output, WRITING, &"its folder does not exist"));
        }
        if self.output.is_dir() {
            return Err(Failure::file(&self.output, WRITING, &"it is a folder"));
        }
        if self.output.is_file() && !is_a_report(&self.output) {
            return Err(Failure::usage(format!(
                "--output {}\n    found:   a file that is not a report\n    allowed: a new name, or that \
                 of a report, \
                 which is replaced",
                self.output.display()
            )));
        }
        Ok(())
    }
}

/// Whether a file begins as reports do. An empty one may be replaced, too.
fn is_a_report(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(BEGINS.len() as u64).read_to_end(&mut begin));
    read.is_ok() && (begin.is_empty() || begin == BEGINS.as_bytes())
}
