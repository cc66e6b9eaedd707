//! Papers, reproduced: what a paper claims, what is run for it, and what becomes of each claim.
//!
//! A paper is a folder under `papers/`: `experiment.toml` (techniques, workloads and ages, and the studies that put
//! them together), configurations of drives and runs, `claims.toml`, a README, the measured `results.toml`, and
//! `expected_quick.toml`, to which quick runs are held. `docs/reproduce.md` explains each key.
//!
//! Drives are aged once for all workloads and kept; each finished cell is kept in a file of its own, with everything
//! that it depends on written in it. Results do not depend on how many threads there are.

mod beside;
mod bounds;
mod cell;
mod check;
mod claims;
mod experiment;
mod figures;
mod laboratory;
mod lines;
mod loops;
mod maxima;
mod metrics;
mod output;
mod phases;
mod ready;
mod seeds;
mod skew;
mod stored;
mod studies;
mod study;
mod verdict;

pub use crate::base::document::PaperError;
pub use cell::{Cell, Place};
pub use check::Drift;
pub use claims::{As, Basis, Claim, Constant, Line, Measure, Rule, Take};
pub use experiment::{Experiment, Figure, FigureKind, Technique, Tolerances};
pub use laboratory::{Found, Laboratory, What};
pub use metrics::{METRICS, Metric};
pub use output::BEGINS;
pub use skew::Skew;
pub use stored::JudgedAnew;
pub use studies::{Open, Piece, PieceOrder, Step, Studies};
pub use study::{Seeds, Study};
pub use verdict::{FACTOR, Finding, Measured, Verdict, judge};

use crate::base::stop::Stop;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A paper's folder, read.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its name: that of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What is run.
    pub experiment: Experiment,
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// What was chosen with numbers of the paper in sight.
    pub constants: Vec<Constant>,
}

/// How papers are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// At reduced scale.
    pub quick: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; 0 for as many as there are cores.
    pub jobs: usize,
    /// Finished cells and aged drives of an earlier run are taken over.
    pub resume: bool,
    /// Folder for results; each paper and scale has one of its own in it.
    pub out: PathBuf,
    /// Folders in which traces are looked for.
    pub traces: Vec<PathBuf>,
}

/// How far a paper is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `ageing drives` or `running`.
    pub what: &'static str,
    /// So many pieces of work are done.
    pub done: usize,
    /// Of so many.
    pub total: usize,
}

/// What came of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Name of the paper.
    pub paper: String,
    /// What it is about.
    pub title: String,
    /// At reduced scale.
    pub quick: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// All claims with their verdicts.
    pub findings: Vec<Finding>,
    /// What was measured of blocks alone.
    pub laboratories: Vec<Found>,
    /// All cells, in the order of the studies.
    pub cells: Vec<Cell>,
    /// How many of them an earlier run had finished.
    pub resumed: usize,
    /// Workloads whose traces are in none of the folders.
    pub skipped: Vec<String>,
    /// Cells that failed, with the reason.
    pub failed: Vec<String>,
}

/// Names of all papers in a folder: its folders with an `experiment.toml`.
pub fn papers(folder: &Path) -> Result<Vec<String>, PaperError> {
    let list = std::fs::read_dir(folder).map_err(|error| PaperError::file(folder, "read", error))?;
    let entries = list.filter_map(Result::ok).filter(|entry| entry.path().join("experiment.toml").is_file());
    let no_text = |name: OsString| {
        let message = "its name is not UTF-8 text, and a paper is named by it";
        PaperError::file(&folder.join(name), "use", message)
    };
    let names = entries.map(|entry| entry.file_name().into_string().map_err(no_text));
    let mut names: Vec<String> = names.collect::<Result<_, _>>()?;
    names.sort();
    Ok(names)
}

