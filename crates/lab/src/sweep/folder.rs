//! The folder of a sweep: its file, a file for each run that is done, and what is told of all of them.

use super::{Order, Outcome, Run, SweepPlan, SweepTold};
use crate::base::error::ReportError;
use crate::base::files::{is_hidden_work, note, owned, remove_left_behind, replace_plain, write_set};
use crate::plan::claim::{Force, Set, check_folder};
use crate::plan::job::JobError;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The sweep's own file in its folder, by which the folder is known.
const NAME: &str = "sweep.toml";

/// The folder in it with a file for each run that is done.
const RUNS: &str = "runs";
/// What sweeps are called in the lists of folders.
const KIND: &str = "sweep";
/// What is told of all runs, whatever was measured.
const FILES: [&str; 6] =
    ["tables.txt", "tables.md", "tables.tex", "runs.csv", "runs.parquet", "problems.json"];

/// Whether an entry of a folder is nothing of the user's: of a sweep that begins at the same time, or had just begun
/// when it died.
fn is_nothing(entry: &fs::DirEntry) -> bool {
    let is_empty = |folder: &Path| fs::read_dir(folder).is_ok_and(|mut list| list.next().is_none());
    let name = entry.file_name();
    name.to_str().is_some_and(is_hidden_work) || name == RUNS && is_empty(&entry.path())
}

/// A folder that is, or will be, a sweep's.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    runs: PathBuf,
}

/// How a sweep stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Runs of the plan.
    pub runs: usize,
    /// Those that failed, and would fail again.
    pub failed: usize,
    /// Those that are yet to be done.
    pub missing: usize,
}

impl Standing {
    /// Of a plan and what came of its runs.
    pub fn of(outcomes: &[Option<Outcome>]) -> Self {
        let failed = outcomes.iter().flatten().filter(|outcome| !outcome.failure.is_empty()).count();
        let missing = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        Standing { runs: outcomes.len(), failed, missing }
    }

    /// How far it is, for people.
    pub fn text(&self) -> String {
        format!("{} of {} runs are there", self.runs - self.missing, self.runs)
    }

    /// Why it is not as it should be, if it is not: runs that failed, and those that were `undone`, a line each.
    pub fn complaint(&self, undone: &[String]) -> Option<String> {
        let failed = self.failed + undone.len();
        let lines: String = undone.iter().map(|line| format!("\n{line}")).collect();
        (failed > 0).then(|| format!("{failed} runs failed; {}{lines}", self.text()))
    }
}

impl Folder {
    /// Of that path; an error where something else than a sweep is.
    pub fn new(path: &Path) -> Result<Self, JobError> {
        let folder = Folder { path: path.to_owned(), runs: path.join(RUNS) };
        let is_new = || match fs::read_dir(path) {
            Ok(list) => list.flatten().all(|at| is_nothing(&at)),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        // In this order: the list is the first that a sweep which begins at the same time writes.
        if !is_new() && !folder.is_sweep() {
            let message = "found:   something that is not a sweep\n    allowed: a new or empty folder, or that of a \
                           sweep";
            return Err(JobError::new(format!("{}\n    {message}", path.display())));
        }
        Ok(folder)
    }

    /// Whether it is that of a sweep: its list says so, or what came of a run is in it, as before there were lists.
    fn is_sweep(&self) -> bool {
        owned(&self.path, KIND).is_some() || self.has_runs()
    }

    /// Whether what came of a run is there.
    fn has_runs(&self) -> bool {
        let mut runs = fs::read_dir(&self.runs).into_iter().flatten().flatten();
        runs.any(|at| Outcome::is_at(&at.path()))
    }

    /// Makes it where it is not there, and keeps the sweep's own file in it. Parts of a sweep may begin at once, and
    /// die at any time: the list comes first, by which it is known for ours.
    pub fn create(&self, plan: &SweepPlan, text: &str, force: Force) -> Result<(), JobError> {
        self.check(plan, text, force)?;
        note(&self.path, KIND, [NAME].into_iter().chain(FILES))?;
        if self.runs.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(ReportError::new(&self.runs, "create", "it is not a folder of its own").into());
        }
        fs::create_dir_all(&self.runs).map_err(|error| ReportError::new(&self.runs, "create", error))?;
        remove_left_behind(&self.runs);
        Ok(replace_plain(&self.path.join(NAME), text.as_bytes())?)
    }

