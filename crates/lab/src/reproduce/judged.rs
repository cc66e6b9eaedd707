//! The claims of a file of results, as they were judged: for those who only show them.

use super::PaperError;
use super::document::{File, Walk};
use crate::number::digits;
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
    /// `met`, `missed` or `not judged`.
    pub verdict: String,
    /// Why it is missed or not judged.
    pub why: String,
}

/// A file of results.
pub(crate) struct JudgedPaper {
    /// The paper's short name.
    pub paper: String,
    /// `full` or `quick`.
    pub scale: String,
    /// Its claims, in their order.
    pub claims: Vec<Judged>,
}

/// Reads a file of results, for its claims alone.
pub(crate) fn read_judged(path: &Path) -> Result<JudgedPaper, PaperError> {
    File::read(path)?.with_table(|top| {
        top.ignore_others();
        Ok(JudgedPaper {
            paper: top.need_text("paper")?,
            scale: top.text("scale")?.unwrap_or_default(),
            claims: top.tables("claim", claim)?,
        })
    })
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