impl Paper {
    /// Reads a paper's folder and checks that its files fit together. Without a `claims.toml` nothing is claimed.
    pub fn load(folder: &Path) -> Result<Self, PaperError> {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let experiment = experiment::read(folder)?;
        let path = folder.join("claims.toml");
        let (claims, constants) = if path.exists() { claims::read(&path)? } else { Default::default() };
        for claim in &claims {
            check_names(&path, &experiment, claim)?;
        }
        Ok(Paper { name, folder: folder.to_owned(), experiment, claims, constants })
    }

    /// The folder in which a run keeps everything.
    pub fn out(&self, options: &Options) -> PathBuf {
        options.out.join(&self.name).join(if options.quick { "quick" } else { "full" })
    }

    /// Checks every configuration, ages the drives, runs the cells, judges the claims; on threads of this process
    /// ([`Studies`] leaves that to the caller).
    pub fn run(
        &self,
        options: &Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Outcome, PaperError> {
        let studies = Studies::plan(self, options, &Stop::default())?;
        let mut open = studies.open()?;
        for step in Step::ALL {
            let pieces = open.pieces(&studies, step);
            let before = open.done_before(step);
            let (what, jobs) = (step.name(), options.jobs);
            let ended =
                on_threads(jobs, pieces.len(), what, before, progress, &|at| studies.carry_out(pieces[at]));
            for end in ended {
                match end {
                    Err(error) if error.is_work() => open.failed.push(error.to_string()),
                    end => end?,
                }
            }
        }
        studies.outcome(open, progress)
    }
}

/// Refuses a claim about something that is not run.
fn check_names(path: &Path, experiment: &Experiment, claim: &Claim) -> Result<(), PaperError> {
    let wrong = |key: &str, found: &str, names: Vec<&str>| PaperError::Wrong {
        place: format!("{}: claim {:?}", path.display(), claim.id),
        key: key.to_owned(),
        found: format!("{found:?}, which experiment.toml does not run"),
        allowed: names.join(", "),
        near: None,
    };
    if let Err((name, known)) = lines::check_claim(claim, &experiment.laboratories) {
        return Err(wrong("laboratory", &name, known.iter().map(String::as_str).collect()));
    }
    let Some(measure) = &claim.measure else { return Ok(()) };
    let Some(study) = experiment.studies.iter().find(|study| study.name == measure.study) else {
        let names = experiment.studies.iter().map(|study| study.name.as_str()).collect();
        return Err(wrong("study", &measure.study, names));
    };
    let mut techniques = vec![&measure.technique, &measure.against];
    let mut workloads: Vec<&String> = measure.workloads.iter().collect();
    match &claim.rule {
        Rule::Order { techniques: order } => techniques.extend(order),
        Rule::OrderOfWorkloads { workloads: order } | Rule::FirstOfWorkloads { workloads: order } => {
            workloads.extend(order);
        }
        _ => {}
    }
    techniques.retain(|name| !name.is_empty());
    let lists = [
        ("technique", techniques, &study.techniques),
        ("workloads", workloads, &study.workloads),
        ("ages", measure.ages.iter().collect(), &study.ages),
        ("phase", measure.phase.iter().collect(), &study.measured),
    ];
    for (key, names, known) in lists {
        if let Some(name) = names.into_iter().find(|name| !known.contains(name)) {
            return Err(wrong(key, name, known.iter().map(String::as_str).collect()));
        }
    }
    Ok(())
}

/// The results of `count` pieces of work, in their order, by so many threads (0: as many as there are cores). `before`
/// pieces were done earlier.
fn on_threads<T: Send>(
    threads: usize,
    count: usize,
    what: &'static str,
    before: usize,
    progress: &(dyn Fn(Progress) + Sync),
    work: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    let total = count + before;
    let done = Mutex::new(before);
    if count > 0 {
        progress(Progress { what, done: before, total });
    }
    crate::base::threads::on_threads(threads, count, |number| {
        let result = work(number);
        // Held while it is told, so that what is told only grows.
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        progress(Progress { what, done: *done, total });
        result
    })
}
