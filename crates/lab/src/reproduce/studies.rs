//! A paper's studies in pieces: planned, carried out by whoever has threads or processes for them, and judged.

use super::cell::{At, Cell, Work};
use super::claims::Claim;
use super::laboratory::Found;
use super::options::{Options, Progress};
use super::outcome::Outcome;
use super::paper::Paper;
use super::ready::{self, Ready};
use super::threads::on_threads;
use super::verdict::Finding;
use super::{beside, experiment, lines, maxima, seeds};
use crate::base::document::PaperError;
use crate::base::stop::Stop;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// What is done one after the other; the pieces of a step may be done in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Drives are aged.
    Ageing,
    /// Runs are done on them.
    Running,
}

impl Step {
    /// Both, in their order.
    pub const ALL: [Step; 2] = [Step::Ageing, Step::Running];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Step::Ageing => "ageing drives",
            Step::Running => "running",
        }
    }
}

/// A piece of work, by its number in the plan. What it makes is kept in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// A drive is aged.
    Drive(usize),
    /// A run on such a drive.
    Run(usize),
}

/// All that another process must know of a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceOrder {
    /// The paper's folder.
    pub paper: PathBuf,
    /// How it is run.
    pub options: Options,
    /// What is to be done.
    pub piece: Piece,
}

/// What is to be done, and what has become of it.
#[derive(Clone, Debug, Default)]
pub struct Open {
    drives: Vec<usize>,
    runs: Vec<usize>,
    /// Runs and cells that an earlier run has finished.
    runs_before: usize,
    cells_before: usize,
    /// What failed, for people.
    pub failed: Vec<String>,
}

impl Open {
    /// What is to be done in a step; runs whose drives could not be aged are not.
    pub fn pieces(&self, studies: &Studies, step: Step) -> Vec<Piece> {
        let has_drive = |run: &&usize| studies.work.aged[studies.work.jobs[**run].aged].is_there();
        match step {
            Step::Ageing => self.drives.iter().copied().map(Piece::Drive).collect(),
            Step::Running => self.runs.iter().filter(has_drive).copied().map(Piece::Run).collect(),
        }
    }

    /// Pieces of a step that were done by an earlier run.
    pub fn done_before(&self, step: Step) -> usize {
        if step == Step::Running { self.runs_before } else { 0 }
    }
}

/// Endings of the files that studies keep: of cells and of drives.
const KEPT: [&str; 2] = ["json", "snapshot"];

/// Removes what earlier studies have kept in a folder, and those of its folders that are empty then. What has another
/// name is somebody else's.
fn remove_ours(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_kept = path.extension().is_some_and(|ending| KEPT.iter().any(|kept| ending == *kept));
        match path.symlink_metadata()? {
            found if found.is_dir() && name.starts_with("seed-") => remove_ours(&path)?,
            found if found.is_file() && is_kept => std::fs::remove_file(&path)?,
            _ => {}
        }
    }
    // A folder that is not empty stays.
    let _ = std::fs::remove_dir(folder);
    Ok(())
}

/// The studies of a paper, planned.
pub struct Studies {
    paper: Paper,
    options: Options,
    workloads: Vec<Option<Ready>>,
    work: Work,
}

impl Studies {
    /// Checks every configuration and looks through all workloads. Pieces end early when somebody asks to stop.
    pub fn plan(paper: &Paper, options: &Options, stop: &Stop) -> Result<Self, PaperError> {
        let workloads = paper.ready(options)?;
        let mut work = paper.plan(options, &paper.out(options), &workloads)?;
        work.stop_with(stop);
        Ok(Studies { paper: paper.clone(), options: options.clone(), workloads, work })
    }

    /// What is to be done. What an earlier run has left is removed if it is not to be taken over.
    pub fn open(&self) -> Result<Open, PaperError> {
        let folder = self.paper.out(&self.options);
        if !self.options.resume && folder.is_dir() {
            for old in [folder.join("cells"), folder.join("drives")].iter().filter(|old| old.is_dir()) {
                remove_ours(old).map_err(|error| PaperError::file(old, "write", error))?;
            }
        }
        let mut open = Open::default();
        for (at, job) in self.work.jobs.iter().enumerate() {
            match job.finished() {
                Some(cells) => {
                    open.runs_before += 1;
                    open.cells_before += cells.len();
                }
                None => {
                    open.runs.push(at);
                    open.drives.push(job.aged);
                }
            }
        }
        open.drives.sort_unstable();
        open.drives.dedup();
        Ok(open)
    }

    /// What another process must know of a piece.
    pub fn order(&self, piece: Piece) -> PieceOrder {
        PieceOrder { paper: self.paper.folder.clone(), options: self.options.clone(), piece }
    }

    /// Whether it is the plan of an order.
    pub fn are_of(&self, order: &PieceOrder) -> bool {
        (&self.paper.folder, &self.options) == (&order.paper, &order.options)
    }

    /// What people know a piece by.
    pub fn name(&self, piece: Piece) -> String {
        match piece {
            Piece::Drive(at) => format!("ageing drive {at}"),
            Piece::Run(at) => self.work.jobs[at].place.name(),
        }
    }

