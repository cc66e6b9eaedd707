//! One cell of a study's grid: a technique, a workload, an age. Finished cells and aged drives are kept in a folder.

use super::bounds::{self, Recorded};
use super::experiment::{Age, Experiment, Setup, Study, Technique};
use super::metrics::{self, Facts};
use super::ready::{Again, Ready};
use super::{Options, PaperError};
use crate::age::AgeSteps;
use crate::experiment::{prepare, run};
use crate::foresee::foresee;
use crate::precondition::Preconditioning;
use crate::result::RunResult;
use crate::spec::{LoopMode, RunSpec};
use serde::{Deserialize, Serialize};
use ssd::drive_config::Resolved;
use ssd::ftl::stream;
use ssd::snapshot::checksum;
use ssd::{Drive, DriveConfig, Executor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use workload::Spec;

/// Which cell of which study.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Name of the study.
    pub study: String,
    /// Name of the age.
    pub age: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the technique.
    pub technique: String,
}

impl Place {
    /// Name of its file, and for people.
    pub fn name(&self) -> String {
        format!("{}-{}-{}-{}", self.study, self.technique, self.workload, self.age)
    }
}

/// A finished cell, as it is kept in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Everything that it depends on, as text.
    pub identity: String,
    /// Which one it is.
    pub place: Place,
    /// What was measured, by name.
    pub metrics: BTreeMap<String, f64>,
    /// The whole result.
    pub result: RunResult,
}

/// A drive that is aged once and used by several cells.
pub(super) struct Aged {
    /// Everything that it depends on, as text.
    identity: String,
    path: PathBuf,
    config: DriveConfig,
    spec: RunSpec,
    warm: Option<(usize, u64)>,
}

/// A cell to be run.
pub(super) struct Job {
    pub place: Place,
    identity: String,
    path: PathBuf,
    /// Its workload, by number.
    workload: usize,
    /// Its drive, by number.
    pub aged: usize,
    spec: RunSpec,
    /// Its workload's future, by number, if it is held against the bound.
    future: Option<usize>,
    /// How often the workload is served at most.
    passes: u64,
}

/// All that is to be done for a study.
#[derive(Default)]
pub(super) struct Work {
    pub aged: Vec<Aged>,
    pub jobs: Vec<Job>,
    pub futures: Vec<Recorded>,
}

/// Where a cell lies in its experiment.
pub(super) struct At<'a> {
    pub experiment: &'a Experiment,
    pub study: &'a Study,
    pub technique: &'a Technique,
    pub age: &'a Age,
    pub options: &'a Options,
    /// Where cells and drives are kept.
    pub folder: &'a Path,
    /// All workloads; `None` where a trace is missing.
    pub workloads: &'a [Option<Ready>],
}

/// What is done to a drive before it is measured.
type Preparation = (Preconditioning, AgeSteps);

/// Takes it from a run.
fn take_preparation(spec: &mut RunSpec) -> Preparation {
    (std::mem::take(&mut spec.preconditioning), std::mem::take(&mut spec.age))
}

/// What a run depends on, but for the drive, the workload and the program.
fn spec_identity(spec: &RunSpec) -> String {
    format!(
        "{:?} {:?} {:?} warm_up {} requests {:?} {:?}",
        spec.preconditioning,
        spec.age.texts(),
        spec.loop_mode,
        spec.warm_up,
        spec.requests,
        spec.executor
    )
}

