//! What a run will do, worked out before it begins: which drive, how it is aged, with remarks on what was chosen.

use super::asked::{Job, SIZED};
use super::error::{JobError, conflict};
use super::{depth, files, pace, size};
use crate::plan::policies::Libraries;
use crate::plan::run_config::{PaceChoice, RunConfig};
use crate::plan::sizing::{SizeChoice, bytes};
use crate::plan::spec::{LoopMode, RunSpec};
use ssd::Drive;
use ssd::config::{ConfigErrors, Origin, Table};
use ssd::drive_config::Resolved;
use ssd::sections::ErrorModel;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use workload::{AddressPolicy, Prepared, SECTOR_BYTES, Spec};

/// The drive and the run, resolved.
pub struct Plan {
    /// The drive.
    pub resolved: Arc<super::Chosen>,
    /// The `[run]` table, without how small the drive is made: that is done.
    pub run: RunConfig,
    /// Where its keys were set.
    run_origins: BTreeMap<String, Origin>,
    /// Where those of the workload were set, if that is known.
    workload_origins: Option<BTreeMap<String, String>>,
    /// Remarks for a person, a line each.
    pub notes: Vec<String>,
    /// Libraries with policies of the user's own that are loaded.
    pub libraries: Libraries,
}

impl Plan {
    /// Sizes the drive if nothing says which one it is, and puts all settings together.
    pub(super) fn new(job: &Job, workload: Option<(&Spec, &Prepared)>) -> Result<Self, JobError> {
        workload.map_or(Ok(()), |(spec, _)| check_paths(spec))?;
        let (job, libraries, unused) = job.with_libraries()?;
        let job = &job;
        let (mut run, origins) = job.run()?;
        let Some((spec, prepared)) = workload.filter(|_| job.leave_the_size_open()) else {
            if let Some(origin) = origins.get("run.size").filter(|_| run.size != SizeChoice::Auto) {
                let message = format!(
                    "{origin}: run.size\n    found:   {}, and a capacity of your own, or nothing to run\n    \
                     allowed: a workload, without drive.raw_gib, drive.logical_gib or nand.geometry.blocks_per_plane",
                    run.size.name()
                );
                return Err(JobError::new(message));
            }
            let (resolved, deeper) = depth::resolve(job, None, workload, (&run, &origins))?;
            check_age(&run, &origins, &resolved)?;
            settle_pace(&mut run, workload, &resolved);
            let note = match workload {
                Some((spec, prepared)) => address_note(spec, prepared, &resolved)?,
                None => None,
            };
            check_policies(&resolved, &libraries)?;
            let notes = deeper.into_iter().chain(note).chain(unused).collect();
            return Ok(Plan {
                resolved,
                run,
                run_origins: origins,
                workload_origins: None,
                notes,
                libraries,
            });
        };
        let sized = size::size(job, size::need(prepared.space_sectors()), run.size)?;
        let (resolved, deeper) = depth::resolve(job, Some(&sized.toml), workload, (&run, &origins))?;
        check_age(&run, &origins, &resolved)?;
        settle_pace(&mut run, workload, &resolved);
        let mut notes = vec![sized.note];
        notes.extend(deeper);
        notes.extend(off_note(&resolved));
        notes.extend(address_note(spec, prepared, &resolved)?);
        notes.extend(unused);
        check_policies(&resolved, &libraries)?;
        Ok(Plan { resolved, run, run_origins: origins, workload_origins: None, notes, libraries })
    }

    /// The same, which knows where the workload's keys were set ([`Job::workload_origins`]).
    pub fn with_workload_origins(self, origins: BTreeMap<String, String>) -> Self {
        Plan { workload_origins: Some(origins), ..self }
    }

    /// A new drive, with the policies of libraries where it asks for them.
    pub fn drive(&self) -> Result<Drive, ConfigErrors> {
        Drive::with_policies(&self.resolved.config, self.libraries.policies())
    }

    /// How the workload is run: what the `[run]` table says, with the policies of libraries.
    pub fn spec(&self, workload: &Spec) -> RunSpec {
        let mut run = RunSpec {
            policies: self.libraries.policies(),
            workload_origins: self.workload_origins.clone(),
            ..self.run.spec(workload)
        };
        // By the names that they were asked for; to the drive they are all external.
        for asked in self.libraries.asked() {
            run.settings.extend(asked.settings());
        }
        run
    }

    /// Whether a key of the run was given.
    pub(crate) fn has_set(&self, key: &str) -> bool {
        self.run_origins.contains_key(key)
    }

    /// Where keys of the drive and the run were set that have not their defaults.
    pub fn origins(&self) -> BTreeMap<String, String> {
        let all = self.resolved.origins().chain(&self.run_origins);
        let place = |origin: &Origin| match origin.source == SIZED {
            // Nobody can look at a line of what was worked out.
            true => SIZED.to_owned(),
            false => origin.to_string(),
        };
        all.map(|(key, origin)| (key.clone(), place(origin))).collect()
    }

