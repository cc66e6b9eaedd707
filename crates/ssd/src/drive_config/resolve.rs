//! From layers to a configuration: base preset, NAND part, cell part with its markers, files, command line; with the
//! place of every value.

use std::collections::{BTreeMap, BTreeSet};

use super::DriveConfig;
use super::conflicts::Conflicts;
use super::document::{Document, elsewhere};
use super::places::Places;
use crate::config::layer::{Entry, apply_table};
use crate::config::presets::{self, Preset};
use crate::config::shown::ERRORS_MAX;
use crate::config::{ConfigError, ConfigErrors, KeyAt, Layer, Origin, Problem, Table, Value};
use crate::ftl::sanitize;
use crate::sections::ErrorModel;

/// A configuration with the place each value came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The configuration; it has been checked.
    pub config: DriveConfig,
    /// What was read, in order: later sources override earlier ones.
    pub sources: Vec<String>,
    /// Where each key was set last; keys that are not here have their default.
    pub(super) provenance: Places,
}

impl Resolved {
    /// Where the value of a key came from; `None` if it is a default.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.provenance.get(key)
    }

    /// Where each key was set last that has not its default.
    pub fn origins(&self) -> impl Iterator<Item = (&String, &Origin)> {
        self.provenance.iter()
    }

    /// Hash of the whole configuration, independent of where its values came from.
    pub fn hash(&self) -> u64 {
        self.config.hash()
    }

    /// The whole configuration as TOML, every key written out.
    pub fn to_toml(&self) -> String {
        self.config.to_toml()
    }
}

/// Resolves layers to a checked configuration. Later layers override earlier ones.
///
/// A layer may name a shipped drive to start from (`preset = "tlc"`, the last one named counts), a NAND part
/// (`[nand] part = "..."`) and a cell part (`[cell] part = "..."`) whose sections come just before it. If cells age and
/// no layer names a cell part, one with as many bits lies under everything. Top-level tables in `foreign` belong to
/// others and are left alone. All errors found are reported together.
pub fn resolve(layers: &[Layer], foreign: &[&str]) -> Result<Resolved, ConfigErrors> {
    let mut resolver = Resolver::default();
    let documents = resolver.read_all(layers, foreign);
    resolver.apply_all(&documents);
    resolver.put_cells_under();
    resolver.finish()
}

/// Layers that many configurations begin with, read and applied once.
///
/// ```
/// use ssd::config::Layer;
/// use ssd::drive_config::{Base, resolve};
/// let base = Base::new(vec![Layer::file("my.toml", "preset = \"tlc\"\n")], &[]);
/// let set = Layer::set("drive.seed=7").unwrap();
/// let all = [Layer::file("my.toml", "preset = \"tlc\"\n"), set.clone()];
/// assert_eq!(base.with(&[set]), resolve(&all, &[]));
/// ```
#[derive(Debug)]
pub struct Base {
    layers: Vec<Layer>,
    foreign: &'static [&'static str],
    resolver: Resolver,
}

impl Base {
    /// Of these layers, of which none but the first few may be `--set` arguments: those behind them are what varies.
    pub fn new(layers: Vec<Layer>, foreign: &'static [&'static str]) -> Self {
        let mut resolver = Resolver::default();
        let documents = resolver.read_all(&layers, foreign);
        resolver.apply_all(&documents);
        resolver.provenance = std::mem::take(&mut resolver.provenance).shared();
        Base { layers, foreign, resolver }
    }

    /// What [`resolve`] makes of the layers with these `--set` arguments behind them.
    pub fn with(&self, sets: &[Layer]) -> Result<Resolved, ConfigErrors> {
        // What is wrong is told in the order in which it is met when all is read before anything is applied.
        self.quickly(sets).map_or_else(|| resolve(&[&self.layers, sets].concat(), self.foreign), Ok)
    }

    /// The same, if nothing is wrong and no other layer comes before these.
    fn quickly(&self, sets: &[Layer]) -> Option<Resolved> {
        let mut resolver = self.resolver.clone();
        let documents: Vec<Document> =
            sets.iter().filter_map(|layer| resolver.read(layer, self.foreign)).collect();
        // A preset or a part comes before what is applied here already.
        let names = |it: &Document| it.preset.is_some() || it.nand_part.is_some() || it.cell_part.is_some();
        if documents.iter().any(|document| names(document) || !document.is_set) {
            return None;
        }
        resolver.sources.extend(documents.iter().map(|document| document.source.clone()));
        resolver.apply_all(&documents);
        resolver.put_cells_under();
        resolver.finish().ok()
    }
}

