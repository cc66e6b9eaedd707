//! What the user gave to describe a drive: a file, a preset, settings; and how they become one configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use lab::RunConfig;
use ssd::DriveConfig;
use ssd::config::{ConfigErrors, Layer, Origin, presets};
use ssd::drive_config::{Resolved, resolve, resolve_table};
use toml::de::{DeTable, DeValue};
use workload::{AddressPolicy, Problem, Spec, WorkloadError};

use crate::failure::Failure;
use crate::files;

/// Tables of a configuration file that are not the drive's; `pinned` is what a stand-in matches.
pub const FOREIGN: &[&str] = &["workload", "run", "pinned"];

/// The drive that is used if nothing names another.
pub const DEFAULT_DRIVE: &str = "client_tlc";

/// Beginnings of the keys that say what the chips are and how many.
const CHIP_KEYS: &[&str] = &["preset", "nand.part", "nand.geometry."];

/// Keys by which the user says how large the drive is; with one of them it is not sized.
const CAPACITY_KEYS: &[&str] = &["nand.geometry.blocks_per_plane", "drive.logical_gib"];

/// Which drive: the flags that all commands about a drive share.
#[derive(Args, Debug, Default)]
pub struct DriveArgs {
    /// Configuration file (TOML): a drive, and optionally the tables `[workload]` and `[run]`
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Shipped drive to start from, whatever the configuration names (see `wordline presets`)
    #[arg(long, value_name = "PRESET")]
    pub drive: Option<String>,

