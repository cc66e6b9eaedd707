//! Stored results, judged anew: the numbers of runs stay, claims and their counts follow from `claims.toml`.

use super::cell::Place;
use super::laboratory::Found;
use super::verdict::{self, Finding, Measured, Runs};
use super::{Claim, Paper, PaperError, lines, output};
use crate::base::document::{File, Walk};
use std::collections::BTreeMap;

/// What a file of results holds beside its claims.
pub(super) struct Stored {
    /// Whether it is of the reduced scale.
    pub quick: bool,
    /// Lines of measurements of blocks alone.
    pub laboratories: Vec<Found>,
    /// Runs, with their numbers.
    pub cells: Vec<(Place, BTreeMap<String, f64>)>,
    /// Requests of these, in their order.
    pub requests: Vec<u64>,
    /// Claims with their verdicts, and how far seeds lay apart.
    pub claims: Vec<(String, String, Option<f64>)>,
}

impl Stored {
    /// Reads a file of results.
    pub fn read(file: &File) -> Result<Self, PaperError> {
        file.with_table(|top| {
            for key in ["paper", "version", "commit", "date"] {
                top.text(key)?;
            }
            for key in ["seed", "met", "missed", "not_judged"] {
                top.whole(key)?;
            }
            top.texts("skipped")?;
            let (cells, requests) = top.tables("cell", cell)?.into_iter().unzip();
            Ok(Stored {
                quick: top.text("scale")?.as_deref() == Some("quick"),
                claims: top.tables("claim", |walk| {
                    walk.ignore_others();
                    Ok((walk.need_text("id")?, walk.need_text("verdict")?, walk.number("spread")?))
                })?,
                laboratories: top.tables("laboratory", |walk| {
                    let numbers = walk.table("numbers", Walk::all_numbers)?.unwrap_or_default();
                    Ok(Found { name: walk.need_text("name")?, numbers: numbers.into_iter().collect() })
                })?,
                cells,
                requests,
            })
        })
    }
}

/// A run with its numbers, and how many requests it served.
type Served = ((Place, BTreeMap<String, f64>), u64);

fn cell(walk: &Walk<'_>) -> Result<Served, PaperError> {
    let place = Place {
        study: walk.need_text("study")?,
        technique: walk.need_text("technique")?,
        workload: walk.need_text("workload")?,
        age: walk.need_text("age")?,
        phase: walk.text("phase")?.unwrap_or_default(),
    };
    let requests = walk.whole("requests")?.unwrap_or(0);
    walk.texts("problems")?;
    walk.wholes("seeds")?;
    walk.table("spread", Walk::all_numbers)?;
    let metrics = walk.table("metrics", Walk::all_numbers)?.unwrap_or_default();
    Ok(((place, metrics.into_iter().collect()), requests))
}

/// A file of results, and the same with its claims judged anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedAnew {
    /// As it is.
    pub stored: String,
    /// As it is to be.
    pub anew: String,
}

impl Paper {
    /// A file of results in its folder, with its claims judged anew: what was run stays as it is, and so does how far
    /// seeds lay apart where the same is measured. `None` if there is no such file.
    pub fn judged_anew(&self, name: &str) -> Result<Option<JudgedAnew>, PaperError> {
        let path = self.folder.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        let file = File::read(&path)?;
        let stored = Stored::read(&file)?;
        let cells = stored.cells.iter().map(|(place, metrics)| (place, metrics));
        let runs = Runs::of(&self.experiment, stored.quick, cells);
        let spread = |id: &str| stored.claims.iter().find(|claim| claim.0 == id).and_then(|claim| claim.2);
        let mut findings: Vec<Finding> = Vec::new();
        for claim in &self.claims {
            let found = match &claim.laboratory {
                Some(line) => lines::find(claim, line, &stored.laboratories)?,
                None => verdict::find(claim, &runs),
            };
            let spread = spread(&claim.id).filter(|_| matches!(found.measured, Measured::Number(_)));
            findings.push(found.over_seeds(spread, self.seeds_of(claim, stored.quick)));
        }
        let anew = written(&file.text, &findings);
        Ok(Some(JudgedAnew { stored: file.text, anew }))
    }
}

impl Paper {
    /// With how many seeds a claim is judged.
    fn seeds_of(&self, claim: &Claim, quick: bool) -> usize {
        let Some(measure) = &claim.measure else { return 1 };
        let studies = self.experiment.studies.iter().filter(|study| measure.studies.contains(&study.name));
        studies.map(|study| study.seeds(quick, 1).len()).min().unwrap_or(1)
    }
}

/// The text of results with other findings in it.
fn written(text: &str, findings: &[Finding]) -> String {
    let at = |head: &str| text.find(&format!("\n\n[[{head}]]")).map_or(text.len(), |at| at + 1);
    let rest = at("laboratory").min(at("cell"));
    let [met, missed, open] = output::counts(findings);
    let counts = [("met = ", met), ("missed = ", missed), ("not_judged = ", open)];
    let line = |line: &str| match counts.iter().find(|(key, _)| line.starts_with(key)) {
        Some((key, count)) => format!("{key}{count}\n"),
        None => format!("{line}\n"),
    };
    let mut all: String = text[..at("claim").min(rest)].trim_end().lines().map(line).collect();
    findings.iter().for_each(|finding| output::finding_toml(&mut all, finding));
    all + &text[rest..]
}
