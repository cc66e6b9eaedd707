//! One source of settings: a preset, a file, or a `--set` argument; read into keys with their places.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::{ConfigError, ConfigErrors, KeyAt, Origin, Problem};
use super::shown::ERRORS_MAX;
use super::table::Table;
use super::units::whole_with_exponent;
use super::value::{Value, quote};

/// Settings from one source. Later layers override earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What messages call it: a path, `preset drive/tlc`, or the `--set` argument.
    pub source: String,
    /// TOML text.
    pub text: String,
    /// From the command line: it has no lines.
    pub(crate) is_set: bool,
}

impl Layer {
    /// The text of a file (or preset), with the name that messages give it.
    pub fn file(source: impl Into<String>, text: impl Into<String>) -> Self {
        Layer { source: source.into(), text: text.into(), is_set: false }
    }

    /// The argument of `--set`, such as `ftl.gc_victim.d=4`. A bare word is text: `ftl.gc_victim.policy=fifo`; a number
    /// needs no digit before its point: `.2`.
    pub fn set(argument: &str) -> Result<Self, ConfigErrors> {
        let source = format!("--set {argument}");
        let split = argument.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        let Some((key, value)) = split.filter(|(key, value)| is_key(key) && !value.is_empty()) else {
            let message =
                format!("{argument:?}; a setting is written section.key=value, such as drive.seed=7");
            let origin = Some(Origin { source, line: None });
            return Err(ConfigError { keys: Vec::new(), origin, problem: Problem::Syntax { message } }.into());
        };
        let value = &whole(value);
        let as_toml = format!("{key} = {value}");
        let is_toml = DeTable::parse(&as_toml).is_ok_and(|table| table.get_ref().len() == 1);
        let text =
            if is_toml && !value.contains('\n') { as_toml } else { format!("{key} = {}", quote(value)) };
        Ok(Layer { source, text, is_set: true })
    }

    /// Refuses a text that is not TOML, with the line of each mistake.
    pub fn check(&self) -> Result<(), ConfigErrors> {
        Reader::new(self).parse().map(drop).map_err(ConfigErrors)
    }

    /// Reads only the table of that path, such as `workload`, as keys.
    fn read_table(&self, path: &str) -> Result<Vec<Entry>, Vec<ConfigError>> {
        let mut reader = Reader::new(self);
        let table = reader.parse()?;
        let mut at = Some(&table);
        let mut last = None;
        for name in path.split('.') {
            last = at.and_then(|table| table.get_key_value(name));
            at = match last.map(|(_, value)| value.get_ref()) {
                Some(DeValue::Table(inner)) => Some(inner),
                _ => None,
            };
        }
        match (last, at) {
            (Some((key, value)), None) => reader.not_a_section(path, key.span().start, value.get_ref()),
            (_, Some(table)) => reader.entries(path, table),
            (None, None) => {}
        }
        if reader.problems.is_empty() {
            reader.entries.sort_by_key(|entry| entry.place);
            return Ok(reader.entries);
        }
        Err(reader.problems.into_iter().map(|(_, error)| error).collect())
    }
}

/// A number such as `.2` or `-.5` as TOML wants it; anything else as it is.
fn whole(value: &str) -> String {
    let (sign, digits) = value.split_at(usize::from(value.starts_with(['-', '+'])));
    let starts_with_point =
        digits.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if starts_with_point { format!("{sign}0{digits}") } else { value.to_owned() }
}

/// Segments of letters, digits, `_` and `-`, joined by dots.
fn is_key(key: &str) -> bool {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    key.split('.').all(|segment| !segment.is_empty() && segment.chars().all(bare))
}

/// One key with its value and place.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Section, such as `nand.timing`.
    pub(crate) section: String,
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    /// Byte in the text, for the order.
    pub(crate) place: usize,
}

impl Entry {
    /// The full path of the key.
    pub(crate) fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    /// The error for what is wrong with it.
    pub(crate) fn error(&self, problem: Problem) -> ConfigError {
        let origin = Some(self.origin.clone());
        ConfigError { keys: vec![KeyAt { key: self.path(), origin: origin.clone() }], origin, problem }
    }

    /// Sets the key; an unknown one that is found `elsewhere` is pointed out.
    pub(crate) fn set(&self, table: &mut dyn Table, elsewhere: &Elsewhere) -> Result<(), Problem> {
        table.set(&self.key, &self.value).map_err(|mut problem| {
            if let Problem::NoSuchKey { found, near, unit, .. } = &mut problem {
                *found = format!("{} = {}", self.key, self.value);
                if let (None, Some(other)) = (unit, elsewhere(&self.key)) {
                    *near = Some(other);
                }
            }
            problem
        })
    }
}

