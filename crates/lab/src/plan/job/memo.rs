//! What is remembered between jobs that begin alike: a sweep plans a million points, which differ in a few settings.
//!
//! Nothing here is another answer, only an earlier one. What is wrong is worked out anew each time, as where nothing is
//! remembered, and so is told the same.

use super::error::JobError;
use super::sized::Sized;
use crate::plan::policies::{Libraries, PolicyConfig};
use crate::plan::run_config::RunConfig;
use sha2::{Digest, Sha256};
use ssd::DriveConfig;
use ssd::config::{Layer, Origin};
use ssd::drive_config::{Base, Resolved};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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
pub(super) type Begun<T> = Remembered<Placed<T>>;

/// What is remembered of jobs with the same file.
#[derive(Default)]
pub(super) struct Memo {
    pub bases: Remembered<Arc<Base>>,
    pub drives: Remembered<Arc<Chosen>>,
    chips: Remembered<Arc<Chosen>>,
    pub sizes: Remembered<Sized>,
    libraries: Remembered<Libraries>,
    pub run: Begun<RunConfig>,
    pub policies: Begun<PolicyConfig>,
}

impl Memo {
    /// The drive that has the job's chips alone.
    pub fn chips(
        &self,
        layers: &[Layer],
        work: impl FnOnce() -> Result<Arc<Chosen>, JobError>,
    ) -> Result<Arc<Chosen>, JobError> {
        let texts: Vec<&str> = layers.iter().map(|layer| layer.text.as_str()).collect();
        self.chips.get(&texts.join("\n"), work)
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
}
