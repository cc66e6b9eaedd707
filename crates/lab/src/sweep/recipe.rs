//! How a point of a sweep becomes a run: its configuration, its workload, the drive as which it is aged.
//!
//! A million points differ in a few settings. What points have in common is worked out once and remembered, as long as
//! there is room; a run keeps no text, for its configuration can be had again.

use super::SweepError;
use super::grid::{Point, Sweep};
use super::tables::WORKLOAD;
use crate::plan::job::{Chosen, Job, JobError, Levels, Plan, Remembered, taking, with_path};
use crate::plan::own::{Asked, Names};
use crate::plan::policies::{Allowed, known_or};
use crate::plan::spec::RunSpec;
use crate::run::experiment::number_of_drive;
use sha2::Digest;
use ssd::reconfigure::{differing, is_changeable};
use ssd::{DriveConfig, ExternalPolicies};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toml::de::DeValue;
use workload::{Prepared, STANDARD_INPUT, Spec, WorkloadError};

/// Keys of a workload that name its file: what kind of file it is says what workload it is.
const FILES: [&str; 3] = ["workload.path", "workload.jobs", "workload.capture"];
/// Keys that a point's seed sets, unless they vary themselves.
const DRIVE_SEED: &str = "drive.seed";
const WORKLOAD_SEED: &str = "workload.seed";

/// Reads a workload through.
pub(super) type Survey<'a> = dyn FnMut(&Spec) -> Result<Prepared, WorkloadError> + 'a;

/// Whether a key says which workload it is.
fn names_workload(key: &str) -> bool {
    key == WORKLOAD || FILES.contains(&key)
}

/// Whether a key is of the workload.
fn is_of_workload(key: &str) -> bool {
    key == WORKLOAD || key.starts_with("workload.")
}

/// Whether a key is a parameter of a policy of the caller's own.
fn is_parameter(key: &str) -> bool {
    key.starts_with("policies.")
}

/// What was varied, for people: keys by their last part, and values.
pub(super) fn name_of(point: &Point) -> String {
    // A policy is known by what it decides.
    let last = |key: &str| key.trim_end_matches(".policy").rsplit('.').next().unwrap_or(key).to_owned();
    let settings = point.settings.iter().map(|(key, value)| format!("{}={value}", last(key)));
    let repeat = (point.repeat > 0).then(|| format!("repeat {}", point.repeat));
    settings.chain(repeat).collect::<Vec<_>>().join(" ").replace('"', "")
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
    /// Policies that have names, which may stand wherever a policy's does.
    pub names: Names,
    /// What tells this sweep's policies from others of their names where nobody knows what they do.
    pub salt: String,
}

/// What a point is as a run.
pub(super) struct Planned {
    pub id: String,
    pub drive: u64,
    pub workload_hash: u64,
    pub libraries: Vec<String>,
    pub asked: Vec<Asked>,
}

/// A workload that was read through.
struct Load {
    spec: Spec,
    prepared: Prepared,
    hash: u64,
}

/// A point, worked out.
struct Whole {
    plan: Plan,
    load: Arc<Load>,
    aged_as: Option<Arc<Chosen>>,
}

/// A sweep's file, and what is known of it so far.
pub(super) struct Recipe {
    path: PathBuf,
    pub sweep: Sweep,
    base: Job,
    pub salt: String,
    /// The file's own workload.
    spec: Option<Spec>,
    /// Workloads of files, which are read once.
    files: Mutex<BTreeMap<String, Arc<Load>>>,
    /// Workloads by what was set of them.
    loads: Remembered<Arc<Load>>,
}

impl Recipe {
    /// Of a sweep file, whose paths count from its folder.
    pub fn read(path: &Path, text: String, outside: Outside) -> Result<Self, JobError> {
        let wrong = |error: SweepError| JobError::new(error.to_string());
        let sweep = Sweep::parse(&text, path).map_err(wrong)?;
        let Outside { allowed, given, sets, names, salt } = outside;
        let base = Job::of_sweep(path, text).allowing(allowed).giving(given).naming(names)?;
        let base = base.with_sets(&sets)?.remembering();
        let spec = base.workload()?;
        let (files, loads) = Default::default();
        Ok(Recipe { path: path.to_owned(), sweep, base, salt, spec, files, loads })
    }

