//! `wordline lab`: the laboratory of virtual chips.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use lab::Plot;
use lab::characterize::check::{self, PARTS, Plan};
use lab::characterize::sheet::Sheet;
use lab::characterize::{curves, fit, fleet, locks};
use lab::files::{FolderLock, write_set};
use ssd::config::{Layer, presets};
use ssd::drive_config::resolve;

use super::sensitivity;
use crate::failure::Failure;
use lab::places::{Force, Places, Set, claim_folder};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline lab check --quick                        the papers' numbers beside ours, in seconds
  wordline lab check --out papers/characterization  160 chips x 120 blocks, 10^8 cells; saves the table
  wordline lab characterize --out out/tlc           dead blocks, N12, RBER, voltages, retries, reads endured
  wordline lab fit-markers --out presets/marker     block-age markers for every cell part
  wordline lab locks                                which locks of pages and blocks hold for five years
  wordline lab fleet                                how much can be written to 100 drives, by retirement rule
  wordline lab fleet --drives 2000 --dwell 60       many more drives, with an hour between erases
  wordline lab sensitivity psr                      which claims of a paper hang on what is assumed or fitted";

/// Files that `lab check` writes.
const CHECK_FILES: [&str; 2] = ["results.toml", "results.md"];

/// The drive whose locked pages `lab locks` counts.
const LOCKED_DRIVE: &str = "preset = \"evanesco\"\n";

/// Flags of `lab`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Lab {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Measure the papers' numbers that need no drive, and list all, misses included
    Check(Check),
    /// Characterize a population of a part: tables (CSV and Parquet) and plots (SVG and PDF)
    Characterize(Characterize),
    /// Fit the block-age markers by least squares, one file for each cell part
    FitMarkers(FitMarkers),
    /// Show the design spaces of page and block locks, and which locks hold for five years
    Locks(Locks),
    /// Write to drives until they wear out, by retirement rule and kind of wear levelling
    Fleet(Fleet),
    /// Try each assumed or fitted key of a paper's drives and loads, and show which claims hang on it
    Sensitivity(sensitivity::Tried),
}

/// How much is measured: flags of both.
#[derive(Args, Debug)]
struct Scale {
    /// A smaller population and fewer cells
    #[arg(long)]
    quick: bool,

    /// Single cells to draw: `check` over all parts and ages, `characterize` at each age
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000_000))]
    cells: Option<u64>,

    /// Chips of the population
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    chips: Option<u32>,

    /// Blocks of each chip
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,

    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Date to record with the results (the clock is never read)
    #[arg(long, value_name = "DATE")]
    date: Option<String>,
}

/// Flags of `lab check`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
struct Check {
    /// Measure only this part
    #[arg(long, value_name = "NAME")]
    part: Option<String>,

    #[command(flatten)]
    scale: Scale,

    /// Write results.toml and results.md to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace what the same command has written there
    #[arg(long, requires = "out")]
    force: bool,
}

/// Flags of `lab characterize`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
struct Characterize {
    /// The part
    #[arg(long, value_name = "NAME", default_value = PARTS[0])]
    part: String,

    #[command(flatten)]
    scale: Scale,

    /// Write the files to this folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Replace what the same command has written there
    #[arg(long)]
    force: bool,
}

/// Flags of `lab fit-markers`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
struct FitMarkers {
    /// Fit only this part
    #[arg(long, value_name = "NAME")]
    part: Option<String>,

    /// Chips of the population
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000),
        default_value_t = fit::Plan::FULL.chips)]
    chips: u32,

    /// Blocks of each chip
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000),
        default_value_t = fit::Plan::FULL.blocks)]
    blocks: u32,

    /// Seed of blocks, ages and noise
    #[arg(long, value_name = "N", default_value_t = fit::Plan::FULL.seed)]
    seed: u32,

    /// Write PART.toml for each part to this folder, instead of printing them
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace what the same command has written there
    #[arg(long, requires = "out")]
    force: bool,
}

