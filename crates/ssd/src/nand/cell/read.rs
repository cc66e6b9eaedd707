//! A part as a file: tables `[cell.states]`, `[cell.cycling]`... and the parts that ship with Wordline.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::part::{
    Cycling, Disturb, Ecc, Effects, Modes, Observables, Population, Retention, Retry, States, Wordlines,
};
use crate::config::presets::{self, Preset};
use crate::config::{
    ConfigError, ConfigErrors, Field, KeyAt, Layer, Origin, Problem, Table, Value, resolve_table,
};

/// The table that holds all sections of a part.
const ROOT: &str = "cell";

macro_rules! cell_part {
    ($($(#[doc = $doc:literal])+ $field:ident : $ty:ty = $path:literal;)+) => {
        /// All constants of a NAND part.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct CellPart {
            $($(#[doc = $doc])+ pub $field: $ty,)+
        }

        impl CellPart {
            /// Paths of the sections in the order of declaration.
            pub const SECTIONS: &'static [&'static str] = &[$($path),+];

            /// The sections with their paths.
            pub fn sections(&self) -> impl Iterator<Item = (&'static str, &dyn Table)> {
                [$(($path, &self.$field as &dyn Table)),+].into_iter()
            }

            /// The section of that path.
            pub fn section(&self, path: &str) -> Option<&dyn Table> {
                match path { $($path => Some(&self.$field),)+ _ => None }
            }

            /// The section of that path, to change it.
            pub fn section_mut(&mut self, path: &str) -> Option<&mut dyn Table> {
                match path { $($path => Some(&mut self.$field),)+ _ => None }
            }

            fn sections_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut dyn Table)> {
                [$(($path, &mut self.$field as &mut dyn Table)),+].into_iter()
            }
        }
    };
}

cell_part! {
    /// Fresh cells.
    states: States = "cell.states";
    /// Wear.
    cycling: Cycling = "cell.cycling";
    /// Time and temperature.
    retention: Retention = "cell.retention";
    /// Other effects.
    effects: Effects = "cell.effects";
    /// Differences in a block.
    wordlines: Wordlines = "cell.wordlines";
    /// Reads.
    disturb: Disturb = "cell.disturb";
    /// Differences between blocks.
    population: Population = "cell.population";
    /// What is visible of wear.
    observables: Observables = "cell.observables";
    /// Program modes.
    modes: Modes = "cell.modes";
    /// Correction.
    ecc: Ecc = "cell.ecc";
    /// Retry table.
    retry: Retry = "cell.retry";
}

/// The parts that ship with Wordline, `presets/cell/`.
pub const PRESETS: &[Preset] = presets::cells();

impl CellPart {
    /// The shipped part of that name.
    pub fn preset(name: &str) -> Result<Self, ConfigErrors> {
        match presets::cell(name) {
            Some(preset) => Self::read(&[Layer::file(format!("preset cell/{name}"), preset.text)]),
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
        resolve_table(layers, ROOT, &mut Root)?;
        let mut errors: Vec<ConfigError> = layers.iter().flat_map(strangers).collect();
        let mut provenance: BTreeMap<String, Origin> = BTreeMap::new();
        for (path, section) in part.sections_mut() {
            match resolve_table(layers, path, section) {
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
    names.map(report).collect()
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
