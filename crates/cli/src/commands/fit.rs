//! `wordline fit`: a configuration of a drive one can buy, from its public figures.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lab::files::replace;
use lab::fit::{Sheet, fit};
use lab::places::{Force, Kind, Places, claim_file};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline fit data/drives/micron_7450_pro.toml -o my-drive.toml
      a drive from its sheet: which numbers the figures fix, which are assumed, what they contradict
  wordline fit --fio seqw.json randw.json randr.json --capacity 960GB -o my-drive.toml
      the same from what fio measured (--output-format=json)
  wordline fit my-sheet.toml --fio randw.json
      both: what fio measured counts
  wordline run trace.csv --config my-drive.toml
      the drive that came out

A sheet is TOML; every figure carries its unit (docs/real-drives.md lists the keys):
  name = \"Micron 7450 PRO 960 GB\"
  capacity = \"960 GB\"
  source = \"Haas et al., SSD-iq (PVLDB 18, 2025)\"
  sequential_write = \"1455 MB/s\"
  random_write = \"94.3 kIOPS\"
  read_latency = \"65 us\"";

/// Flags of `fit`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Fit {
    /// What is known of the drive (TOML)
    #[arg(value_name = "SHEET", required_unless_present = "fio")]
    sheet: Option<PathBuf>,

    /// What fio measured of it (JSON); its figures count where the sheet has others
    #[arg(long, value_name = "FILE", num_args = 1..)]
    fio: Vec<PathBuf>,

    /// Bytes that the host sees, such as 960GB; instead of the sheet's
    #[arg(long, value_name = "SIZE")]
    capacity: Option<String>,

    /// Write the configuration there
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace a configuration that was fitted before
    #[arg(long)]
    force: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Fits a drive, and says how well.
pub fn run(args: &Fit, out: &mut dyn Write) -> Result<(), Failure> {
    let mut places = Places::default();
    args.sheet.iter().for_each(|path| places.reads("the sheet", path));
    args.fio.iter().for_each(|path| places.reads("--fio", path));
    args.output.iter().for_each(|path| places.writes("--output", path));
    places.prints(std::io::stdout());
    places.check()?;
    let results: Vec<_> = args.fio.iter().map(PathBuf::as_path).collect();
    let sheet = Sheet::read(args.sheet.as_deref(), &results, args.capacity.as_deref())?;
    let claim =
        |path: &PathBuf| claim_file(path, Kind::Fitted, "write the configuration", Force::flag(args.force));
    let _lock = args.output.as_ref().map(claim).transpose()?;
    let interrupt = Interrupt::listen();
    let progress = Progress::new(args.quiet);
    let mut done = 0;
    progress.begin("fitting", 0);
    let fitted = fit(&sheet, &interrupt.stop, &mut |what| {
        done += 1;
        progress.step(what, done);
    });
    progress.finish();
    let fitted = fitted.map_err(|error| match interrupt.signal() {
        0 => error.into(),
        signal => Failure::Interrupted { signal, message: error.message },
    })?;
    if let Some(path) = &args.output {
        replace(path, fitted.toml().as_bytes())?;
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&fitted.json()).unwrap_or_default())?;
        return Ok(());
    }
    write!(out, "{}", fitted.table())?;
    match &args.output {
        Some(path) => writeln!(out, "\nconfiguration: {}", path.display())?,
        None => writeln!(out, "\n-o FILE writes the configuration")?,
    }
    Ok(())
}