/// A layer on its way to keys with their places.
pub(crate) struct Reader<'a> {
    layer: &'a Layer,
    /// The end of each line but the last, in bytes.
    line_ends: Vec<usize>,
    pub(crate) entries: Vec<Entry>,
    /// What is wrong, with the byte of each, for the order.
    pub(crate) problems: Vec<(usize, ConfigError)>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(layer: &'a Layer) -> Self {
        let ends = layer.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at);
        Reader { layer, line_ends: ends.collect(), entries: Vec::new(), problems: Vec::new() }
    }

    /// The text as TOML, or all that is wrong with it.
    pub(crate) fn parse(&self) -> Result<DeTable<'a>, Vec<ConfigError>> {
        let (table, errors) = DeTable::parse_recoverable(&self.layer.text);
        if errors.is_empty() {
            return Ok(table.into_inner());
        }
        Err(errors.iter().take(ERRORS_MAX).map(|error| self.syntax_error(error)).collect())
    }

    pub(crate) fn origin(&self, byte: usize) -> Origin {
        let line = 1 + self.line_ends.partition_point(|end| *end < byte) as u32;
        Origin { source: self.layer.source.clone(), line: (!self.layer.is_set).then_some(line) }
    }

    fn syntax_error(&self, error: &toml::de::Error) -> ConfigError {
        let byte = error.span().map_or(0, |span| span.start);
        let origin = self.origin(byte);
        let begin = origin.line.map_or(0, |line| match line {
            1 => 0,
            line => self.line_ends[line as usize - 2] + 1,
        });
        let rest = self.layer.text.get(begin..).unwrap_or_default();
        let text = if self.layer.is_set { rest } else { rest.lines().next().unwrap_or_default() };
        let shown: String = text.trim().chars().take(100).collect();
        let message = format!("{}, in: {shown}", error.message());
        ConfigError { keys: Vec::new(), origin: Some(origin), problem: Problem::Syntax { message } }
    }

    pub(crate) fn report(&mut self, byte: usize, key: &str, problem: Problem) {
        if self.problems.len() == ERRORS_MAX {
            return;
        }
        let origin = Some(self.origin(byte));
        let keys = vec![KeyAt { key: key.to_owned(), origin: origin.clone() }];
        self.problems.push((byte, ConfigError { keys, origin, problem }));
    }

    /// Takes the keys of a section as they are; whether they exist is known when they are applied.
    pub(crate) fn entries(&mut self, section: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            self.entry(section, key, value);
        }
    }

    pub(crate) fn entry(&mut self, section: &str, key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) {
        let place = key.span().start;
        self.entries.push(Entry {
            section: section.to_owned(),
            key: key.get_ref().to_string(),
            value: to_value(value.get_ref()),
            origin: self.origin(place),
            place,
        });
    }

    pub(crate) fn not_a_section(&mut self, path: &str, byte: usize, found: &DeValue<'_>) {
        let problem = Problem::WrongType {
            found: to_value(found).to_string(),
            allowed: format!("a section: [{path}]"),
        };
        self.report(byte, path, problem);
    }
}

pub(crate) fn to_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => match i128::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Value::Integer(n),
            Err(_) => Value::Other("a number of more than 38 digits"),
        },
        DeValue::Float(x) => match whole_with_exponent(x.as_str()) {
            Some(whole) => Value::Integer(whole),
            None => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        },
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(_) => Value::Other("a date or time"),
        DeValue::Array(items) => Value::List(items.iter().map(|item| to_value(item.get_ref())).collect()),
        DeValue::Table(_) => Value::Other("a table"),
    }
}

/// Where else there is a key of that name.
pub(crate) type Elsewhere = dyn Fn(&str) -> Option<String>;

/// Applies the keys of one table of some layers. An unknown key that is found `elsewhere` is pointed out.
///
/// Returns where each key that was set came from. Syntax errors are reported here too.
pub(crate) fn apply_table(
    layers: &[Layer],
    path: &str,
    table: &mut dyn Table,
    elsewhere: &Elsewhere,
) -> Result<BTreeMap<String, Origin>, ConfigErrors> {
    let mut provenance = BTreeMap::new();
    let mut errors = Vec::new();
    for layer in layers {
        match layer.read_table(path) {
            Ok(entries) => {
                for entry in &entries {
                    match entry.set(table, elsewhere) {
                        Ok(()) => _ = provenance.insert(entry.path(), entry.origin.clone()),
                        Err(problem) if errors.len() < ERRORS_MAX => errors.push(entry.error(problem)),
                        Err(_) => return Err(ConfigErrors(errors)),
                    }
                }
            }
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(provenance) } else { Err(ConfigErrors(errors)) }
}