/// Tables of a shipped drive that are not its own: how papers run it.
const FOREIGN_IN_DRIVES: &[&str] = &["run"];

/// A kind of shipped file: what messages call it, the key that names one, its folder, and all of them.
struct Shelf {
    what: &'static str,
    key: &'static str,
    folder: &'static str,
    presets: &'static [Preset],
    foreign: &'static [&'static str],
}

impl Shelf {
    fn drives() -> Self {
        Shelf {
            what: "preset",
            key: "preset",
            folder: "drive",
            presets: presets::drives(),
            foreign: FOREIGN_IN_DRIVES,
        }
    }

    fn nands() -> Self {
        Shelf { what: "NAND part", key: "nand.part", folder: "nand", presets: presets::nands(), foreign: &[] }
    }

    fn cells() -> Self {
        Shelf { what: "cell part", key: "cell.part", folder: "cell", presets: presets::cells(), foreign: &[] }
    }

    /// What was fitted on a cell part, and comes with it.
    fn markers() -> Self {
        Shelf {
            what: "marker",
            key: "cell.part",
            folder: "marker",
            presets: presets::markers(),
            foreign: &[],
        }
    }

    fn layer(&self, preset: &Preset) -> Layer {
        Layer::file(format!("preset {}/{}", self.folder, preset.name), preset.text)
    }
}

/// Applies the keys of one table, such as `[run]`, that the drive does not own; the same rules, the same errors. What
/// the shipped drive that the layers name says of that table comes first.
///
/// Returns where each key that was set came from. Syntax errors are reported here too.
pub fn resolve_table(
    layers: &[Layer],
    path: &str,
    table: &mut dyn Table,
) -> Result<BTreeMap<String, Origin>, ConfigErrors> {
    let is_in_drives = FOREIGN_IN_DRIVES.contains(&path);
    let Some(preset) = is_in_drives.then(|| named_drive(layers)).flatten() else {
        return apply_table(layers, path, table, &elsewhere);
    };
    let mut all = vec![Shelf::drives().layer(preset)];
    all.extend_from_slice(layers);
    apply_table(&all, path, table, &elsewhere)
}

/// The shipped drive that layers start from, if they name one there is.
fn named_drive(layers: &[Layer]) -> Option<&'static Preset> {
    // Where one is wrong, whoever resolves the drive says so.
    let documents = layers.iter().rev().filter(|layer| layer.text.contains("preset"));
    let (name, _) = documents.filter_map(|layer| Document::read(layer, &[]).ok()).find_map(|it| it.preset)?;
    presets::drive(&name)
}

#[derive(Clone, Debug, Default)]
struct Resolver {
    config: DriveConfig,
    sources: Vec<String>,
    provenance: Places,
    errors: Vec<ConfigError>,
    /// Sections with an error: what they mean together with others is not known.
    unsure: BTreeSet<String>,
    /// A layer could not be read at all.
    unreadable: bool,
    /// A layer names a cell part.
    cells_named: bool,
}

