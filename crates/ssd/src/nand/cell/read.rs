//! A part as a file: tables `[cell.states]`, `[cell.cycling]`... and the parts that ship with Wordline.

use std::collections::BTreeMap;

use toml::de::DeTable;

use crate::config::layer::apply_table;
use crate::config::presets::{self, Preset};
use crate::config::shown::ERRORS_MAX;
use crate::config::{ConfigError, ConfigErrors, Field, KeyAt, Layer, Origin, Problem, Table, Value};
use crate::sections::CellPart;

/// The table that holds all sections of a part.
const ROOT: &str = "cell";

/// The parts that ship with Wordline, `presets/cell/`.
pub const PRESETS: &[Preset] = presets::cells();

impl CellPart {
    /// The shipped part of that name.
    pub fn preset(name: &str) -> Result<Self, ConfigErrors> {
        match presets::cell(name) {
            Some(preset) => {
                let cells = Layer::file(format!("preset cell/{name}"), preset.text);
                let markers = presets::marker(name)
                    .map(|preset| Layer::file(format!("preset marker/{name}"), preset.text));
                Self::read(&[cells].into_iter().chain(markers).collect::<Vec<Layer>>())
            }
            None => {
                let problem =
                    Problem::no_such_name("cell part", name, PRESETS.iter().map(|preset| preset.name));
                Err(ConfigError { keys: Vec::new(), origin: None, problem }.into())
            }
        }
    }

    /// Reads layers, later ones over earlier ones, and checks the whole. Keys not set keep the default's value.
    pub fn read(layers: &[Layer]) -> Result<Self, ConfigErrors> {
        let mut part = CellPart::default();
        apply_table(layers, ROOT, &mut Root, &elsewhere)?;
        let mut errors: Vec<ConfigError> = layers.iter().flat_map(strangers).collect();
        let mut provenance: BTreeMap<String, Origin> = BTreeMap::new();
        for (path, section) in part.sections_mut() {
            match apply_table(layers, path, section, &elsewhere) {
                Ok(found) => provenance.extend(found),
                Err(found) => errors.extend(found.0),
            }
        }
        if !errors.is_empty() {
            return Err(ConfigErrors(errors));
        }
        part.validate().map_err(|mut errors| {
            for error in &mut errors.0 {
                for key in &mut error.keys {
                    key.origin = provenance.get(&key.key).cloned();
                }
                error.keys.sort_by_key(|key| key.origin.is_none());
                error.origin = error.keys.first().and_then(|key| key.origin.clone());
            }
            errors
        })?;
        Ok(part)
    }
}

/// The full path of a key of that name in whichever section of a part has it.
fn elsewhere(key: &str) -> Option<String> {
    let part = CellPart::default();
    let mut sections = part.sections();
    let has = |section: &dyn Table| section.fields().iter().any(|field| field.key == key);
    sections.find(|(_, section)| has(*section)).map(|(path, _)| format!("{path}.{key}"))
}

/// Top-level tables that a part does not have.
fn strangers(layer: &Layer) -> Vec<ConfigError> {
    let Ok(table) = DeTable::parse(&layer.text) else { return Vec::new() };
    let names = table.get_ref().keys().filter(|key| key.get_ref() != ROOT);
    let report = |key: &toml::Spanned<std::borrow::Cow<'_, str>>| {
        let before = layer.text.as_bytes().iter().take(key.span().start);
        let line = Some(1 + before.filter(|byte| **byte == b'\n').count() as u32);
        let origin = Some(Origin { source: layer.source.clone(), line });
        let keys = vec![KeyAt { key: key.get_ref().to_string(), origin: origin.clone() }];
        ConfigError { keys, origin, problem: no_such_section(key.get_ref()) }
    };
    names.take(ERRORS_MAX).map(report).collect()
}

fn no_such_section(found: &str) -> Problem {
    let near = match Problem::no_such_name("section", found, CellPart::SECTIONS.iter().copied()) {
        Problem::NoSuchName { near, .. } => near,
        _ => None,
    };
    let allowed = CellPart::SECTIONS.iter().map(|path| (*path).to_owned()).collect();
    Problem::NoSuchTable { found: found.to_owned(), allowed, near }
}

/// The table above the sections: it has no keys of its own.
struct Root;

impl Table for Root {
    fn fields(&self) -> &'static [Field] {
        &[]
    }
    fn set(&mut self, key: &str, _: &Value) -> Result<(), Problem> {
        let path = format!("{ROOT}.{key}");
        if CellPart::SECTIONS.contains(&path.as_str()) { Ok(()) } else { Err(no_such_section(&path)) }
    }
    fn show(&self, _: &str) -> Option<String> {
        None
    }
    fn check(&self) -> Vec<(&'static str, Problem)> {
        Vec::new()
    }
}
