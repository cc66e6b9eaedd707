//! What every table of parameters answers, whoever owns it.

use super::error::Problem;
use super::family::FamilyInfo;
use super::field::Field;
use super::value::Value;

/// A table of a configuration file: a fixed section, or the chosen policy of a family with its parameters.
pub trait Table {
    /// The parameters it has (for a family: those of the chosen policy).
    fn fields(&self) -> &'static [Field];
    /// Sets one parameter from a file value. Range included; relations to other keys are not checked here.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Problem>;
    /// One parameter as TOML text; `None` if there is no such parameter.
    fn show(&self, key: &str) -> Option<String>;
    /// The parameters that are out of range, which only code can bring about.
    fn check(&self) -> Vec<(&'static str, Problem)>;
    /// Pairs of parameters of which the first must not exceed the second.
    fn in_order(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// The family, if the table chooses a policy of one.
    fn family(&self) -> Option<&'static FamilyInfo> {
        None
    }
    /// Name of the chosen policy.
    fn policy(&self) -> Option<&'static str> {
        None
    }
    /// Chooses a policy by name. Another policy than the one chosen starts with its own defaults.
    fn select(&mut self, policy: &str) -> Result<(), Problem> {
        Err(Problem::no_such_name("policy", policy, []))
    }
}
