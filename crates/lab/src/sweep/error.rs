//! What can be wrong with a sweep file.

use ssd::config::{Problem, shown, shown_up_to};
use std::fmt::{self, Display};

/// Most characters of what was found: a sweep's own words are some hundreds.
const FINDING_MAX: usize = 1000;

/// An error in a sweep file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepError {
    /// File and line.
    pub place: String,
    /// Path of the key; empty where the text is not TOML.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
    /// What was probably meant.
    pub near: Option<String>,
}

impl SweepError {
    /// With the name that `found` is near to.
    pub(super) fn near<'a>(self, found: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match Problem::no_such_name("key", found, names) {
            Problem::NoSuchName { near, .. } => SweepError { near, ..self },
            _ => self,
        }
    }
}

impl Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SweepError { place, key, found, allowed, near } = self;
        let key = if key.is_empty() { "not valid TOML" } else { &shown(key) };
        let found = shown_up_to(found, FINDING_MAX);
        write!(f, "{place}: {key}\n    found:   {found}\n    allowed: {allowed}")?;
        near.as_ref().map_or(Ok(()), |near| write!(f, "\n    did you mean {near:?}?"))
    }
}

impl std::error::Error for SweepError {}