/// Flags of `lab locks`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
struct Locks {
    /// Cells of a page's flag; the majority counts
    #[arg(long, value_name = "N", default_value = "9", value_parser = odd)]
    cells: u32,

    /// Flags to draw cell by cell, besides the sums over all outcomes
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u64).range(0..=10_000_000_000))]
    flags: u64,

    /// Seed of the flags
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Write both tables (CSV) and plots (SVG, PDF) to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace what the same command has written there
    #[arg(long, requires = "out")]
    force: bool,
}

/// Flags of `lab fleet`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
struct Fleet {
    /// Cell part
    #[arg(long, value_name = "PART", default_value = "tlc_48l")]
    part: String,

    /// Marker of a block's age (ftl.age_marker)
    #[arg(long, value_name = "MARKER", default_value = "real_wear")]
    marker: String,

    /// Drives
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    drives: u32,

    /// Blocks of each
    #[arg(long, value_name = "N", default_value_t = 3_424, value_parser = clap::value_parser!(u32).range(8..=16_384))]
    blocks: u32,

    /// Minutes between erases, 1 to 10,000
    #[arg(long, value_name = "MINUTES", default_value_t = 5.0, value_parser = minutes)]
    dwell: f64,

    /// Cycle limit to compare, besides 1,000
    #[arg(long, value_name = "CYCLES", default_value_t = 8_000,
        value_parser = clap::value_parser!(u32).range(1..=20_000))]
    limit: u32,

    /// Spare blocks of a drive, as a percentage of the others
    #[arg(long, value_name = "PERCENT", default_value_t = 7.0, value_parser = percent)]
    spare_percent: f64,

    /// Seed of the blocks
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Write the table (CSV) to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace what the same command has written there
    #[arg(long, requires = "out")]
    force: bool,
}

/// Works in the laboratory.
pub fn run(args: &Lab, out: &mut dyn Write) -> Result<(), Failure> {
    match &args.what {
        What::Check(args) => run_check(args, out),
        What::Characterize(args) => characterize(args, out),
        What::FitMarkers(args) => fit_markers(args, out),
        What::Locks(args) => show_locks(args, out),
        What::Fleet(args) => write_fleet(args, out),
        What::Sensitivity(args) => sensitivity::run(args, out),
    }
}

/// A number of flag cells: a majority must be one.
fn odd(text: &str) -> Result<u32, String> {
    let cells = text.parse::<u32>().ok().filter(|cells| (1..=99).contains(cells) && cells % 2 == 1);
    cells.ok_or_else(|| "allowed: an odd number from 1 to 99 (the majority counts)".to_owned())
}

/// Minutes from erase to erase.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| (1.0..=10_000.0).contains(minutes));
    minutes.ok_or_else(|| "allowed: 1 to 10,000 minutes".to_owned())
}

/// A share to spare.
fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "allowed: 0 to 100 percent".to_owned())
}

fn show_locks(args: &Locks, out: &mut dyn Write) -> Result<(), Failure> {
    let drive = resolve(&[Layer::file("a locked drive", LOCKED_DRIVE)], &[])?.config;
    let pages = drive.geometry.blocks() * u64::from(drive.geometry.pages_per_block());
    let plan = locks::Plan { cells: args.cells, flags: args.flags, pages, seed: args.seed };
    let output = Output::of("lab locks", args.out.as_deref(), args.force);
    let _lock = output.claim(&locks::PLOTS.iter().flat_map(|stem| Plot::names(stem)).collect::<Vec<_>>())?;
    let found = locks::measure(&plan);
    out.write_all(found.table().as_bytes())?;
    out.flush()?;
    output.write_sheets(&found.sheets())
}

/// Names of all files that plots of the tables may come in.
fn plot_names(sheets: &[Sheet]) -> Vec<String> {
    sheets.iter().flat_map(Sheet::plots).flat_map(|(stem, _)| Plot::names(stem)).collect()
}

