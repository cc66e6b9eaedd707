//! What came of a fit: tables for people, the configuration.

use super::fitter::{Because, Found};
use super::predictions::Row;
use super::steps::Fit;
use crate::base::number::digits;
use crate::base::number::percent;
use crate::report::compare::wrapped;
use crate::report::table::aligned;
use serde_json::{Value, json};
use ssd::config::presets::FITTED;
use std::collections::BTreeMap;
use std::fmt::Write;

impl Fit {
    /// What is fixed, assumed and contradicted, and what the drive does beside what was given.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n", self.sheet.name);
        for remark in &self.sheet.remarks {
            let _ = writeln!(text, "look: {remark}");
        }
        for title in ["fixed by data", "assumed", "contradicted"] {
            let cells = |found: &Found| {
                let (list, why) = match &found.because {
                    Because::Fixed(by) => ("fixed by data", by),
                    Because::Assumed(range) => ("assumed", range),
                    Because::Contradicted(told) => ("contradicted", told),
                };
                (list == title).then(|| vec![format!("  {}", found.key), found.value.clone(), why.clone()])
            };
            let rows: Vec<Vec<String>> = self.found.iter().filter_map(cells).collect();
            if !rows.is_empty() {
                let _ = write!(text, "\n{title}\n{}", aligned(&rows, 3));
            }
        }
        text.push_str(&self.open_questions());
        text + &self.predictions()
    }

    /// What a life of writes says of the cells, if counters were given.
    fn open_questions(&self) -> String {
        let smart = &self.sheet.smart;
        let mut text = String::new();
        if let (Some(host), Some(nand)) = (smart.host_written, smart.nand_written) {
            let _ = writeln!(
                text,
                "\nits counters: write amplification {} under its own load so far",
                digits(nand / host)
            );
        }
        text
    }

    /// The table of what was given and what is predicted.
    fn predictions(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let head = ["", "given", "predicted", "off", ""].map(str::to_owned).to_vec();
        let rows = std::iter::once(head).chain(self.rows.iter().map(cells));
        format!("\npredicted\n{}", crate::report::table::grid(&rows.collect::<Vec<_>>()))
    }

    /// The drive's configuration, as TOML whose keys say where they came from.
    pub fn toml(&self) -> String {
        let mut text = format!("# {}: {FITTED}\n", self.sheet.name);
        text.push_str("# [P] what its maker says, [F] fitted to a figure, [A] assumed. Figures:\n");
        for (measure, figure) in &self.sheet.figures {
            let told = measure.dimension().told(figure.value);
            for line in wrapped(&format!("{} {told}: {}", measure.key(), figure.source)).lines() {
                let _ = writeln!(text, "# {line}");
            }
        }
        let mut section = "";
        let mut sets = self.model.whole();
        // Sections in the order of their first keys.
        let order: Vec<&str> = sets.iter().map(|(key, _)| section_of(key)).collect();
        let place = |key: &str| order.iter().position(|section| *section == section_of(key));
        sets.sort_by_key(|(key, _)| place(key));
        for (key, value) in &sets {
            if section_of(key) != section {
                section = section_of(key);
                let _ = writeln!(text, "\n[{section}]");
            }
            let name = key.rsplit('.').next().unwrap_or(key);
            let _ = writeln!(text, "{name} = {value} # {}", self.why(key));
        }
        text
    }

    /// All of it for programs.
    pub fn json(&self) -> Value {
        let found = |found: &Found| {
            let (because, why) = match &found.because {
                Because::Fixed(why) => ("fixed", why),
                Because::Assumed(why) => ("assumed", why),
                Because::Contradicted(why) => ("contradicted", why),
            };
            json!({ "key": found.key, "value": found.value, "because": because, "why": why })
        };
        let row = |row: &Row| {
            json!({
                "figure": row.what, "unit": row.dimension.unit(), "given": row.given, "predicted": row.predicted,
                "given_text": row.dimension.told(row.given), "predicted_text": row.dimension.told(row.predicted),
                "off": row.off(), "fitted": row.is_fitted, "source": row.source,
            })
        };
        json!({
            "name": self.sheet.name,
            "remarks": self.sheet.remarks,
            "found": self.found.iter().map(found).collect::<Vec<_>>(),
            "predictions": self.rows.iter().map(row).collect::<Vec<_>>(),
            "config": self.model.whole().into_iter().collect::<BTreeMap<_, _>>(),
        })
    }

    /// Why a key has its value, as a remark behind it.
    fn why(&self, key: &str) -> String {
        let name = match key {
            "nand.geometry.channels" | "flash.channel.bandwidth_mb_s" => "channels",
            "nand.geometry.chips_per_channel" | "nand.geometry.dies_per_chip" => "dies",
            "nand.timing.program_steps" | "nand.timing.erase_steps" => "flash.preemption.policy",
            "nand.geometry.blocks_per_plane" => "drive.raw_gib",
            "host.write_cap_mb_s" => "random_write",
            "drive.rating.tbw" | "drive.rating.workload" => return "[P] the maker's rating".to_owned(),
            key => key,
        };
        match self.found.iter().find(|found| found.key == name).map(|found| &found.because) {
            Some(Because::Fixed(by)) if by == "the sheet" || by == "the capacity" => format!("[P] {by}"),
            Some(Because::Fixed(by)) => format!("[F] {by}"),
            Some(Because::Contradicted(_)) => "[F] a limit that the data does not explain".to_owned(),
            Some(Because::Assumed(_)) => "[A]".to_owned(),
            None => "[A] as the default drive".to_owned(),
        }
    }
}

/// Whether a text begins as the configuration of a fitted drive does.
pub(crate) fn is_fitted(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"# ") && line.ends_with(FITTED.as_bytes())
}

/// The section of a key.
fn section_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(section, _)| section)
}

fn cells(row: &Row) -> Vec<String> {
    let off = row.off();
    let sign = if off < 0.0 { "" } else { "+" };
    vec![
        format!("  {}", row.what),
        row.dimension.told(row.given),
        row.dimension.told(row.predicted),
        format!("{sign}{}", percent(off)),
        if row.is_fitted { "fitted" } else { "" }.to_owned(),
    ]
}
