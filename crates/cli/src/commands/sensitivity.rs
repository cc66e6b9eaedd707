//! `wordline lab sensitivity`: which verdicts of a paper hang on what it does not say.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lab::files::{FolderLock, note, write_set};
use lab::places::{Force, Places, Set, claim_folder};
use lab::reproduce::Paper;
use lab::reproduce::sensitivity::{BEGINS, FILE, Report, SEEDS, Sensitivity, SoFar, in_full};

use super::papers::Papers;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::text::time;

/// Examples for the help text.
const EXAMPLES: &str = "\
Examples:
  wordline lab sensitivity psr --price    how many runs, and how long they take
  wordline lab sensitivity psr            which claims hang on which assumed or fitted keys
  wordline lab sensitivity psr --only age --only workload  keys of its ages and loads alone
  wordline lab sensitivity ids --full     what turns a verdict is run again at full scale
  wordline lab sensitivity psr --out out/mine --force  replaces out/mine/psr/sensitivity.toml

Each key of the drives, runs, loads, ages and techniques that judge a claim and that is tagged [A] (assumed) or [F]
(fitted) where it is set is tried at half and twice, or with each other name, one at a time, at quick scale.";

/// What the file is called in the list of its folder, and where runs are kept until they are judged.
const KIND: &str = "lab sensitivity";
const RUNS: &str = "runs";

/// Flags of `lab sensitivity`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Tried {
    /// The paper, by the name of its folder
    #[arg(value_name = "PAPER")]
    name: String,

    /// Try only keys that begin so; may be repeated
    #[arg(long, value_name = "PREFIX")]
    only: Vec<String>,

    /// Run the paper as it is, tell what the rest would take, and stop
    #[arg(long)]
    price: bool,

    /// Run again at full scale what turns a verdict, beside the stored results
    #[arg(long, conflicts_with = "price")]
    full: bool,

    /// Folder for results; the paper has one of its own in it
    #[arg(long, value_name = "DIR", default_value = "out/sensitivity")]
    out: PathBuf,

    #[command(flatten)]
    papers: Papers,

    /// Replace what the same command has left there
    #[arg(long)]
    force: bool,

    /// The first of the seeds
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Tries the keys of a paper.
pub fn run(args: &Tried, out: &mut dyn Write) -> Result<(), Failure> {
    args.papers.named(std::slice::from_ref(&args.name))?;
    let paper = Paper::load(&args.papers.folder.join(&args.name))?;
    let results = paper.folder.join("results.toml");
    if args.full && !results.is_file() {
        return Err(Failure::usage(format!("--full compares with {}: it is not there", results.display())));
    }
    let folder = args.out.join(&paper.name);
    let _lock = args.claim(&folder, &results)?;
    let mut all =
        Sensitivity::plan(&paper, &args.papers.options((true, true), args.seed, &folder.join(RUNS)))?;
    args.choose(&mut all)?;
    let progress = Progress::new(false);
    progress.print(&format!(
        "{}: {} keys, {} other values; {} studies as they are, with {SEEDS} seeds",
        paper.name,
        all.tagged.len(),
        all.tries(),
        all.studies().count()
    ));
    let tell = |at: SoFar<'_>| {
        progress.step(&format!("{} {}", paper.name, at.what), at.done as u64);
    };
    progress.begin(&paper.name, SEEDS);
    let base = all.base(&tell)?;
    let fits = match base.fits {
        0 => String::new(),
        fits => format!(", with {fits} fits of the age marker,"),
    };
    let price = format!(
        "{}: {} runs as they are; {} other values{fits} take about {}, one after the other",
        paper.name,
        base.runs,
        all.tries(),
        time((all.price(&base) * 1e9) as u64)
    );
    if args.price {
        progress.finish();
        all.report(&base, &[])?;
        return Ok(writeln!(out, "{price}")?);
    }
    progress.print(&price);
    progress.begin(&paper.name, all.tries() as u64);
    let mut tried = all.run(&base, &tell)?;
    if args.full {
        progress.print(&format!(
            "{}: {} values turn a verdict; at full scale they take about {}",
            paper.name,
            in_full(&tried),
            time((all.price_in_full(&base, &tried)? * 1e9) as u64)
        ));
        progress.begin(&paper.name, in_full(&tried) as u64);
        all.run_in_full(&mut tried, &tell)?;
    }
    progress.finish();
    let report = Report { only: args.only.clone(), ..all.report(&base, &tried)? };
    write!(out, "{}", report.table())?;
    out.flush()?;
    write_set(&folder, KIND, &[(FILE.to_owned(), report.toml().into_bytes())], &[])?;
    Ok(())
}

impl Tried {
    /// Takes the paper's folder of --out, in which nothing but this command's files may lie.
    fn claim(&self, folder: &Path, results: &Path) -> Result<FolderLock, Failure> {
        let mut places = Places::default();
        places.prints(std::io::stdout());
        places.reads("the papers' results", results);
        places.writes("a file of --out,", &folder.join(FILE));
        places.check()?;
        let names = [FILE, RUNS].map(str::to_owned);
        let kept = std::fs::read(folder.join(FILE)).unwrap_or_default();
        let set = Set {
            kind: KIND,
            what: format!("files of `wordline {KIND}`"),
            names: &names,
            is_known: kept.starts_with(BEGINS.as_bytes()),
        };
        let lock =
            claim_folder(folder, &format!("--out {}", self.out.display()), &set, Force::flag(self.force))?;
        note(folder, KIND, [FILE, RUNS])?;
        Ok(lock)
    }

    /// Keeps the keys that begin as one was told.
    fn choose(&self, all: &mut Sensitivity) -> Result<(), Failure> {
        let keys: Vec<String> = all.tagged.iter().map(|tagged| tagged.key.clone()).collect();
        for prefix in &self.only {
            if !keys.iter().any(|key| key.starts_with(prefix.as_str())) {
                let heads = keys.iter().filter_map(|key| key.split_once('.')).map(|(head, _)| head);
                let sections = keys.iter().filter_map(|key| key.rsplit_once('.')).map(|(section, _)| section);
                let names: Vec<&str> = heads.chain(sections).collect::<BTreeSet<_>>().into_iter().collect();
                return Err(Failure::no_such("tagged key that begins so", prefix, &names));
            }
        }
        let is_chosen =
            |key: &str| self.only.is_empty() || self.only.iter().any(|it| key.starts_with(it.as_str()));
        all.tagged.retain(|tagged| is_chosen(&tagged.key));
        Ok(())
    }
}
