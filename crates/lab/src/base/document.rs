//! TOML of a paper's folder, read by a walk of our own: every error names file, line and key.

use ssd::config::{ConfigError, ConfigErrors, KeyAt, Origin, Problem, shown, shown_up_to};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use workload::{WorkloadError, whole};

/// Most characters of what was found in a paper's file.
const FINDING_MAX: usize = 1000;

/// Why a paper cannot be read or run.
#[derive(Clone, Debug, PartialEq)]
pub enum PaperError {
    /// A file that cannot be used.
    File {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system says.
        message: String,
    },
    /// A key of a paper's file is wrong.
    Wrong {
        /// File and line.
        place: String,
        /// Path of the key.
        key: String,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
        /// What was probably meant.
        near: Option<String>,
    },
    /// A drive's configuration is wrong.
    Config(ConfigErrors),
    /// A workload's settings are wrong, or its trace is damaged.
    Workload {
        /// Name of the workload.
        name: String,
        /// What is wrong.
        error: WorkloadError,
    },
    /// A workload is needed that cannot be had.
    Missing {
        /// Its name.
        name: String,
    },
    /// A run failed.
    Run {
        /// Which one.
        name: String,
        /// Why.
        message: String,
    },
}

impl PaperError {
    /// A file that cannot be used.
    pub(crate) fn file(path: &Path, action: &'static str, error: impl fmt::Display) -> Self {
        PaperError::File { path: path.to_owned(), action, message: error.to_string() }
    }

    /// Whether the work failed, not what was asked for.
    pub fn is_work(&self) -> bool {
        match self {
            PaperError::Run { .. } => true,
            PaperError::File { action, .. } => *action == "write",
            _ => false,
        }
    }
}

impl fmt::Display for PaperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PaperError::File { path, action, message } => {
                write!(f, "{}: cannot {action}: {message}", path.display())
            }
            PaperError::Wrong { place, key, found, allowed, near } => {
                let (key, found) = (shown(key), shown_up_to(found, FINDING_MAX));
                write!(f, "{place}: {key}\n    found:   {found}\n    allowed: {allowed}")?;
                near.as_ref().map_or(Ok(()), |near| write!(f, "\n    did you mean {near:?}?"))
            }
            PaperError::Config(errors) => write!(f, "{errors}"),
            PaperError::Workload { name, error } => write!(f, "workload {name}: {error}"),
            PaperError::Missing { name } => {
                write!(f, "workload {name} is needed to age drives, but its trace is missing")
            }
            PaperError::Run { name, message } => write!(f, "{name}: {message}"),
        }
    }
}

impl std::error::Error for PaperError {}

/// A file, read.
pub(crate) struct File {
    /// Where it lies.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

impl File {
    /// Reads it.
    pub fn read(path: &Path) -> Result<Self, PaperError> {
        let text = whole::read_lines(path).and_then(whole::text);
        let text = text.map_err(|error| PaperError::file(path, "read", error))?;
        Ok(File { path: path.to_owned(), text })
    }

    /// The line of a byte.
    fn line(&self, byte: usize) -> usize {
        1 + self.text.bytes().take(byte).filter(|b| *b == b'\n').count()
    }

    /// An error at a byte of it.
    pub fn wrong(
        &self,
        byte: usize,
        key: &str,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> PaperError {
        PaperError::Wrong {
            place: format!("{}:{}", self.path.display(), self.line(byte)),
            key: key.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
            near: None,
        }
    }

    /// The table that the file is.
    pub fn with_table<T>(
        &self,
        read: impl FnOnce(&Walk<'_>) -> Result<T, PaperError>,
    ) -> Result<T, PaperError> {
        self.with_made(|_, table| Ok(table), read)
    }

    /// A table that is made of the one that the file is.
    pub fn with_made<T>(
        &self,
        make: impl for<'t> FnOnce(&Self, DeTable<'t>) -> Result<DeTable<'t>, PaperError>,
        read: impl FnOnce(&Walk<'_>) -> Result<T, PaperError>,
    ) -> Result<T, PaperError> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.wrong(at, "", error.message(), "TOML")
        })?;
        let table = &make(self, table.into_inner())?;
        let walk = Walk { file: self, table, path: String::new(), at: 0, read: RefCell::default() };
        let value = read(&walk)?;
        walk.finish()?;
        Ok(value)
    }
}

