//! The folder of a sweep: its file, a file for each run that is done, and what is told of all of them.

use super::{Order, Outcome, Run, SweepPlan, SweepTold};
use crate::error::ReportError;
use crate::files::{replace, replace_all};
use crate::job::JobError;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The sweep's own file in its folder, by which the folder is known.
const NAME: &str = "sweep.toml";

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
        let is_empty = |folder: &Path| fs::read_dir(folder).map(|mut list| list.next().is_none());
        if path.exists() && !path.join(NAME).is_file() && !is_empty(path).unwrap_or(false) {
            let message = "found:   something that is not a sweep\n    allowed: a new or empty folder, or \
                           that of a \
                 sweep";
            return Err(JobError::new(format!("{}\n    {message}", path.display())));
        }
        Ok(Folder { path: path.to_owned(), runs: path.join("runs") })
    }

    /// Makes it where it is not there.
    pub fn create(&self) -> Result<(), ReportError> {
        fs::create_dir_all(&self.runs).map_err(|error| ReportError::new(&self.runs, "create", error))
    }

    /// Writes the sweep's own file.
    pub fn keep(&self, text: &str) -> Result<(), ReportError> {
        replace(&self.path.join(NAME), text.as_bytes())
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
    pub fn order(&self, run: &Run, cache: Option<&Path>) -> Order {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Order {
            id: run.id.clone(),
            name: run.name(),
            config: run.config.clone(),
            aged_as: run.aged_as.clone(),
            workload_hash: run.workload_hash,
            libraries: run.libraries.clone(),
            file: absolute(&self.file(run)),
            cache: cache.map(absolute),
        }
    }

    /// Writes what is told of all runs, and removes earlier figures of other metrics.
    pub fn tell(&self, told: &SweepTold<'_>) -> Result<(), ReportError> {
        replace_all(&self.path, &told.files(), &told.figures()).map(drop)
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
