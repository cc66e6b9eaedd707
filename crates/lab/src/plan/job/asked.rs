//! All that a run was asked for: a file, a preset, settings.

use super::config_file::{CAPACITY_KEYS, ConfigFile, FOREIGN, FOREIGN_IN_SWEEPS};
use super::error::JobError;
use super::memo::Memo;
use super::sized::Levels;
use crate::plan::own::{Asked, Names, Own, of_file};
use crate::plan::policies::{Allowed, Libraries, Refused, is_asked};
use crate::plan::sizing::SizeChoice;
use abi::Family;
use ssd::DriveConfig;
use ssd::config::{ConfigErrors, Layer, Origin, presets, shown};
use ssd::external::ExternalPolicies;
use std::path::Path;
use std::sync::Arc;
use workload::{AddressPolicy, Spec};

/// What the settings are from that make a drive as large as its workload needs.
pub(crate) const SIZED: &str = "sized to the workload";

/// The drive that is used if nothing names another.
pub const DEFAULT_DRIVE: &str = "client_tlc";

/// Beginnings of the keys that say what the chips are and how many.
pub(super) const CHIP_KEYS: &[&str] = &["preset", "nand.part", "nand.geometry."];

/// All that a run was asked for, not yet resolved: TOML and settings.
#[derive(Clone)]
pub struct Job {
    pub(super) file: Option<Arc<ConfigFile>>,
    pub(super) drive: Option<Layer>,
    pub(super) sets: Vec<Layer>,
    pub(super) arguments: Vec<String>,
    /// Other flags that stand for settings.
    pub(super) flags: Vec<Layer>,
    pub(super) allowed: Allowed,
    /// Policies from outside that are no libraries'.
    pub(super) given: ExternalPolicies,
    /// Policies from outside that have names, and those names that it asks for.
    pub(super) own: Own,
    /// Whether its drive is there already, such as one that was saved.
    pub(super) is_built: bool,
    /// What drives of its sweep are sized like.
    pub(super) levels: Arc<Levels>,
    /// What was worked out for others that begin as this one does, if anybody remembers it.
    pub(super) memo: Option<Arc<Memo>>,
}

impl Job {
    /// Reads a configuration file, if one is named; takes a preset, and settings as `--set` has them: `KEY=VALUE`.
    pub fn read(path: Option<&Path>, drive: Option<&str>, sets: &[String]) -> Result<Self, JobError> {
        let drive = drive.map(drive_layer).transpose()?;
        let layers = sets.iter().map(|text| Layer::set(text)).collect::<Result<_, ConfigErrors>>()?;
        let file = path.map(ConfigFile::read).transpose()?.map(Arc::new);
        let (allowed, given, own, is_built) = Default::default();
        let (arguments, flags, levels, memo) = (sets.to_vec(), Vec::new(), Arc::default(), None);
        Job { file, drive, sets: layers, arguments, flags, allowed, given, own, is_built, levels, memo }
            .naming(Names::new())
    }

    /// Takes the text of a configuration; messages, and paths in it, go by the path.
    pub fn of_text(path: &Path, text: String) -> Self {
        Job::of_file(ConfigFile::new(path, text))
    }

    /// The same with settings, as [`Job::read`] takes them.
    pub fn with_sets(mut self, sets: &[String]) -> Result<Self, JobError> {
        let mut layers: Vec<Layer> =
            sets.iter().map(|text| Layer::set(text)).collect::<Result<_, ConfigErrors>>()?;
        layers.iter_mut().for_each(|layer| self.own.take(layer));
        self.sets.extend(layers);
        self.arguments.extend(sets.iter().cloned());
        Ok(self)
    }

    /// The same on a shipped drive, whatever the configuration names.
    pub fn on(self, drive: &str) -> Result<Self, JobError> {
        Ok(Job { drive: Some(drive_layer(drive)?), ..self })
    }

