//! `wordline reproduce`: what papers claim beside what is measured.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use lab::files::{FolderLock, note, replace_all, write_set};
use lab::job::files;
use lab::reproduce::{BEGINS, Open, Options, Outcome, Paper, PaperError, Step, Studies};
use lab::workers::{End, Order, Tasks, carry_out};
use lab::{Plot, ReportError};

use super::papers::Papers;
use super::worker;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use lab::places::{Force, Places, Set, claim_folder};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline reproduce --list                     the papers, with their claims
  wordline reproduce straw --quick              one paper at reduced scale, in seconds
  wordline reproduce --quick --check            all papers, compared with the expected quick results
  wordline reproduce --judge evanesco           judges its stored results by the current claims.toml; nothing is run
  wordline reproduce straw redftl --resume --out out/papers
      at full scale, reusing what an earlier run of the same program finished

Each paper is a folder with experiment.toml, claims.toml and configurations; DIR/PAPER/full (or quick) gets
results.toml, plots (SVG, PDF, CSV), the aged drives and a file for each finished run.

Exit codes: 0 success, whatever the verdicts; 1 a run failed, or --check found a drift; 2 bad usage or files.";

/// What a paper's results are called in the list of their folder, and what is always there: results, runs, drives.
const KIND: &str = "reproduce";
const FILES: [&str; 3] = ["results.toml", "cells", "drives"];

/// Flags of `reproduce`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Reproduce {
    /// Papers, by the names of their folders [default: all]
    #[arg(value_name = "PAPER")]
    names: Vec<String>,

    /// Run at reduced scale: seconds instead of minutes
    #[arg(long)]
    quick: bool,

    /// Compare quick results with the committed expectations, and fail if they drift
    #[arg(long, requires = "quick", conflicts_with = "list")]
    check: bool,

    /// List the papers and their claims; run nothing
    #[arg(long)]
    list: bool,

    /// Judge the stored results in the papers' folders again by claims.toml; run nothing
    #[arg(long, conflicts_with_all = ["quick", "check", "list", "resume", "force", "out", "traces", "jobs", "seed",
        "date"])]
    judge: bool,

    /// Folder for results
    #[arg(long, value_name = "DIR", default_value = "out/reproduce")]
    out: PathBuf,

    #[command(flatten)]
    papers: Papers,

    /// Reuse runs that the same commit has finished in the same folder, and drives it has aged
    #[arg(long)]
    resume: bool,

    /// Replace what an earlier command has left there: results, finished runs, aged drives
    #[arg(long, conflicts_with = "resume")]
    force: bool,

    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Date to record with the results (the clock is never read)
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    date: Option<String>,
}

/// A date as ISO 8601 writes it.
fn date(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |at: usize, digits: usize, range: std::ops::RangeInclusive<u32>| {
        let part =
            parts.get(at).filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()));
        part.and_then(|part| part.parse().ok()).is_some_and(|number| range.contains(&number))
    };
    let is_date = parts.len() == 3 && number(0, 4, 0..=9999) && number(1, 2, 1..=12) && number(2, 2, 1..=31);
    if is_date { Ok(text.to_owned()) } else { Err("allowed: YYYY-MM-DD, such as 2026-11-21".to_owned()) }
}

impl From<PaperError> for Failure {
    fn from(error: PaperError) -> Self {
        let message = error.to_string();
        match error {
            PaperError::Workload { error, .. } => match Failure::from(error) {
                Failure::Usage(_) => Failure::Usage(message),
                _ => Failure::Work(message),
            },
            _ if error.is_work() => Failure::Work(message),
            _ => Failure::Usage(message),
        }
    }
}

