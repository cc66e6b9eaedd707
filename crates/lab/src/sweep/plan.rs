//! What a sweep will run: each point as a configuration of its own, under a name that says everything it depends on.

use super::SweepError;
use super::grid::{Point, Sweep};
use super::tables::WORKLOAD;
use crate::experiment::cache_key;
use crate::job::{Job, JobError, Plan, with_path};
use crate::policies::{Allowed, known_by};
use sha2::{Digest, Sha256};
use ssd::drive_config::Resolved;
use ssd::reconfigure::{differing, is_changeable};
use ssd::{DriveConfig, ExternalPolicies};
use std::collections::BTreeMap;
use std::path::Path;
use toml::de::DeValue;
use workload::{Prepared, STANDARD_INPUT, Spec, WorkloadError};

/// Keys of a workload that name its file: what kind of file it is says what workload it is.
const FILES: [&str; 3] = ["workload.path", "workload.jobs", "workload.capture"];
/// Keys that a point's seed sets, unless they vary themselves.
const SEEDS: [&str; 2] = ["drive.seed", WORKLOAD_SEED];
const WORKLOAD_SEED: &str = "workload.seed";

/// Whether a key says which workload it is.
fn names_workload(key: &str) -> bool {
    key == WORKLOAD || FILES.contains(&key)
}

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// A hash of its resolved configuration, the workload's content and the program's sources, in 16 digits.
    pub id: String,
    /// Runs of one number begin with the same aged drive.
    pub drive: u64,
    /// What was varied.
    pub point: Point,
    /// Drive, run and workload: a configuration that is this run.
    pub config: String,
    /// The drive as which it is aged, if that is another.
    pub aged_as: Option<String>,
    /// What its workload is known by.
    pub workload_hash: u64,
    /// Hashes of the libraries whose policies it runs.
    pub libraries: Vec<String>,
}

impl Run {
    /// The name of the file in which it is kept.
    pub fn file(&self) -> String {
        format!("{}.json", self.id)
    }

    /// What was varied, for people: keys by their last part, and values.
    pub fn name(&self) -> String {
        name_of(&self.point)
    }
}

fn name_of(point: &Point) -> String {
    // A policy is known by what it decides.
    let last = |key: &str| key.trim_end_matches(".policy").rsplit('.').next().unwrap_or(key).to_owned();
    let settings = point.settings.iter().map(|(key, value)| format!("{}={value}", last(key)));
    let repeat = (point.repeat > 0).then(|| format!("repeat {}", point.repeat));
    settings.chain(repeat).collect::<Vec<_>>().join(" ").replace('"', "")
}

/// A sweep with all its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPlan {
    /// What the file says.
    pub sweep: Sweep,
    /// One for each point, in its order.
    pub runs: Vec<Run>,
}

/// What is not in a sweep's file: policies of the caller's own.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Which libraries with policies may be loaded.
    pub allowed: Allowed,
    /// Policies that are no libraries'.
    pub given: ExternalPolicies,
    /// The settings that make drives ask for them, as `--set` has them.
    pub sets: Vec<String>,
}

impl SweepPlan {
    /// Resolves all points of a sweep file, whose paths count from its folder. A workload is read through by `survey`,
    /// each once.
    pub fn new(
        path: &Path,
        text: String,
        outside: Outside,
        survey: &mut dyn FnMut(&Spec) -> Result<Prepared, WorkloadError>,
    ) -> Result<Self, JobError> {
        let wrong = |error: SweepError| JobError::new(error.to_string());
        let sweep = Sweep::parse(&text, path).map_err(wrong)?;
        let Outside { allowed, given, sets } = outside;
        let base = Job::of_sweep(path, text).allowing(allowed).giving(given).with_sets(&sets)?;
        let mut planner = Planner { path, sweep: &sweep, base, survey, known: BTreeMap::new() };
        let runs = sweep.points.iter().map(|point| planner.run(point)).collect::<Result<_, _>>()?;
        Ok(SweepPlan { sweep, runs })
    }
}

/// What all points have in common.
struct Planner<'a> {
    path: &'a Path,
    sweep: &'a Sweep,
    base: Job,
    survey: &'a mut dyn FnMut(&Spec) -> Result<Prepared, WorkloadError>,
    /// Workloads that were read through, by their settings.
    known: BTreeMap<String, Prepared>,
}

