//! One cell of a study's grid: a technique, a workload, an age. Finished cells and aged drives are kept in a folder.

use super::bounds::{self, Recorded};
use super::experiment::{Age, Experiment, Setup, Technique};
use super::metrics::{self, Facts};
use super::phases::{InPhases, unmeasured};
use super::ready::{Again, Ready, number};
use super::skew::Skew;
use super::study::Study;
use super::{Options, PaperError};
use crate::base::error::Failure;
use crate::base::files::{Replacement, stage_drive};
use crate::base::stop::Stop;
use crate::past::age::AgeSteps;
use crate::past::precondition::Preconditioning;
use crate::plan::run_config::RunConfig;
use crate::plan::spec::{LoopMode, RunSpec};
use crate::result::RunResult;
use crate::result::problem::names;
use crate::run::experiment::{RunError, prepare, run};
use crate::run::foresee::foresee;
use serde::{Deserialize, Serialize};
use ssd::drive_config::Resolved;
use ssd::ftl::stream;
use ssd::snapshot::checksum;
use ssd::{Drive, DriveConfig, Executor, Reason};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use workload::whole::{self, RESULT_BYTES_MAX};
use workload::{Source, Spec};

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
    /// The phase that was measured; empty for a workload as a whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub phase: String,
}

impl Place {
    /// Name of its file, and for people.
    pub fn name(&self) -> String {
        let parts = [&self.study, &self.technique, &self.workload, &self.age, &self.phase];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join("-")
    }
}

/// A finished cell, as it is kept in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Everything that it depends on, as text.
    pub identity: String,
    /// Which one it is.
    pub place: Place,
    /// What was measured, by name; the means over all seeds.
    pub metrics: BTreeMap<String, f64>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Standard deviations over the seeds, by name; none for one seed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spread: BTreeMap<String, f64>,
    /// Names of the reasons not to take its numbers as they stand, of all seeds together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The whole result, of the first seed.
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
    /// Where it lies in its experiment; its phases are those of `measured`.
    pub place: Place,
    identity: String,
    /// The folder of its cells.
    folder: PathBuf,
    seed: u64,
    /// Phases that are measured; none to measure the whole.
    measured: Vec<String>,
    /// Its workload, by number.
    workload: usize,
    /// Its drive, by number.
    pub aged: usize,
    spec: RunSpec,
    /// Its workload's future, by number, if it is held against the bound.
    future: Option<usize>,
    /// Whether it goes on until the drive is worn out.
    until_worn: bool,
    /// How often the workload is served at most.
    passes: u64,
    /// The skew of its reads, if it is known.
    skew: Option<Skew>,
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
    pub seed: u64,
    /// Where cells and drives are kept.
    pub folder: &'a Path,
    /// All workloads with all seeds ([`number`]); `None` where a trace is missing, or nothing needs it.
    pub workloads: &'a [Option<Ready>],
    /// Where those with this seed begin.
    pub first: usize,
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
        "{:?} {:?} {:?} warm_up {} requests {:?} {:?}{}",
        spec.preconditioning,
        spec.age.texts(),
        spec.loop_mode,
        spec.warm_up,
        spec.requests,
        spec.executor,
        if spec.versions.watch { " versions" } else { "" },
    )
}

