//! `wordline forensics`: what a thief reads on the chips of saved drives.

mod beside;
mod look;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lab::files::FileLock;
use lab::forensics::{Find, Forensics, Found, look, write_finds};
use lab::job::files;
use lab::{Job, Kept};
use serde_json::Value;
use ssd::AgeStep;
use ssd::config::Problem;

use self::look::Look;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::snapshots::restore;
use crate::text::{Columns, thousands, wrapped};
use lab::places::{Force, Kind, Places, claim_file};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline run --drive evanesco --workload mailserver --set workload.secure_percent=100 --requests 300000 \\
      --save-snapshot stolen.snap --keep-versions stolen.csv.zst
      a drive that locks invalid data, and a record of what each unit of its flash holds
  wordline forensics stolen.snap
      what a thief can read from its chips; the drive's configuration is in stolen.snap.toml
  wordline forensics stolen.snap --versions stolen.csv.zst
      the same, with the file and version of each find
  wordline forensics stolen.snap --versions stolen.csv.zst --file 4711
      one file only: which of its versions can be read
  wordline forensics none.snap locks.snap scrubs.snap
      several drives side by side, a column each; --versions once for each of them, in the same order
  wordline forensics stolen.snap --after \"5 years\" --out finds.csv
      after the locks' flags have weakened; all finds as rows

A thief has the chips and can send them any command: pages read as data, zeros (locked), noise (scrubbed or
reprogrammed) or erased. Valid data can always be read: drives do not encrypt here. Invalid data is what was
overwritten or trimmed, and what moves left behind (docs/threat-model.md).";

/// Flags of `forensics`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ForensicsArgs {
    /// A drive saved by `wordline run --save-snapshot`; several are shown side by side
    #[arg(value_name = "SNAPSHOT", required = true)]
    snapshots: Vec<PathBuf>,

    /// The configuration it was saved with [default: SNAPSHOT.toml]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Let the thief come this much later, in minutes, hours, days, weeks, months or years
    #[arg(long, value_name = "TIME")]
    after: Option<String>,

    /// File written by --keep-versions of the run that saved the drive: names the file and version of each find, and
    /// what was invalid before the run; with several drives, one for each
    #[arg(long, value_name = "FILE")]
    versions: Vec<PathBuf>,

    /// Look for this file only, by its number in the workload
    #[arg(long, value_name = "NAME", requires = "versions")]
    file: Option<String>,

    /// Show at most N finds
    #[arg(long, value_name = "N", default_value_t = 10)]
    show: usize,

    /// Write all finds here: .csv, .csv.zst (compressed) or .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace earlier finds
    #[arg(long, requires = "out")]
    force: bool,

    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Looks at the chips of saved drives.
pub fn run(args: &ForensicsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let minutes = args.minutes()?;
    args.check_numbers()?;
    let interrupt = Interrupt::listen();
    let _lock = args.claim_places()?;
    let looks = (0..args.snapshots.len()).map(|number| args.look(number, minutes, &interrupt));
    let looks: Vec<Look> = looks.collect::<Result<_, _>>()?;
    match (args.json, looks.as_slice()) {
        (true, [one]) => print_json(&one.json(args.show), out)?,
        (true, several) => {
            let all: Vec<Value> = several.iter().map(|look| look.json(args.show)).collect();
            print_json(&Value::from(all), out)?;
        }
        (false, [one]) => print(args, one, out)?,
        (false, several) => beside::print(args.after.as_deref(), several, out)?,
    }
    out.flush()?;
    let (Some(path), [one]) = (&args.out, looks.as_slice()) else { return Ok(()) };
    write_finds(path, &one.finds, &interrupt.stop).map_err(|error| Failure::work(error.to_string()))?;
    go_on(&interrupt)
}

/// Ends the command where somebody has asked to.
fn go_on(interrupt: &Interrupt) -> Result<(), Failure> {
    if !interrupt.stop.is_asked() {
        return Ok(());
    }
    let message = "interrupted: no finds are written".to_owned();
    Err(Failure::Interrupted { signal: interrupt.signal(), message })
}