impl Planner<'_> {
    /// The drive as which a point's is aged, where that is not itself: of the same point without what can change on an
    /// aged drive.
    fn aged_as(&mut self, point: &Point, config: &DriveConfig) -> Result<Option<Resolved>, JobError> {
        let stays = |(key, _): &&(String, String)| !is_changeable(key);
        let settings: Vec<_> = point.settings.iter().filter(stays).cloned().collect();
        if !self.sweep.ages_base || settings.len() == point.settings.len() {
            return Ok(None);
        }
        let base = self.plan(&Point { settings, ..point.clone() })?.0.resolved;
        let keys = differing(&base.config, config).into_iter().map(|(key, _)| key);
        let fixed: Vec<String> = keys.filter(|key| !is_changeable(key)).collect();
        if fixed.is_empty() {
            return Ok(Some(base));
        }
        // Some settings draw others after them: the size of a drive, say.
        Err(JobError::new(format!(
            "{}: sweep.age_with\n    found:   \"base\", and {} is other on the aged drive\n    allowed: \"each\"",
            self.path.display(),
            fixed.join(", ")
        )))
    }

    /// A point as a run.
    fn run(&mut self, point: &Point) -> Result<Run, JobError> {
        let (mut plan, spec, entries) = self.plan(point)?;
        // A sweep is about whole runs; series would be nearly all of what is written.
        if !plan.origins().contains_key("run.samples") {
            plan.run.samples = 0;
        }
        let base = self.aged_as(point, &plan.resolved.config)?;
        let prepared = &self.known[&entries];
        let aged = base.as_ref().map_or(&plan.resolved.config, |base| &base.config);
        let mut run = plan.spec(&spec);
        if base.is_some() {
            // They come to it when it is aged.
            run.policies = ExternalPolicies::default();
        }
        let key = cache_key(aged, Some(prepared), &run);
        let aged_as = base.as_ref().map(Resolved::to_toml);
        Ok(Run {
            id: id(&plan, prepared, aged_as.as_deref()),
            drive: ssd::snapshot::checksum(key.identity.as_bytes()),
            point: point.clone(),
            config: plan.to_toml(&spec),
            aged_as,
            workload_hash: prepared.workload_hash(),
            libraries: plan.libraries.hashes(),
        })
    }

    /// A point's plan and workload, and by which settings that is known.
    fn plan(&mut self, point: &Point) -> Result<(Plan, Spec, String), JobError> {
        let mut job = self.base.clone();
        let mut spec = job.workload()?;
        for (key, value) in &point.settings {
            let source = self.place(key);
            if names_workload(key) {
                spec = Some(
                    workload(spec.take(), value, job.folder())
                        .map_err(|error| error.about(&format!("{source}: {key} = {value}")))?,
                );
            } else {
                job.set(key, value, source)?;
            }
        }
        let varies = |key: &str| point.settings.iter().any(|(other, _)| other == key);
        // One run of each point, with the usual seed: seeds are as the file has them.
        let seeded = self.sweep.repeats > 1 || self.sweep.seed != 1;
        let has_seed = spec.as_ref().is_some_and(|spec| spec.entries().iter().any(|(key, _)| *key == "seed"));
        let applies = |key: &str| key != WORKLOAD_SEED || has_seed;
        for key in SEEDS.iter().filter(|key| seeded && !varies(key) && applies(key)) {
            job.set(key, &point.seed.to_string(), format!("{}: [sweep] seed", self.path.display()))?;
        }
        let mut spec = spec.ok_or_else(|| self.nothing_to_run())?;
        job.settle(&mut spec, false)?;
        let entries = format!("{:?}", spec.entries());
        if !self.known.contains_key(&entries) {
            let place = self.place_of_workload(point);
            if spec.reads().iter().any(|path| path == STANDARD_INPUT) {
                let message = "found standard input, allowed: files, which each run can read";
                return Err(JobError::new(message).about(&place));
            }
            let prepared = (self.survey)(&spec).map_err(|error| JobError::from(error).about(&place))?;
            self.known.insert(entries.clone(), prepared);
        }
        let prepared = &self.known[&entries];
        let plan = job.plan(Some((&spec, prepared))).map_err(|error| error.about(&name_of(point)))?;
        Ok((plan, spec, entries))
    }

    /// Where a point's workload is named.
    fn place_of_workload(&self, point: &Point) -> String {
        let key = point.settings.iter().map(|(key, _)| key).find(|key| names_workload(key));
        key.map_or_else(|| self.path.display().to_string(), |key| self.place(key))
    }

    /// Where a varied key stands.
    fn place(&self, key: &str) -> String {
        let line = self.sweep.line_of(key).map_or(String::new(), |line| format!(":{line}"));
        format!("{}{line}", self.path.display())
    }

    fn nothing_to_run(&self) -> JobError {
        JobError::new(format!(
            "{}: nothing to run\n    found:   no workload\n    allowed: a table [workload], or workload = \
             [\"trace.csv\", ...] in [grid], [zip] or [sample]",
            self.path.display()
        ))
    }
}

/// The workload that a value names: a file, beside the sweep's, or a table.
fn workload(base: Option<Spec>, value: &str, folder: Option<&Path>) -> Result<Spec, JobError> {
    let mut spec = match DeValue::parse(value).map(|value| value.into_inner()) {
        Ok(DeValue::String(path)) => {
            let path = Path::new(path.as_ref());
            let path = folder.map_or_else(|| path.to_owned(), |folder| folder.join(path));
            return Ok(with_path(base, &path));
        }
        Ok(DeValue::Table(table)) => Spec::from_table(&table)?,
        _ => {
            let message =
                format!("found {value}, allowed: the path of a trace, a job file or a capture; or a table");
            return Err(JobError::new(message));
        }
    };
    folder.into_iter().for_each(|folder| spec.resolve_path(folder));
    Ok(spec)
}

/// All that a result depends on, in 16 digits; not where files lie or who asked for what.
pub(super) fn id(plan: &Plan, prepared: &Prepared, aged_as: Option<&str>) -> String {
    let mut all =
        vec![plan.resolved.to_toml(), plan.run_toml(), format!("{:016x}", prepared.workload_hash())];
    all.extend(aged_as.map(str::to_owned));
    all.extend(known_by(&plan.libraries.policies()));
    let mut hash = Sha256::new_with_prefix(crate::SOURCES);
    all.iter().for_each(|text| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    });
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