/// The files of a table's plots, without the numbers of one that is named as the table, where they are.
fn plots(sheet: &Sheet) -> Vec<(String, Vec<u8>)> {
    let is_table = |name: &str| name.strip_suffix(".csv") == Some(sheet.name);
    let files = sheet.plots().flat_map(|(stem, plot)| plot.files(stem));
    files.filter(|(name, _)| !is_table(name)).collect()
}

fn write_fleet(args: &Fleet, out: &mut dyn Write) -> Result<(), Failure> {
    let markers = fleet::markers();
    if !markers.contains(&args.marker.as_str()) {
        return Err(Failure::no_such("marker that tells ages", &args.marker, &markers));
    }
    let plan = fleet::Plan {
        part: cell_part(&args.part)?,
        marker: args.marker.clone(),
        drives: args.drives,
        blocks: args.blocks,
        dwell_minutes: args.dwell,
        limits: vec![1_000, args.limit],
        spare_percent: args.spare_percent,
        seed: args.seed,
    };
    let output = Output::of("lab fleet", args.out.as_deref(), args.force);
    let _lock = output.claim(&[format!("{}.csv", fleet::TABLE)])?;
    let found = fleet::live(&plan)?;
    out.write_all(found.table().as_bytes())?;
    out.flush()?;
    output.write_sheets(&[found.sheet()])
}

fn fit_markers(args: &FitMarkers, out: &mut dyn Write) -> Result<(), Failure> {
    let wanted = match &args.part {
        Some(name) => vec![cell_part(name)?],
        None => cell_parts(),
    };
    let output = Output::of("lab fit-markers", args.out.as_deref(), args.force);
    let names: Vec<String> = wanted.iter().map(|part| format!("{part}.toml")).collect();
    let _lock = output.knowing(fit::BEGINS).claim(&names)?;
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for part in wanted {
        let plan = fit::Plan { part, seed: args.seed, chips: args.chips, blocks: args.blocks };
        files.push((format!("{part}.toml"), fit::toml(&plan, &fit::fit(&plan)?).into_bytes()));
    }
    match &args.out {
        Some(_) => {
            for path in output.write(&files, &[])? {
                writeln!(out, "{}", path.display())?;
            }
        }
        None => {
            for (_, text) in &files {
                out.write_all(text)?;
            }
        }
    }
    Ok(())
}

/// The shipped cell parts.
fn cell_parts() -> Vec<&'static str> {
    presets::cells().iter().map(|preset| preset.name).collect()
}

/// The shipped cell part of that name.
fn cell_part(name: &str) -> Result<&'static str, Failure> {
    let found = presets::cell(name).map(|preset| preset.name);
    found.ok_or_else(|| Failure::no_such("cell part", name, &cell_parts()))
}

/// The measured part of that name.
fn part(name: &str) -> Result<&'static str, Failure> {
    let found = PARTS.into_iter().find(|part| *part == name);
    found.ok_or_else(|| Failure::no_such("NAND part", name, &PARTS))
}

fn run_check(args: &Check, out: &mut dyn Write) -> Result<(), Failure> {
    let scale = &args.scale;
    let base = if scale.quick { Plan::QUICK } else { Plan::FULL };
    let plan = Plan {
        seed: scale.seed,
        chips: scale.chips.unwrap_or(base.chips),
        blocks: scale.blocks.unwrap_or(base.blocks),
        cells: scale.cells.unwrap_or(base.cells),
        part: args.part.as_deref().map(part).transpose()?,
    };
    let output = Output::of("lab check", args.out.as_deref(), args.force);
    let _lock = output.knowing(check::BEGINS).claim(&CHECK_FILES.map(str::to_owned))?;
    let check = check::run(&plan)?;
    out.write_all(check.table().as_bytes())?;
    out.flush()?;
    let contents = [check.toml(scale.date.as_deref()), check.markdown()];
    let files = CHECK_FILES.iter().zip(contents).map(|(name, text)| ((*name).to_owned(), text.into_bytes()));
    output.write(&files.collect::<Vec<_>>(), &[]).map(drop)
}

