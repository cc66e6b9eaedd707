//! What a job's drive and tables are, worked out or remembered.

use super::asked::{CHIP_KEYS, Job, default_drive};
use super::config_file::FOREIGN;
use super::error::JobError;
use super::memo::{Begun, Chosen, Memo};
use crate::plan::policies::PolicyConfig;
use crate::plan::run_config::RunConfig;
use abi::Family;
use ssd::config::{Layer, Origin, Table};
use ssd::drive_config::{Base, resolve, resolve_table};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

/// Whether a setting is of this table.
fn is_of(layer: &Layer, table: &str) -> bool {
    layer.text.strip_prefix(table).is_some_and(|rest| rest.starts_with(['.', ' ']))
}

/// Whether a setting names a shipped drive.
fn is_of_preset(layer: &Layer) -> bool {
    layer.text.split_once('=').is_some_and(|(key, _)| key.trim() == "preset")
}

/// Whether a setting is one of the drive, as far as its key says.
fn is_of_drive(layer: &&Layer) -> bool {
    !["run", "workload", "policy"].iter().any(|table| is_of(layer, table))
}

/// The job's drive, in a text: all that it is resolved from, but the file.
pub(super) fn question(job: &Job, sized: Option<&str>) -> String {
    let mut text = base_question(job, sized);
    for layer in job.last_layers().filter(is_of_drive) {
        text.push('\n');
        text.push_str(&layer.text);
    }
    text
}

fn base_question(job: &Job, sized: Option<&str>) -> String {
    let drive = job.drive.as_ref().map_or("", |layer| &layer.text);
    format!("{drive}\n{}", sized.unwrap_or("as it is"))
}

/// A table that is not the drive's: what the file begins, with the settings on top.
pub(super) fn table<T: Table + Clone + Default>(
    job: &Job,
    name: &str,
    begun: &Begun<T>,
) -> Result<(T, BTreeMap<String, Origin>), JobError> {
    let begin = || {
        let mut table = T::default();
        let origins = resolve_table(&job.first_layers(None), name, &mut table).ok();
        Ok::<_, Infallible>(origins.map(|origins| (table, origins)))
    };
    // A setting may name another shipped drive, which begins the table.
    let names_a_drive = job.last_layers().any(is_of_preset);
    let begun = if names_a_drive { None } else { begun.get(&base_question(job, None), begin).ok().flatten() };
    let Some((mut table, mut origins)) = begun else {
        let mut table = T::default();
        let origins = resolve_table(&job.layers(None), name, &mut table)?;
        return Ok((table, origins));
    };
    let sets: Vec<Layer> = job.last_layers().filter(|layer| is_of(layer, name)).cloned().collect();
    if !sets.is_empty() {
        origins.extend(resolve_table(&sets, name, &mut table)?);
    }
    Ok((table, origins))
}

/// The job's drive, which jobs like it have asked for.
fn drive(memo: &Memo, job: &Job, sized: Option<&str>) -> Result<Arc<Chosen>, JobError> {
    memo.drives.get(&question(job, sized), || {
        let begin = || Ok::<_, JobError>(Arc::new(Base::new(job.first_layers(sized), job.foreign())));
        let base = memo.bases.get(&base_question(job, sized), begin)?;
        let sets: Vec<Layer> = job.last_layers().filter(is_of_drive).cloned().collect();
        match base.with(&sets) {
            Ok(resolved) => Ok(Arc::new(Chosen::from(resolved))),
            Err(_) => job.resolve_anew(sized),
        }
    })
}

impl Job {
    /// The configuration, checked.
    pub fn resolve(&self, sized: Option<&str>) -> Result<Arc<Chosen>, JobError> {
        match &self.memo {
            Some(memo) => drive(memo, self, sized),
            None => self.resolve_anew(sized),
        }
    }

    fn resolve_anew(&self, sized: Option<&str>) -> Result<Arc<Chosen>, JobError> {
        let resolved = resolve(&self.layers(sized), self.foreign());
        Ok(Arc::new(Chosen::from(resolved.map_err(|errors| self.own.among_allowed(errors))?)))
    }

    /// The default drive with those settings alone that say what its chips are: what a drive is sized from, so that no
    /// other setting changes its geometry.
    pub fn chips(&self) -> Result<Arc<Chosen>, JobError> {
        let describes_chips = |text: &str| {
            let key = text.split_once('=').map_or("", |(key, _)| key.trim());
            CHIP_KEYS.iter().any(|prefix| key.starts_with(prefix))
        };
        let sets = self.arguments.iter().zip(&self.sets).filter(|(text, _)| describes_chips(text));
        let mut layers = vec![default_drive()];
        layers.extend(sets.map(|(_, layer)| layer.clone()));
        let work = || Ok(Arc::new(Chosen::from(resolve(&layers, FOREIGN)?)));
        match &self.memo {
            Some(memo) => memo.chips(&layers, work),
            None => work(),
        }
    }

    /// The `[run]` table, with the place of each key that was set.
    pub fn run(&self) -> Result<(RunConfig, BTreeMap<String, Origin>), JobError> {
        if let Some(memo) = &self.memo {
            return table(self, "run", &memo.run);
        }
        let mut run = RunConfig::default();
        let origins = resolve_table(&self.layers(None), "run", &mut run)?;
        Ok((run, origins))
    }

    /// The `[policy]` table, with the libraries whose names stand for policies, and where each was named.
    pub(super) fn policy_table(&self) -> Result<(PolicyConfig, BTreeMap<String, Origin>), JobError> {
        let (mut table, mut origins) = match &self.memo {
            Some(memo) => table(self, "policy", &memo.policies)?,
            None => {
                let mut table = PolicyConfig::default();
                let origins = resolve_table(&self.layers(None), "policy", &mut table)?;
                (table, origins)
            }
        };
        for family in Family::ALL {
            if let Some((path, origin)) = self.own.library(family) {
                table.set_library(family, path);
                origins.insert(format!("policy.{}", family.name()), origin.clone());
            }
        }
        Ok((table, origins))
    }
}
