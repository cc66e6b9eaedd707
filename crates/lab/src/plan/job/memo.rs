//! What is remembered between jobs that begin alike: a sweep plans a million points, which differ in a few settings.
//!
//! Nothing here is another answer, only an earlier one. What is wrong is worked out anew each time, as where nothing is
//! remembered, and so is told the same.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sha2::{Digest, Sha256};
use ssd::DriveConfig;
use ssd::config::{Layer, Origin, Table};
use ssd::drive_config::{Base, Resolved, resolve_table};

use super::size::Sized;
use super::{Job, JobError};
use crate::plan::policies::{Libraries, PolicyConfig};
use crate::plan::run_config::RunConfig;

/// Answers of a kind that are remembered: those of a grid's inner axes, in some ten MiB.
const MOST: usize = 1_000;

/// A drive as it was asked for: its configuration, and its text, made once.
#[derive(Debug)]
pub struct Chosen {
    resolved: Resolved,
    text: OnceLock<String>,
    hashed: OnceLock<Sha256>,
}

impl From<Resolved> for Chosen {
    fn from(resolved: Resolved) -> Self {
        Chosen { resolved, text: OnceLock::new(), hashed: OnceLock::new() }
    }
}

impl Deref for Chosen {
    type Target = Resolved;

    fn deref(&self) -> &Resolved {
        &self.resolved
    }
}

impl Chosen {
    /// The whole configuration as TOML.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| self.resolved.to_toml())
    }

    /// A hash that has taken the program's sources and this text, to go on with: most of a run's name.
    pub(crate) fn hashed(&self) -> Sha256 {
        let begin = || taking(Sha256::new_with_prefix(crate::base::sources::SOURCES), self.text());
        self.hashed.get_or_init(begin).clone()
    }
}

/// A hash that has taken a text, too, with its length.
pub(crate) fn taking(hash: Sha256, text: &str) -> Sha256 {
    hash.chain_update((text.len() as u64).to_le_bytes()).chain_update(text)
}

/// Answers by their questions. When there are too many, all are forgotten.
pub(crate) struct Remembered<T>(Mutex<BTreeMap<String, T>>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Remembered(Mutex::default())
    }
}

impl<T: Clone> Remembered<T> {
    /// The answer, which is worked out where nobody remembers it.
    pub fn get<E>(&self, question: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if let Some(known) = self.locked().get(question) {
            return Ok(known.clone());
        }
        let answer = work()?;
        let mut all = self.locked();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(question.to_owned(), answer.clone());
        Ok(answer)
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<String, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A table with the places of its keys; nothing if something is wrong with it.
type Placed<T> = Option<(T, BTreeMap<String, Origin>)>;
/// A table that a file and a shipped drive begin, by the name of that drive.
type Begun<T> = Remembered<Placed<T>>;

/// What is remembered of jobs with the same file.
#[derive(Default)]
pub(super) struct Memo {
    bases: Remembered<Arc<Base>>,
    drives: Remembered<Arc<Chosen>>,
    chips: Remembered<Arc<Chosen>>,
    sizes: Remembered<Sized>,
    libraries: Remembered<Libraries>,
    run: Begun<RunConfig>,
    policies: Begun<PolicyConfig>,
}

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
fn question(job: &Job, sized: Option<&str>) -> String {
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

impl Memo {
    /// The job's drive.
    pub fn drive(&self, job: &Job, sized: Option<&str>) -> Result<Arc<Chosen>, JobError> {
        self.drives.get(&question(job, sized), || {
            let begin = || Ok::<_, JobError>(Arc::new(Base::new(job.first_layers(sized), job.foreign())));
            let base = self.bases.get(&base_question(job, sized), begin)?;
            let sets: Vec<Layer> = job.last_layers().filter(is_of_drive).cloned().collect();
            match base.with(&sets) {
                Ok(resolved) => Ok(Arc::new(Chosen::from(resolved))),
                Err(_) => job.resolve_anew(sized),
            }
        })
    }

    /// The drive that has the job's chips alone.
    pub fn chips(
        &self,
        layers: &[Layer],
        work: impl FnOnce() -> Result<Arc<Chosen>, JobError>,
    ) -> Result<Arc<Chosen>, JobError> {
        let texts: Vec<&str> = layers.iter().map(|layer| layer.text.as_str()).collect();
        self.chips.get(&texts.join("\n"), work)
    }

    /// How the job's drive is sized, for what is asked of it.
    pub fn size(
        &self,
        job: &Job,
        asked: &str,
        work: impl FnOnce() -> Result<Sized, JobError>,
    ) -> Result<Sized, JobError> {
        self.sizes.get(&(question(job, None) + "\n" + asked), work)
    }

    /// Libraries of these families' policies, loaded once.
    pub fn libraries(
        &self,
        config: &DriveConfig,
        table: &PolicyConfig,
        work: impl FnOnce() -> Result<Libraries, JobError>,
    ) -> Result<Libraries, JobError> {
        let asked = config.asks_for_policies().map(|(_, is_asked)| is_asked);
        self.libraries.get(&format!("{asked:?} {table:?}"), work)
    }

    /// The job's `[run]` table.
    pub fn run(&self, job: &Job) -> Result<(RunConfig, BTreeMap<String, Origin>), JobError> {
        table(job, "run", &self.run)
    }

    /// Its `[policy]` table.
    pub fn policies(&self, job: &Job) -> Result<(PolicyConfig, BTreeMap<String, Origin>), JobError> {
        table(job, "policy", &self.policies)
    }
}

/// A table that is not the drive's: what the file begins, with the settings on top.
fn table<T: Table + Clone + Default>(
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