    /// The `[run]` table.
    pub fn run_toml(&self) -> String {
        let line = |key: &str| format!("{key} = {}\n", self.run.show(key).unwrap_or_default());
        let lines: String = self
            .run
            .fields()
            .iter()
            .filter(|field| field.key != "size")
            .map(|field| line(field.key))
            .collect();
        format!("[run]\n{lines}")
    }

    /// Drive, run and workload as one configuration that repeats the run.
    pub fn to_toml(&self, spec: &Spec) -> String {
        let mut text = self.resolved.text().to_owned();
        text.push_str(&self.run_toml());
        text.push_str(&self.libraries.to_toml());
        text.push_str("\n[workload]\n");
        let mut spec = spec.clone();
        if let Ok(folder) = std::env::current_dir() {
            spec.resolve_path(&folder);
        }
        for (key, value) in spec.entries() {
            text.push_str(&format!("{key} = {value}\n"));
        }
        text
    }
}

impl Job {
    /// Works out what will be done: sizes the drive if nothing says which one it is, and puts all settings together.
    pub fn plan(&self, workload: Option<(&Spec, &Prepared)>) -> Result<Plan, JobError> {
        Plan::new(self, workload)
    }
}

/// What is written of a run names its files as text: a path that is none would name another one.
fn check_paths(spec: &Spec) -> Result<(), JobError> {
    let mut spec = spec.clone();
    if let Ok(folder) = std::env::current_dir() {
        spec.resolve_path(&folder);
    }
    spec.reads().iter().try_for_each(|path| files::text(Path::new(path), "run it").map(drop))
}

/// What a drive of today has and the default one leaves out, until it is asked for.
fn off_note(resolved: &Resolved) -> Option<String> {
    let policies = [
        ("ftl.slc_cache", "none", "the SLC cache (ftl.slc_cache)"),
        ("ftl.read_reclaim", "never", "read reclaim (ftl.read_reclaim)"),
        ("ftl.wear_leveling", "none", "wear levelling (ftl.wear_leveling)"),
    ];
    let config = &resolved.config;
    let is_off = |path: &str, none: &str| {
        let policy = config.sections().find(|(name, _)| *name == path).and_then(|(_, table)| table.policy());
        policy == Some(none)
    };
    let off = policies.into_iter().filter(|(path, none, _)| is_off(path, none)).map(|(.., what)| what);
    let errors = (config.errors.model == ErrorModel::None).then_some("bit errors (nand.errors.model)");
    let off: Vec<&str> = off.chain(errors).collect();
    (!off.is_empty()).then(|| format!("off: {}", off.join(", ")))
}

/// Only cells that age can be made older: told before the drive is filled, not after.
fn check_age(
    run: &RunConfig,
    origins: &BTreeMap<String, Origin>,
    resolved: &Resolved,
) -> Result<(), JobError> {
    let Some((found, allowed)) = run.age.without_effect(resolved.config.errors.model) else {
        return Ok(());
    };
    Err(conflict(["run.age", "nand.errors.model"], origins, resolved, found, allowed))
}

/// Is there a library for each family that asks for a policy from outside?
fn check_policies(resolved: &Resolved, libraries: &Libraries) -> Result<(), JobError> {
    let missing = resolved.config.missing_policies(&libraries.policies());
    let Err(ConfigErrors(mut errors)) = missing else { return Ok(()) };
    for error in &mut errors {
        for key in &mut error.keys {
            key.origin = resolved.origin(&key.key).cloned();
        }
        error.origin = error.keys.first().and_then(|key| key.origin.clone());
    }
    Err(ConfigErrors(errors).into())
}

/// A drive is not written before the run at a pace that the run's own jobs cannot reach.
fn settle_pace(run: &mut RunConfig, workload: Option<(&Spec, &Prepared)>, resolved: &Resolved) {
    let Some((spec, prepared)) = workload.filter(|_| run.overwrite_pace == PaceChoice::Auto) else { return };
    let demands = prepared.demands().filter(|_| run.loop_mode(spec) == LoopMode::Jobs);
    if demands.is_some_and(|demands| !pace::can_saturate(&demands, &resolved.config)) {
        run.overwrite_pace = PaceChoice::Relaxed;
    }
}

/// Says when addresses of a trace do not stay what they were; refuses those that must and cannot.
fn address_note(spec: &Spec, prepared: &Prepared, resolved: &Resolved) -> Result<Option<String>, JobError> {
    let Spec::Trace(trace) = spec else { return Ok(None) };
    let logical = resolved.config.logical_bytes();
    let space = prepared.space_sectors().unwrap_or(0).saturating_mul(SECTOR_BYTES);
    if space <= logical {
        return Ok(None);
    }
    let reaches =
        format!("addresses: the trace reaches to {}, the drive has {}", bytes(space), bytes(logical));
    match trace.address {
        AddressPolicy::Wrap => {
            Ok(Some(format!("{reaches}: wrapped around (--address compact closes gaps instead)")))
        }
        AddressPolicy::AsIs => {
            let message = format!("{reaches}; address = \"as_is\" needs a larger drive, or wrap, or compact");
            Err(JobError::new(message))
        }
        // Compact needs less than the trace reaches to; if that is too much, opening it says so.
        AddressPolicy::Compact => Ok(None),
    }
}
