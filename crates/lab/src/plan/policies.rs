//! The `[policy]` table: libraries with policies of the user's own, and which of them may be loaded.
//!
//! A library is a program. One that the command line names is the user's wish; one that a file names, which may have
//! come from elsewhere, is loaded only if that is allowed.

use crate::plan::own::Asked;
use abi::{Family, Library};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::config::{Layer, Origin, quote};
use ssd::external::ExternalPolicies;
use ssd::{Drive, DriveConfig};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use workload::whole;

ssd::section! {
    /// `[policy]`: libraries for the families whose policy is `external`.
    pub struct PolicyConfig {
        /// Library with a policy for ftl.gc_victim; its path counts from the folder of the file that names it.
        gc_victim: PathBuf = PathBuf::new();
        /// Library with a policy for ftl.wear_leveling.
        wear_leveling: PathBuf = PathBuf::new();
        /// Library with a policy for ftl.stream.
        stream: PathBuf = PathBuf::new();
    }
}

impl PolicyConfig {
    /// The library of a family, if one is named.
    pub fn library(&self, family: Family) -> Option<&Path> {
        let path = match family {
            Family::GcVictim => &self.gc_victim,
            Family::WearLeveling => &self.wear_leveling,
            Family::Stream => &self.stream,
        };
        (!path.as_os_str().is_empty()).then_some(path)
    }

    /// Names the library of a family.
    pub(crate) fn set_library(&mut self, family: Family, path: &Path) {
        let at = match family {
            Family::GcVictim => &mut self.gc_victim,
            Family::WearLeveling => &mut self.wear_leveling,
            Family::Stream => &mut self.stream,
        };
        path.clone_into(at);
    }
}

/// Whether a drive asks for a policy of a family from outside.
pub(crate) fn is_asked(config: &DriveConfig, family: Family) -> bool {
    let section = format!("ftl.{}", family.name());
    config.asks_for_policies().into_iter().any(|(info, is_asked)| is_asked && info.section() == section)
}

/// An external policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalPolicy {
    /// Section of its family.
    pub family: String,
    /// Its name.
    pub name: String,
    /// What it is: `library`, `address`, `python`...
    pub kind: String,
    /// Hash of the library or the source; empty if unknown.
    pub hash: String,
    /// Number of calls since the drive was new.
    pub calls: u64,
}

impl ExternalPolicy {
    /// Those of a drive.
    pub(crate) fn of(drive: &Drive) -> Vec<Self> {
        let told = |(family, who, calls): (String, ssd::external::Identity, u64)| ExternalPolicy {
            family,
            name: who.name,
            kind: who.kind.to_owned(),
            hash: who.hash,
            calls,
        };
        drive.external().asked().into_iter().map(told).collect()
    }
}

/// Policies as a line each of what they are known by: for keys of caches and names of runs.
pub(crate) fn known_by(policies: &ExternalPolicies) -> Vec<String> {
    known_or(policies, "")
}

/// The same; of a policy that no hash tells from another one of its name, with `salt` in place of that.
pub(crate) fn known_or(policies: &ExternalPolicies, salt: &str) -> Vec<String> {
    let line = |(family, who): (String, ssd::external::Identity)| {
        let hash = if who.hash.is_empty() { salt } else { &who.hash };
        format!("{family} by {} {} {hash}", who.kind, who.name)
    };
    policies.identities().into_iter().map(line).collect()
}

/// The settings of `--policy FAMILY=FILE`: the family's policy is that of the library.
///
/// # Errors
/// What was found, and what is allowed.
pub fn flag(argument: &str) -> Result<Vec<Layer>, String> {
    let source = format!("--policy {argument}");
    let names = Family::ALL.map(Family::name).join(", ");
    let Some((name, path)) = argument.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err(format!(
            "{source}\n    found:   no file\n    allowed: FAMILY=FILE, of the families {names}; for a \
             built-in policy: --set ftl.gc_victim.policy=fifo"
        ));
    };
    let Some(family) = Family::named(name.trim().trim_start_matches("ftl.")) else {
        return Err(format!("{source}\n    found:   family {name}\n    allowed: {names}"));
    };
    let name = family.name();
    let layers = [format!("policy.{name}={}", quote(path)), format!("ftl.{name}.policy=\"external\"")];
    let layer = |text: &String| {
        let mut layer = Layer::set(text).map_err(|errors| errors.to_string())?;
        layer.source = source.clone();
        Ok(layer)
    };
    layers.iter().map(layer).collect()
}

/// Which libraries may be loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allowed {
    /// Those that arguments name.
    #[default]
    OfArguments,
    /// Those that a file names as well.
    All,
}