impl Resolver {
    /// Reads the layers and puts the preset and the parts in their places.
    fn read_all(&mut self, layers: &[Layer], foreign: &[&str]) -> Vec<Document> {
        let mut named: Vec<Document> = layers.iter().filter_map(|layer| self.read(layer, foreign)).collect();
        let base = named.iter().rev().find_map(|document| document.preset.clone());
        if let Some((name, origin)) = base
            && let Some(document) = self.shipped(&Shelf::drives(), &name, origin)
        {
            named.insert(0, document);
        }
        let mut documents = Vec::new();
        for document in named {
            if let Some((name, origin)) = document.nand_part.clone()
                && let Some(nand) = self.shipped(&Shelf::nands(), &name, origin)
            {
                self.push_with_cells(&mut documents, nand);
            }
            self.push_with_cells(&mut documents, document);
        }
        self.sources = documents.iter().map(|document| document.source.clone()).collect();
        documents
    }

    /// Adds a document, after the cell part that it names and the markers fitted on that.
    fn push_with_cells(&mut self, documents: &mut Vec<Document>, document: Document) {
        if let Some((name, origin)) = document.cell_part.clone() {
            self.cells_named = true;
            documents.extend(self.shipped(&Shelf::cells(), &name, origin));
            let markers = presets::marker(&name).map(|preset| Shelf::markers().layer(preset));
            documents.extend(markers.and_then(|layer| self.read(&layer, &[])));
        }
        documents.push(document);
    }

    /// If cells lose data and nobody said which: those with as many bits, wherever no layer says otherwise.
    fn put_cells_under(&mut self) {
        let reprograms = self.config.sanitize.name() == sanitize::reprogram::NAME;
        if self.cells_named || self.config.errors.model == ErrorModel::None && !reprograms {
            return;
        }
        let cells = presets::default_cell(self.config.geometry.bits_per_cell);
        let markers = presets::marker(cells.name).map(|preset| Shelf::markers().layer(preset));
        for layer in markers.into_iter().chain([Shelf::cells().layer(cells)]) {
            let Some(mut document) = self.read(&layer, &[]) else { return };
            document.entries.retain(|entry| self.provenance.get(&entry.path()).is_none());
            if !document.entries.is_empty() {
                self.sources.insert(0, document.source.clone());
                self.apply(&[document]);
            }
        }
    }

    fn read(&mut self, layer: &Layer, foreign: &[&str]) -> Option<Document> {
        match Document::read(layer, foreign) {
            Ok(document) => {
                for error in &document.errors {
                    if let Problem::NoSuchTable { near: Some(near), .. } = &error.problem {
                        self.unsure.insert(near.clone());
                    }
                }
                self.errors.extend(document.errors.iter().cloned());
                Some(document)
            }
            Err(errors) => {
                self.errors.extend(errors);
                self.unreadable = true;
                None
            }
        }
    }

    fn shipped(&mut self, shelf: &Shelf, name: &str, origin: Origin) -> Option<Document> {
        if let Some(preset) = shelf.presets.iter().find(|preset| preset.name == name) {
            return self.read(&shelf.layer(preset), shelf.foreign);
        }
        let problem = Problem::no_such_name(shelf.what, name, shelf.presets.iter().map(|preset| preset.name));
        let keys = vec![KeyAt { key: shelf.key.to_owned(), origin: Some(origin.clone()) }];
        self.errors.push(ConfigError { keys, origin: Some(origin), problem });
        self.unreadable = true;
        None
    }

    /// Applies documents in their order.
    fn apply_all(&mut self, documents: &[Document]) {
        for group in documents.chunk_by(|a, b| a.is_set && b.is_set) {
            self.apply(group);
        }
    }