    /// Carries out a piece of work and keeps what came of it. An error if the plan has no such piece.
    pub fn carry_out(&self, piece: Piece) -> Result<(), PaperError> {
        let unknown = || PaperError::Run {
            name: self.paper.name.clone(),
            message: format!("{piece:?} is not in the plan: its files have changed"),
        };
        match piece {
            Piece::Drive(at) => self.work.aged.get(at).ok_or_else(unknown)?.make(&self.workloads),
            Piece::Run(at) => {
                let job = self.work.jobs.get(at).ok_or_else(unknown)?;
                job.run(&self.work, &self.workloads)?;
                let message = "its measurements cannot be read back".to_owned();
                let lost = || PaperError::Run { name: job.place.name(), message };
                job.finished().map(drop).ok_or_else(lost)
            }
        }
    }

    /// What came of the paper once all pieces have ended: blocks alone are measured, and the claims judged.
    pub fn outcome(&self, open: Open, progress: &(dyn Fn(Progress) + Sync)) -> Result<Outcome, PaperError> {
        let (paper, options) = (&self.paper, &self.options);
        let laboratories = paper.measure(options, progress)?;
        let mut runs: Vec<Cell> = self.work.jobs.iter().filter_map(|job| job.finished()).flatten().collect();
        beside::techniques(&paper.experiment, &mut runs);
        let cells = paper.means(&mut runs);
        let judged = seeds::Judged::new(&paper.experiment, options.quick, &cells, &runs);
        Ok(Outcome {
            paper: paper.name.clone(),
            title: paper.experiment.title.clone(),
            quick: options.quick,
            seed: options.seed,
            findings: paper.judge(&judged, &laboratories)?,
            laboratories,
            resumed: open.cells_before,
            skipped: paper.missing(options, &self.workloads),
            failed: open.failed,
            cells,
        })
    }
}

impl Paper {
    /// Workloads that are used and whose traces are in none of the folders.
    fn missing(&self, options: &Options, workloads: &[Option<Ready>]) -> Vec<String> {
        let all = self.experiment.workloads.iter().zip(workloads);
        let is_missing = |(workload, ready): &(&experiment::Workload, &Option<Ready>)| {
            ready.is_none() && self.is_used(&workload.name, (options.quick, options.seed, None))
        };
        all.filter(is_missing).map(|(workload, _)| workload.name.clone()).collect()
    }

    /// All that is measured of blocks alone.
    fn measure(
        &self,
        options: &Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Found>, PaperError> {
        let all = &self.experiment.laboratories;
        // Each of them takes all cores.
        let found = on_threads(1, all.len(), "measuring blocks", 0, progress, &|at| {
            all[at].measure(options.quick, options.seed)
        });
        found.into_iter().collect()
    }

    /// What becomes of all claims.
    fn judge(&self, judged: &seeds::Judged<'_>, found: &[Found]) -> Result<Vec<Finding>, PaperError> {
        let of = |claim: &Claim| match &claim.laboratory {
            Some(line) => lines::find(claim, line, found),
            None => Ok(judged.find(claim)),
        };
        self.claims.iter().map(of).collect()
    }

    /// The means over all seeds. Where a series has its most is told of each seed's curve, and of the mean curve.
    fn means(&self, runs: &mut [Cell]) -> Vec<Cell> {
        maxima::add(&self.experiment, runs);
        let mut cells = seeds::means(runs);
        maxima::add(&self.experiment, &mut cells);
        cells
    }

    /// Whether a study uses a workload at a scale, with a seed or with any.
    fn is_used(&self, workload: &str, (quick, first, seed): (bool, u64, Option<u64>)) -> bool {
        self.experiment.studies.iter().any(|study| {
            let has_seed = seed.is_none_or(|seed| study.seeds(quick, first).contains(&seed));
            let is_its = study.workloads(quick).iter().any(|name| name == workload);
            has_seed && (is_its || study.warm.as_ref().is_some_and(|warm| warm.workload == workload))
        })
    }

    /// All seeds of the studies at this scale, each once.
    fn seeds(&self, options: &Options) -> Vec<u64> {
        let mut seeds: Vec<u64> = Vec::new();
        for seed in self.experiment.studies.iter().flat_map(|it| it.seeds(options.quick, options.seed)) {
            if !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
        seeds
    }

    /// Looks through all workloads that the studies use at this scale, with one seed after the other.
    fn ready(&self, options: &Options) -> Result<Vec<Option<Ready>>, PaperError> {
        let mut all = Vec::new();
        for seed in self.seeds(options) {
            for workload in &self.experiment.workloads {
                let is_used = self.is_used(&workload.name, (options.quick, options.seed, Some(seed)));
                all.push(if is_used { ready::ready(workload, options, seed)? } else { None });
            }
        }
        Ok(all)
    }

    fn plan(
        &self,
        options: &Options,
        folder: &Path,
        workloads: &[Option<Ready>],
    ) -> Result<Work, PaperError> {
        let experiment = &self.experiment;
        let all = self.seeds(options);
        let mut work = Work::default();
        for study in &experiment.studies {
            for age in experiment.ages.iter().filter(|age| study.ages(options.quick).contains(&age.name)) {
                for technique in experiment.techniques.iter().filter(|it| study.techniques.contains(&it.name))
                {
                    for seed in study.seeds(options.quick, options.seed) {
                        let number = all.iter().position(|other| *other == seed).unwrap_or(0);
                        let first = number * experiment.workloads.len();
                        let at =
                            At { experiment, study, technique, age, options, seed, folder, workloads, first };
                        at.plan(&mut work)?;
                    }
                }
            }
        }
        Ok(work)
    }
}