/// Libraries that are loaded for a run.
#[derive(Clone, Debug, Default)]
pub struct Libraries {
    /// Each with where it lies.
    all: Vec<(Library, PathBuf)>,
    /// Policies that are no libraries': whoever asked for the run has given them.
    given: ExternalPolicies,
    /// Those among both that a configuration calls by names of the caller's own.
    asked: Vec<Asked>,
}

/// Why a library is not loaded, and where it was named.
pub(crate) struct Refused {
    pub place: String,
    pub why: String,
}

impl Libraries {
    /// Loads those that a drive asks for, each named by a key as `called` says. A path counts from the folder of what
    /// names it: `of_file` says for which origins that is the job's file, which lies in `folder`.
    pub(crate) fn load(
        config: &DriveConfig,
        (table, origins, called): (&PolicyConfig, &BTreeMap<String, Origin>, impl Fn(Family) -> String),
        folder: Option<&Path>,
        of_file: impl Fn(&Origin) -> bool,
        allowed: Allowed,
    ) -> Result<Self, Refused> {
        let mut all = Vec::new();
        for family in Family::ALL {
            let Some(path) = table.library(family).filter(|_| is_asked(config, family)) else { continue };
            let key = format!("policy.{}", family.name());
            let origin = origins.get(&key);
            let is_of_file = origin.is_none_or(&of_file);
            let key = called(family);
            let place = origin.map_or(key.clone(), |origin| format!("{origin}: {key}"));
            if is_of_file && allowed != Allowed::All {
                let why = format!(
                    "    found:   the library {}, which a file names\n    allowed: --allow-libraries, \
                     because a library is code; or --policy {}=FILE",
                    path.display(),
                    family.name()
                );
                return Err(Refused { place, why });
            }
            let path = match folder.filter(|_| is_of_file) {
                Some(folder) => folder.join(path),
                None => path.to_owned(),
            };
            let wrong = |why: String| Refused { place: place.clone(), why: format!("    {why}") };
            let path = std::path::absolute(&path).map_err(|error| wrong(error.to_string()))?;
            whole::path_as_text(&path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
            whole::check(&path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
            let library = Library::open(family, &path).map_err(|error| wrong(error.to_string()))?;
            all.push((library, path));
        }
        Ok(Libraries { all, ..Libraries::default() })
    }

    /// The same beside policies that were given.
    pub(crate) fn beside(self, given: ExternalPolicies, asked: Vec<Asked>) -> Self {
        Libraries { given, asked, ..self }
    }

    /// Those that the configuration calls by names of the caller's own.
    pub(crate) fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// Streams that the library of `ftl.stream` says it uses, if one is loaded and says so, and where it lies.
    pub(crate) fn streams(&self) -> Option<(u32, &Path)> {
        self.all.iter().find_map(|(library, path)| Some((library.streams()?, path.as_path())))
    }

    /// The `[policy]` table that names them wherever it stands; empty without any.
    pub(crate) fn to_toml(&self) -> String {
        if self.all.is_empty() {
            return String::new();
        }
        let line = |(library, path): &(Library, PathBuf)| {
            format!("{} = {}\n", library.family().name(), quote(&path.display().to_string()))
        };
        format!("\n[policy]\n{}", self.all.iter().map(line).collect::<String>())
    }

    /// Their hashes.
    pub(crate) fn hashes(&self) -> Vec<String> {
        self.all.iter().map(|(library, _)| library.identity().hash.clone()).collect()
    }

    /// Their policies, new.
    pub fn policies(&self) -> ExternalPolicies {
        let mut policies = self.given.clone();
        for (library, _) in &self.all {
            match library.family() {
                Family::GcVictim => policies.gc_victim = library.lane_policy(),
                Family::WearLeveling => policies.wear_leveling = library.lane_policy(),
                Family::Stream => policies.stream = library.stream_policy(),
            }
        }
        policies
    }

    /// Names that `[policy]` has for families whose policy is another: for a person.
    pub(crate) fn unused(config: &DriveConfig, table: &PolicyConfig) -> Vec<String> {
        let is_unused = |family: &Family| !is_asked(config, *family) && table.library(*family).is_some();
        let unused = Family::ALL.into_iter().filter(is_unused);
        let told = |family: Family| {
            let name = family.name();
            format!("policy.{name} is not used: ftl.{name}.policy is not \"external\"")
        };
        unused.map(told).collect()
    }

    /// Whether there is no key in the table.
    pub(crate) fn are_named(table: &PolicyConfig) -> bool {
        Family::ALL.into_iter().any(|family| table.library(family).is_some())
    }
}