impl At<'_> {
    /// Plans the cells of this technique at this age.
    pub fn plan(&self, work: &mut Work) -> Result<(), PaperError> {
        let quick = self.options.quick;
        for name in self.study.workloads(quick) {
            let workload = self.number(name);
            let of = (self.technique, &self.experiment.workloads[workload]);
            let Setup { resolved, run } = self.experiment.setup(self.study, of, quick, self.options.seed)?;
            // What must know the workload before the drive is filled is filled for each.
            let needs = stream::Policy::build(&resolved.config.stream).needs();
            let mut before = run.spec(&Spec::trace("-"));
            before.age.0.extend(self.age.steps.0.iter().copied());
            if needs.before_filling && self.study.warm.is_some() {
                return Err(self.unwarmed());
            }
            let own =
                if needs.before_filling { take_preparation(&mut before) } else { Preparation::default() };
            let aged = self.aged(&resolved, &before)?;
            let Some(ready) = &self.workloads[workload] else { continue };
            let number =
                work.aged.iter().position(|other| other.identity == aged.identity).unwrap_or_else(|| {
                    work.aged.push(aged);
                    work.aged.len() - 1
                });
            let place = Place {
                study: self.study.name.clone(),
                technique: self.technique.name.clone(),
                workload: name.clone(),
                age: self.age.name.clone(),
            };
            let mut spec = run.spec(&ready.spec);
            spec.name = place.name();
            (spec.preconditioning, spec.age) = own;
            spec.workload_hash = ready.prepared.workload_hash();
            let passes = if spec.requests.is_some() { u64::MAX } else { self.study.repeat };
            let identity = format!(
                "{}; workload {:016x} {} times; {}",
                work.aged[number].identity,
                spec.workload_hash,
                self.study.repeat,
                spec_identity(&spec)
            );
            let path = self.folder.join("cells").join(format!("{}.json", place.name()));
            let future = if self.study.bound {
                let config = &work.aged[number].config;
                let recorded = Recorded::new(workload, config, &run, spec.requests, passes);
                Some(Recorded::number(recorded.map_err(|why| self.unbounded(why))?, &mut work.futures))
            } else {
                None
            };
            let identity = format!("{identity}; bound {}", future.is_some());
            work.jobs.push(Job { place, identity, path, workload, aged: number, spec, future, passes });
        }
        Ok(())
    }

    /// The error for a study that asks for a bound that cannot be had.
    fn unbounded(&self, why: &str) -> PaperError {
        PaperError::Wrong {
            place: "experiment.toml".to_owned(),
            key: format!("study {}: bound", self.study.name),
            found: why.to_owned(),
            allowed: "true for runs without warm-up on drives that are filled wholly".to_owned(),
            near: None,
        }
    }

    /// The error for a study that warms a drive up before there is one.
    fn unwarmed(&self) -> PaperError {
        PaperError::Wrong {
            place: "experiment.toml".to_owned(),
            key: format!("study {}: warm", self.study.name),
            found: format!(
                "a warm-up, and {:?}, which must know its workload before the drive is filled",
                self.technique.name
            ),
            allowed: "no warm-up, or techniques that know nothing beforehand".to_owned(),
            near: None,
        }
    }

    fn number(&self, name: &str) -> usize {
        self.experiment.workloads.iter().position(|workload| workload.name == name).unwrap_or(usize::MAX)
    }

    fn aged(&self, resolved: &Resolved, run: &RunSpec) -> Result<Aged, PaperError> {
        let mut spec = run.clone();
        spec.executor = Executor::Functional;
        spec.warm_up = 0;
        let warm = match &self.study.warm {
            None => None,
            Some(warm) => {
                let number = self.number(&warm.workload);
                if self.workloads.get(number).is_none_or(Option::is_none) {
                    let name = warm.workload.clone();
                    return Err(PaperError::Missing { name });
                }
                Some((number, warm.requests(self.options.quick)))
            }
        };
        let warm = warm.filter(|(_, requests)| *requests > 0);
        let warm_text = match warm.and_then(|(number, n)| Some((self.workloads[number].as_ref()?, n))) {
            None => String::new(),
            Some((ready, requests)) => {
                format!("; warmed by {requests} of {:016x}", ready.prepared.workload_hash())
            }
        };
        let identity = format!(
            "wordline {}; drive {:016x}; {:?} {:?}{warm_text}",
            crate::result::version(),
            resolved.hash(),
            spec.preconditioning,
            spec.age.texts()
        );
        let name = format!("{:016x}.snapshot", checksum(identity.as_bytes()));
        let path = self.folder.join("drives").join(name);
        Ok(Aged { identity, path, config: resolved.config.clone(), spec, warm })
    }
}

