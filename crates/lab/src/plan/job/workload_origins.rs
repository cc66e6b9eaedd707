//! Where the keys of a workload were set.

use super::asked::Job;
use super::config_file::workload_lines;
use std::collections::BTreeMap;
use std::mem::discriminant;
use workload::{Spec, standin};

/// The key that names a shipped workload.
const PRESET: &str = "preset";

/// What was said of a workload beside its file and `--set`: by flags, by arguments of a function.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// What set each key.
    pub keys: BTreeMap<String, String>,
    /// Whether it replaces the file's workload: what that has set is not in force.
    pub is_whole: bool,
}

impl Given {
    /// A workload of that path, which was an argument.
    pub fn path(spec: &Spec, source: &str) -> Self {
        let key = match spec {
            Spec::Fio(_) => "jobs",
            Spec::Capture(_) => "capture",
            _ => "path",
        };
        Given { keys: BTreeMap::from([(key.to_owned(), source.to_owned())]), is_whole: false }
    }
}

impl Job {
    /// Where a key of the workload was given, by `--set` or in the file; `None` if it has its default.
    pub fn workload_origin(&self, key: &str) -> Option<String> {
        self.set_origin(key).or_else(|| self.file_origins().remove(key))
    }

    fn set_origin(&self, key: &str) -> Option<String> {
        let key_set = format!("workload.{key}");
        let is_it = |text: &String| text.split_once('=').is_some_and(|(name, _)| name.trim() == key_set);
        let set = self.arguments.iter().zip(&self.sets).rfind(|(text, _)| is_it(text));
        set.map(|(_, layer)| layer.source.clone())
    }

    /// Where the file sets keys of the workload.
    fn file_origins(&self) -> BTreeMap<String, String> {
        let Some(file) = &self.file else { return BTreeMap::new() };
        let at = |(key, line)| (key, format!("{}:{line}", file.name));
        file.workload_lines().into_iter().map(at).collect()
    }

    /// Where the keys of a workload were set that is run, by `workload.key`; those that were not set are missing.
    pub fn workload_origins(&self, spec: &Spec, given: &Given) -> BTreeMap<String, String> {
        let is_same = |own: &Spec| discriminant(own) == discriminant(spec);
        let is_replaced = given.is_whole || self.set_origin(PRESET).is_some();
        let is_of_file = !is_replaced && self.workload().is_ok_and(|own| own.as_ref().is_some_and(is_same));
        let entries = spec.entries();
        let named = entries.iter().find(|(key, _)| *key == PRESET);
        let shipped = named.and_then(|(_, name)| standin(name.trim_matches('"')));
        let of_preset = shipped.map(|preset| (preset.name, workload_lines(preset.text)));
        let of_preset = |key: &str| {
            let (name, lines) = of_preset.as_ref()?;
            lines.get(key).map(|line| format!("preset workload/{name}:{line}"))
        };
        let of_file = if is_of_file { self.file_origins() } else { BTreeMap::new() };
        let origin = |key: &str| {
            self.set_origin(key)
                .or_else(|| given.keys.get(key).cloned())
                .or_else(|| of_file.get(key).cloned())
                .or_else(|| of_preset(key))
        };
        let known = entries.iter().filter_map(|(key, _)| Some((format!("workload.{key}"), origin(key)?)));
        known.collect()
    }
}
