//! The resolved configuration, value by value: what it is, where it came from, what it means.

use super::resolve::Resolved;
use crate::config::presets;
use crate::config::value::show_f64;
use crate::sections::GIB;

/// One value of a resolved configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Full path of the key, or the name of a derived value.
    pub key: String,
    /// The value, as TOML text.
    pub value: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// `my.toml:12`, `preset drive/tlc:5`, `--set ...`, `default` or `derived`.
    pub source: String,
    /// What stands beside the value in a shipped preset: its tag (`[P]` paper, `[D]` derived, `[F]` fitted, `[A]`
    /// assumed) and where it is from. Empty for other values.
    pub note: String,
    /// What it means.
    pub doc: String,
    /// What is allowed; empty for derived values.
    pub range: String,
    /// Follows from other values and cannot be set.
    pub derived: bool,
}

impl Resolved {
    /// Every value in the order of declaration, then the values that follow from them.
    pub fn explain(&self) -> Vec<Explained> {
        let mut rows = Vec::new();
        for (path, section) in self.config.sections() {
            if let (Some(family), Some(policy)) = (section.family(), section.policy()) {
                let names: Vec<&str> = family.members.iter().map(|member| member.name).collect();
                rows.push(Explained {
                    key: format!("{path}.policy"),
                    value: format!("\"{policy}\""),
                    unit: String::new(),
                    source: self.source_of(&format!("{path}.policy")),
                    note: self.note_of(&format!("{path}.policy"), ""),
                    doc: family.question.to_owned(),
                    range: format!("one of {}", names.join(", ")),
                    derived: false,
                });
            }
            for field in section.fields() {
                let key = format!("{path}.{}", field.key);
                rows.push(Explained {
                    value: section.show(field.key).unwrap_or_default(),
                    unit: field.unit.to_owned(),
                    source: self.source_of(&key),
                    note: self.note_of(&key, field.unit),
                    doc: field.doc.to_owned(),
                    range: field.range_text(),
                    derived: false,
                    key,
                });
            }
        }
        rows.extend(self.derived());
        rows
    }

    fn source_of(&self, key: &str) -> String {
        self.origin(key).map_or_else(|| "default".to_owned(), ToString::to_string)
    }

    /// The comment beside the value in its preset, without the unit that it begins with.
    fn note_of(&self, key: &str, unit: &str) -> String {
        let comment = self.origin(key).and_then(presets::comment).unwrap_or_default();
        let rest = comment.strip_prefix(unit).filter(|rest| !rest.starts_with(char::is_alphanumeric));
        rest.unwrap_or(comment).trim_start_matches([' ', ':', ',', ';']).to_owned()
    }

    fn derived(&self) -> Vec<Explained> {
        let config = &self.config;
        let geometry = &config.geometry;
        let gib = |bytes: u64| show_f64((bytes as f64 / GIB * 1e6).round() / 1e6);
        let round = |x: f64| show_f64((x * 1e4).round() / 1e4);
        let list =
            |times: Vec<f64>| format!("[{}]", times.into_iter().map(round).collect::<Vec<_>>().join(", "));
        let logical = config.logical_units();
        let spare = config.physical_units() as f64 / logical.max(1) as f64 - 1.0;
        let code: Vec<String> = config.gray_code().iter().map(|row| row.len().to_string()).collect();
        let rows = [
            ("dies", geometry.dies().to_string(), "dies", "Dies of the drive."),
            ("planes", geometry.planes().to_string(), "planes", "Planes of the drive."),
            ("blocks", geometry.blocks().to_string(), "blocks", "Blocks of the drive."),
            (
                "pages_per_block",
                geometry.pages_per_block().to_string(),
                "pages",
                "Wordlines x bits per cell.",
            ),
            ("physical_gib", gib(geometry.physical_bytes()), "GiB", "Data capacity of all blocks."),
            (
                "used_gib",
                gib(config.used_bytes()),
                "GiB",
                "Data capacity of the blocks that the firmware uses (drive.raw_gib).",
            ),
            ("logical_gib", gib(config.logical_bytes()), "GiB", "Capacity that the host sees."),
            ("unit_bytes", config.unit_bytes().to_string(), "bytes", "Size of a mapping unit."),
            ("logical_units", logical.to_string(), "units", "Mapping units that the host sees."),
            (
                "over_provisioning_effective_percent",
                round(spare * 100.0),
                "%",
                "(used - logical) / logical, after rounding to whole units.",
            ),
            (
                "lanes",
                config.lanes().to_string(),
                "lanes",
                "Groups of planes that open and erase blocks together.",
            ),
            (
                "lane_planes",
                config.lane_span().to_string(),
                "planes",
                "Planes in each lane, that is, blocks in a superblock.",
            ),
            (
                "spare_blocks_per_lane",
                u64::from(config.used_blocks_per_plane())
                    .saturating_sub(config.data_blocks_per_lane())
                    .to_string(),
                if config.lane_span() > 1 { "superblocks" } else { "blocks" },
                "Blocks (or superblocks) of each lane beyond the data when the logical space is full.",
            ),
            (
                "thresholds",
                format!("[{}]", code.join(", ")),
                "",
                "Thresholds sensed for each page type, lowest first.",
            ),
            ("t_read_us", list(config.t_read_us()), "us", "tR of each page type, lowest first."),
            ("t_program_us", list(config.t_program_us()), "us", "tPROG of each page type, lowest first."),
        ];
        rows.into_iter().map(|(key, value, unit, doc)| derived_row(key, value, unit, doc)).collect()
    }
}

fn derived_row(key: &str, value: String, unit: &str, doc: &str) -> Explained {
    Explained {
        key: format!("derived.{key}"),
        value,
        unit: unit.to_owned(),
        source: "derived".to_owned(),
        note: String::new(),
        doc: doc.to_owned(),
        range: String::new(),
        derived: true,
    }
}