fn print_json(value: &Value, out: &mut dyn Write) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::work(error.to_string()))?;
    Ok(writeln!(out, "{text}")?)
}

impl ForensicsArgs {
    /// Looks at the drive of that number.
    fn look(&self, number: usize, minutes: u64, interrupt: &Interrupt) -> Result<Look, Failure> {
        go_on(interrupt)?;
        let snapshot = &self.snapshots[number];
        let config = self.config.clone().unwrap_or_else(|| files::beside(snapshot));
        if snapshot.is_file() && !config.is_file() {
            let message =
                "it is not there; --config FILE names the drive's configuration, if it lies elsewhere";
            return Err(Failure::file(&config, "read the snapshot's configuration", &message));
        }

        if !snapshot.is_file() {
            // The error names what was asked for, not what would lie beside it.
            crate::snapshots::read(snapshot)?;
        }
        let resolved = Job::read(Some(&config), None, &[])?.resolve(None)?;
        let drive = restore(snapshot, &resolved.config)?;
        go_on(interrupt)?;
        let kept = match self.versions.get(number) {
            None => None,
            Some(path) => {
                lab::job::files::check(path, "read")?;
                Some(lab::read_kept(path, &drive).map_err(|error| Failure::usage(error.to_string()))?)
            }
        };
        let file = self.file_in(kept.as_deref().unwrap_or_default())?;
        let (told, mut finds) =
            look(&drive, &resolved.config, minutes, (kept.as_deref(), file), &interrupt.stop);
        go_on(interrupt)?;
        // What the run has deleted comes first, and of that what was secured.
        finds.sort_by_key(|find| (find.was_dead == Some(true), !find.is_secured, find.place));
        Ok(Look { snapshot: snapshot.clone(), told, finds })
    }

    /// The file that is asked for, if it is one that the run has written.
    fn file_in(&self, kept: &[Kept]) -> Result<Option<u32>, Failure> {
        let Some(name) = &self.file else { return Ok(None) };
        let files: BTreeSet<u32> = kept.iter().map(|kept| kept.file).filter(|file| *file > 0).collect();
        if let Some(file) = name.trim().parse().ok().filter(|file| files.contains(file)) {
            return Ok(Some(file));
        }
        let numbers: Vec<String> = files.iter().map(u32::to_string).collect();
        let allowed = match (files.first(), files.last()) {
            (Some(first), Some(last)) => {
                format!(
                    "one of the {} files that this flash holds data of, from {first} to {last}",
                    files.len()
                )
            }
            _ => "no file: this run recorded none (workloads on files do)".to_owned(),
        };
        let near = match Problem::no_such_name("file", name, numbers.iter().map(String::as_str)) {
            Problem::NoSuchName { near: Some(near), .. } => format!("\n    did you mean {near:?}?"),
            _ => String::new(),
        };
        Err(Failure::usage(format!(
            "--file: no such file\n    found:   {name:?}\n    allowed: {allowed}{near}"
        )))
    }

    /// One drive has one configuration, one file of versions, and one place for finds.
    fn check_numbers(&self) -> Result<(), Failure> {
        let (drives, versions) = (self.snapshots.len(), self.versions.len());
        if versions > 0 && versions != drives {
            return Err(Failure::usage(format!(
                "--versions: found {versions} of them for {drives} drives, allowed: one for each, in the same order"
            )));
        }
        let single = [("--out", self.out.is_some()), ("--config", self.config.is_some())];
        match single.into_iter().find(|(_, is_given)| *is_given && drives > 1) {
            Some((flag, _)) => Err(Failure::usage(format!(
                "{flag}: found {drives} drives, allowed: one, to which the finds or the configuration belong"
            ))),
            None => Ok(()),
        }
    }

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
            Ok(AgeStep::Retain { time, celsius: None, of: None })
                if (0.0..=5.256e8).contains(&time.minutes()) =>
            {
                Ok(time.minutes() as u64)
            }
            _ => Err(wrong()),
        }
    }

    /// The place for finds, for this command alone: nothing that is read is written, and nothing is lost by it.
    fn claim_places(&self) -> Result<Option<FileLock>, Failure> {
        let mut places = Places::default();
        for snapshot in &self.snapshots {
            places.reads("the snapshot", snapshot);
            let config = self.config.clone().unwrap_or_else(|| files::beside(snapshot));
            places.reads("the snapshot's configuration", &config);
        }
        for path in &self.versions {
            places.reads("--versions", path);
        }
        places.prints(std::io::stdout());
        let Some(path) = &self.out else { return Ok(places.check().map(|()| None)?) };
        places.writes("--out", path);
        places.check()?;
        crate::text::check_table("--out", path)?;
        Ok(claim_file(path, Kind::Finds, "write the finds", Force::flag(self.force))?)
    }
}