    /// The same of a file of a sweep, whose own tables are not this job's.
    pub(crate) fn of_sweep(path: &Path, text: String) -> Self {
        Job::of_file(ConfigFile::with_foreign(path, text, FOREIGN_IN_SWEEPS))
    }

    /// The same, whose copies remember for each other what was worked out: of many that differ in few settings.
    pub(crate) fn remembering(self) -> Self {
        Job { memo: Some(Arc::default()), ..self }
    }

    /// The same, which works out everything anew.
    #[cfg(test)]
    pub(crate) fn forgetting(self) -> Self {
        Job { memo: None, ..self }
    }

    fn of_file(file: ConfigFile) -> Self {
        let (sets, arguments, flags) = (Vec::new(), Vec::new(), Vec::new());
        Job {
            file: Some(Arc::new(file)),
            drive: None,
            sets,
            arguments,
            flags,
            allowed: Allowed::default(),
            given: ExternalPolicies::default(),
            own: Own::default(),
            is_built: false,
            levels: Arc::default(),
            memo: None,
        }
    }

    /// With one more setting, which messages call `source`.
    pub(crate) fn set(&mut self, key: &str, value: &str, source: String) -> Result<(), JobError> {
        let argument = format!("{key}={value}");
        let mut layer = Layer::set(&argument).map_err(|_| {
            JobError::new(format!(
                "{source}: {}\n    found:   {}\n    allowed: section.key and its value",
                shown(key),
                shown(value)
            ))
        })?;
        layer.source = source;
        if key == "preset" {
            // It names the drive, whatever the file says.
            self.drive = Some(layer);
            return Ok(());
        }
        self.own.take(&mut layer);
        self.sets.push(layer);
        self.arguments.push(argument);
        Ok(())
    }

    /// The folder that paths in the file count from.
    pub(crate) fn folder(&self) -> Option<&Path> {
        let folder = self.file.as_ref()?.path.parent();
        folder.filter(|folder| !folder.as_os_str().is_empty())
    }

