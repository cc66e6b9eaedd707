//! One source of settings: a preset, a file, or a `--set` argument; read into keys with their places.

use toml::de::{DeTable, DeValue};

use super::DriveConfig;
use super::error::{ConfigError, ConfigErrors, KeyAt, Origin, Problem};
use super::field::{Table, Value, quote};
use super::near::{nearest, split_unit};
use super::units::whole_with_exponent;

/// Settings from one source. Later layers override earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What messages call it: a path, `preset drive/tlc`, or the `--set` argument.
    pub source: String,
    /// TOML text.
    pub text: String,
    /// From the command line: it has no lines.
    pub(super) is_set: bool,
}

impl Layer {
    /// The text of a file (or preset), with the name that messages give it.
    pub fn file(source: impl Into<String>, text: impl Into<String>) -> Self {
        Layer { source: source.into(), text: text.into(), is_set: false }
    }

    /// The argument of `--set`, such as `ftl.gc_victim.d=4`. A bare word is text: `ftl.gc_victim.policy=fifo`.
    pub fn set(argument: &str) -> Result<Self, ConfigErrors> {
        let source = format!("--set {argument}");
        let split = argument.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        let Some((key, value)) = split.filter(|(key, value)| is_key(key) && !value.is_empty()) else {
            let message =
                format!("{argument:?}; a setting is written section.key=value, such as drive.seed=7");
            let origin = Some(Origin { source, line: None });
            return Err(ConfigError { keys: Vec::new(), origin, problem: Problem::Syntax { message } }.into());
        };
        let as_toml = format!("{key} = {value}");
        let is_toml = DeTable::parse(&as_toml).is_ok_and(|table| table.get_ref().len() == 1);
        let text =
            if is_toml && !value.contains('\n') { as_toml } else { format!("{key} = {}", quote(value)) };
        Ok(Layer { source, text, is_set: true })
    }

    /// Reads the text; `foreign` are the top-level tables that others own.
    pub(super) fn read(&self, foreign: &[&str]) -> Result<Document, Vec<ConfigError>> {
        let (table, errors) = DeTable::parse_recoverable(&self.text);
        let mut reader = Reader { layer: self, foreign, document: Document::new(self), problems: Vec::new() };
        if !errors.is_empty() {
            return Err(errors.iter().map(|error| reader.syntax_error(error)).collect());
        }
        reader.tables(table.get_ref(), "");
        let mut document = reader.document;
        document.entries.sort_by_key(|entry| entry.place);
        let mut problems = reader.problems;
        problems.sort_by_key(|(place, _)| *place);
        document.errors = problems.into_iter().map(|(_, error)| error).collect();
        Ok(document)
    }

    /// Reads only the table of that path, such as `workload`, as keys.
    pub(super) fn read_table(&self, path: &str) -> Result<Vec<Entry>, Vec<ConfigError>> {
        let (table, errors) = DeTable::parse_recoverable(&self.text);
        let mut reader =
            Reader { layer: self, foreign: &[], document: Document::new(self), problems: Vec::new() };
        if !errors.is_empty() {
            return Err(errors.iter().map(|error| reader.syntax_error(error)).collect());
        }
        let mut at = Some(table.get_ref());
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
            reader.document.entries.sort_by_key(|entry| entry.place);
            return Ok(reader.document.entries);
        }
        Err(reader.problems.into_iter().map(|(_, error)| error).collect())
    }
}

/// Segments of letters, digits, `_` and `-`, joined by dots.
fn is_key(key: &str) -> bool {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    key.split('.').all(|segment| !segment.is_empty() && segment.chars().all(bare))
}

/// One key with its value and place.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Section, such as `nand.timing`.
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) origin: Origin,
    /// Byte in the text, for the order.
    place: usize,
}

impl Entry {
    /// The full path of the key.
    pub(super) fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }
}

/// A layer, read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) source: String,
    pub(super) is_set: bool,
    pub(super) entries: Vec<Entry>,
    /// `preset = "..."`: the drive to start from.
    pub(super) preset: Option<(String, Origin)>,
    /// `part = "..."` of `[nand]`: the NAND part whose sections come first.
    pub(super) nand_part: Option<(String, Origin)>,
    /// `part = "..."` of `[cell]`: the cell part whose sections come first.
    pub(super) cell_part: Option<(String, Origin)>,
    /// Sections and keys that do not exist.
    pub(super) errors: Vec<ConfigError>,
}

impl Document {
    fn new(layer: &Layer) -> Self {
        Document {
            source: layer.source.clone(),
            is_set: layer.is_set,
            entries: Vec::new(),
            preset: None,
            nand_part: None,
            cell_part: None,
            errors: Vec::new(),
        }
    }
}

struct Reader<'a> {
    layer: &'a Layer,
    foreign: &'a [&'a str],
    document: Document,
    /// With the byte of each, for the order.
    problems: Vec<(usize, ConfigError)>,
}