/// Kinds of units of flash with what is found of them; those of which there are none are left out.
fn kinds(told: &Forensics) -> Vec<(&'static str, Found)> {
    let [secured, insecure] = match told.before_secured {
        Some(_) => ["invalidated in the run, secured", "invalidated in the run, insecure"],
        None => ["invalid, secured", "invalid, insecure"],
    };
    let mut kinds = vec![
        ("valid", told.live),
        (secured, told.secured_of_run()),
        (insecure, told.insecure_of_run()),
        ("invalid before the run, secured", told.before_secured.unwrap_or_default()),
        ("invalid before the run, insecure", told.before_insecure.unwrap_or_default()),
    ];
    kinds.retain(|(_, found)| found.all() > 0);
    kinds
}

fn print(args: &ForensicsArgs, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let Look { snapshot, told, finds } = look;
    let has_versions = told.before_secured.is_some();
    let when = args.after.as_ref().map_or(String::new(), |after| format!(", {after} later"));
    let of = told.file.map_or(String::new(), |file| format!(", file {file} alone"));
    writeln!(out, "{}: ftl.sanitize.policy = {:?}{when}{of}\n", snapshot.display(), told.policy)?;
    let mut table = Columns::default();
    table.row(["units of flash", "read as data", "zeros (locked)", "noise (scrubbed, reprogrammed)", ""]);
    for (name, Found { data, zeros, noise }) in kinds(told) {
        table.row([name.to_owned(), thousands(data), thousands(zeros), thousands(noise), String::new()]);
    }
    for (name, count) in [("never filled", told.empty), ("erased", told.erased)] {
        if count > 0 && told.file.is_none() {
            table.row([name.to_owned(), thousands(count)]);
        }
    }
    table.write(out, 0)?;
    writeln!(out)?;
    wrapped(out, 0, &told.statement())?;
    if told.unlocked > 0 {
        let again = format!("{} of the readable units were locked when the drive was saved.", told.unlocked);
        wrapped(out, 0, &again)?;
    }
    if args.after.is_some() && told.dead_secured.zeros + told.unlocked > 0 {
        let expected = format!(
            "Of what is locked, {} units are expected to be readable then.",
            share(told.unlocked_expected)
        );
        wrapped(out, 0, &expected)?;
    }
    if !told.knows_classes {
        let text = "Nothing on this drive records the class of data, so all of it counts as secured; \
                    --versions would tell.";
        wrapped(out, 0, text)?;
    }
    if !has_versions && told.dead_secured.data + told.dead_insecure.data > 0 {
        let text = "Data that became invalid before the run, in preconditioning, cannot be distinguished from data \
                    that the run deleted; --versions can do that.";
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

/// The first finds; with versions the files that most are of.
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
            wrapped(out, 0, &format!("Files found (units): {}{more}.", shown.join(", ")))?;
        }
    }
    writeln!(out, "\nfinds, {} of {}:", show.min(finds.len()), thousands(finds.len() as u64))?;
    let mut table = Columns::default();
    table.row(["block", "page", "unit", "version", "file", "class", "is", ""]);
    let known = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    for find in finds.iter().take(show) {
        let is = match (find.was_dead, find.is_old) {
            (Some(true), _) => "invalid before the run",
            (_, None) => "invalid",
            (_, Some(true)) => "old",
            (_, Some(false)) => "left behind",
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
