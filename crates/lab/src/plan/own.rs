//! Policies of the caller's own under names, which stand wherever a configuration names a policy.
//!
//! A drive knows only that a policy comes from outside. So a name such as `mine` in `ftl.gc_victim.policy` becomes
//! `external` before anything is resolved, and what the name stands for is noted here, by family.

use crate::plan::settings::{Settings, value};
use abi::Family;
use ssd::config::{ConfigErrors, KeyAt, Layer, Origin, Problem, shown};
use ssd::external::{ExternalPolicies, LanePolicy, StreamPolicy};
use ssd::policy::FAMILIES;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// The table of a configuration that gives libraries names.
pub(crate) const TABLE: &str = "policies";
/// What a drive calls each of them.
const EXTERNAL: &str = "\"external\"";

/// Parameters of a policy: names, each with its value in TOML.
pub type Parameters = BTreeMap<String, String>;

/// A policy that was made for a family.
#[derive(Debug)]
pub enum Made {
    /// It chooses blocks.
    Lane(Box<dyn LanePolicy>),
    /// It separates data.
    Stream(Box<dyn StreamPolicy>),
}

/// What makes policies that are no libraries': a function of Python, an address.
pub trait Maker: fmt::Debug + Send + Sync {
    /// A policy for a family, which is called by that name.
    ///
    /// # Errors
    /// What was found and what is allowed; the key of a parameter if it is about one.
    fn make(&self, family: Family, name: &str, parameters: &Parameters) -> Result<Made, Unmade>;
}

/// Why a policy cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmade {
    /// The parameter that is wrong, if one is.
    pub parameter: Option<String>,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Named {
    /// A library, and where it was named.
    Library(PathBuf, Origin),
    /// Anything else, as a program gives it.
    Given(Arc<dyn Maker>),
}

/// Policies by their names.
pub type Names = BTreeMap<String, Named>;

/// A policy that a run asks for by its name.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Asked {
    /// The family, such as `gc_victim`.
    pub family: String,
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Parameters,
}

impl Asked {
    /// As settings of a run, for its result.
    pub(crate) fn settings(&self) -> Settings {
        let Asked { family, name, parameters } = self;
        let parameters = parameters.iter();
        let mut all: Settings =
            parameters.map(|(key, text)| (format!("{TABLE}.{name}.{key}"), value(text))).collect();
        all.insert(format!("ftl.{family}.policy"), name.as_str().into());
        all
    }

    /// As a line: for names of runs.
    pub(crate) fn line(&self) -> String {
        let parameters = self.parameters.iter().map(|(key, value)| format!(" {key} = {value}"));
        format!("{} by {}{}", self.family, self.name, parameters.collect::<String>())
    }
}

/// Names that there are, which of them a job asks for, and their parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    names: Arc<Names>,
    asked: BTreeMap<Family, String>,
    parameters: BTreeMap<String, Parameters>,
}

impl Own {
    /// With more names.
    pub fn and(&mut self, names: Names) -> Result<(), String> {
        for (name, named) in &names {
            check(name).map_err(|allowed| {
                let place = match named {
                    Named::Library(_, origin) => format!("{origin}: {TABLE}.{name}"),
                    Named::Given(_) => format!("{TABLE}: {}", shown(name)),
                };
                let found = shown(name);
                format!("{place}\n    found:   {found}\n    allowed: {allowed}")
            })?;
        }
        Arc::make_mut(&mut self.names).extend(names);
        Ok(())
    }

    /// Takes a layer: the names in it, if there are any, become what a drive knows.
    pub fn take(&mut self, layer: &mut Layer) {
        if self.names.is_empty() {
            return;
        }
        let mut places = Vec::new();
        let Ok(table) = DeTable::parse(&layer.text) else { return };
        for family in Family::ALL {
            let Some((value, at)) = policy_of(table.get_ref(), family) else { continue };
            match self.names.contains_key(&value) {
                true => {
                    self.asked.insert(family, value);
                    places.push(at);
                }
                // A later layer names another policy.
                false => _ = self.asked.remove(&family),
            }
        }
        places.sort_by_key(|place| place.start);
        let mut text = layer.text.clone();
        places.into_iter().rev().for_each(|place| text.replace_range(place, EXTERNAL));
        layer.text = text;
    }

