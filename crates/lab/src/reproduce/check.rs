//! Quick runs against their committed expectations.

use super::laboratory::Found;
use super::stored::Stored;
use super::{Outcome, Paper, PaperError};
use crate::base::document::File;

/// Something that is not as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// What.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Paper {
    /// What of a quick outcome has drifted away from `expected_quick.toml`, by the tolerances of `experiment.toml`.
    pub fn check(&self, outcome: &Outcome) -> Result<Vec<Drift>, PaperError> {
        let file = File::read(&self.folder.join("expected_quick.toml"))?;
        let Stored { laboratories, cells, claims, .. } = Stored::read(&file)?;
        let mut drifts = Vec::new();
        let mut drift = |what: &str, expected: String, found: String| {
            drifts.push(Drift { what: what.to_owned(), expected, found });
        };
        for (place, metrics) in cells.iter().filter(|cell| !outcome.skipped.contains(&cell.0.workload)) {
            let Some(cell) = outcome.cells.iter().find(|cell| cell.place == *place) else {
                drift(&place.name(), "a run".to_owned(), "none".to_owned());
                continue;
            };
            for (name, value) in metrics {
                let what = format!("{}: {name}", place.name());
                let percent = self.experiment.tolerances.of(name);
                match cell.metrics.get(name) {
                    None => drift(&what, format!("{value}"), "nothing".to_owned()),
                    Some(found) if (found - value).abs() <= percent / 100.0 * value.abs() => {}
                    Some(found) => drift(&what, format!("{value} +-{percent} %"), format!("{found}")),
                }
            }
        }
        for Found { name, numbers } in &laboratories {
            let found = outcome.laboratories.iter().find(|found| found.name == *name);
            for (line, value) in numbers {
                let percent = self.experiment.tolerances.default_percent;
                let found = found.and_then(|found| found.numbers.get(line));
                if found.is_none_or(|found| (found - value).abs() > percent / 100.0 * value.abs()) {
                    drift(&format!("{name}: {line}"), format!("{value} +-{percent} %"), format!("{found:?}"));
                }
            }
        }
        for cell in &outcome.cells {
            if !cells.iter().any(|expected| expected.0 == cell.place) {
                drift(&cell.place.name(), "no run".to_owned(), "a run".to_owned());
            }
        }
        for finding in &outcome.findings {
            let expected = claims.iter().find(|claim| claim.0 == finding.claim.id);
            let found = finding.verdict.name();
            match expected {
                None => {
                    drift(&format!("claim {}", finding.claim.id), "no claim".to_owned(), found.to_owned())
                }
                Some((_, verdict, _)) if verdict == found => {}
                Some((id, verdict, _)) => drift(&format!("claim {id}"), verdict.clone(), found.to_owned()),
            }
        }
        Ok(drifts)
    }
}
