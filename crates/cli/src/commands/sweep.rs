//! `wordline sweep`: many runs from one file, in processes of their own, each kept when it is done.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lab::files::FolderLock;
use lab::job::files;
use lab::places::Force;
use lab::result::problems::Requirements;
use lab::sweep::{Folder, Outcome, Outside, Standing, SweepPlan, SweepTold};
use lab::workers::{self, End, Tasks, carry_out};
use lab::{DriveCache, JobError};

use workload::Spec;

use super::worker;
use crate::caching::CacheArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::policy_args::LibraryArgs;
use crate::progress::Progress;
use crate::requiring::{RequireArgs, met};
use crate::text::thousands;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline sweep grid.toml -o out/grid
      all runs of grid.toml, on all cores, except those already done
  wordline sweep grid.toml -o out/grid --dry-run
      what would be run
  wordline sweep grid.toml -o out/grid --require steady,not-overloaded
      exit code 3 if the numbers of some run are not to be taken as they stand, with the names of these runs
  wordline sweep grid.toml -o out/grid --shard 2/8
      the second of eight parts, as on one of eight machines that share the folder; the last to finish writes the tables

A sweep file is a configuration as for `wordline run` that also says which keys vary:

  preset = \"tlc\"                                       # a drive, [run] and [workload], as in any configuration
  [sweep]
  repeats = 3                                          # each with its own seed
  [grid]                                               # every combination
  workload = [\"a.csv\", \"b.csv\"]                        # files, relative to this one, or tables \
                { pattern = \"zipf\" }
  drive.over_provisioning_percent = [7, 15, 28]
  [zip]                                                # one axis: the n-th value of each list
  [sample]                                             # drawn: { from = 1, to = 64, scale = \"log\" }

(Details: docs/sweeps.md.) The folder gets runs.csv and runs.parquet, a row for each run; tables.txt,
tables.md and tables.tex with means and 95 % confidence intervals; a figure for each metric (SVG, PDF); and a file for
each run, from which an interrupted sweep resumes.";

/// Flags of `sweep`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SweepArgs {
    /// The sweep: a configuration with a table `[grid]`, `[zip]` or `[sample]`
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Folder for the results: a new one, or that of a sweep to be resumed
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,

    /// Runs at a time [default: as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Run only the I-th of N parts, from 1
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    shard: Option<(usize, usize)>,

    /// Put the tables of this sweep in place of another one's in that folder
    #[arg(long)]
    force: bool,

    /// Show what would be run, without running it
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    libraries: LibraryArgs,

    #[command(flatten)]
    cache: CacheArgs,

    /// Do not use the cache of aged drives
    #[arg(long, conflicts_with = "snapshots")]
    no_cache: bool,

    #[command(flatten)]
    required: RequireArgs,

    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

/// `2/8`: which part, from 0, and of how many.
fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((part, of)) if (1..=of).contains(&part) => Ok((part - 1, of)),
        _ => Err("allowed: a part from 1 and how many there are, such as 2/8".to_owned()),
    }
}

/// Runs a sweep.
pub fn run(args: &SweepArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let required = args.required.requirements()?;
    let text = files::read_text(&args.file, "read the sweep")?;
    // Workers are told in text where files lie.
    files::absolute_text(&args.out, "write the sweep")?;
    if let Some(cache) = args.cache().as_deref() {
        files::absolute_text(cache.folder(), "keep aged drives")?;
    }
    let progress = Progress::new(args.quiet);
    let outside = Outside { allowed: args.libraries.allowed(), ..Outside::default() };
    let plan = args.plan(text.clone(), outside, &progress);
    progress.finish();
    let plan = plan?;
    let folder = Folder::new(&args.out)?;
    if args.dry_run {
        return args.tell_plan(&plan, &folder, out);
    }
    let mut outcomes = folder.outcomes(&plan);
    let open = plan.open(&outcomes, args.shard.unwrap_or((0, 1)));
    let found = outcomes.iter().flatten().count();
    // Parts of a sweep share its folder.
    let lock = if args.shard.is_none() { FolderLock::take } else { FolderLock::share };
    let _lock = lock(&args.out)?;
    folder.create(&plan, &text, Force::flag(args.force))?;
    if !args.quiet {
        if plan.sweep().duplicates > 0 {
            progress.print(&format!("{} samples were drawn twice and are run once", plan.sweep().duplicates));
        }
        progress.print(&format!("{} runs, {} done before", thousands(plan.runs.len() as u64), found));
    }
    let interrupt = Interrupt::listen();
    let (stuck, undone) = args.carry_out(&plan, &open, &folder, (&interrupt, &progress));
    progress.finish();
    folder.look_again(&plan, &mut outcomes);
    args.conclude(&plan, (&folder, outcomes), (stuck, undone), (&interrupt, &required), out)
}

/// So many runs take some time to be planned.
const MANY_RUNS: u64 = 10_000;

/// Failures of runs that are told one by one; their files have all.
const FAILURES_SHOWN: usize = 5;

impl SweepArgs {
    /// Where aged drives are kept, if they are.
    fn cache(&self) -> Option<Arc<DriveCache>> {
        (!self.no_cache).then(|| self.cache.open()).flatten()
    }