/// Runs papers.
pub fn run(args: &Reproduce, out: &mut dyn Write) -> Result<(), Failure> {
    let names = args.papers.named(&args.names)?;
    let papers: Vec<Paper> =
        names.iter().map(|name| Paper::load(&args.papers.folder.join(name))).collect::<Result<_, _>>()?;
    if args.list {
        return list(&papers, out);
    }
    if args.judge {
        return papers.iter().try_for_each(|paper| judge(paper, out));
    }
    if args.check {
        papers.iter().try_for_each(Paper::check_sentences)?;
    }
    let options = args.papers.options((args.quick, args.resume), args.seed, &args.out);
    // Workers are told in text where files lie.
    for path in [&args.papers.folder, &args.out].into_iter().chain(&options.traces) {
        files::text(path, "use it")?;
    }
    let mut complaints = Vec::new();
    args.check_places(&papers, &options)?;
    for paper in &papers {
        if let Err(failure) = args.one(paper, &options, &mut complaints, out) {
            // What went wrong before is told, too.
            complaints.extend(failure.message().map(str::to_owned));
            return if complaints.len() > 1 {
                Err(Failure::work(complaints.join("\n")))
            } else {
                Err(failure)
            };
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(Failure::work(complaints.join("\n"))) }
}

/// Judges a paper's stored results anew, and writes those that change.
fn judge(paper: &Paper, out: &mut dyn Write) -> Result<(), Failure> {
    for name in ["results.toml", "expected_quick.toml"] {
        let Some(found) = paper.judged_anew(name)? else { continue };
        let is_new = found.anew != found.stored;
        if is_new {
            replace_all(&paper.folder, &[(name.to_owned(), found.anew.into_bytes())], &[])?;
        }
        let said = if is_new { "written" } else { "as it was" };
        writeln!(out, "{}: {said}", paper.folder.join(name).display())?;
    }
    Ok(())
}

/// Claims of papers, a line each.
fn list(papers: &[Paper], out: &mut dyn Write) -> Result<(), Failure> {
    for paper in papers {
        writeln!(out, "{}: {}", paper.name, paper.experiment.title)?;
        for claim in &paper.claims {
            let claimed = match claim.rule.kind() {
                "order" => claim.rule.text().to_owned(),
                _ => claim.claimed_text(),
            };
            writeln!(
                out,
                "  {:<28} {:<16} {:<7} {:<9} {claimed}: {}",
                claim.id,
                claim.place,
                claim.rule.kind(),
                claim.basis.name(),
                claim.text
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What has drifted away from the expectations.
fn check(paper: &Paper, outcome: &Outcome, out: &mut dyn Write) -> Result<Vec<String>, Failure> {
    let drifts = paper.check(outcome)?;
    if drifts.is_empty() {
        writeln!(out, "as expected (expected_quick.toml)")?;
    }
    let tell = |drift: &lab::reproduce::Drift| {
        format!(
            "{}: {}\n    expected: {}\n    found:    {}",
            paper.name, drift.what, drift.expected, drift.found
        )
    };
    Ok(drifts.iter().map(tell).collect())
}

impl Reproduce {
    /// Runs a paper, and adds what went wrong to the complaints.
    fn one(
        &self,
        paper: &Paper,
        options: &Options,
        complaints: &mut Vec<String>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let _lock = self.claim(paper, options)?;
        let outcome = self.paper(paper, options)?;
        out.write_all(outcome.table().as_bytes())?;
        out.flush()?;
        complaints.extend(self.write(paper, options, &outcome).err().map(|error| error.to_string()));
        complaints.extend(outcome.failed.iter().map(|what| format!("{}: {what}", paper.name)));
        if self.check {
            complaints.extend(check(paper, &outcome, out)?);
        }
        writeln!(out)?;
        Ok(out.flush()?)
    }

    /// Runs one paper in processes of their own, showing how far it is.
    fn paper(&self, paper: &Paper, options: &Options) -> Result<Outcome, Failure> {
        let interrupt = Interrupt::listen();
        let studies = Studies::plan(paper, options, &interrupt.stop)?;
        let mut open = studies.open()?;
        let shown = Mutex::new(Progress::new(false));
        for step in Step::ALL {
            let shown = shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.step(paper, &studies, (step, &mut open), (&interrupt, &shown))?;
        }
        let outcome = studies.outcome(open, &|at| {
            let shown = shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if at.done == 0 {
                shown.begin(&format!("{} {}", paper.name, at.what), at.total as u64);
            }
            shown.at(at.done as u64);
        });
        shown.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).finish();
        Ok(outcome?)
    }

    /// Does all pieces of a step that can be done, and adds what failed.
    fn step(
        &self,
        paper: &Paper,
        studies: &Studies,
        (step, open): (Step, &mut Open),
        (interrupt, progress): (&Interrupt, &Progress),
    ) -> Result<(), Failure> {
        let (pieces, before) = (open.pieces(studies, step), open.done_before(step));
        if pieces.is_empty() {
            return Ok(());
        }
        // Each has its drive, or is one: none waits for another.
        let order = |at: usize| Ok(Order::Piece(studies.order(pieces[at])));
        let tasks = Tasks { drives: (0..pieces.len() as u64).collect(), order: &order };
        progress.begin(&format!("{} {}", paper.name, step.name()), (before + pieces.len()) as u64);
        progress.at(before as u64);
        let (mut done, mut failure, mut failed) = (before as u64, None, Vec::new());
        let jobs = worker::jobs(self.papers.jobs());
        carry_out(&tasks, (jobs, &worker::process), &interrupt.stop, |at, end, _| {
            done += 1;
            progress.at(done);
            match end {
                End::Done(why) if why.is_empty() => {}
                End::Done(why) => failed.push((at, why.clone())),
                End::Undone(why) => failed.push((at, format!("{}: {why}", studies.name(pieces[at])))),
                End::Stuck(why) => failure = Some(Failure::work(why.clone())),
                End::Refused(why) => failure = Some(Failure::usage(why.clone())),
            }
        });
        if interrupt.stop.is_asked() {
            progress.finish();
            let message = "interrupted; the same command with --resume continues".to_owned();
            return Err(Failure::Interrupted { signal: interrupt.signal(), message });
        }
        // In the order of the plan, whichever ended first.
        failed.sort();
        open.failed.extend(failed.into_iter().map(|(_, why)| why));
        failure.map_or(Ok(()), Err)
    }

    /// Refuses folders of results that hold what is read: drives and cells of earlier runs are removed there.
    fn check_places(&self, papers: &[Paper], options: &Options) -> Result<(), Failure> {
        let mut places = Places::default();
        for folder in &options.traces {
            places.reads("the folder of traces", folder);
        }
        for paper in papers {
            places.reads("the paper", &self.papers.folder.join(&paper.name));
            for name in FILES {
                places.writes("a place for results,", &paper.out(options).join(name));
            }
        }
        places.check()?;
        Ok(places.check_folders()?)
    }

    fn write(&self, paper: &Paper, options: &Options, outcome: &Outcome) -> Result<(), ReportError> {
        let mut files = vec![("results.toml".to_owned(), outcome.toml(self.date.as_deref()).into_bytes())];
        let plots = outcome.plots(&paper.experiment);
        files.extend(plots.iter().flat_map(|(stem, plot)| plot.files(stem)));
        let names: Vec<String> = plots.iter().flat_map(|(stem, _)| Plot::names(stem)).collect();
        write_set(&paper.out(options), KIND, &files, &names).map(drop)
    }

    /// The folder of a paper's results for this command alone, if nothing is lost by it.
    fn claim(&self, paper: &Paper, options: &Options) -> Result<FolderLock, Failure> {
        let folder = paper.out(options);
        let results = std::fs::read(folder.join(FILES[0])).unwrap_or_default();
        let names = FILES.map(str::to_owned);
        let set = Set {
            kind: KIND,
            what: format!("earlier results of {}, with which --resume goes on", paper.name),
            names: &names,
            is_known: results.starts_with(BEGINS.as_bytes()),
        };
        let force = Force::flag(self.force || self.resume);
        let lock = claim_folder(&folder, &folder.display().to_string(), &set, force)?;
        note(&folder, KIND, FILES)?;
        Ok(lock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_four_two_and_two_digits() {
        assert_eq!(date("2026-11-21"), Ok("2026-11-21".to_owned()));
        for wrong in
            ["", "today", "2026-11", "26-11-21", "2026-13-01", "2026-11-32", "2026-11-21-", "2026-+1-21"]
        {
            assert!(date(wrong).is_err(), "{wrong}");
        }
    }
}