    /// Refuses files that are not ours, and the folder of another sweep: one with other runs alone.
    fn check(&self, plan: &SweepPlan, text: &str, force: Force) -> Result<(), JobError> {
        let place = self.path.display().to_string();
        let names = [NAME].into_iter().chain(FILES).map(str::to_owned);
        let names: Vec<String> = names.chain(SweepTold::figures()).collect();
        let set = Set { kind: KIND, what: "a sweep".to_owned(), names: &names, is_known: self.is_sweep() };
        // A sweep goes on in its own folder without being told to.
        check_folder(&self.path, &place, &set, Force { is_given: true, ..force })?;
        let is_edited = fs::read(self.path.join(NAME)).is_ok_and(|kept| kept != text.as_bytes());
        let is_other = || !plan.runs.iter().any(|run| self.file(run).exists());
        if !force.is_given && is_edited && self.has_runs() && is_other() {
            let name = force.name;
            return Err(JobError::new(format!(
                "{place}\n    found:   another sweep: {NAME} differs, and none of its runs is one of these\n    \
                 allowed: another folder, or {name} to put the tables of this one in place of its own"
            )));
        }
        Ok(())
    }

    /// The file of a run.
    pub fn file(&self, run: &Run) -> PathBuf {
        self.runs.join(run.file())
    }

    /// What is there of each run, in the plan's order.
    pub fn outcomes(&self, plan: &SweepPlan) -> Vec<Option<Outcome>> {
        plan.runs.iter().map(|run| Outcome::read(&self.file(run), &run.id)).collect()
    }

    /// Looks again for what was not there.
    pub fn look_again(&self, plan: &SweepPlan, outcomes: &mut [Option<Outcome>]) {
        for (run, outcome) in plan.runs.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_none()) {
            *outcome = Outcome::read(&self.file(run), &run.id);
        }
    }

    /// What a worker must know to carry out a run; `cache` is where aged drives are kept, if they are.
    pub fn order(&self, run: &Run, cache: Option<&Path>) -> Result<Order, JobError> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (config, aged_as) = run.configuration()?;
        Ok(Order {
            id: run.id.clone(),
            name: run.name(),
            config,
            aged_as,
            workload_hash: run.workload_hash,
            libraries: run.libraries.clone(),
            asked: run.asked.clone(),
            salt: run.salt().to_owned(),
            file: absolute(&self.file(run)),
            cache: cache.map(absolute),
        })
    }

    /// Writes what is told of all runs, and removes earlier figures of other metrics.
    pub fn tell(&self, told: &SweepTold<'_>) -> Result<(), ReportError> {
        // Tables alone would be no sweep that could go on.
        if !self.path.join(NAME).exists() {
            return Err(ReportError::new(
                &self.path,
                "write",
                "it was moved or removed since the sweep began",
            ));
        }
        write_set(&self.path, KIND, &told.files(), &SweepTold::figures()).map(drop)
    }
}

impl SweepPlan {
    /// Numbers of the runs that are to be done, each once: of part `shard.0` of `shard.1`, counted from 0.
    pub fn open(&self, outcomes: &[Option<Outcome>], (part, of): (usize, usize)) -> Vec<usize> {
        let is_open = |at: &usize| at % of == part && outcomes[*at].is_none();
        let mut known = BTreeSet::new();
        let mut is_first = |at: &usize| known.insert(&self.runs[*at].id);
        (0..self.runs.len()).filter(|at| is_first(at)).filter(is_open).collect()
    }
}