    /// Applies one file, or all `--set` arguments together: policies first, so that the order of keys is free.
    fn apply(&mut self, group: &[Document]) {
        let entries = || group.iter().flat_map(|document| &document.entries);
        let mut undecided = BTreeSet::new();
        for entry in entries() {
            let Some(section) = self.config.section_mut(&entry.section) else { continue };
            if entry.key != "policy" || section.family().is_none() {
                continue;
            }
            let before = section.policy();
            match select(section, &entry.value) {
                Ok(()) => {
                    if section.policy() != before {
                        self.provenance.forget(&entry.section);
                    }
                    self.provenance.insert(entry.path(), entry.origin.clone());
                }
                Err(problem) => {
                    undecided.insert(entry.section.clone());
                    self.fail(entry, problem);
                }
            }
        }
        for entry in entries().filter(|entry| !undecided.contains(&entry.section)) {
            let Some(section) = self.config.section_mut(&entry.section) else { continue };
            if entry.key == "policy" && section.family().is_some() {
                continue;
            }
            match entry.set(section, &elsewhere) {
                Ok(()) => self.provenance.insert(entry.path(), entry.origin.clone()),
                Err(problem) => self.fail(entry, problem),
            }
        }
    }

    fn fail(&mut self, entry: &Entry, problem: Problem) {
        self.unsure.insert(entry.section.clone());
        if self.errors.len() >= ERRORS_MAX {
            return;
        }
        let mut error = entry.error(problem);
        if let Problem::NotOfThisPolicy { .. } = error.problem {
            let key = format!("{}.policy", entry.section);
            let origin = self.provenance.get(&key).cloned();
            error.keys.push(KeyAt { key, origin });
        }
        self.errors.push(error);
    }

    /// Where both the flash that is used and the logical capacity are set, over-provisioning follows: a preset's counts
    /// no more, and one that somebody else has set must agree.
    fn settle_spare(&mut self) -> Vec<ConfigError> {
        const SPARE: &str = "drive.over_provisioning_percent";
        let mut conflicts = Conflicts(Vec::new());
        let Some(follows) = self.config.spare_that_follows() else { return conflicts.0 };
        let is_own = |origin: &Origin| !origin.source.starts_with("preset ");
        if self.provenance.get(SPARE).is_some_and(is_own) {
            self.config.check_spare_set(&mut conflicts);
            return conflicts.0;
        }
        if let Some(origin) = self.provenance.get("drive.raw_gib").cloned() {
            self.provenance.insert(SPARE.to_owned(), origin);
            self.config.drive.over_provisioning_percent = follows;
        }
        conflicts.0
    }

    fn finish(mut self) -> Result<Resolved, ConfigErrors> {
        if !self.unreadable {
            let mut conflicts = self.settle_spare();
            conflicts.extend(self.config.validate().err().map_or_else(Vec::new, |errors| errors.0));
            for mut conflict in conflicts {
                for key in &mut conflict.keys {
                    key.origin = self.provenance.get(&key.key).cloned();
                }
                // What the user wrote himself is looked at first, then presets, then defaults.
                conflict.keys.sort_by_key(|key| match &key.origin {
                    Some(origin) if origin.source.starts_with("preset ") => 1,
                    Some(_) => 0,
                    None => 2,
                });
                conflict.origin = conflict.keys.first().and_then(|key| key.origin.clone());
                let unsure =
                    |key: &KeyAt| self.unsure.contains(key.key.rsplit_once('.').map_or("", |(path, _)| path));
                if !conflict.keys.iter().any(unsure) {
                    self.errors.push(conflict);
                }
            }
        }
        let place = |error: &ConfigError| {
            let origin = error.origin.as_ref();
            let source =
                origin.and_then(|origin| self.sources.iter().position(|source| *source == origin.source));
            (source.unwrap_or(usize::MAX), origin.and_then(|origin| origin.line))
        };
        self.errors.sort_by_key(place);
        if self.errors.is_empty() {
            Ok(Resolved { config: self.config, sources: self.sources, provenance: self.provenance })
        } else {
            Err(ConfigErrors(self.errors))
        }
    }
}

fn select(section: &mut dyn Table, value: &Value) -> Result<(), Problem> {
    match value {
        Value::Text(name) => section.select(name),
        other => {
            let members = section.family().map_or(&[][..], |family| family.members);
            let names: Vec<&str> = members.iter().map(|member| member.name).collect();
            let allowed = format!("the name of a policy: {}", names.join(", "));
            Err(Problem::WrongType { found: other.to_string(), allowed })
        }
    }
}
