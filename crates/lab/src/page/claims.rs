//! What papers claim and what was measured, as `wordline reproduce` has written it.

use crate::reproduce::{Judged, PaperError, read_judged};
use std::path::Path;

/// The claims of a paper with their verdicts.
pub(crate) struct ClaimsOf {
    /// The paper, and the scale it was run at.
    pub paper: String,
    pub claims: Vec<Judged>,
}

impl ClaimsOf {
    /// Name of the file that they are read from.
    pub const FILE_NAME: &str = "results.toml";

    pub fn read(path: &Path) -> Result<Self, PaperError> {
        let found = read_judged(path)?;
        let paper = match found.scale.as_str() {
            "" | "full" => found.paper,
            scale => format!("{} ({scale})", found.paper),
        };
        Ok(ClaimsOf { paper, claims: found.claims })
    }

    /// How many have that verdict.
    pub fn count(&self, verdict: &str) -> usize {
        self.claims.iter().filter(|claim| claim.verdict == verdict).count()
    }
}
