//! What a sweep's file calls metrics, varied keys and their values: on its page as in its own tables and figures.

use crate::base::columns::Table;
use std::collections::{BTreeMap, BTreeSet};
use toml::de::{DeTable, DeValue};

/// Names for readers.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// By what they stand for.
    all: BTreeMap<String, String>,
    /// Of the values of each key that varies.
    values: BTreeMap<String, BTreeMap<String, String>>,
}

impl Labels {
    /// Those of `[labels]` in a sweep's file. Who ran it has read it more strictly: what is not understood here names
    /// nothing.
    pub fn of(file: &str, varied: &[String], table: &Table) -> Self {
        let mut all = BTreeMap::new();
        if let Ok(parsed) = DeTable::parse(file)
            && let Some(labels) = parsed.get_ref().get("labels").and_then(|value| value.get_ref().as_table())
        {
            collect(labels, "", &mut all);
        }
        let of_key = |key: &String| (key.clone(), values(&all, key, table));
        let values = varied.iter().map(of_key).collect();
        Labels { all, values }
    }

    /// What the file calls a metric or a key.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all.get(name).map(String::as_str)
    }

    /// What is shown for a value of a key.
    pub fn value<'a>(&'a self, key: &str, value: &'a str) -> &'a str {
        self.values.get(key).and_then(|values| values.get(value)).map_or(value, String::as_str)
    }
}

/// All texts below a table, by their keys in full.
fn collect(table: &DeTable<'_>, path: &str, into: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        let name = name.get_ref();
        let key = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
        match value.get_ref() {
            DeValue::Table(below) => collect(below, &key, into),
            DeValue::String(text) => drop(into.insert(key, text.to_string())),
            _ => {}
        }
    }
}

/// The names of a key's values; none where two values would be the same.
fn values(labels: &BTreeMap<String, String>, key: &str, table: &Table) -> BTreeMap<String, String> {
    let Some(column) = table.values(key) else { return BTreeMap::new() };
    let all: BTreeSet<String> = (0..table.rows()).map(|row| column.text(row)).collect();
    let shown = |value: &String| labels.get(value).unwrap_or(value).clone();
    let are_apart = all.iter().map(shown).collect::<BTreeSet<_>>().len() == all.len();
    let named = |value: &String| Some((value.clone(), labels.get(value)?.clone()));
    if are_apart { all.iter().filter_map(named).collect() } else { BTreeMap::new() }
}
