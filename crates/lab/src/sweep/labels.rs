//! What a sweep's tables and figures call metrics, varied keys and their values: `[labels]` of its file.

use super::error::SweepError;
use super::tables::{Table, bare};
use crate::result::metrics::metric_keys;
use std::collections::BTreeMap;

/// Names for readers, by what they stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels(BTreeMap<String, String>);

impl Labels {
    /// Reads them; each is of a metric, or of a key that varies or one of its values.
    pub(super) fn read(table: &Table<'_>, varied: &[(String, Vec<String>)]) -> Result<Self, SweepError> {
        let metrics = metric_keys();
        let of_key = varied
            .iter()
            .flat_map(|(key, values)| [key.clone()].into_iter().chain(values.iter().map(|v| bare(v))));
        let known: Vec<String> = of_key.chain(metrics).collect();
        let mut labels = BTreeMap::new();
        for (name, text) in table.texts_by_name()? {
            if !known.contains(&name) {
                let allowed = "a metric, a key that varies, or one of its values";
                let names = known.iter().map(String::as_str);
                return Err(table.wrong(&name, "which nothing here is called", allowed).near(&name, names));
            }
            labels.insert(name, text);
        }
        Ok(Labels(labels))
    }

    /// What this is called; itself where the file says nothing.
    pub fn of<'a>(&'a self, name: &'a str) -> &'a str {
        self.get(name).unwrap_or(name)
    }

    /// What the file calls it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}