impl At<'_> {
    /// Plans the cells of this technique at this age.
    pub fn plan(&self, work: &mut Work) -> Result<(), PaperError> {
        let quick = self.options.quick;
        for name in self.study.workloads(quick) {
            let workload = self.number(name);
            let of = (self.technique, &self.experiment.workloads[workload - self.first]);
            let own_steps = &of.1.steps.0;
            let Setup { resolved, run, .. } = self.experiment.setup(self.study, of, quick, self.seed)?;
            // What must know the workload before the drive is filled is filled for each.
            let needs = stream::Policy::build(&resolved.config.stream).needs();
            let mut before = run.spec(&Spec::trace("-"));
            before.age.0.extend(self.age.steps.0.iter().chain(own_steps).copied());
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
            let mut spec = run.spec(&ready.spec);
            (spec.preconditioning, spec.age) = own;
            // Claims are about whole runs.
            spec.samples = 0;
            spec.workload_hash = ready.prepared.workload_hash();
            self.check_phases(&spec)?;
            let job = self.job(work, (name, workload), number, (&run, spec))?;
            work.jobs.push(job);
        }
        Ok(())
    }

    /// The run of a workload, by name and number, on an aged drive.
    fn job(
        &self,
        work: &mut Work,
        (name, workload): (&str, usize),
        aged: usize,
        (run, mut spec): (&RunConfig, RunSpec),
    ) -> Result<Job, PaperError> {
        let place = Place {
            study: self.study.name.clone(),
            technique: self.technique.name.clone(),
            workload: name.to_owned(),
            age: self.age.name.clone(),
            phase: String::new(),
        };
        spec.name = place.name();
        spec.versions.watch = self.study.versions;
        let passes = if spec.requests.is_some() { u64::MAX } else { self.study.repeat };
        let future = if self.study.bound {
            let recorded = Recorded::new(workload, &work.aged[aged].config, run, spec.requests, passes);
            Some(Recorded::number(recorded.map_err(|why| self.unbounded(why))?, &mut work.futures))
        } else {
            None
        };
        let identity = format!(
            "{}; workload {:016x} {} times; {}; bound {}; measured {:?}",
            work.aged[aged].identity,
            spec.workload_hash,
            self.study.repeat,
            spec_identity(&spec),
            future.is_some(),
            self.study.measured,
        );
        let cells = self.folder.join("cells");
        let is_only = self.study.seeds(self.options.quick, self.options.seed) == [self.seed];
        let folder = if is_only { cells } else { cells.join(format!("seed-{}", self.seed)) };
        let (measured, seed) = (self.study.measured.clone(), self.seed);
        let skew = self.experiment.workloads[workload - self.first].skew;
        let until_worn = self.study.until_worn;
        Ok(Job {
            place,
            identity,
            folder,
            seed,
            measured,
            workload,
            aged,
            spec,
            future,
            until_worn,
            passes,
            skew,
        })
    }

    /// Refuses runs that do not serve each phase once.
    fn check_phases(&self, spec: &RunSpec) -> Result<(), PaperError> {
        let (requests, warm_up) = (spec.requests.unwrap_or(0), spec.warm_up);
        if self.study.measured.is_empty() || (requests, warm_up) == (0, 0) {
            return Ok(());
        }
        Err(PaperError::Wrong {
            place: "experiment.toml".to_owned(),
            key: format!("study {}: measured", self.study.name),
            found: format!("phases, and run.requests = {requests}, run.warm_up_requests = {warm_up}"),
            allowed: "0 for both: phases end by limits of their own".to_owned(),
            near: None,
        })
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

    /// The number of a workload with this seed.
    fn number(&self, name: &str) -> usize {
        self.first + number(self.experiment, name)
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

impl Work {
    /// Everything ends early when somebody asks to stop.
    pub fn stop_with(&mut self, stop: &Stop) {
        self.aged.iter_mut().for_each(|aged| aged.spec.stop = stop.clone());
        self.jobs.iter_mut().for_each(|job| job.spec.stop = stop.clone());
    }
}

impl Aged {
    /// Whether it is kept.
    pub fn is_there(&self) -> bool {
        self.path.is_file()
    }

    /// Ages the drive and keeps it, unless it is there.
    pub fn make(&self, workloads: &[Option<Ready>]) -> Result<(), PaperError> {
        if self.is_there() {
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
                stop: self.spec.stop.clone(),
                ..RunSpec::default()
            };
            let open = || ready.prepared.open(drive.logical_sectors()).map_err(|error| failed(&error));
            let (mut ahead, mut source) = (open()?, open()?);
            foresee(&mut drive, &mut *ahead, &spec, &mut |_| {}).map_err(|error| failed(&error))?;
            run(&mut drive, &self.config, &mut *source, &spec, &mut |_| {})
                .map_err(|error| failed(&error))?;
        }
        let failed = |error: std::io::Error| PaperError::file(&self.path, "write", error);
        make_folder(&self.path)?;
        stage_drive(&self.path, &drive, &self.config).and_then(Replacement::commit).map_err(failed)
    }
}

impl Job {
    /// The phases that it measures; one without a name for the whole workload.
    fn phases(&self) -> impl Iterator<Item = &str> {
        let whole = self.measured.is_empty().then_some("");
        self.measured.iter().map(String::as_str).chain(whole)
    }

    fn place_of(&self, phase: &str) -> Place {
        Place { phase: phase.to_owned(), ..self.place.clone() }
    }

    fn path(&self, place: &Place) -> PathBuf {
        self.folder.join(format!("{}.json", place.name()))
    }

    /// The finished cells, if all are there and depend on the same things.
    pub fn finished(&self) -> Option<Vec<Cell>> {
        let cell = |phase: &str| {
            let place = self.place_of(phase);
            let text = whole::read_text(&self.path(&place), RESULT_BYTES_MAX).ok()?;
            let cell: Cell = serde_json::from_str(&text).ok()?;
            (cell.identity == self.identity && cell.place == place).then_some(cell)
        };
        self.phases().map(cell).collect()
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> PaperError {
        let seed = format!(" (seed {})", self.seed);
        PaperError::Run { name: self.place.name() + &seed, message: error.to_string() }
    }

    /// Runs it on its aged drive and keeps what was measured.
    pub fn run(&self, work: &Work, workloads: &[Option<Ready>]) -> Result<Vec<Cell>, PaperError> {
        let aged = &work.aged[self.aged];
        let bytes = std::fs::read(&aged.path).map_err(|error| PaperError::file(&aged.path, "read", error))?;
        let mut drive = Drive::restore(&aged.config, &bytes).map_err(|error| self.failed(&error))?;
        drop(bytes);
        let Some(ready) = &workloads[self.workload] else {
            return Err(PaperError::Missing { name: self.place.workload.clone() });
        };
        let sectors = drive.logical_sectors();
        let open = || {
            let inner = ready.prepared.open(sectors).map_err(|error| self.failed(&error))?;
            Ok(Again::new(ready, inner, sectors, self.passes))
        };
        foresee(&mut drive, &mut open()?, &self.spec, &mut |_| {}).map_err(|error| self.failed(&error))?;
        let mut source = open()?;
        let cycles = drive.blocks().erase_counts().into_iter().min().unwrap_or(0);
        if !self.measured.is_empty() {
            return self.run_phases(&mut drive, &aged.config, InPhases::new(&mut source));
        }
        let mut cell = self.measure((&mut drive, &aged.config), &mut source, ("", &self.spec))?;
        if let Some(future) = self.future {
            let bound = work.futures[future].bound(&aged.config, cycles, workloads);
            let pages = bound.map_err(|error| self.failed(&error))?;
            cell.metrics.extend(pages.map(|pages| ("copies_bound".to_owned(), pages)));
            bounds::hold(&cell.metrics).map_err(|why| self.failed(&why))?;
        }
        self.keep(&cell)?;
        Ok(vec![cell])
    }

    /// Serves one phase after the other and measures those that are to be.
    fn run_phases(
        &self,
        drive: &mut Drive,
        config: &DriveConfig,
        mut phases: InPhases<'_, Again<'_>>,
    ) -> Result<Vec<Cell>, PaperError> {
        let mut cells = Vec::new();
        let mut spec = self.spec.clone();
        while let Some(name) = phases.begin_next().map_err(|error| self.failed(&error))? {
            if self.measured.contains(&name) {
                let cell = self.measure((drive, config), &mut phases, (&name, &spec))?;
                self.keep(&cell)?;
                cells.push(cell);
            } else {
                run(drive, config, &mut phases, &unmeasured(&spec), &mut |_| {})
                    .map_err(|error| self.failed(&error))?;
            }
            // What is done before a run was done before the first.
            take_preparation(&mut spec);
        }
        match self.phases().find(|name| !cells.iter().any(|cell| cell.place.phase == *name)) {
            Some(name) => Err(self.failed(&format!("phase {name:?} is measured, and has no requests"))),
            None => Ok(cells),
        }
    }

    /// Runs what a source gives and measures it as a phase of that name.
    fn measure<S: Source>(
        &self,
        (drive, config): (&mut Drive, &DriveConfig),
        source: &mut S,
        (phase, spec): (&str, &RunSpec),
    ) -> Result<Cell, PaperError> {
        let place = self.place_of(phase);
        let spec = RunSpec { name: place.name(), ..spec.clone() };
        let mut result = self.ended(run(drive, config, source, &spec, &mut |_| {}))?;
        let stats = drive.stats();
        let mut metrics = metrics::measure(&Facts { result: &result, stats: &stats, config });
        let thresholds = metrics.get("thresholds_mean").copied();
        let achieved = self.skew.and_then(|skew| skew.achieved(config, thresholds?));
        metrics.extend(achieved.map(|achieved| ("achieved".to_owned(), achieved)));
        // What depends on the machine, not on the drive.
        (result.cpu_seconds, result.wall_seconds, result.preconditioning.cpu_seconds) = (0.0, 0.0, 0.0);
        (result.requests_per_cpu_second, result.peak_rss_bytes) = (None, None);
        let (identity, seeds) = (self.identity.clone(), vec![self.seed]);
        let problems = names(&result.problems).into_iter().map(str::to_owned).collect();
        Ok(Cell { identity, place, metrics, seeds, spread: BTreeMap::new(), problems, result })
    }

    /// The result of a run that ended as it should.
    fn ended(&self, run: Result<RunResult, RunError>) -> Result<RunResult, PaperError> {
        match run {
            Ok(_) if self.until_worn => Err(self.failed(&"the requests ran out before the drive wore out")),
            Ok(result) => Ok(result),
            Err(RunError {
                failure: Failure::ReadOnly { reason: Reason::WornOut },
                result: Some(result),
            }) if self.until_worn => Ok(*result),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Puts a finished cell in its file.
    fn keep(&self, cell: &Cell) -> Result<(), PaperError> {
        let text = serde_json::to_string_pretty(&cell).map_err(|error| self.failed(&error))?;
        write(&self.path(&cell.place), text.as_bytes())
    }
}

/// Makes the folder of a file.
fn make_folder(path: &Path) -> Result<(), PaperError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| PaperError::file(folder, "create", error))
}

/// Writes a file of a folder that is made for it, as a whole or not at all.
fn write(path: &Path, content: &[u8]) -> Result<(), PaperError> {
    make_folder(path)?;
    crate::base::files::replace_plain(path, content)
        .map_err(|error| PaperError::file(path, "write", error.message))
}