    /// What would be run.
    fn tell_plan(&self, plan: &SweepPlan, folder: &Folder, out: &mut dyn Write) -> Result<(), Failure> {
        let (part, of) = self.shard.unwrap_or((0, 1));
        let (mut known, mut drives, mut open) = (BTreeSet::new(), BTreeSet::new(), 0);
        // One after the other: a million results have no room in memory.
        for (at, run) in plan.runs.iter().enumerate() {
            let is_first = known.insert(run.id.as_str());
            let state = match Outcome::read(&folder.file(run), &run.id) {
                Some(outcome) if outcome.failure.is_empty() => "done",
                Some(_) => "failed",
                None if is_first && at % of == part => {
                    open += 1;
                    drives.insert(run.drive);
                    "to do"
                }
                None => "not here",
            };
            writeln!(out, "{}  {state:<8}  {}", run.id, run.name())?;
        }
        let (all, open) = (thousands(plan.runs.len() as u64), thousands(open));
        Ok(writeln!(out, "{all} runs, {open} to do, on {} aged drives", drives.len())?)
    }

    /// Plans all runs, and tells how far that is.
    fn plan(&self, text: String, outside: Outside, progress: &Progress) -> Result<SweepPlan, JobError> {
        let is_begun = Cell::new(false);
        let mut survey = |spec: &Spec| {
            is_begun.set(false);
            progress.survey(spec)
        };
        let mut told = |done, all| {
            if !is_begun.replace(true) {
                progress.begin("planning", all);
            }
            // Where there is no bar, the next line may be seconds away.
            if done == 0 && all >= MANY_RUNS && !self.quiet {
                progress.print(&format!("planning {} runs", thousands(all)));
            }
            progress.at(done);
            Ok(())
        };
        SweepPlan::new(&self.file, text, outside, &mut survey, &mut told)
    }

    /// Has all of it done that is open; why that was given up, and which runs were not done.
    fn carry_out(
        &self,
        plan: &SweepPlan,
        open: &[usize],
        folder: &Folder,
        (interrupt, progress): (&Interrupt, &Progress),
    ) -> (Option<Failure>, Vec<String>) {
        let cache = self.cache();
        // Told once, and not by each of the workers.
        let refusal = cache.as_ref().and_then(|cache| cache.refusal());
        let cache = cache.filter(|_| refusal.is_none());
        refusal.into_iter().for_each(|why| progress.print(&why));
        let order = |at: usize| {
            let order = folder.order(&plan.runs[open[at]], cache.as_ref().map(|cache| cache.folder()));
            order.map(workers::Order::Run).map_err(|error| error.to_string())
        };
        let tasks = Tasks { drives: open.iter().map(|at| plan.runs[*at].drive).collect(), order: &order };
        let jobs = worker::jobs(self.jobs.map(usize::from));
        let (mut done, mut failures, mut undone, mut stuck) = (0, 0, Vec::new(), None);
        // What went wrong with kept drives, quiet or not: each worker may say the same.
        let mut remarked = BTreeSet::new();
        progress.begin("sweeping", open.len() as u64);
        carry_out(&tasks, (jobs, &worker::process), &interrupt.stop, |at, end, remarks| {
            for remark in remarks.iter().filter(|remark| remarked.insert((*remark).clone())) {
                progress.print(remark);
            }
            done += 1;
            progress.at(done);
            let run = &plan.runs[open[at]];
            let failed = |why: &str| format!("{} ({}): {why}", run.name(), run.id);
            match end {
                End::Done(failure) if failure.is_empty() => {}
                End::Done(failure) if !self.quiet && failures < FAILURES_SHOWN => {
                    failures += 1;
                    progress.print(&failed(failure));
                }
                End::Undone(why) => undone.push(failed(why)),
                End::Done(_) => {}
                End::Stuck(why) | End::Refused(why) => {
                    stuck.get_or_insert_with(|| Failure::work(why.clone()));
                }
            }
        });
        (stuck, undone)
    }

    /// Writes tables and says how it ended.
    fn conclude(
        &self,
        plan: &SweepPlan,
        (folder, outcomes): (&Folder, Vec<Option<Outcome>>),
        (stuck, undone): (Option<Failure>, Vec<String>),
        (interrupt, required): (&Interrupt, &Requirements),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let standing = Standing::of(&outcomes);
        let told = SweepTold::new(plan, outcomes);
        // Of a part nobody wants a table; whichever part ends last has all of it.
        if self.shard.is_none() || standing.missing == 0 {
            folder.tell(&told)?;
            if !self.quiet {
                write!(out, "{}", told.text())?;
                writeln!(
                    out,
                    "in {}: runs.csv, runs.parquet, problems.json, tables.txt, .md, .tex, figures",
                    self.out.display()
                )?;
            }
        } else if !self.quiet {
            writeln!(out, "{} runs of other parts are missing: no tables yet", standing.missing)?;
        }
        let what = standing.text();
        if interrupt.stop.is_asked() {
            let message = format!("interrupted: {what}; run the same command again to continue");
            return Err(Failure::Interrupted { signal: interrupt.signal(), message });
        }
        if let Some(stuck) = stuck {
            return Err(stuck.and(&what));
        }
        if let Some(complaint) = standing.complaint(&undone) {
            return Err(Failure::work(complaint));
        }
        met(required, told.results())
    }
}
