//! A shipped workload with another text, for those that a paper runs.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use workload::{Spec, WorkloadError};

/// The key by which a workload names a shipped one.
const PRESET: &str = "preset";

/// A shipped workload, and the text that takes the place of its own.
pub(super) struct Shipped {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Shipped {
    /// What a table describes, if this is the shipped workload of that name.
    pub fn spec(&self, table: &DeTable<'_>) -> Result<Spec, WorkloadError> {
        let mut whole = DeTable::parse(&self.text).map(Spanned::into_inner).unwrap_or_default();
        match whole.remove("workload").map(Spanned::into_inner) {
            Some(DeValue::Table(shipped)) => Spec::from_table(&self.merged(table, &shipped)),
            _ => Spec::from_table(table),
        }
    }

    /// A table in which nothing names this workload: its keys are there themselves, under those beside its name.
    fn merged<'t>(&self, table: &DeTable<'t>, shipped: &DeTable<'t>) -> DeTable<'t> {
        let named = table.get(PRESET).and_then(|name| name.get_ref().as_str());
        let is_named = named.is_some_and(|name| name.eq_ignore_ascii_case(&self.name));
        let mut merged = if is_named { shipped.clone() } else { DeTable::new() };
        for (key, item) in table.iter().filter(|(key, _)| !is_named || key.get_ref() != PRESET) {
            let value = match item.get_ref() {
                DeValue::Array(items) => {
                    let each = items.iter().map(|item| match item.get_ref() {
                        DeValue::Table(inner) => {
                            Spanned::new(item.span(), DeValue::Table(self.merged(inner, shipped)))
                        }
                        _ => item.clone(),
                    });
                    DeValue::Array(each.collect())
                }
                other => other.clone(),
            };
            merged.insert(key.clone(), Spanned::new(item.span(), value));
        }
        merged
    }
}
