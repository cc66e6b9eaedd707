//! Quick runs against their committed expectations.

use super::document::File;
use super::{Outcome, Paper, PaperError, Place};
use std::path::Path;

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

/// A cell as expected.
struct Expected {
    name: String,
    workload: String,
    metrics: Vec<(String, f64)>,
}

impl Paper {
    /// What of a quick outcome has drifted away from `expected_quick.toml`, by the tolerances of `experiment.toml`.
    pub fn check(&self, outcome: &Outcome) -> Result<Vec<Drift>, PaperError> {
        let Expectations { laboratories, cells, claims } = read(&self.folder.join("expected_quick.toml"))?;
        let mut drifts = Vec::new();
        let mut drift = |what: &str, expected: String, found: String| {
            drifts.push(Drift { what: what.to_owned(), expected, found });
        };
        for expected in cells.iter().filter(|cell| !outcome.skipped.contains(&cell.workload)) {
            let Some(cell) = outcome.cells.iter().find(|cell| cell.place.name() == expected.name) else {
                drift(&expected.name, "a run".to_owned(), "none".to_owned());
                continue;
            };
            for (name, value) in &expected.metrics {
                let what = format!("{}: {name}", expected.name);
                let percent = self.experiment.tolerances.of(name);
                match cell.metrics.get(name) {
                    None => drift(&what, format!("{value}"), "nothing".to_owned()),
                    Some(found) if (found - value).abs() <= percent / 100.0 * value.abs() => {}
                    Some(found) => drift(&what, format!("{value} +-{percent} %"), format!("{found}")),
                }
            }
        }
        for (name, numbers) in &laboratories {
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
            let name = cell.place.name();
            if !cells.iter().any(|expected| expected.name == name) {
                drift(&name, "no run".to_owned(), "a run".to_owned());
            }
        }
        for finding in &outcome.findings {
            let expected = claims.iter().find(|(id, _)| *id == finding.claim.id);
            let found = finding.verdict.name();
            match expected {
                None => {
                    drift(&format!("claim {}", finding.claim.id), "no claim".to_owned(), found.to_owned())
                }
                Some((_, verdict)) if verdict == found => {}
                Some((id, verdict)) => drift(&format!("claim {id}"), verdict.clone(), found.to_owned()),
            }
        }
        Ok(drifts)
    }
}

/// What a quick run is expected to give.
struct Expectations {
    /// Lines of measurements of blocks alone.
    laboratories: Vec<(String, Vec<(String, f64)>)>,
    cells: Vec<Expected>,
    /// Claims with their verdicts.
    claims: Vec<(String, String)>,
}

fn read(path: &Path) -> Result<Expectations, PaperError> {
    let file = File::read(path)?;
    file.with_table(|top| {
        for key in ["paper", "version", "commit", "date", "scale"] {
            top.text(key)?;
        }
        for key in ["seed", "met", "missed", "not_judged"] {
            top.whole(key)?;
        }
        top.texts("skipped")?;
        let claims = top.tables("claim", |walk| {
            walk.ignore_others();
            Ok((walk.need_text("id")?, walk.need_text("verdict")?))
        })?;
        let laboratories = top.tables("laboratory", |walk| {
            let numbers = walk.table("numbers", |walk| walk.all_numbers())?.unwrap_or_default();
            Ok((walk.need_text("name")?, numbers))
        })?;
        let cells = top.tables("cell", |walk| {
            let [study, technique, workload, age] = [
                walk.need_text("study")?,
                walk.need_text("technique")?,
                walk.need_text("workload")?,
                walk.need_text("age")?,
            ];
            let phase = walk.text("phase")?.unwrap_or_default();
            walk.whole("requests")?;
            walk.wholes("seeds")?;
            walk.table("spread", |walk| walk.all_numbers())?;
            let metrics = walk.table("metrics", |walk| walk.all_numbers())?.unwrap_or_default();
            let place = Place { study, technique, workload, age, phase };
            Ok(Expected { name: place.name(), workload: place.workload, metrics })
        })?;
        Ok(Expectations { laboratories, cells, claims })
    })
}