/// A table being read: it remembers which keys were asked for, and refuses all others at the end.
pub(crate) struct Walk<'a> {
    file: &'a File,
    table: &'a DeTable<'a>,
    /// Path of the table in the file.
    path: String,
    /// Its first byte.
    at: usize,
    read: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Walk<'a> {
    /// Path of one of its keys.
    pub fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A value with its first byte.
    fn get(&self, key: &'static str) -> Option<(&'a DeValue<'a>, usize)> {
        self.read.borrow_mut().insert(key);
        let (_, value) = self.table.get_key_value(key)?;
        Some((value.get_ref(), value.span().start))
    }

    /// An error about a key: at its value, or at the table if it is not there.
    pub fn wrong(
        &self,
        key: &'static str,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> PaperError {
        let at = self.get(key).map_or(self.at, |(_, at)| at);
        self.file.wrong(at, &self.key(key), found, allowed)
    }

    /// An error about a name that does not exist.
    pub fn no_such(&self, key: &'static str, what: &'static str, found: &str, names: &[&str]) -> PaperError {
        let mut error = self.wrong(key, format!("no such {what}: {found:?}"), names.join(", "));
        if let (PaperError::Wrong { near, .. }, Problem::NoSuchName { near: close, .. }) =
            (&mut error, Problem::no_such_name(what, found, names.iter().copied()))
        {
            *near = close;
        }
        error
    }

    /// Refuses names that are not among those that exist.
    pub fn known(
        &self,
        key: &'static str,
        what: &'static str,
        chosen: &[String],
        names: &[String],
    ) -> Result<(), PaperError> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match chosen.iter().find(|name| !names.contains(&name.as_str())) {
            Some(wrong) => Err(self.no_such(key, what, wrong, &names)),
            None => Ok(()),
        }
    }

    /// What is wrong with a value by the rules of configurations.
    pub fn config_error(&self, key: &'static str, problem: Problem) -> PaperError {
        let at = self.get(key).map_or(self.at, |(_, at)| at);
        let source = self.file.path.display().to_string();
        let origin = Some(Origin { source, line: Some(self.file.line(at) as u32) });
        let keys = vec![KeyAt { key: self.key(key), origin: origin.clone() }];
        PaperError::Config(ConfigError { keys, origin, problem }.into())
    }

    fn wrong_type(&self, key: &'static str, found: &DeValue<'_>, allowed: &str) -> PaperError {
        self.wrong(key, format!("found {}", kind(found)), allowed)
    }

    /// Whether a key is there, whatever its value.
    pub fn has(&self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// A text.
    pub fn text(&self, key: &'static str) -> Result<Option<String>, PaperError> {
        match self.get(key) {
            None => Ok(None),
            Some((DeValue::String(text), _)) => Ok(Some(text.to_string())),
            Some((other, _)) => Err(self.wrong_type(key, other, "text in quotes")),
        }
    }

    /// A text that must be there and not be empty.
    pub fn need_text(&self, key: &'static str) -> Result<String, PaperError> {
        match self.text(key)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(self.wrong(key, "found nothing", "text in quotes")),
        }
    }

    /// A number.
    pub fn number(&self, key: &'static str) -> Result<Option<f64>, PaperError> {
        let Some((value, _)) = self.get(key) else { return Ok(None) };
        let text = match value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            other => return Err(self.wrong_type(key, other, "a number")),
        };
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| self.wrong(key, format!("found {text}"), "a finite number"))
    }

    /// A whole number from 0.
    pub fn whole(&self, key: &'static str) -> Result<Option<u64>, PaperError> {
        let Some((value, _)) = self.get(key) else { return Ok(None) };
        let DeValue::Integer(number) = value else {
            return Err(self.wrong_type(key, value, "a whole number from 0"));
        };
        let number = u64::from_str_radix(number.as_str(), number.radix());
        number
            .map(Some)
            .map_err(|_| self.wrong(key, format!("found {}", kind(value)), "a whole number from 0"))
    }

    /// Whether a key is there and a number.
    pub fn is_number(&self, key: &'static str) -> bool {
        matches!(self.get(key), Some((DeValue::Integer(_) | DeValue::Float(_), _)))
    }

    /// Whether a key is there and a list.
    pub fn is_list(&self, key: &'static str) -> bool {
        matches!(self.get(key), Some((DeValue::Array(_), _)))
    }

    /// A list of whole numbers from 0.
    pub fn wholes(&self, key: &'static str) -> Result<Option<Vec<u64>>, PaperError> {
        self.list(key, "a list of whole numbers from 0", |value| match value {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        })
    }

    /// A list of numbers.
    pub fn numbers(&self, key: &'static str) -> Result<Option<Vec<f64>>, PaperError> {
        self.list(key, "a list of numbers", number)
    }

    /// A list of pairs of a name and a number.
    pub fn pairs(&self, key: &'static str) -> Result<Option<Vec<(String, f64)>>, PaperError> {
        self.list(key, "a list of pairs of a name and a number", |value| match value {
            DeValue::Array(pair) => match &pair[..] {
                [name, value] => Some((name.get_ref().as_str()?.to_owned(), number(value.get_ref())?)),
                _ => None,
            },
            _ => None,
        })
    }

    fn list<T>(
        &self,
        key: &'static str,
        allowed: &str,
        read: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<Vec<T>>, PaperError> {
        let Some((value, _)) = self.get(key) else { return Ok(None) };
        let DeValue::Array(items) = value else { return Err(self.wrong_type(key, value, allowed)) };
        let one = |item: &toml::Spanned<DeValue<'_>>| {
            read(item.get_ref()).ok_or_else(|| self.wrong_type(key, item.get_ref(), allowed))
        };
        items.iter().map(one).collect::<Result<_, _>>().map(Some)
    }

    /// Yes or no.
    pub fn flag(&self, key: &'static str) -> Result<Option<bool>, PaperError> {
        match self.get(key) {
            None => Ok(None),
            Some((DeValue::Boolean(yes), _)) => Ok(Some(*yes)),
            Some((other, _)) => Err(self.wrong_type(key, other, "true or false")),
        }
    }

    /// A list of texts; one text is a list of one.
    pub fn texts(&self, key: &'static str) -> Result<Option<Vec<String>>, PaperError> {
        let Some((value, _)) = self.get(key) else { return Ok(None) };
        let text = |value: &DeValue<'_>| match value {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong_type(key, other, "a list of texts")),
        };
        match value {
            DeValue::Array(items) => {
                items.iter().map(|item| text(item.get_ref())).collect::<Result<_, _>>().map(Some)
            }
            one => text(one).map(|text| Some(vec![text])),
        }
    }

    /// A table in it, read by `read`; `None` if it is not there.
    pub fn table<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Walk<'a>) -> Result<T, PaperError>,
    ) -> Result<Option<T>, PaperError> {
        let Some((value, at)) = self.get(key) else { return Ok(None) };
        let DeValue::Table(table) = value else { return Err(self.wrong_type(key, value, "a table")) };
        let walk = Walk { file: self.file, table, path: self.key(key), at, read: RefCell::default() };
        let value = read(&walk)?;
        walk.finish().map(|()| Some(value))
    }

    /// The tables of a list `[[key]]`, each read by `read`.
    pub fn tables<T>(
        &self,
        key: &'static str,
        read: impl Fn(&Walk<'a>) -> Result<T, PaperError>,
    ) -> Result<Vec<T>, PaperError> {
        let Some((value, _)) = self.get(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value else { return Err(self.wrong_type(key, value, "tables, [[...]]")) };
        let one = |(number, item): (usize, &'a toml::Spanned<DeValue<'a>>)| {
            let DeValue::Table(table) = item.get_ref() else {
                return Err(self.wrong_type(key, item.get_ref(), "tables, [[...]]"));
            };
            let path = format!("{}[{}]", self.key(key), number + 1);
            let walk = Walk { file: self.file, table, path, at: item.span().start, read: RefCell::default() };
            let value = read(&walk)?;
            walk.finish().map(|()| value)
        };
        items.iter().enumerate().map(one).collect()
    }

    /// A table in it as the parser has it, for those who read it themselves; with the file.
    pub fn raw_table(
        &self,
        key: &'static str,
    ) -> Result<Option<(&'a DeTable<'a>, usize, &'a File)>, PaperError> {
        match self.get(key) {
            None => Ok(None),
            Some((DeValue::Table(table), at)) => Ok(Some((table, at, self.file))),
            Some((other, _)) => Err(self.wrong_type(key, other, "a table")),
        }
    }

    /// All its numbers by name, whatever the names are.
    pub fn all_numbers(&self) -> Result<Vec<(String, f64)>, PaperError> {
        let each = self.table.iter().map(|(key, value)| {
            let name = key.get_ref().to_string();
            match number(value.get_ref()) {
                Some(number) => Ok((name, number)),
                None => {
                    let found = format!("found {}", kind(value.get_ref()));
                    Err(self.file.wrong(value.span().start, &self.key(&name), found, "a number"))
                }
            }
        });
        let numbers = each.collect::<Result<_, _>>()?;
        self.ignore_others();
        Ok(numbers)
    }

    /// Other keys may be there.
    pub fn ignore_others(&self) {
        self.read.borrow_mut().insert(ANY);
    }

    /// Refuses keys that nobody asked for.
    fn finish(&self) -> Result<(), PaperError> {
        let known = self.read.borrow();
        if known.contains(ANY) {
            return Ok(());
        }
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if !known.contains(name) {
                let names: Vec<&str> = known.iter().copied().collect();
                let mut error =
                    self.file.wrong(key.span().start, &self.key(name), "unknown key", names.join(", "));
                if let (PaperError::Wrong { near, .. }, Problem::NoSuchName { near: close, .. }) =
                    (&mut error, Problem::no_such_name("key", name, names.iter().copied()))
                {
                    *near = close;
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Stands for all keys of a table.
const ANY: &str = "*";

/// A finite number.
fn number(value: &DeValue<'_>) -> Option<f64> {
    let number = match value {
        DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

/// A value in words.
fn kind(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text {text:?}"),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
