//! A drive that was looked at.

use std::path::PathBuf;

use lab::forensics::{Find, Forensics};
use serde_json::Value;

/// A drive that was looked at.
pub(super) struct Look {
    pub snapshot: PathBuf,
    pub told: Forensics,
    pub finds: Vec<Find>,
}

impl Look {
    pub fn json(&self, show: usize) -> Value {
        serde_json::json!({
            "snapshot": self.snapshot,
            "statement": self.told.statement(),
            "summary": self.told,
            "finds": &self.finds[..self.finds.len().min(show)],
        })
    }
}