    /// Sets a parameter, by its key: `policies.mine.alpha`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), (String, String)> {
        let [_, name, parameter] = key.splitn(3, '.').collect::<Vec<_>>()[..] else {
            return Err((key.to_owned(), format!("{TABLE}.NAME.PARAMETER")));
        };
        match self.names.get(name) {
            Some(Named::Given(_)) => {
                let all = self.parameters.entry(name.to_owned()).or_default();
                all.insert(parameter.to_owned(), value.to_owned());
                Ok(())
            }
            Some(Named::Library(..)) => {
                let found = format!("a parameter of {name}, which is a library");
                Err((found, "functions and classes of Python have parameters".to_owned()))
            }
            None => Err((format!("no policy {}", shown(name)), self.listed())),
        }
    }

    /// What a worker was told that its run asks for.
    pub fn of(names: Arc<Names>, asked: &[Asked]) -> Self {
        let mut own = Own { names, ..Own::default() };
        for Asked { family, name, parameters } in asked {
            if let Some(family) = Family::named(family) {
                own.asked.insert(family, name.clone());
                own.parameters.insert(name.clone(), parameters.clone());
            }
        }
        own
    }

    /// The key under which a family's library is named.
    pub fn key(&self, family: Family) -> String {
        let name = self.asked.get(&family).filter(|_| self.library(family).is_some());
        name.map_or_else(|| format!("policy.{}", family.name()), |name| format!("{TABLE}.{name}"))
    }

    /// The library that a family's name stands for.
    pub fn library(&self, family: Family) -> Option<(&PathBuf, &Origin)> {
        match self.names.get(self.asked.get(&family)?)? {
            Named::Library(path, origin) => Some((path, origin)),
            Named::Given(_) => None,
        }
    }

    /// The names that are asked for, of families for which `is_asked` says so.
    pub fn asked(&self, is_asked: impl Fn(Family) -> bool) -> Vec<Asked> {
        let all = self.asked.iter().filter(|(family, _)| is_asked(**family));
        let told = |(family, name): (&Family, &String)| Asked {
            family: family.name().to_owned(),
            name: name.clone(),
            parameters: self.parameters.get(name).cloned().unwrap_or_default(),
        };
        all.map(told).collect()
    }

    /// All names, for a message.
    fn listed(&self) -> String {
        let names: Vec<&str> = self.names.keys().map(String::as_str).collect();
        if names.is_empty() { "policies of your own have names first".to_owned() } else { names.join(", ") }
    }

    /// Where a policy is named that there is not, with these names among those that are allowed.
    pub fn among_allowed(&self, mut errors: ConfigErrors) -> ConfigErrors {
        for error in &mut errors.0 {
            let is_own = |key: &KeyAt| Family::ALL.iter().any(|family| key.key.contains(family.name()));
            let is_about_own = error.keys.iter().any(is_own);
            if let Problem::NoSuchName { what: "policy", found, allowed, .. } = &error.problem
                && is_about_own
                && !self.names.is_empty()
            {
                let names = allowed.iter().chain(self.names.keys()).map(String::as_str);
                error.problem = Problem::no_such_name("policy", found, names);
            }
        }
        errors
    }

    /// Makes those that are no libraries', beside those that are there.
    pub fn make(&self, asked: &[Asked], to: &mut ExternalPolicies) -> Result<(), String> {
        for Asked { family, name, parameters } in asked {
            let (Some(family), Some(Named::Given(maker))) = (Family::named(family), self.names.get(name))
            else {
                // A library's: it is loaded, or whoever resolves the drive says that there is none.
                continue;
            };
            let made = maker.make(family, name, parameters).map_err(|wrong| {
                let Unmade { parameter, found, allowed } = wrong;
                let key = parameter.map_or_else(
                    || format!("{TABLE}: {name}"),
                    |parameter| format!("{TABLE}.{name}.{parameter}"),
                );
                format!("{key}\n    found:   {found}\n    allowed: {allowed}")
            })?;
            match (family, made) {
                (Family::GcVictim, Made::Lane(policy)) => to.gc_victim = Some(policy),
                (Family::WearLeveling, Made::Lane(policy)) => to.wear_leveling = Some(policy),
                (Family::Stream, Made::Stream(policy)) => to.stream = Some(policy),
                (family, _) => unreachable!("{name} was made for another family than {}", family.name()),
            }
        }
        Ok(())
    }
}

/// What a table names as a family's policy, and where.
fn policy_of(table: &DeTable<'_>, family: Family) -> Option<(String, Range<usize>)> {
    let mut at = table;
    for part in ["ftl", family.name()] {
        let DeValue::Table(inner) = at.get(part)?.get_ref() else { return None };
        at = inner;
    }
    let value = at.get("policy")?;
    Some((value.get_ref().as_str()?.to_owned(), value.span()))
}

/// Whether a policy may be called so; else what is allowed.
fn check(name: &str) -> Result<(), &'static str> {
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if name.is_empty() || !is_word(name) {
        return Err("a name of letters, digits, _ and -");
    }
    if Family::named(name).is_some() {
        return Err("a name that is no family's; [policy] has a library for each family");
    }
    let is_built_in = FAMILIES.iter().any(|family| family.member(name).is_some());
    if is_built_in { Err("a name that no shipped policy has (wordline policies)") } else { Ok(()) }
}

/// The names that a configuration gives libraries in its table `[policies]`; `place` tells where a byte is.
pub(crate) fn of_file(text: &str, place: impl Fn(usize) -> Origin) -> Result<Names, String> {
    let Ok(document) = DeTable::parse(text) else { return Ok(Names::new()) };
    let Some((key, value)) = document.get_ref().get_key_value(TABLE) else { return Ok(Names::new()) };
    let allowed = "the path of a library with a policy, as text";
    let DeValue::Table(table) = value.get_ref() else {
        let place = place(key.span().start);
        return Err(format!(
            "{place}: {TABLE}\n    found:   no table\n    allowed: a table, [{TABLE}]: names, each with {allowed}"
        ));
    };
    let mut names = Names::new();
    for (name, value) in table {
        let origin = place(name.span().start);
        let Some(path) = value.get_ref().as_str().filter(|path| !path.is_empty()) else {
            let found = shown(text.get(value.span()).unwrap_or_default());
            let key = shown(name.get_ref());
            return Err(format!("{origin}: {TABLE}.{key}\n    found:   {found}\n    allowed: {allowed}"));
        };
        names.insert(name.get_ref().to_string(), Named::Library(PathBuf::from(path), origin));
    }
    Ok(names)
}