    /// Tables of the file that are not the drive's.
    pub(super) fn foreign(&self) -> &'static [&'static str] {
        self.file.as_ref().map_or(FOREIGN, |file| file.foreign)
    }

    /// The same with policies from outside, for families whose policy is `external`.
    pub fn giving(self, given: ExternalPolicies) -> Self {
        Job { given, ..self }
    }

    /// The same with policies from outside that have names, beside those that its file's `[policies]` names: a name may
    /// stand wherever a policy's does.
    pub fn naming(mut self, names: Names) -> Result<Self, JobError> {
        if let Some(file) = &self.file {
            let place = |byte| Origin { source: file.name.clone(), line: Some(file.line(byte) as u32) };
            let names = of_file(&file.text, place).map_err(JobError::new)?;
            self.own.and(names).map_err(JobError::new)?;
        }
        self.own.and(names).map_err(JobError::new)?;
        if let Some(file) = &mut self.file {
            let mut layer = file.layer();
            self.own.take(&mut layer);
            if layer.text != file.text {
                Arc::make_mut(file).text = layer.text;
            }
        }
        let last = self.sets.iter_mut().chain(&mut self.flags);
        last.for_each(|layer| self.own.take(layer));
        Ok(self)
    }

    /// With a parameter of a policy that has a name, by its key: `policies.mine.alpha`.
    pub(crate) fn set_parameter(&mut self, key: &str, value: &str, source: &str) -> Result<(), JobError> {
        self.own.set(key, value).map_err(|(found, allowed)| {
            JobError::new(format!("{source}: {}\n    found:   {found}\n    allowed: {allowed}", shown(key)))
        })
    }

    /// The same, which asks for policies by these names: its text no longer does.
    pub(crate) fn asking(mut self, names: Arc<Names>, asked: &[Asked]) -> Self {
        self.own = Own::of(names, asked);
        self
    }

    /// Names of policies that it asks for, whether its drive wants them or not.
    pub fn asks_for(&self) -> Vec<String> {
        self.own.asked(|_| true).into_iter().map(|asked| asked.name).collect()
    }

    /// The same, which may load the libraries that its file names.
    pub fn allowing(self, allowed: Allowed) -> Self {
        Job { allowed, ..self }
    }

    /// Loads the libraries with policies that it asks for, and takes what they say of themselves as settings.
    pub(super) fn with_libraries(&self) -> Result<(Job, Libraries, Vec<String>), JobError> {
        let (table, origins) = self.policy_table()?;
        let mut job = self.clone();
        let is_named = Libraries::are_named(&table);
        if !is_named && self.given.is_empty() && self.own.asked(|_| true).is_empty() {
            return Ok((job, Libraries::default(), Vec::new()));
        }
        let drive = self.resolve(None)?;
        let config = &drive.config;
        // What varies in a sweep is named by its file.
        let of_sweep = self.file.as_ref().filter(|file| file.foreign == FOREIGN_IN_SWEEPS);
        let of_file = |origin: &Origin| {
            origin.line.is_some() || of_sweep.is_some_and(|file| origin.source.starts_with(&file.name))
        };
        let load = || {
            let refused = |Refused { place, why }| JobError::new(format!("{place}\n{why}"));
            Libraries::load(
                config,
                (&table, &origins, |family| self.own.key(family)),
                self.folder(),
                of_file,
                self.allowed,
            )
            .map_err(refused)
        };
        let libraries = match &self.memo {
            Some(memo) => memo.libraries(config, &table, load)?,
            None => load()?,
        };
        if let Some((streams, path)) = libraries.streams() {
            let mut layer = Layer::set(&format!("ftl.stream.streams={streams}"))?;
            layer.source = path.display().to_string();
            job.flags.push(layer);
        }
        let unused = Libraries::unused(config, &table);
        let asked = self.own.asked(|family| is_asked(config, family));
        let mut given = self.given_where_asked(config);
        self.own.make(&asked, &mut given).map_err(JobError::new)?;
        Ok((job, libraries.beside(given, asked), unused))
    }

    /// What was given for the families that ask for it: in a sweep, others may have the place at some points.
    fn given_where_asked(&self, config: &DriveConfig) -> ExternalPolicies {
        let mut given = self.given.clone();
        for family in Family::ALL.into_iter().filter(|family| !is_asked(config, *family)) {
            match family {
                Family::GcVictim => given.gc_victim = None,
                Family::WearLeveling => given.wear_leveling = None,
                Family::Stream => given.stream = None,
            }
        }
        given
    }

    /// The libraries that it names, as it names them; whether the drive asks for their policies is not looked at.
    pub fn libraries(&self) -> Result<Vec<String>, JobError> {
        let (table, _) = self.policy_table()?;
        let named = Family::ALL.into_iter().filter_map(|family| table.library(family));
        Ok(named.map(|path| path.display().to_string()).collect())
    }

    /// The same with settings of other flags, which come last.
    pub fn with_flags(mut self, mut flags: Vec<Layer>) -> Self {
        flags.iter_mut().for_each(|layer| self.own.take(layer));
        Job { flags, ..self }
    }

    /// The same, whose drive is to be compared with others: where its size is open, it is made as large as they need.
    pub(crate) fn sized_like(self, levels: Levels) -> Self {
        Job { levels: Arc::new(levels), ..self }
    }

    /// What its drive is called: the preset, the file that describes it, or the default drive.
    pub fn drive_name(&self) -> String {
        let preset = self.drive.as_ref().and_then(|layer| layer.text.split_once('='));
        let preset = preset.map(|(_, name)| name.trim().trim_matches('"').to_owned());
        let of_file = || self.file.as_ref().filter(|file| file.names_a_drive).map(|file| file.name.clone());
        preset.or_else(of_file).unwrap_or_else(|| DEFAULT_DRIVE.to_owned())
    }

    /// Whether the user said anything about which drive it is, beyond single settings.
    pub fn names_a_drive(&self) -> bool {
        self.drive.is_some() || self.file.as_ref().is_some_and(|file| file.names_a_drive)
    }

    /// Whether the drive is to be sized: nothing names or describes one, or it is asked for as small as the workload's
    /// footprint; and no key fixes its capacity.
    pub fn leave_the_size_open(&self) -> bool {
        let is_open = || !self.names_a_drive() || self.wants_footprint();
        !CAPACITY_KEYS.iter().any(|key| self.sets(key)) && is_open()
    }

    /// Whether a drive that is named is asked for as small as the workload's footprint.
    fn wants_footprint(&self) -> bool {
        let is_fixed = self.file.as_ref().is_some_and(|file| file.fixes_capacity());
        !is_fixed && self.run().is_ok_and(|(run, _)| run.size == SizeChoice::Footprint)
    }

    /// Whether a key was given by `--set`.
    pub fn sets(&self, key: &str) -> bool {
        self.arguments.iter().any(|text| text.split_once('=').is_some_and(|(name, _)| name.trim() == key))
    }

    /// The layers in their order, with `sized` between the preset and the settings of the command line.
    pub fn layers(&self, sized: Option<&str>) -> Vec<Layer> {
        let mut layers = self.first_layers(sized);
        layers.extend(self.last_layers().cloned());
        layers
    }

    /// Those that settings override.
    pub(super) fn first_layers(&self, sized: Option<&str>) -> Vec<Layer> {
        let mut layers = Vec::new();
        if !self.names_a_drive() {
            layers.push(default_drive());
        }
        layers.extend(self.file.as_ref().map(|file| file.layer()));
        layers.extend(self.drive.clone());
        layers.extend(sized.map(|text| Layer::file(SIZED, text)));
        layers
    }

    /// The settings, in their order.
    pub(super) fn last_layers(&self) -> impl Iterator<Item = &Layer> {
        self.sets.iter().chain(&self.flags)
    }

    /// Where a trace's addresses lie unless the user says so: densely on a drive sized to them, modulo the drive on
    /// one that was named.
    pub fn address_policy(&self) -> AddressPolicy {
        if self.leave_the_size_open() { AddressPolicy::Compact } else { AddressPolicy::Wrap }
    }

    /// The workload of the file's `[workload]` table; paths in it count from the file's folder.
    pub fn workload(&self) -> Result<Option<Spec>, JobError> {
        match &self.file {
            Some(file) => file.workload(),
            None => Ok(None),
        }
    }

    /// Makes a workload what is run: settings of the command line, checks, and where a trace's addresses lie unless
    /// that is said already.
    pub fn settle(&self, spec: &mut Spec, has_address: bool) -> Result<(), JobError> {
        self.set_workload(spec)?;
        spec.check()?;
        if let Spec::Trace(trace) = spec
            && !has_address
            && self.workload_origin("address").is_none()
        {
            trace.address = self.address_policy();
        }
        Ok(())
    }

    /// Applies the settings of the command line that belong to the workload.
    pub fn set_workload(&self, spec: &mut Spec) -> Result<(), JobError> {
        for (text, layer) in self.arguments.iter().zip(&self.sets) {
            let Some((key, value)) = text.split_once('=') else { continue };
            if let Some(key) = key.trim().strip_prefix("workload.") {
                spec.set(key, value.trim()).map_err(|e| JobError::from(e).about(&layer.source))?;
            }
        }
        Ok(())
    }
}

pub(super) fn default_drive() -> Layer {
    Layer::file("the default drive", format!("preset = \"{DEFAULT_DRIVE}\"\n"))
}

fn drive_layer(name: &str) -> Result<Layer, JobError> {
    let names: Vec<&str> = presets::drives().iter().map(|preset| preset.name).collect();
    if !names.contains(&name) {
        return Err(JobError::no_such("preset", name, &names).about(&format!("--drive {name}")));
    }
    let mut layer = Layer::set(&format!("preset={name}"))?;
    layer.source = format!("--drive {name}");
    Ok(layer)
}
