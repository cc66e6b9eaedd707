//! A sweep file's own tables of TOML, read so that every error names file, line and key.

use super::error::SweepError;
use crate::plan::settings;
use ssd::config::{Value, whole_with_exponent};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Letters of a value that an error shows.
const SHOWN_MAX: usize = 60;

/// A sweep file.
pub(super) struct Source<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl Source<'_> {
    /// The line of a byte, from 1.
    pub fn line(&self, byte: usize) -> u32 {
        1 + self.text.bytes().take(byte).filter(|b| *b == b'\n').count() as u32
    }

    /// An error at a byte.
    pub fn wrong(
        &self,
        byte: usize,
        key: &str,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> SweepError {
        SweepError {
            place: format!("{}:{}", self.path.display(), self.line(byte)),
            key: key.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
            near: None,
        }
    }

    /// A value as it is written, shortened to one line.
    fn shown(&self, value: &Spanned<DeValue<'_>>) -> String {
        let text = self.text.get(value.span()).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(SHOWN_MAX) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }

    /// A value in its own spelling, in one line and without comments.
    fn spelled(&self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = self.text.get(value.span())?;
        match value.get_ref() {
            DeValue::Table(table) => {
                let spelled = |(key, value): (&Spanned<Cow<'_, str>>, _)| {
                    Some(format!("{} = {}", self.text.get(key.span())?, self.spelled(value)?))
                };
                let entries: Option<Vec<String>> = table.iter().map(spelled).collect();
                Some(format!("{{ {} }}", entries?.join(", ")))
            }
            DeValue::Array(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.spelled(item)).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            DeValue::String(lines) if text.contains('\n') => Some(Value::Text(lines.to_string()).to_string()),
            _ => Some(text.to_owned()),
        }
    }
}

/// A table of the file.
pub(super) struct Table<'a> {
    pub source: &'a Source<'a>,
    pub table: &'a DeTable<'a>,
    /// Its path in the file.
    pub path: String,
    /// Its first byte.
    pub at: usize,
}

