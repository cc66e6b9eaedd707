//! Policies that are given to a drive: are those there that its configuration asks for?

use super::DriveConfig;
use crate::config::{ConfigError, ConfigErrors, FamilyInfo, KeyAt, Problem};
use crate::ftl::{gc_victim, stream, wear_leveling};

impl DriveConfig {
    /// The families whose policy is one that is given, by name: of `ftl.gc_victim`, `ftl.wear_leveling`, `ftl.stream`.
    pub fn asks_for_policies(&self) -> [(&'static FamilyInfo, bool); 3] {
        [
            (&gc_victim::FAMILY, self.gc_victim.is_external()),
            (&wear_leveling::FAMILY, self.wear_leveling.is_external()),
            (&stream::FAMILY, self.stream.is_external()),
        ]
    }

    /// Is a policy given for each of these families that asks for one, and for no other?
    pub(crate) fn check_given(&self, given: [bool; 3]) -> Result<(), ConfigErrors> {
        let named = [self.gc_victim.name(), self.wear_leveling.name(), self.stream.name()];
        let mut errors = Vec::new();
        for (((family, is_asked), is_given), named) in
            self.asks_for_policies().into_iter().zip(given).zip(named)
        {
            let name = family.path.rsplit('/').next().unwrap_or(family.path);
            let (found, allowed) = match (is_asked, is_given) {
                (true, false) => (
                    format!("\"{named}\", but no policy is given"),
                    format!(
                        "--policy {name}=FILE (a library; in a file: [policy] {name} = \"FILE\", with \
                         --allow-libraries), in Rust Drive::with_policies, or a policy that `wordline policies \
                         {name}` lists"
                    ),
                ),
                (false, true) => (
                    format!("\"{named}\", but an external policy is given"),
                    "\"external\" where one is given".to_owned(),
                ),
                _ => continue,
            };
            let keys = vec![KeyAt { key: format!("{}.policy", family.section()), origin: None }];
            errors.push(ConfigError { keys, origin: None, problem: Problem::Conflict { found, allowed } });
        }
        if errors.is_empty() { Ok(()) } else { Err(ConfigErrors(errors)) }
    }
}
