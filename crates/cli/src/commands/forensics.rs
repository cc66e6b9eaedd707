//! `wordline forensics`: what a thief reads on the chips of a saved drive.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lab::files::Replacement;
use lab::forensics::{Find, Forensics, Found, look, write_finds};
use ssd::AgeStep;

use crate::failure::Failure;
use crate::inputs::{DriveArgs, Inputs};
use crate::places::Places;
use crate::snapshots::{beside, restore};
use crate::text::{Columns, thousands, wrapped};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline run --drive evanesco --workload mailserver --set workload.secure_percent=100 --requests 300000 \\
      --save-snapshot stolen.snap --keep-versions stolen.csv.zst
      a drive that locks what is dead, and what each unit of its flash holds
  wordline forensics stolen.snap
      what a thief reads on its chips; the drive's configuration lies beside it, in stolen.snap.toml
  wordline forensics stolen.snap --versions stolen.csv.zst
      the same with the files and versions that finds are of
  wordline forensics stolen.snap --after \"5 years\" --out finds.csv
      when the flags of locks have weakened; all finds as rows

A thief has the chips and sends them every command that there is: pages answer data, zeros (locked), noise (scrubbed or
reprogrammed) or are erased. Live data he reads as it is: drives encrypt nothing here. Dead data is what was overwritten
or trimmed, and what moves have left behind (docs/threat-model.md).";

/// Flags of `forensics`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ForensicsArgs {
    /// A drive saved by `wordline run --save-snapshot`
    #[arg(value_name = "SNAPSHOT")]
    snapshot: PathBuf,

    /// The configuration it was saved with [default: SNAPSHOT.toml]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// How much later the thief comes: so many minutes, hours, days, weeks, months or years
    #[arg(long, value_name = "TIME")]
    after: Option<String>,

    /// What the run that saved the drive has written with --keep-versions: tells files and versions of what is found
    #[arg(long, value_name = "FILE")]
    versions: Option<PathBuf>,

    /// Show at most so many finds
    #[arg(long, value_name = "N", default_value_t = 10)]
    show: usize,

    /// Write all finds here: .csv, .csv.zst (compressed) or .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Looks at the chips of a saved drive.
pub fn run(args: &ForensicsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let minutes = args.minutes()?;
    args.check_places()?;
    let config = args.config.clone().unwrap_or_else(|| beside(&args.snapshot));
    if args.snapshot.is_file() && !config.is_file() {
        let message = "it is not there; --config FILE names the drive's configuration, if it lies elsewhere";
        return Err(Failure::file(&config, "read the snapshot's configuration", &message));
    }
    let drive_args = DriveArgs { config: Some(config), ..DriveArgs::default() };
    if !args.snapshot.is_file() {
        // The error names what was asked for, not what would lie beside it.
        crate::files::read(&args.snapshot, "read the snapshot")?;
    }
    let resolved = Inputs::read(&drive_args, None, Vec::new())?.resolve(None)?;
    let drive = restore(&args.snapshot, &resolved.config)?;
    let kept = match &args.versions {
        None => None,
        Some(path) => {
            crate::files::check(path, "read")?;
            Some(lab::read_kept(path, &drive).map_err(|error| Failure::usage(error.to_string()))?)
        }
    };
    let (told, finds) = look(&drive, &resolved.config, minutes, kept.as_deref());
    if args.json {
        let text = serde_json::json!({
            "statement": told.statement(),
            "summary": told,
            "finds": &finds[..finds.len().min(args.show)],
        });
        let text = serde_json::to_string_pretty(&text).map_err(|error| Failure::work(error.to_string()))?;
        writeln!(out, "{text}")?;
    } else {
        print(args, &told, &finds, kept.is_some(), out)?;
    }
    out.flush()?;
    let Some(path) = &args.out else { return Ok(()) };
    write_finds(path, &finds).map_err(|error| Failure::work(error.to_string()))
}

impl ForensicsArgs {
    /// What `--after` says, in minutes.
    fn minutes(&self) -> Result<u64, Failure> {
        let Some(text) = &self.after else { return Ok(0) };
        let wrong = || {
            Failure::usage(format!(
                "--after: found {text:?}, allowed: a number and a unit such as \"5 years\" (minutes, hours, days, \
                 weeks, months, years), at most 1000 years"
            ))
        };
        match format!("retain {text}").parse() {
            Ok(AgeStep::Retain { time, celsius: None }) if (0.0..=5.256e8).contains(&time.minutes()) => {
                Ok(time.minutes() as u64)
            }
            _ => Err(wrong()),
        }
    }

