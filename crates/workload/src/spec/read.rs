//! Reading a `[workload]` table, and those of the workloads in it; and setting keys one by one.

use crate::base::error::WorkloadError;
use crate::base::near::near;
use crate::base::settings::{Value, found, quoted, unknown_key};
use crate::generate::mix::MixSpec;
use crate::generate::synthetic::SyntheticSpec;
use crate::reader::check_name;
use crate::spec::kinds::{About, KINDS, Member, Members, PRESET_KEY, Spec, is_key};
use crate::spec::member_keys::MemberKeys;
use crate::spec::standin::{STANDINS, names, standin, tables_of};
use ssd::config::presets::Preset;
use std::ptr;
use toml::de::{DeTable, DeValue};

/// Most members.
const MEMBERS_MAX: usize = 64;
/// The key of how many requests a generator makes, and more than any limit lets it.
const COUNT: &str = "count";
pub(super) const WITHOUT_END: &str = "1000000000000";

impl Spec {
    /// Reads the `[workload]` table of a parsed TOML document. Errors carry the key and its span in the text.
    pub fn from_table(table: &DeTable<'_>) -> Result<Self, WorkloadError> {
        let mut spec = start(table)?;
        for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != PRESET_KEY) {
            let place =
                if spec.kind().names().contains(&key.get_ref().as_ref()) { value.span() } else { key.span() };
            spec.set_value(key.get_ref(), value.get_ref()).map_err(|error| error.at(place))?;
        }
        spec.check()?;
        Ok(spec)
    }

    /// Reads a text that is such a table (without its header).
    pub fn parse(text: &str) -> Result<Self, WorkloadError> {
        let table = DeTable::parse(text).map_err(|e| {
            let error = WorkloadError::setting("", e.message(), "TOML");
            e.span().map_or(error.clone(), |span| error.at(span))
        })?;
        Spec::from_table(table.get_ref())
    }

    /// Sets one key from text: TOML, or a bare word for text (`zipf`). Setting a key that makes a table another kind
    /// (`path` a trace, `pattern` a generator, …) makes any workload one, with defaults for all else; `preset` makes
    /// it that shipped one. Call [`Spec::check`] when all are set.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), WorkloadError> {
        if key != PRESET_KEY
            && let Some(kind) = KINDS.iter().find(|kind| kind.marks.contains(&key))
            && !self.about().marks.contains(&key)
        {
            *self = (kind.start)();
        }
        match DeValue::parse(text) {
            // A path may look like a number.
            Ok(value) if !["path", "jobs", "capture"].contains(&key) || value.get_ref().is_str() => {
                self.set_value(key, value.get_ref())
            }
            _ => self.set_value(key, &DeValue::String(text.into())),
        }
    }

    fn set_value(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), WorkloadError> {
        if matches!(value, DeValue::Table(_)) {
            return Err(WorkloadError::setting(key, format!("found {}", found(value)), "a value"));
        }
        if key == PRESET_KEY {
            *self = preset_named(value)?;
            return Ok(());
        }
        let about = self.about();
        if !about.names.contains(&key)
            && let Some(other) = KINDS.iter().find(|kind| kind.names.contains(&key))
        {
            let (others, what) = (other.told(other.many), about.told(about.one));
            let found = format!("belongs to {others}; this is {what}");
            return Err(WorkloadError::setting(key, found, about.names.join(", ")));
        }
        self.kind_mut().set_value(key, value)?;
        if let (Spec::Trace(spec), "format") = (&*self, key) {
            check_name(&spec.format)?;
        }
        Ok(())
    }
}

/// What a table describes, with all settings at their defaults: one of the kinds, or the shipped workload it names.
fn start(table: &DeTable<'_>) -> Result<Spec, WorkloadError> {
    let has = |key: &str| table.iter().any(|(name, _)| name.get_ref() == key);
    let is_marked = |kind: &&About| kind.marks.iter().any(|key| *key != PRESET_KEY && has(key));
    let mut kinds: Vec<&About> = KINDS.iter().filter(is_marked).collect();
    // One that was made by hand says so by an empty name.
    let named = table.get(PRESET_KEY).filter(|name| kinds.is_empty() || name.get_ref().as_str() != Some(""));
    let mut shipped = None;
    if let Some(name) = named {
        let spec = preset_named(name.get_ref()).map_err(|error| error.at(name.span()))?;
        kinds.retain(|kind| !ptr::eq(*kind, spec.about()));
        kinds.push(spec.about());
        shipped = Some(spec);
    }
    match kinds.as_slice() {
        [kind] => Ok(shipped.unwrap_or_else(|| (kind.start)())),
        [] => {
            let all: Vec<String> = KINDS.iter().map(|kind| kind.told(kind.one)).collect();
            let names = || table.iter().map(|(name, _)| name.get_ref().as_ref());
            let mut known = KINDS.iter().flat_map(|kind| kind.marks).copied();
            let close = known.find(|key| near(key, names()).is_some());
            let error =
                WorkloadError::setting("", format!("found none of {}", all.join(", ")), "one of them");
            Err(error.with_near(close.map(str::to_string)))
        }
        several => {
            let told: Vec<String> = several.iter().map(|kind| kind.told(kind.one)).collect();
            let found = format!("found both {}", told.join(" and "));
            Err(WorkloadError::setting("", found, "one of the two"))
        }
    }
}