    /// A point as a run, by its number. A workload is read through by `survey`, each once.
    pub fn plan_run(&self, number: usize, survey: &mut Survey<'_>) -> Result<Planned, JobError> {
        let Whole { plan, load, aged_as } = self.whole(&self.sweep.point(number), survey)?;
        let aged = aged_as.as_ref().unwrap_or(&plan.resolved);
        // Those of the caller's own come to it when it is aged as another.
        let policies =
            if aged_as.is_some() { ExternalPolicies::default() } else { plan.libraries.policies() };
        let past = RunSpec {
            preconditioning: plan.run.preconditioning(Some(&load.spec)),
            age: plan.run.age.clone(),
            requests: (plan.run.requests > 0).then_some(plan.run.requests),
            policies,
            ..RunSpec::default()
        };
        Ok(Planned {
            id: id(&plan, load.hash, aged_as.as_ref().map(|base| base.text()), &self.salt),
            drive: number_of_drive(aged.text(), (!load.spec.is_driven()).then_some(load.hash), &past),
            workload_hash: load.hash,
            libraries: plan.libraries.hashes(),
            asked: plan.libraries.asked().to_vec(),
        })
    }

    /// A point's configuration, and the drive's while it is aged, if that is another.
    pub fn configuration(&self, number: usize) -> Result<(String, Option<String>), JobError> {
        let whole = self.whole(&self.sweep.point(number), &mut |spec: &Spec| spec.prepare())?;
        Ok((whole.plan.to_toml(&whole.load.spec), whole.aged_as.map(|base| base.text().to_owned())))
    }

    fn whole(&self, point: &Point, survey: &mut Survey<'_>) -> Result<Whole, JobError> {
        let (mut plan, load) = self.plan(point, survey)?;
        // A sweep is about whole runs; series would be nearly all of what is written.
        if !plan.has_set("run.samples") {
            plan.run.samples = 0;
        }
        let aged_as = self.aged_as(point, &plan.resolved.config, survey)?;
        Ok(Whole { plan, load, aged_as })
    }

