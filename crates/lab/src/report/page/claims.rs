//! What papers claim and what was measured, as `wordline reproduce` has written it.

use crate::base::document::{File, PaperError, Walk};
use crate::base::number::digits;
use std::path::Path;

/// A claim with what was measured.
pub(crate) struct Judged {
    /// Where the paper says it.
    pub place: String,
    /// What it says.
    pub text: String,
    /// Its number, or its order.
    pub claimed: String,
    /// Ours; empty if there is none.
    pub measured: String,
    /// What ours rests on: evidence, or constants that were fitted or assumed.
    pub basis: String,
    /// `met`, `missed`, `open` or `not judged`.
    pub verdict: String,
    /// Why it is missed, open or not judged.
    pub why: String,
}

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
        File::read(path)?.with_table(|top| {
            top.ignore_others();
            let paper = top.need_text("paper")?;
            let paper = match top.text("scale")?.unwrap_or_default().as_str() {
                "" | "full" => paper,
                scale => format!("{paper} ({scale})"),
            };
            Ok(ClaimsOf { paper, claims: top.tables("claim", claim)? })
        })
    }

    /// How many have that verdict.
    pub fn count(&self, verdict: &str) -> usize {
        self.claims.iter().filter(|claim| claim.verdict == verdict).count()
    }
}

fn claim(walk: &Walk<'_>) -> Result<Judged, PaperError> {
    walk.ignore_others();
    let text = |key| walk.text(key).map(Option::unwrap_or_default);
    let unit = text("unit")?;
    let measured = match walk.is_list("measured") {
        true => {
            let order = walk.pairs("measured")?.unwrap_or_default();
            let each = order.iter().map(|(name, value)| format!("{name} {}", digits(*value)));
            each.collect::<Vec<_>>().join(", ")
        }
        false => walk.number("measured")?.map_or(String::new(), |value| format!("{} {unit}", digits(value))),
    };
    Ok(Judged {
        place: text("where")?,
        text: walk.need_text("text")?,
        claimed: text("claimed")?,
        measured: measured.trim_end().to_owned(),
        basis: text("basis")?,
        verdict: walk.need_text("verdict")?,
        why: text("why")?,
    })
}