    /// Nothing that is read is written, and the place for finds can be written to.
    fn check_places(&self) -> Result<(), Failure> {
        let mut places = Places::default();
        places.reads("the snapshot", &self.snapshot);
        let config = self.config.clone().unwrap_or_else(|| beside(&self.snapshot));
        places.reads("the snapshot's configuration", &config);
        if let Some(path) = &self.versions {
            places.reads("--versions", path);
        }
        places.prints();
        let Some(path) = &self.out else { return places.check() };
        places.writes("--out", path);
        places.check()?;
        crate::text::check_table("--out", path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(Failure::file(path, "write the finds", &"its folder does not exist"));
        }
        if path.is_file() || !path.exists() {
            Replacement::create(path).map_err(|error| Failure::file(path, "write the finds", &error))?;
        }
        Ok(())
    }
}

fn print(
    args: &ForensicsArgs,
    told: &Forensics,
    finds: &[Find],
    has_versions: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let when = args.after.as_ref().map_or(String::new(), |after| format!(", {after} later"));
    writeln!(out, "{}: ftl.sanitize.policy = {:?}{when}\n", args.snapshot.display(), told.policy)?;
    let mut table = Columns::default();
    table.row(["units of flash", "read as data", "zeros (locked)", "noise (scrubbed, reprogrammed)", ""]);
    for (name, found) in
        [("live", &told.live), ("dead, secured", &told.dead_secured), ("dead, insecure", &told.dead_insecure)]
    {
        let Found { data, zeros, noise } = *found;
        table.row([name.to_owned(), thousands(data), thousands(zeros), thousands(noise), String::new()]);
    }
    table.row(["never filled".to_owned(), thousands(told.empty)]);
    table.row(["erased".to_owned(), thousands(told.erased)]);
    table.write(out, 0)?;
    writeln!(out)?;
    wrapped(out, 0, &told.statement())?;
    if told.unlocked > 0 {
        let again = format!("{} of the units read were locked when the drive was saved.", told.unlocked);
        wrapped(out, 0, &again)?;
    }
    if args.after.is_some() && told.dead_secured.zeros + told.unlocked > 0 {
        let expected = format!(
            "Of what is locked, {} units can be expected to answer then.",
            share(told.unlocked_expected)
        );
        wrapped(out, 0, &expected)?;
    }
    if !told.knows_classes {
        let text = "Nothing on this drive says of which class data is: all of it counts as secured. --versions tells.";
        wrapped(out, 0, text)?;
    }
    print_finds(args.show, finds, has_versions, out)
}

/// A number that may be very small, in three digits.
fn share(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        ..0.01 => format!("{number:.2e}"),
        _ => format!("{number:.2}"),
    }
}

/// The first finds, secured ones first; with versions the files that most are of.
fn print_finds(show: usize, finds: &[Find], has_versions: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if finds.is_empty() || show == 0 {
        return Ok(());
    }
    if has_versions {
        let mut files: BTreeMap<u32, u64> = BTreeMap::new();
        finds.iter().filter_map(|find| find.file).for_each(|file| *files.entry(file).or_default() += 1);
        let mut files: Vec<(u32, u64)> = files.into_iter().collect();
        files.sort_by_key(|&(file, count)| (std::cmp::Reverse(count), file));
        let shown: Vec<String> =
            files.iter().take(show).map(|(file, count)| format!("{file} ({count})")).collect();
        if !shown.is_empty() {
            let more = if files.len() > show { ", ..." } else { "" };
            wrapped(out, 0, &format!("Files that finds are of (units): {}{more}.", shown.join(", ")))?;
        }
    }
    let mut sorted: Vec<&Find> = finds.iter().collect();
    sorted.sort_by_key(|find| (!find.is_secured, find.place));
    writeln!(out, "\nfinds, {} of {}:", show.min(finds.len()), thousands(finds.len() as u64))?;
    let mut table = Columns::default();
    table.row(["block", "page", "unit", "version", "file", "class", "is", ""]);
    let known = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    for find in sorted.iter().take(show) {
        let is = match find.is_old {
            None => "dead",
            Some(true) => "old",
            Some(false) => "left behind",
        };
        let version = match find.version {
            Some(0) => "before".to_owned(),
            version => known(version),
        };
        table.row([
            find.block.to_string(),
            find.page.to_string(),
            find.unit.to_string(),
            version,
            known(find.file.map(u64::from)),
            if find.is_secured { "secured" } else { "insecure" }.to_owned(),
            is.to_owned(),
            String::new(),
        ]);
    }
    table.write(out, 2)?;
    Ok(())
}