    /// The drive as which a point's is aged, where that is not itself: of the same point without what can change on an
    /// aged drive.
    fn aged_as(
        &self,
        point: &Point,
        config: &DriveConfig,
        survey: &mut Survey<'_>,
    ) -> Result<Option<Arc<Chosen>>, JobError> {
        let stays = |(key, _): &&(String, String)| !is_changeable(key) && !is_parameter(key);
        let settings: Vec<_> = point.settings.iter().filter(stays).cloned().collect();
        if !self.sweep.ages_base || settings.len() == point.settings.len() {
            return Ok(None);
        }
        let base = self.plan(&Point { settings, ..point.clone() }, survey)?.0.resolved;
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

    /// Looks at the drives of all points: those that only differ in policies, say, become as large as one of them
    /// needs, so that they can be compared. What is wrong with a point is told when that is planned; `told` hears of
    /// each, and may put an end to it.
    pub fn level(
        &mut self,
        survey: &mut Survey<'_>,
        told: &mut dyn FnMut(usize) -> Result<(), JobError>,
    ) -> Result<(), JobError> {
        let mut levels = Levels::default();
        for number in 0..self.sweep.runs() {
            told(number)?;
            let asked = self.asked(&self.sweep.point(number), survey);
            if let Ok(Some(sized)) = asked.and_then(|(job, load)| job.sized(&load.prepared)) {
                levels.take(sized);
            }
        }
        self.base = self.base.clone().sized_like(levels);
        Ok(())
    }

    /// A point's plan and workload.
    fn plan(&self, point: &Point, survey: &mut Survey<'_>) -> Result<(Plan, Arc<Load>), JobError> {
        let (job, load) = self.asked(point, survey)?;
        let plan = job.plan(Some((&load.spec, &load.prepared)));
        Ok((plan.map_err(|error| error.about(&name_of(point)))?, load))
    }

    /// What a point asks for, and its workload.
    fn asked(&self, point: &Point, survey: &mut Survey<'_>) -> Result<(Job, Arc<Load>), JobError> {
        let mut job = self.base.clone();
        for (key, value) in point.settings.iter().filter(|(key, _)| !names_workload(key)) {
            match is_parameter(key) {
                true => job.set_parameter(key, value, &self.place(key))?,
                false => job.set(key, value, self.place(key))?,
            }
        }
        if self.is_seeded(point, DRIVE_SEED) {
            job.set(DRIVE_SEED, &point.seed.to_string(), self.place_of_seed())?;
        }
        let of_workload = point.settings.iter().filter(|(key, _)| is_of_workload(key));
        let mut question: String = of_workload.map(|(key, value)| format!("{key} = {value}\n")).collect();
        if self.is_seeded(point, WORKLOAD_SEED) {
            question.push_str(&point.seed.to_string());
        }
        // Where a trace's addresses lie depends on whether the drive is sized for it.
        question.push_str(if job.leave_the_size_open() { " sized" } else { "" });
        let load = self.loads.get(&question, || self.load(&job, point, survey))?;
        Ok((job, load))
    }

    /// A point's workload, read through.
    fn load(&self, job: &Job, point: &Point, survey: &mut Survey<'_>) -> Result<Arc<Load>, JobError> {
        let mut spec = self.spec.clone();
        for (key, value) in point.settings.iter().filter(|(key, _)| names_workload(key)) {
            let about = |error: JobError| error.about(&format!("{}: {key} = {value}", self.place(key)));
            spec = Some(workload(spec.take(), value, job.folder()).map_err(about)?);
        }
        let mut spec = spec.ok_or_else(|| self.nothing_to_run())?;
        let has_seed = || spec.entries().iter().any(|(key, _)| *key == "seed");
        let mut job = job.clone();
        if self.is_seeded(point, WORKLOAD_SEED) && has_seed() {
            job.set(WORKLOAD_SEED, &point.seed.to_string(), self.place_of_seed())?;
        }
        job.settle(&mut spec, false)?;
        let entries = format!("{:?}", spec.entries());
        let files = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files().get(&entries) {
            return Ok(Arc::clone(known));
        }
        let place = self.place_of_workload(point);
        if spec.reads().iter().any(|path| path == STANDARD_INPUT) {
            let message = "found standard input, allowed: files, which each run can read";
            return Err(JobError::new(message).about(&place));
        }
        let prepared = survey(&spec).map_err(|error| JobError::from(error).about(&place))?;
        let (is_file, hash) = (!spec.reads().is_empty(), prepared.workload_hash());
        let load = Arc::new(Load { spec, prepared, hash });
        if is_file {
            files().insert(entries, Arc::clone(&load));
        }
        Ok(load)
    }

    /// Whether a key is set by a point's seed.
    fn is_seeded(&self, point: &Point, key: &str) -> bool {
        // One run of each point, with the usual seed: seeds are as the file has them.
        let seeded = self.sweep.repeats > 1 || self.sweep.seed != 1;
        seeded && !point.settings.iter().any(|(other, _)| other == key)
    }

    fn place_of_seed(&self) -> String {
        format!("{}: [sweep] seed", self.path.display())
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

/// All that a result depends on, in 16 digits; not where files lie or who asked for what.
pub(super) fn id(plan: &Plan, workload: u64, aged_as: Option<&str>, salt: &str) -> String {
    let (run, workload) = (plan.run_toml(), format!("{workload:016x}"));
    let mut policies = known_or(&plan.libraries.policies(), salt);
    let asked = plan.libraries.asked().iter();
    policies.extend(asked.filter(|asked| !asked.parameters.is_empty()).map(Asked::line));
    let texts = [run.as_str(), &workload].into_iter().chain(aged_as);
    let hash = texts.chain(policies.iter().map(String::as_str)).fold(plan.resolved.hashed(), taking);
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
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

#[cfg(test)]
mod tests;