    /// Set one key, such as ftl.gc_victim.policy=fifo or run.depth=8; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// A configuration file, read.
struct ConfigFile {
    path: PathBuf,
    name: String,
    text: String,
}

/// All inputs of a drive, not yet resolved.
pub struct Inputs {
    file: Option<ConfigFile>,
    drive: Option<Layer>,
    sets: Vec<Layer>,
    arguments: Vec<String>,
    /// Other flags that stand for settings.
    flags: Vec<Layer>,
}

/// Whether a file named where a trace or a configuration may stand is a configuration.
pub fn is_config(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

impl Inputs {
    /// Reads the file and the arguments; `config` is the file if it was not named by `--config`, `flags` are settings
    /// from other flags.
    pub fn read(args: &DriveArgs, config: Option<&Path>, flags: Vec<Layer>) -> Result<Self, Failure> {
        let path = match (config, &args.config) {
            (Some(first), Some(second)) => {
                let both = format!("{} and {}", first.display(), second.display());
                return Err(Failure::usage(format!("two configuration files, {both}; allowed: one")));
            }
            (first, second) => first.or(second.as_deref()),
        };
        let drive = args.drive.as_deref().map(drive_layer).transpose()?;
        let sets = args.set.iter().map(|text| Layer::set(text)).collect::<Result<_, ConfigErrors>>()?;
        let file = path.map(ConfigFile::read).transpose()?;
        Ok(Inputs { file, drive, sets, arguments: args.set.clone(), flags })
    }

    /// Whether the user said anything about which drive it is, beyond single settings.
    pub fn names_a_drive(&self) -> bool {
        self.drive.is_some() || self.file.as_ref().is_some_and(ConfigFile::names_a_drive)
    }

    /// Whether the drive is to be sized: nothing names or describes one, and no key fixes its capacity.
    pub fn leave_the_size_open(&self) -> bool {
        !self.names_a_drive() && !CAPACITY_KEYS.iter().any(|key| self.sets(key))
    }

    /// Whether a key was given by `--set`.
    pub fn sets(&self, key: &str) -> bool {
        self.arguments.iter().any(|text| text.split_once('=').is_some_and(|(name, _)| name.trim() == key))
    }

    /// The layers in their order, with `sized` between the preset and the settings of the command line.
    pub fn layers(&self, sized: Option<&str>) -> Vec<Layer> {
        let mut layers = Vec::new();
        if !self.names_a_drive() {
            layers.push(default_drive());
        }
        layers.extend(self.file.as_ref().map(|file| Layer::file(&file.name, &file.text)));
        layers.extend(self.drive.clone());
        layers.extend(sized.map(|text| Layer::file("sized to the footprint", text)));
        layers.extend(self.sets.iter().chain(&self.flags).cloned());
        layers
    }

    /// The configuration, checked.
    pub fn resolve(&self, sized: Option<&str>) -> Result<Resolved, Failure> {
        Ok(resolve(&self.layers(sized), FOREIGN)?)
    }

    /// The default drive with those settings alone that say what its chips are: what a drive is sized from, so that no
    /// other setting changes its geometry.
    pub fn chips(&self) -> Result<DriveConfig, Failure> {
        let describes_chips = |text: &str| {
            let key = text.split_once('=').map_or("", |(key, _)| key.trim());
            CHIP_KEYS.iter().any(|prefix| key.starts_with(prefix))
        };
        let sets = self.arguments.iter().zip(&self.sets).filter(|(text, _)| describes_chips(text));
        let mut layers = vec![default_drive()];
        layers.extend(sets.map(|(_, layer)| layer.clone()));
        Ok(resolve(&layers, FOREIGN)?.config)
    }

    /// The `[run]` table, with the place of each key that was set.
    pub fn run(&self) -> Result<(RunConfig, BTreeMap<String, Origin>), Failure> {
        let mut run = RunConfig::default();
        let origins = resolve_table(&self.layers(None), "run", &mut run)?;
        Ok((run, origins))
    }

    /// Where a trace's addresses lie unless the user says so: densely on a drive sized to them, modulo the drive on
    /// one that was named.
    pub fn address_policy(&self) -> AddressPolicy {
        if self.leave_the_size_open() { AddressPolicy::Compact } else { AddressPolicy::Wrap }
    }

    /// Where a key of the workload was given, by `--set` or in the file; `None` if it has its default.
    pub fn workload_origin(&self, key: &str) -> Option<String> {
        let key_set = format!("workload.{key}");
        let is_it = |text: &&String| text.split_once('=').is_some_and(|(name, _)| name.trim() == key_set);
        let set = self.arguments.iter().rfind(is_it).map(|text| format!("--set {text}"));
        set.or_else(|| self.file.as_ref().and_then(|file| file.workload_origin(key)))
    }

    /// The workload of the file's `[workload]` table; paths in it count from the file's folder.
    pub fn workload(&self) -> Result<Option<Spec>, Failure> {
        match &self.file {
            Some(file) => file.workload(),
            None => Ok(None),
        }
    }

    /// Applies the settings of the command line that belong to the workload.
    pub fn set_workload(&self, spec: &mut Spec) -> Result<(), Failure> {
        for text in &self.arguments {
            let Some((key, value)) = text.split_once('=') else { continue };
            if let Some(key) = key.trim().strip_prefix("workload.") {
                spec.set(key, value.trim()).map_err(|e| Failure::from(e).about(&format!("--set {text}")))?;
            }
        }
        Ok(())
    }
}

/// Refuses a job file of fio, which looks much like a configuration, where one must stand.
fn refuse_jobs(path: &Path, text: &str) -> Result<(), Failure> {
    let is_fio = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fio"));
    let of_fio = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        ["[global]", "rw", "readwrite", "ioengine"].contains(&key)
    };
    let is_job_file = is_fio
        || (workload::fio::is_job_file(path) && DeTable::parse(text).is_err() && text.lines().any(of_fio));
    if !is_job_file {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::usage(format!(
        "--config {path}\n    found:   a job file of fio: a workload, and no drive\n    allowed: a configuration \
         (TOML); the jobs run by `wordline run {path}`, or by jobs = \"{path}\" below [workload] (docs/fio.md)"
    )))
}

fn default_drive() -> Layer {
    Layer::file("the default drive", format!("preset = \"{DEFAULT_DRIVE}\"\n"))
}

fn drive_layer(name: &str) -> Result<Layer, Failure> {
    let names: Vec<&str> = presets::drives().iter().map(|preset| preset.name).collect();
    if !names.contains(&name) {
        return Err(Failure::no_such("preset", name, &names).about(&format!("--drive {name}")));
    }
    let mut layer = Layer::set(&format!("preset={name}"))?;
    layer.source = format!("--drive {name}");
    Ok(layer)
}

impl ConfigFile {
    fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = files::read(path, "read the configuration")?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let error = format!("byte {} is not UTF-8 text", e.utf8_error().valid_up_to());
            Failure::file(path, "read the configuration", &error)
        })?;
        refuse_jobs(path, &text)?;
        Ok(ConfigFile { path: path.to_path_buf(), name: path.display().to_string(), text })
    }

    fn names_a_drive(&self) -> bool {
        // A file that is not TOML is refused, with the line, when it is resolved.
        let table = DeTable::parse(&self.text);
        table.map_or(true, |table| {
            table.get_ref().iter().any(|(key, _)| !FOREIGN.contains(&key.get_ref().as_ref()))
        })
    }

    fn workload(&self) -> Result<Option<Spec>, Failure> {
        let Ok(document) = DeTable::parse(&self.text) else { return Ok(None) };
        let Some((key, value)) = document.get_ref().get_key_value("workload") else { return Ok(None) };
        let DeValue::Table(table) = value.get_ref() else {
            let line = self.line(key.span().start);
            return Err(Failure::usage(format!(
                "{}:{line}: workload: allowed: a table, [workload]",
                self.name
            )));
        };
        let mut spec = Spec::from_table(table).map_err(|e| self.place(e, key.span().start))?;
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            spec.resolve_path(folder);
        }
        Ok(Some(spec))
    }

    fn workload_origin(&self, key: &str) -> Option<String> {
        let document = DeTable::parse(&self.text).ok()?;
        let DeValue::Table(table) = document.get_ref().get("workload")?.get_ref() else { return None };
        let (key, _) = table.get_key_value(key)?;
        Some(format!("{}:{}", self.name, self.line(key.span().start)))
    }

    /// The error with the file and line it stands in.
    fn place(&self, error: WorkloadError, table: usize) -> Failure {
        let place = match error.problem() {
            Problem::Setting { span: Some(span), .. } => span.start,
            _ => table,
        };
        Failure::from(error).about(&format!("{}:{}", self.name, self.line(place)))
    }

    fn line(&self, byte: usize) -> usize {
        1 + self.text.bytes().take(byte).filter(|b| *b == b'\n').count()
    }
}