/// The workload that stands in, by whose name it goes.
pub fn workload(standin: &Preset) -> Result<Spec, WorkloadError> {
    let table = tables_of(standin)?;
    match table.get_ref().get("workload").map(|value| value.get_ref()) {
        Some(DeValue::Table(table)) => {
            let mut spec = Spec::from_table(table)?;
            match &mut spec {
                Spec::Mix(spec) => spec.preset = standin.name.to_string(),
                Spec::Files(spec) => spec.preset = standin.name.to_string(),
                _ => {
                    return Err(WorkloadError::setting(
                        "parts",
                        format!("found none in {}", standin.file),
                        "a mix",
                    ));
                }
            }
            Ok(spec)
        }
        _ => Err(WorkloadError::setting("", format!("no table in {}", standin.file), "[workload]")),
    }
}

/// The workload that a value of `preset` names; a mix of no parts for an empty name.
fn preset_named(value: &DeValue<'_>) -> Result<Spec, WorkloadError> {
    let name = match value {
        DeValue::String(name) if name.is_empty() => return Ok(Spec::Mix(MixSpec::default())),
        DeValue::String(name) => name,
        _ => return Err(WorkloadError::setting("preset", format!("found {}", found(value)), names())),
    };
    match standin(name) {
        Some(standin) => workload(standin),
        None => {
            let error = WorkloadError::setting("preset", format!("found {}", quoted(name)), names());
            Err(error.with_near(near(name, STANDINS.iter().map(|preset| preset.name))))
        }
    }
}

impl Members {
    fn parse(key: &str, value: &DeValue<'_>) -> Result<Self, WorkloadError> {
        let wrong = |key: &str, value: &DeValue<'_>| {
            WorkloadError::setting(key, format!("found {}", found(value)), Self::allowed())
        };
        let DeValue::Array(items) = value else { return Err(wrong(key, value)) };
        if items.len() > MEMBERS_MAX {
            let found = format!("found {} workloads", items.len());
            return Err(WorkloadError::setting(key, found, format!("at most {MEMBERS_MAX}")));
        }
        let mut members = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let here = format!("{key}[{i}]");
            let DeValue::Table(table) = item.get_ref() else { return Err(wrong(&here, item.get_ref())) };
            let mut keys = MemberKeys::default();
            let mut inner = DeTable::new();
            for (name, value) in table.iter() {
                if MemberKeys::NAMES.contains(&name.get_ref().as_ref()) {
                    let set = keys.set_value(name.get_ref(), value.get_ref());
                    set.map_err(|error| error.within(&here).at(value.span()))?;
                } else if is_meant(name.get_ref()) {
                    let error = unknown_key(name.get_ref(), MemberKeys::NAMES);
                    return Err(error.within(&here).at(name.span()));
                } else {
                    inner.insert(name.clone(), value.clone());
                }
            }
            let mut spec = Spec::from_table(&inner).map_err(|error| error.within(&here).at(item.span()))?;
            if keys.has_limit() && !inner.contains_key(COUNT) && counts_by_default(&spec) {
                spec.set(COUNT, WITHOUT_END)?;
            }
            members.push(Member { keys, spec });
        }
        Ok(Members(members))
    }
}

impl Value for Members {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::parse("", value).ok()
    }
    fn explain(key: &str, value: &DeValue<'_>) -> Option<WorkloadError> {
        Self::parse(key, value).err()
    }
    fn show(&self) -> String {
        let member = |member: &Member| {
            let entries = member.keys.entries().into_iter().chain(member.spec.entries());
            let keys: Vec<String> = entries.map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", keys.join(", "))
        };
        format!("[{}]", self.0.iter().map(member).collect::<Vec<_>>().join(", "))
    }
    fn allowed() -> String {
        "a list of tables, each a workload".to_string()
    }
}

/// Whether an unknown key must be meant for one of a member, not of its workload.
fn is_meant(name: &str) -> bool {
    let is_near = || near(name, MemberKeys::NAMES.iter().copied()).is_some();
    !is_key(name) && (name.starts_with("until") || is_near())
}

/// How many requests a generator makes.
pub(super) fn count_of(spec: &Spec) -> Option<String> {
    spec.entries().into_iter().find(|(key, _)| *key == COUNT).map(|(_, value)| value)
}

/// Whether a workload is a generator of as many requests as where nobody says how many: within a limit of its own it
/// goes on until that, and does not begin again with the same requests.
fn counts_by_default(spec: &Spec) -> bool {
    count_of(spec) == Some(SyntheticSpec::default().count.to_string())
}
