//! What is told of a family of policies and its members.

use super::error::Problem;
use super::field::Field;

/// One policy of a family.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    /// Name in configuration files; also the stem of its source file.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The paper or product it comes from.
    pub source: &'static str,
    /// Memory it needs, per block or page.
    pub memory: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// Its source file, from the root of the repository.
    pub file: &'static str,
}

/// A family of policies.
#[derive(Clone, Copy, Debug)]
pub struct FamilyInfo {
    /// Folder below `crates/ssd/src`, such as `ftl/gc_victim`.
    pub path: &'static str,
    /// What its policies decide.
    pub question: &'static str,
    /// Name of the policy that is used if none is named.
    pub default: &'static str,
    /// The policies.
    pub members: &'static [PolicyInfo],
    /// What stands for a policy that is given to the drive, if one can be: a configuration names it, too.
    pub outside: &'static [PolicyInfo],
    /// Names that policies once had, with those that they have now.
    pub renamed: &'static [(&'static str, &'static str)],
}

impl FamilyInfo {
    /// Section in configuration files, such as `ftl.gc_victim`.
    pub fn section(&self) -> String {
        self.path.replace("/techniques/", "/").replace('/', ".")
    }

    /// All that a configuration can name: the policies, and what stands for one that is given.
    pub fn nameable(&self) -> impl Iterator<Item = &'static PolicyInfo> + use<> {
        self.members.iter().chain(self.outside)
    }

    /// The policy of that name.
    pub fn member(&self, name: &str) -> Option<&'static PolicyInfo> {
        self.nameable().find(|member| member.name == name)
    }

    /// The error for a policy that does not exist, or that is called otherwise now.
    pub fn no_such_policy(&self, found: &str) -> Problem {
        let names = self.nameable().map(|member| member.name);
        match self.renamed.iter().find(|(old, _)| *old == found) {
            Some((_, now)) => Problem::Renamed {
                what: "policy",
                found: found.to_owned(),
                allowed: names.map(str::to_owned).collect(),
                now: (*now).to_owned(),
            },
            None => Problem::no_such_name("policy", found, names),
        }
    }

    /// Names of the policies that have a parameter of that name.
    pub fn members_with(&self, key: &str) -> Vec<&'static str> {
        let has = |member: &&'static PolicyInfo| member.fields.iter().any(|field| field.key == key);
        self.nameable().filter(has).map(|member| member.name).collect()
    }
}