impl<'a> Table<'a> {
    /// The table of that name in the whole file, if it is there.
    pub fn of(source: &'a Source<'a>, file: &'a DeTable<'a>, name: &str) -> Result<Option<Self>, SweepError> {
        let Some((key, value)) = file.get_key_value(name) else { return Ok(None) };
        let at = key.span().start;
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Table { source, table, path: name.to_owned(), at })),
            _ => Err(source.wrong(at, name, source.shown(value), format!("a table, [{name}]"))),
        }
    }

    /// An error about a key: where it stands, or at the table if it is not there.
    pub fn wrong(&self, key: &str, found: impl Into<String>, allowed: impl Into<String>) -> SweepError {
        let at = self.table.get_key_value(key).map_or(self.at, |(key, _)| key.span().start);
        self.source.wrong(at, &format!("{}.{key}", self.path), found, allowed)
    }

    /// An error about a key that must be there.
    pub fn missing(&self, key: &str, allowed: &str) -> SweepError {
        self.wrong(key, "found nothing", allowed)
    }

    /// An error about a key's value.
    pub fn not_allowed(&self, key: &str, allowed: &str) -> SweepError {
        let found = self.table.get(key).map_or_else(String::new, |value| self.source.shown(value));
        self.wrong(key, found, allowed)
    }

    /// An error about a key that does not exist.
    pub fn unknown(&self, key: &str, names: &[&str]) -> SweepError {
        self.wrong(key, "unknown key", names.join(", ")).near(key, names.iter().copied())
    }

    /// Refuses keys that are not among these.
    pub fn only(&self, names: &[&str]) -> Result<(), SweepError> {
        let unknown = self.table.keys().find(|key| !names.contains(&key.get_ref().as_ref()));
        unknown.map_or(Ok(()), |key| Err(self.unknown(key.get_ref(), names)))
    }

    fn read<T>(
        &self,
        key: &str,
        allowed: &str,
        read: impl FnOnce(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<T>, SweepError> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        read(value.get_ref()).map(Some).ok_or_else(|| self.not_allowed(key, allowed))
    }

    /// A whole number of at least `from` and at most `to`.
    pub fn whole(&self, key: &str, from: u64, to: u64) -> Result<Option<u64>, SweepError> {
        let allowed = match to {
            u64::MAX => format!("a whole number from {from}"),
            to => format!("a whole number from {from} to {to}"),
        };
        self.read(key, &allowed, |value| match value {
            DeValue::Integer(number) => {
                let number = u64::from_str_radix(number.as_str(), number.radix()).ok();
                number.filter(|number| (from..=to).contains(number))
            }
            _ => None,
        })
    }

    /// A finite number, and whether it is written as a whole one.
    pub fn number(&self, key: &str) -> Result<Option<(f64, bool)>, SweepError> {
        self.read(key, "a number", |value| {
            let (number, is_whole) = match value {
                DeValue::Integer(number) => {
                    (i128::from_str_radix(number.as_str(), number.radix()).ok()? as f64, true)
                }
                DeValue::Float(number) => {
                    (number.as_str().parse().ok()?, whole_with_exponent(number.as_str()).is_some())
                }
                _ => return None,
            };
            number.is_finite().then_some((number, is_whole))
        })
    }

    /// Yes or no.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, SweepError> {
        self.read(key, "true or false", |value| value.as_bool())
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, SweepError> {
        let read = |value: &DeValue<'_>| {
            let text = |item: &Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_owned);
            value.as_array()?.iter().map(text).collect()
        };
        self.read(key, "a list of texts in quotes", read).map(Option::unwrap_or_default)
    }

    /// Its texts, by their names.
    pub fn texts_by_name(&self) -> Result<Vec<(String, String)>, SweepError> {
        let text = |leaf: &Leaf<'_>| match leaf.value.get_ref().as_str() {
            Some(text) => Ok((leaf.key.clone(), text.to_owned())),
            None => Err(self.wrong_at(leaf, self.source.shown(leaf.value), "text in quotes")),
        };
        let mut leaves = Vec::new();
        collect(self.table, "", |_| false, &mut leaves);
        leaves.iter().map(text).collect()
    }

    /// A setting's value in its own spelling.
    pub fn spelled(&self, leaf: &Leaf<'_>) -> String {
        self.source.spelled(leaf.value).unwrap_or_default()
    }

    /// A table in it, if it is there.
    pub fn table(&self, name: &str, allowed: &str) -> Result<Option<Table<'a>>, SweepError> {
        let Some((key, value)) = self.table.get_key_value(name) else { return Ok(None) };
        let Some(table) = value.get_ref().as_table() else { return Err(self.not_allowed(name, allowed)) };
        let path = format!("{}.{name}", self.path);
        Ok(Some(Table { source: self.source, table, path, at: key.span().start }))
    }

    /// Whether the second of these names was chosen, not the first, which is the default.
    pub fn is_second(&self, key: &str, names: [&str; 2]) -> Result<bool, SweepError> {
        let Some(found) = self.read(key, "text in quotes", |value| value.as_str().map(str::to_owned))? else {
            return Ok(false);
        };
        if names.contains(&found.as_str()) {
            return Ok(found == names[1]);
        }
        Err(self.not_allowed(key, &names.join(", ")).near(&found, names))
    }

    /// The settings in it, in the order of the file: what is not a table, and tables that `is_leaf` says are one.
    pub fn leaves(&self, is_leaf: fn(&DeTable<'_>) -> bool) -> Result<Vec<Leaf<'a>>, SweepError> {
        let mut leaves = Vec::new();
        collect(self.table, "", is_leaf, &mut leaves);
        leaves.sort_by_key(|leaf| leaf.at);
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_key = |key: &str| key.split('.').all(|part| !part.is_empty() && part.chars().all(is_bare));
        match leaves.iter().find(|leaf| !is_key(&leaf.key)) {
            Some(leaf) => Err(self.wrong_at(leaf, "no key", "section.key, such as drive.seed")),
            None => Ok(leaves),
        }
    }

    /// An error about one of its settings.
    pub fn wrong_at(&self, leaf: &Leaf<'_>, found: impl Into<String>, allowed: &str) -> SweepError {
        self.source.wrong(leaf.at, &format!("{}.{}", self.path, leaf.key), found, allowed)
    }

    /// The values of a list, in their own spelling: at least one.
    pub fn values(&self, leaf: &Leaf<'_>) -> Result<Vec<String>, SweepError> {
        let not_a_list = || self.wrong_at(leaf, self.source.shown(leaf.value), "a list: [...]");
        let items = leaf.value.get_ref().as_array().ok_or_else(not_a_list)?;
        if items.is_empty() {
            return Err(self.wrong_at(leaf, "[]", "a list of at least one value"));
        }
        // A workload is a table; of all else each key is a setting of its own.
        let not_a_value = |item| self.wrong_at(leaf, self.source.shown(item), "values that are not tables");
        let is_value = |item: &&Spanned<DeValue<'_>>| leaf.key == WORKLOAD || !item.get_ref().is_table();
        let value =
            |item| self.source.spelled(item).filter(|_| is_value(&item)).ok_or_else(|| not_a_value(item));
        items.iter().map(value).collect()
    }

    /// The same, and none twice.
    pub fn distinct(&self, leaf: &Leaf<'_>) -> Result<Vec<String>, SweepError> {
        let values = self.values(leaf)?;
        let mut known = BTreeSet::new();
        match values.iter().find(|value| !known.insert(meaning(value))) {
            Some(value) => Err(self.wrong_at(leaf, format!("{value} twice"), "each value once")),
            None => Ok(values),
        }
    }

    /// One of its settings that is a table.
    pub fn inner(&self, leaf: &Leaf<'a>) -> Option<Table<'a>> {
        let table = leaf.value.get_ref().as_table()?;
        Some(Table { source: self.source, table, path: format!("{}.{}", self.path, leaf.key), at: leaf.at })
    }
}

/// A setting of a table.
pub(super) struct Leaf<'a> {
    /// Dotted key in the configuration.
    pub key: String,
    /// First byte of the key.
    pub at: usize,
    pub value: &'a Spanned<DeValue<'a>>,
}

fn collect<'a>(
    table: &'a DeTable<'a>,
    path: &str,
    is_leaf: fn(&DeTable<'_>) -> bool,
    into: &mut Vec<Leaf<'a>>,
) {
    for (key, value) in table {
        let path =
            if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
        match value.get_ref() {
            DeValue::Table(inner) if !is_leaf(inner) => collect(inner, &path, is_leaf, into),
            _ => into.push(Leaf { key: path, at: key.span().start, value }),
        }
    }
}

/// The key that stands for the whole workload: a file as `wordline run` takes it, or a table.
pub(super) const WORKLOAD: &str = "workload";

/// A text without its quotes.
pub(super) fn bare(value: &str) -> String {
    match DeValue::parse(value).map(|value| value.into_inner()) {
        Ok(DeValue::String(text)) => text.into_owned(),
        _ => value.to_owned(),
    }
}

/// What a value is, however it is written: `1_000`, `1000` and `1e3` are one.
fn meaning(text: &str) -> String {
    whole_with_exponent(text).map_or_else(|| settings::value(text).to_string(), |whole| whole.to_string())
}
