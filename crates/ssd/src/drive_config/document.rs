//! A layer as a drive's configuration: which tables are sections, which name a preset or part, and which are neither.

use toml::de::{DeTable, DeValue};

use super::DriveConfig;
use crate::config::layer::{Entry, Layer, Reader, to_value};
use crate::config::near::{nearest, split_unit};
use crate::config::{ConfigError, Origin, Problem, Table};

/// A layer, read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) source: String,
    pub(super) is_set: bool,
    pub(super) entries: Vec<Entry>,
    /// `preset = "..."`: the drive to start from.
    pub(super) preset: Option<(String, Origin)>,
    /// `part = "..."` of `[nand]`: the NAND part whose sections come first.
    pub(super) nand_part: Option<(String, Origin)>,
    /// `part = "..."` of `[cell]`: the cell part whose sections come first.
    pub(super) cell_part: Option<(String, Origin)>,
    /// Sections and keys that do not exist.
    pub(super) errors: Vec<ConfigError>,
}

impl Document {
    fn new(layer: &Layer) -> Self {
        Document {
            source: layer.source.clone(),
            is_set: layer.is_set,
            entries: Vec::new(),
            preset: None,
            nand_part: None,
            cell_part: None,
            errors: Vec::new(),
        }
    }
}

impl Document {
    /// Reads a layer; `foreign` are the top-level tables that others own.
    pub(super) fn read(layer: &Layer, foreign: &[&str]) -> Result<Document, Vec<ConfigError>> {
        let reader = Reader::new(layer);
        let table = reader.parse()?;
        let mut walk = Walk { reader, foreign, document: Document::new(layer) };
        walk.tables(&table, "");
        let Walk { reader: Reader { mut entries, mut problems, .. }, mut document, .. } = walk;
        entries.sort_by_key(|entry| entry.place);
        problems.sort_by_key(|(place, _)| *place);
        document.entries = entries;
        document.errors = problems.into_iter().map(|(_, error)| error).collect();
        Ok(document)
    }
}

/// On the way through the tables of a layer.
struct Walk<'a> {
    reader: Reader<'a>,
    foreign: &'a [&'a str],
    document: Document,
}

impl Walk<'_> {
    /// Walks the tables above the sections; one that is a section, too, has keys of its own.
    fn tables(&mut self, table: &DeTable<'_>, prefix: &str) {
        for (key, value) in table {
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            let byte = key.span().start;
            let above = DriveConfig::section_paths()
                .any(|s| s.strip_prefix(&path).is_some_and(|s| s.starts_with('.')));
            let section = DriveConfig::section_paths().any(|s| s == path);
            match value.get_ref() {
                _ if prefix.is_empty() && self.foreign.contains(&path.as_str()) => {}
                DeValue::String(name) if path == "preset" => {
                    self.document.preset = Some((name.to_string(), self.reader.origin(byte)));
                }
                DeValue::String(name) if path == "nand.part" => {
                    self.document.nand_part = Some((name.to_string(), self.reader.origin(byte)));
                }
                DeValue::String(name) if path == "cell.part" => {
                    self.document.cell_part = Some((name.to_string(), self.reader.origin(byte)));
                }
                other if ["preset", "nand.part", "cell.part"].contains(&path.as_str()) => {
                    let problem = Problem::WrongType {
                        found: to_value(other).to_string(),
                        allowed: "the name of a preset, in quotes".to_owned(),
                    };
                    self.reader.report(byte, &path, problem);
                }
                DeValue::Table(inner) if section && !above => self.reader.entries(&path, inner),
                DeValue::Table(inner) if above => self.tables(inner, &path),
                other if section || above => self.reader.not_a_section(&path, byte, other),
                DeValue::Table(_) if is_key(prefix, key.get_ref()) => self.reader.entry(prefix, key, value),
                DeValue::Table(inner) => self.no_such_table(&path, byte, inner),
                _ if DriveConfig::section_paths().any(|s| s == prefix) => {
                    self.reader.entry(prefix, key, value);
                }
                _ => self.no_such_key(&path, byte),
            }
        }
    }

    fn no_such_table(&mut self, path: &str, byte: usize, inner: &DeTable<'_>) {
        // `[nan.timing]` is about `nan.timing`: a table that holds only tables is just a step on the way.
        let deeper = inner.iter().filter_map(|(key, value)| match value.get_ref() {
            DeValue::Table(table) => Some((key, table)),
            _ => None,
        });
        let deeper: Vec<_> = deeper.collect();
        if !deeper.is_empty() && deeper.len() == inner.len() {
            for (key, table) in deeper {
                self.no_such_table(&format!("{path}.{}", key.get_ref()), key.span().start, table);
            }
            return;
        }
        let mut allowed: Vec<String> = DriveConfig::section_paths().map(str::to_owned).collect();
        allowed.extend(self.foreign.iter().map(|s| (*s).to_owned()));
        let ending = |name: &&String| name.rsplit('.').next() == path.rsplit('.').next();
        let near = allowed.iter().find(ending).map(String::as_str);
        let near = near.or_else(|| nearest(path, allowed.iter().map(String::as_str))).map(str::to_owned);
        self.reader.report(byte, path, Problem::NoSuchTable { found: path.to_owned(), allowed, near });
    }

    fn no_such_key(&mut self, path: &str, byte: usize) {
        let mut allowed = vec!["preset".to_owned()];
        allowed.extend(DriveConfig::section_paths().map(|s| format!("[{s}]")));
        let last = path.rsplit('.').next().unwrap_or(path);
        let near = elsewhere(last)
            .or_else(|| nearest(path, ["preset", "nand.part", "cell.part"]).map(str::to_owned));
        let problem = Problem::NoSuchKey { found: path.to_owned(), allowed, near, unit: None };
        self.reader.report(byte, path, problem);
    }
}

/// Whether a section has a key of that name.
fn is_key(section: &str, key: &str) -> bool {
    let config = DriveConfig::default();
    config.section(section).is_some_and(|table| table.fields().iter().any(|field| field.key == key))
}

/// Keys that there were, with what says the same now.
const GONE: &[(&str, &str)] =
    &[("program_mode", "ftl.program_mode.policy"), ("copyback", "ftl.migration.policy")];

/// The full path of a key of that name, in whichever section or policy has it; failing that, of one that has its name
/// with a unit or another unit.
pub(super) fn elsewhere(key: &str) -> Option<String> {
    let config = DriveConfig::default();
    let is_there = |now: &str| now.rsplit_once('.').is_some_and(|(path, _)| config.section(path).is_some());
    if let Some((_, now)) = GONE.iter().find(|(old, now)| *old == key && is_there(now)) {
        return Some((*now).to_owned());
    }
    let has = |section: &dyn Table| match section.family() {
        Some(family) => !family.members_with(key).is_empty(),
        None => section.fields().iter().any(|field| field.key == key),
    };
    let same = config.sections().find(|(_, section)| has(*section)).map(|(path, _)| format!("{path}.{key}"));
    let stem = split_unit(key).0;
    same.or_else(|| {
        config.sections().find_map(|(path, section)| {
            let field = section.fields().iter().find(|field| split_unit(field.key).0 == stem)?;
            Some(format!("{path}.{}", field.key))
        })
    })
}
