//! A drive that was found for a workload, and what drives of its kind are sized like.

use crate::plan::sizing::raw_bytes;
use ssd::DriveConfig;
use std::collections::BTreeMap;

/// The drive found.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// The keys that differ from the preset.
    pub toml: String,
    /// What was done, in a line.
    pub note: String,
    /// What it would be compared with, and that it had to be another.
    pub apart: Option<Apart>,
}

/// A drive that had to be another than those of its kind, because its settings need more room.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// What drives of one geometry are sized for: chips, and what has to fit.
    pub(super) kind: String,
    /// What it is.
    pub(super) config: DriveConfig,
}

/// The drives that all of a kind are made like, so that they can be compared: the largest that one of them needs.
#[derive(Clone, Debug, Default)]
pub struct Levels(pub(super) BTreeMap<String, DriveConfig>);

impl Levels {
    /// A drive was sized.
    pub fn take(&mut self, sized: Sized) {
        let Some(Apart { kind, config }) = sized.apart else { return };
        let is_larger = |known: &DriveConfig| raw_bytes(&config) > raw_bytes(known);
        if self.0.get(&kind).is_none_or(is_larger) {
            self.0.insert(kind, config);
        }
    }

    /// Whether any drive had to be another.
    pub fn are_any(&self) -> bool {
        !self.0.is_empty()
    }
}