impl Reader<'_> {
    fn origin(&self, byte: usize) -> Origin {
        let before = self.layer.text.as_bytes().iter().take(byte);
        let line = 1 + before.filter(|b| **b == b'\n').count() as u32;
        Origin { source: self.layer.source.clone(), line: (!self.layer.is_set).then_some(line) }
    }

    fn syntax_error(&self, error: &toml::de::Error) -> ConfigError {
        let byte = error.span().map_or(0, |span| span.start);
        let origin = self.origin(byte);
        let text = origin.line.and_then(|line| self.layer.text.lines().nth(line as usize - 1));
        let shown: String = text.unwrap_or(&self.layer.text).trim().chars().take(100).collect();
        let message = format!("{}, in: {shown}", error.message());
        ConfigError { keys: Vec::new(), origin: Some(origin), problem: Problem::Syntax { message } }
    }

    fn report(&mut self, byte: usize, key: &str, problem: Problem) {
        let origin = Some(self.origin(byte));
        let keys = vec![KeyAt { key: key.to_owned(), origin: origin.clone() }];
        self.problems.push((byte, ConfigError { keys, origin, problem }));
    }

    /// Walks the tables above the sections.
    fn tables(&mut self, table: &DeTable<'_>, prefix: &str) {
        for (key, value) in table {
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            let byte = key.span().start;
            let above = DriveConfig::section_paths()
                .any(|s| s.strip_prefix(&path).is_some_and(|s| s.starts_with('.')));
            let section = DriveConfig::section_paths().any(|s| s == path);
            match value.get_ref() {
                _ if prefix.is_empty() && self.foreign.contains(&path.as_str()) => {}
                DeValue::String(name) if path == "preset" => {
                    self.document.preset = Some((name.to_string(), self.origin(byte)));
                }
                DeValue::String(name) if path == "nand.part" => {
                    self.document.nand_part = Some((name.to_string(), self.origin(byte)));
                }
                DeValue::String(name) if path == "cell.part" => {
                    self.document.cell_part = Some((name.to_string(), self.origin(byte)));
                }
                other if ["preset", "nand.part", "cell.part"].contains(&path.as_str()) => {
                    let problem = Problem::WrongType {
                        found: to_value(other).to_string(),
                        allowed: "the name of a preset, in quotes".to_owned(),
                    };
                    self.report(byte, &path, problem);
                }
                DeValue::Table(inner) if section => self.entries(&path, inner),
                DeValue::Table(inner) if above => self.tables(inner, &path),
                other if section || above => self.not_a_section(&path, byte, other),
                DeValue::Table(inner) => self.no_such_table(&path, byte, inner),
                _ => self.no_such_key(&path, byte),
            }
        }
    }

    /// Takes the keys of a section as they are; whether they exist is known when they are applied.
    fn entries(&mut self, section: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let place = key.span().start;
            self.document.entries.push(Entry {
                section: section.to_owned(),
                key: key.get_ref().to_string(),
                value: to_value(value.get_ref()),
                origin: self.origin(place),
                place,
            });
        }
    }

    fn not_a_section(&mut self, path: &str, byte: usize, found: &DeValue<'_>) {
        let problem = Problem::WrongType {
            found: to_value(found).to_string(),
            allowed: format!("a section: [{path}]"),
        };
        self.report(byte, path, problem);
    }

    fn no_such_table(&mut self, path: &str, byte: usize, inner: &DeTable<'_>) {
        // `[nan.timing]` is about `nan.timing`: a table that holds only tables is just a step on the way.
        let deeper = inner.iter().filter_map(|(key, value)| match value.get_ref() {
            DeValue::Table(table) => Some((key, table)),
            _ => None,
        });
        let deeper: Vec<_> = deeper.collect();
        if !deeper.is_empty() && deeper.len() == inner.len() {
            for (key, table) in deeper {
                self.no_such_table(&format!("{path}.{}", key.get_ref()), key.span().start, table);
            }
            return;
        }
        let mut allowed: Vec<String> = DriveConfig::section_paths().map(str::to_owned).collect();
        allowed.extend(self.foreign.iter().map(|s| (*s).to_owned()));
        let ending = |name: &&String| name.rsplit('.').next() == path.rsplit('.').next();
        let near = allowed.iter().find(ending).map(String::as_str);
        let near = near.or_else(|| nearest(path, allowed.iter().map(String::as_str))).map(str::to_owned);
        self.report(byte, path, Problem::NoSuchTable { found: path.to_owned(), allowed, near });
    }

    fn no_such_key(&mut self, path: &str, byte: usize) {
        let mut allowed = vec!["preset".to_owned()];
        allowed.extend(DriveConfig::section_paths().map(|s| format!("[{s}]")));
        let last = path.rsplit('.').next().unwrap_or(path);
        let near = elsewhere(last)
            .or_else(|| nearest(path, ["preset", "nand.part", "cell.part"]).map(str::to_owned));
        let problem = Problem::NoSuchKey { found: path.to_owned(), allowed, near, unit: None };
        self.report(byte, path, problem);
    }
}

/// The full path of a key of that name, in whichever section or policy has it; failing that, of one that has its name
/// with a unit or another unit.
pub(super) fn elsewhere(key: &str) -> Option<String> {
    let config = DriveConfig::default();
    let has = |section: &dyn Table| match section.family() {
        Some(family) => !family.members_with(key).is_empty(),
        None => section.fields().iter().any(|field| field.key == key),
    };
    let same = config.sections().find(|(_, section)| has(*section)).map(|(path, _)| format!("{path}.{key}"));
    let stem = split_unit(key).0;
    same.or_else(|| {
        config.sections().find_map(|(path, section)| {
            let field = section.fields().iter().find(|field| split_unit(field.key).0 == stem)?;
            Some(format!("{path}.{}", field.key))
        })
    })
}

fn to_value(value: &DeValue<'_>) -> Value {
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
