//! Numbers of blocks that no drive under a load shows: `[[laboratory]]` of `experiment.toml`. What is measured is what
//! `wordline lab check` and `wordline lab fleet` print, and claims name its lines.

use super::PaperError;
use crate::base::document::Walk;
use crate::characterize::{check, fleet};
use ssd::config::presets;
use std::collections::BTreeMap;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The lines of `wordline lab check` for a part, without single cells.
    Check {
        /// Cell part.
        part: &'static str,
    },
    /// `wordline lab fleet`.
    Fleet(fleet::Plan),
}

/// Blocks, chips or drives: how many at full scale and at quick scale.
type Scale = [u32; 2];

/// A measurement of blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Laboratory {
    /// Name in claims and results.
    pub name: String,
    /// What is measured.
    pub what: What,
    /// Chips, or drives.
    many: Scale,
    /// Blocks of each.
    blocks: Scale,
}

/// What was measured, by line.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Name of the measurement.
    pub name: String,
    /// Its lines.
    pub numbers: BTreeMap<String, f64>,
}

impl Laboratory {
    /// Reads a table.
    pub(super) fn read(walk: &Walk<'_>, name: String) -> Result<Self, PaperError> {
        let many = |key: &'static str, quick: &'static str| -> Result<Scale, PaperError> {
            let whole = |key: &'static str| -> Result<Option<u32>, PaperError> {
                match walk.whole(key)? {
                    None => Ok(None),
                    Some(n @ 1..=100_000) => Ok(Some(n as u32)),
                    Some(n) => Err(walk.wrong(key, format!("found {n}"), "1 to 100,000")),
                }
            };
            let Some(full) = whole(key)? else {
                return Err(walk.wrong(key, "found nothing", "1 to 100,000"));
            };
            Ok([full, whole(quick)?.unwrap_or(full)])
        };
        let part = walk.need_text("part")?;
        let Some(part) = presets::cell(&part).map(|preset| preset.name) else {
            let parts: Vec<&str> = presets::cells().iter().map(|preset| preset.name).collect();
            return Err(walk.no_such("part", "cell part", &part, &parts));
        };
        let blocks = many("blocks", "quick_blocks")?;
        match walk.need_text("what")?.as_str() {
            "check" if check::PARTS.contains(&part) => Ok(Laboratory {
                name,
                what: What::Check { part },
                many: many("chips", "quick_chips")?,
                blocks,
            }),
            "check" => Err(walk.no_such("part", "part that is checked", part, &check::PARTS)),
            "fleet" => {
                let what = What::Fleet(plan(walk, part)?);
                Ok(Laboratory { name, what, many: many("drives", "quick_drives")?, blocks })
            }
            other => Err(walk.no_such("what", "measurement", other, &["check", "fleet"])),
        }
    }

    /// Measures, on all cores.
    pub(super) fn measure(&self, quick: bool, seed: u64) -> Result<Found, PaperError> {
        let [many, blocks] = [self.many, self.blocks].map(|scale| scale[usize::from(quick)]);
        let numbers = match &self.what {
            What::Check { part } => {
                let plan = check::Plan { seed, chips: many, blocks, cells: 0, part: Some(part) };
                let found = check::run(&plan).map_err(PaperError::Config)?;
                let lines = found.findings.into_iter();
                lines.filter_map(|line| Some((line.quantity, line.measured?))).collect()
            }
            What::Fleet(plan) => {
                let plan = fleet::Plan { drives: many, blocks, seed, ..plan.clone() };
                fleet::live(&plan).map_err(PaperError::Config)?.lines().into_iter().collect()
            }
        };
        Ok(Found { name: self.name.clone(), numbers })
    }
}

/// A fleet, but for its size.
fn plan(walk: &Walk<'_>, part: &'static str) -> Result<fleet::Plan, PaperError> {
    let within = |key: &'static str, low: f64, high: f64| match walk.number(key)? {
        Some(number) if (low..=high).contains(&number) => Ok(number),
        other => Err(walk.wrong(key, format!("found {other:?}"), format!("a number from {low} to {high}"))),
    };
    let marker = walk.need_text("marker")?;
    let markers = fleet::markers();
    if !markers.contains(&marker.as_str()) {
        return Err(walk.no_such("marker", "marker that tells ages", &marker, &markers));
    }
    let limits = walk.wholes("limits")?.unwrap_or_default();
    if limits.is_empty() || limits.iter().any(|limit| !(1..=20_000).contains(limit)) {
        return Err(walk.wrong("limits", format!("found {limits:?}"), "cycles, each 1 to 20,000"));
    }
    Ok(fleet::Plan {
        part,
        marker,
        drives: 1,
        blocks: 1,
        dwell_minutes: within("dwell_minutes", 1.0, 10_000.0)?,
        limits: limits.into_iter().map(|limit| limit as u32).collect(),
        spare_percent: within("spare_percent", 0.0, 100.0)?,
        seed: 1,
    })
}