fn characterize(args: &Characterize, out: &mut dyn Write) -> Result<(), Failure> {
    let scale = &args.scale;
    let base = if scale.quick { curves::Plan::QUICK } else { curves::Plan::FULL };
    let plan = curves::Plan {
        part: part(&args.part)?,
        seed: scale.seed,
        chips: scale.chips.unwrap_or(base.chips),
        blocks: scale.blocks.unwrap_or(base.blocks),
        cells: scale.cells.unwrap_or(base.cells),
    };
    let output = Output::of("lab characterize", Some(&args.out), args.force);
    let _lock = output.claim(&curves::files())?;
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let date = scale.date.as_deref();
    let provenance = plan.provenance(date)?;
    let mut is_parquet = true;
    let sheets = curves::measure(&plan)?;
    for sheet in &sheets {
        files.push((format!("{}.csv", sheet.name), sheet.csv().into_bytes()));
        match sheet.parquet(&provenance) {
            Some(content) => files.push((format!("{}.parquet", sheet.name), content)),
            None => is_parquet = false,
        }
        files.extend(plots(sheet));
    }
    files.push(("provenance.json".to_owned(), plan.json(date)?.into_bytes()));
    for path in output.write(&files, &plot_names(&sheets))? {
        writeln!(out, "{}", path.display())?;
    }
    if !is_parquet {
        writeln!(out, "no Parquet: this program was built without the feature `parquet`")?;
    }
    Ok(())
}

/// Where a command writes, if it is asked to.
#[derive(Clone, Copy)]
struct Output<'a> {
    /// The command, as the folder's list calls it.
    command: &'static str,
    folder: Option<&'a Path>,
    force: bool,
    /// How the first of its files begins, if it is known by that.
    begins: &'static str,
}

impl<'a> Output<'a> {
    fn of(command: &'static str, folder: Option<&'a Path>, force: bool) -> Self {
        Output { command, folder, force, begins: "" }
    }

    /// Files that begin so are known even where no list names them, as in a checkout.
    fn knowing(self, begins: &'static str) -> Self {
        Output { begins, ..self }
    }

    /// The folder, for this command alone, if nothing is lost by files of these names.
    fn claim(self, names: &[String]) -> Result<Option<FolderLock>, Failure> {
        let Some(folder) = self.folder else { return Ok(None) };
        let mut places = Places::default();
        places.prints(std::io::stdout());
        for name in names {
            places.writes("a file of --out,", &folder.join(name));
        }
        places.check()?;
        let begins_so = |name: &String| {
            !self.begins.is_empty()
                && std::fs::read(folder.join(name)).is_ok_and(|text| text.starts_with(self.begins.as_bytes()))
        };
        let is_known = names.iter().any(begins_so);
        let what = format!("files of `wordline {}`", self.command);
        let set = Set { kind: self.command, what, names, is_known };
        let place = format!("--out {}", folder.display());
        Ok(Some(claim_folder(folder, &place, &set, Force::flag(self.force))?))
    }

    /// Writes files; those they stand for that are not among them go.
    fn write(self, files: &[(String, Vec<u8>)], stale: &[String]) -> Result<Vec<PathBuf>, Failure> {
        let Some(folder) = self.folder else { return Ok(Vec::new()) };
        write_set(folder, self.command, files, stale).map_err(Failure::from)
    }

    /// Writes tables and plots.
    fn write_sheets(self, sheets: &[Sheet]) -> Result<(), Failure> {
        let mut files = Vec::new();
        for sheet in sheets {
            files.push((format!("{}.csv", sheet.name), sheet.csv().into_bytes()));
            files.extend(plots(sheet));
        }
        self.write(&files, &plot_names(sheets)).map(drop)
    }
}