impl Aged {
    /// Ages the drive and keeps it, unless it is there.
    pub fn make(&self, workloads: &[Option<Ready>]) -> Result<(), PaperError> {
        if self.path.is_file() {
            return Ok(());
        }
        let failed = |error: &dyn std::fmt::Display| PaperError::Run {
            name: format!("ageing a drive ({})", self.identity),
            message: error.to_string(),
        };
        let mut drive = Drive::new(&self.config).map_err(PaperError::Config)?;
        drive.set_executor(Executor::Functional);
        prepare(
            &mut drive,
            &self.config,
            &self.spec.preconditioning,
            &self.spec.age,
            &self.spec.stop,
            &mut |_| {},
        )
        .map_err(|failure| failed(&failure))?;
        if let Some((ready, requests)) = self.warm.and_then(|(at, n)| Some((workloads[at].as_ref()?, n))) {
            let spec = RunSpec {
                executor: Executor::Functional,
                loop_mode: LoopMode::Closed { depth: 1 },
                requests: Some(requests),
                ..RunSpec::default()
            };
            let open = || ready.prepared.open(drive.logical_sectors()).map_err(|error| failed(&error));
            let (mut ahead, mut source) = (open()?, open()?);
            foresee(&mut drive, &mut *ahead, &spec, &mut |_| {}).map_err(|error| failed(&error))?;
            run(&mut drive, &self.config, &mut *source, &spec, &mut |_| {})
                .map_err(|error| failed(&error))?;
        }
        let mut bytes = Vec::new();
        drive.save(&mut bytes).map_err(|error| PaperError::file(&self.path, "write", error))?;
        write(&self.path, &bytes)
    }
}

impl Job {
    /// The finished cell, if there is one that depends on the same things.
    pub fn finished(&self) -> Option<Cell> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let cell: Cell = serde_json::from_str(&text).ok()?;
        (cell.identity == self.identity && cell.place == self.place).then_some(cell)
    }

    /// Runs it on its aged drive and keeps it.
    pub fn run(&self, work: &Work, workloads: &[Option<Ready>]) -> Result<Cell, PaperError> {
        let aged = &work.aged[self.aged];
        let failed = |error: &dyn std::fmt::Display| PaperError::Run {
            name: self.place.name(),
            message: error.to_string(),
        };
        let bytes = std::fs::read(&aged.path).map_err(|error| PaperError::file(&aged.path, "read", error))?;
        let mut drive = Drive::restore(&aged.config, &bytes).map_err(|error| failed(&error))?;
        drop(bytes);
        let Some(ready) = &workloads[self.workload] else {
            return Err(PaperError::Missing { name: self.place.workload.clone() });
        };
        let sectors = drive.logical_sectors();
        let open = || {
            let inner = ready.prepared.open(sectors).map_err(|error| failed(&error))?;
            Ok(Again::new(ready, inner, sectors, self.passes))
        };
        foresee(&mut drive, &mut open()?, &self.spec, &mut |_| {}).map_err(|error| failed(&error))?;
        let mut source = open()?;
        let cycles = drive.erase_counts().into_iter().min().unwrap_or(0);
        let result = run(&mut drive, &aged.config, &mut source, &self.spec, &mut |_| {})
            .map_err(|error| failed(&error))?;
        let stats = drive.stats();
        let facts = Facts { result: &result, stats: &stats, config: &aged.config };
        let mut metrics = metrics::measure(&facts);
        if let Some(future) = self.future {
            let pages =
                work.futures[future].bound(&aged.config, cycles, workloads).map_err(|e| failed(&e))?;
            metrics.extend(pages.map(|pages| ("copies_bound".to_owned(), pages)));
            bounds::hold(&metrics).map_err(|why| failed(&why))?;
        }
        let mut result = result;
        // What depends on the machine, not on the drive.
        (result.cpu_seconds, result.wall_seconds, result.preconditioning.cpu_seconds) = (0.0, 0.0, 0.0);
        (result.requests_per_cpu_second, result.peak_rss_bytes) = (None, None);
        let cell = Cell { identity: self.identity.clone(), place: self.place.clone(), metrics, result };
        let text = serde_json::to_string_pretty(&cell).map_err(|error| failed(&error))?;
        write(&self.path, text.as_bytes())?;
        Ok(cell)
    }
}

/// Writes a file of a folder that is made for it, as a whole or not at all.
fn write(path: &Path, content: &[u8]) -> Result<(), PaperError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| PaperError::file(folder, "create", error))?;
    crate::files::replace(path, content).map_err(|error| PaperError::file(path, "write", error.message))
}
