//! The text of a job file: sections, `include`, `${VARIABLE}`, comments. What the options mean is not known here.

use crate::base::error::{Problem, WorkloadError};
use crate::base::input::whole;
use crate::base::near::near;
use ssd::config::shown;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that may include each other, one in the other.
const DEPTH_MAX: usize = 16;
/// Options of all sections together: a job file of a megabyte has no more.
const LINES_MAX: usize = 100_000;

/// What a message says of a line of an included file that is no option.
pub(crate) const UNQUOTED: &str = "a line that is no option (lines of included files are not quoted)";

/// Where a job file's text comes from, and what it may ask for beside it.
pub(crate) trait World {
    /// The text of a file.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;
    /// A variable of the environment; `None` if there is none.
    fn variable(&self, name: &str) -> Option<OsString>;
}

/// This machine: its files and its environment.
pub(crate) struct Machine;

impl World for Machine {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        whole::read_lines(path)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub file: Arc<str>,
    /// From 1.
    pub line: usize,
    /// Another file includes it, and may name any: what is no option in it is not quoted.
    pub is_included: bool,
}

impl Place {
    /// What stands there, if a message may say it.
    fn quoted(&self, text: impl fmt::Display) -> String {
        if self.is_included { UNQUOTED.to_owned() } else { text.to_string() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What is wrong with an option, before it is known where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wrong {
    pub found: String,
    pub allowed: String,
    pub near: Option<String>,
}

impl Wrong {
    pub fn new(found: impl Into<String>, allowed: impl Into<String>) -> Self {
        Wrong { found: shown(&found.into()).into_owned(), allowed: allowed.into(), near: None }
    }

    /// The same with the closest of some names.
    pub fn like<'a>(mut self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.near = near(given, known);
        self
    }

    /// The error of an option at a place.
    pub fn at(self, place: &Place, option: &str) -> WorkloadError {
        let Wrong { found, allowed, near } = self;
        let (file, option) = (place.file.to_string(), option.to_owned());
        Problem::Job { file, line: place.line as u64, option, found, allowed, near }.into()
    }
}

/// One option as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub place: Place,
    pub key: String,
    /// What stands behind `=`, its variables put in; `None` where there is no `=`.
    pub value: Option<String>,
    /// A variable of it that does not exist.
    pub lacks: Option<String>,
}

/// One section with all that holds for it: the global sections above it come first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    pub place: Place,
    pub name: String,
    pub lines: Vec<Line>,
}

/// Reads the sections of a job file that describe jobs. Options from elsewhere stand above all that it says.
pub(crate) fn sections(
    path: &Path,
    options: &[String],
    world: &dyn World,
) -> Result<Vec<Section>, WorkloadError> {
    let mut reader =
        Reader { world, open: Vec::new(), found: Vec::new(), global: Vec::new(), in_global: true };
    for (number, option) in options.iter().enumerate() {
        let place = Place { file: "workload.options".into(), line: number + 1, is_included: false };
        let option = option.trim_start_matches('-');
        if option.starts_with('[') || option.starts_with("include ") {
            return Err(Wrong::new(format!("found {option:?}"), "an option, such as size=10g").at(&place, ""));
        }
        reader.line(option, &place)?;
    }
    reader.in_global = false;
    reader.file(path, None)?;
    if reader.found.is_empty() {
        let place = Place { file: path.display().to_string().into(), line: 1, is_included: false };
        let allowed = "a section in brackets with the job's name, such as [job], above its options";
        return Err(Wrong::new("no job in this file", allowed).at(&place, ""));
    }
    Ok(reader.found)
}

struct Reader<'a> {
    world: &'a dyn World,
    /// Files being read, the innermost last.
    open: Vec<PathBuf>,
    found: Vec<Section>,
    global: Vec<Line>,
    in_global: bool,
}

impl Reader<'_> {
    /// Reads a file, which `from` includes.
    fn file(&mut self, path: &Path, from: Option<&Place>) -> Result<(), WorkloadError> {
        let bytes = self.world.read(path).map_err(|error| match from {
            Some(place) => Wrong::new(
                format!("{}: {error}", path.display()),
                "a file in the same folder as the one that includes \
                                                        it",
            )
            .at(place, "include"),
            None => {
                let file = path.display().to_string();
                Problem::File { file, action: "open", message: error.to_string() }.into()
            }
        })?;
        let name: Arc<str> = path.display().to_string().into();
        self.open.push(PathBuf::from(path));
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let place = Place { file: Arc::clone(&name), line: number + 1, is_included: from.is_some() };
            let line = std::str::from_utf8(line).map_err(|_| {
                Wrong::new(place.quoted(crate::base::error::printable(line)), "text in UTF-8").at(&place, "")
            })?;
            self.line(line, &place)?;
        }
        self.open.pop();
        Ok(())
    }

    fn line(&mut self, text: &str, place: &Place) -> Result<(), WorkloadError> {
        // fio ends a line at the first of these marks, wherever it stands.
        let text = text.split([';', '#']).next().unwrap_or_default().trim_end();
        let start = text.trim_start();
        if start.is_empty() {
            return Ok(());
        }
        if let Some(inner) = start.strip_prefix('[') {
            return self.section(inner, place);
        }
        if let Some(path) = start.strip_prefix("include ") {
            return self.include(path.trim(), place);
        }
        let (key, value) = match start.split_once('=') {
            Some((key, value)) => (key.trim_end(), Some(value)),
            None => (start, None),
        };
        // fio takes a text or a plain number behind a blank, and reads ` 4k` as 4.
        let blank_is_fine = |value: &str| {
            let value = value.trim();
            value.bytes().all(|byte| byte.is_ascii_digit()) || matches!(key, "name" | "description")
        };
        if value.is_some_and(|value| value.starts_with(char::is_whitespace) && !blank_is_fine(value)) {
            let found = format!("a space before the value of {start:?}: fio reads ` 4k` as 4");
            let key = if place.is_included { "" } else { key };
            return Err(Wrong::new(place.quoted(found), "no blank behind `=`").at(place, key));
        }
        let value = value.map(str::trim_start);
        let expanded =
            value.map(|value| self.expand(value)).transpose().map_err(|wrong| match place.is_included {
                true => Wrong::new(UNQUOTED, wrong.allowed).at(place, ""),
                false => wrong.at(place, key),
            })?;
        let (value, lacks) = match expanded {
            Some((value, lacks)) => (Some(value), lacks),
            None => (None, None),
        };
        let line = Line { place: place.clone(), key: key.to_owned(), value, lacks };
        if self.in_global {
            self.global.push(line);
        } else if let Some(section) = self.found.last_mut() {
            section.lines.push(line);
        } else {
            let found = place.quoted(format!("{start:?} above the first section"));
            return Err(Wrong::new(found, "a section first, such as [global] or [job]").at(place, ""));
        }
        let lines = self.global.len() + self.found.last().map_or(0, |section| section.lines.len());
        if lines * self.found.len().max(1) > LINES_MAX {
            return Err(Wrong::new("a job file that is too large", format!("up to {LINES_MAX} options"))
                .at(place, ""));
        }
        Ok(())
    }

    fn section(&mut self, inner: &str, place: &Place) -> Result<(), WorkloadError> {
        if self.open.len() > 1 {
            let found = "a section in an included file";
            return Err(Wrong::new(found, "options only").at(place, ""));
        }
        let Some((name, rest)) = inner.split_once(']') else {
            return Err(Wrong::new(format!("[{inner}"), "a name between [ and ]").at(place, ""));
        };
        let name = name.trim();
        if name.is_empty() || !rest.trim().is_empty() {
            return Err(
                Wrong::new(format!("[{inner}"), "a name between [ and ], and nothing else").at(place, "")
            );
        }
        // As in fio 3.33, whatever follows the word.
        self.in_global = name.starts_with("global");
        if !self.in_global {
            let (name, lines) = (name.to_owned(), self.global.clone());
            self.found.push(Section { place: place.clone(), name, lines });
        }
        Ok(())
    }

    fn include(&mut self, path: &str, place: &Place) -> Result<(), WorkloadError> {
        let beside = self.open.last().and_then(|file| file.parent()).unwrap_or(Path::new(""));
        let path = beside.join(path);
        if self.open.contains(&path) {
            let files: Vec<_> =
                self.open.iter().chain([&path]).map(|file| file.display().to_string()).collect();
            let found = format!("files that include each other: {}", files.join(" -> "));
            return Err(Wrong::new(found, "no circle").at(place, "include"));
        }
        if self.open.len() == DEPTH_MAX {
            let found = format!("files included {DEPTH_MAX} levels deep");
            return Err(Wrong::new(found, "less").at(place, "include"));
        }
        self.file(&path, Some(place))
    }

    /// Puts in what fio asks the machine for, and reckons what is made of it (`10*$mb_memory`): a machine of its own a
    /// simulated drive has none of, so the environment says it. `None` if nothing is asked for.
    fn of_machine(&self, value: &str) -> Result<Option<String>, Wrong> {
        let mut text = value.to_owned();
        for word in ["pagesize", "mb_memory", "ncpus"] {
            let name = format!("${word}");
            if !text.contains(&name) {
                continue;
            }
            let number = self.world.variable(word).and_then(|number| number.to_str()?.parse::<u64>().ok());
            let number = number.ok_or_else(|| {
                let found = format!("{name}, which differs from machine to machine");
                Wrong::new(
                    found,
                    format!("a number, or a variable that says it: {word}=... wordline run ..."),
                )
            })?;
            text = text.replace(&name, &number.to_string());
        }
        if text == value || !text.contains(['*', '/']) {
            return Ok((text != value).then_some(text));
        }
        let wrong = || Wrong::new(format!("found {value:?}"), "whole numbers with * and / between them");
        let (mut reckoned, mut by) = (1u64, '*');
        for part in text.split_inclusive(['*', '/']) {
            let number = part.trim_end_matches(['*', '/']).trim().parse().map_err(|_| wrong())?;
            let next = if by == '*' { reckoned.checked_mul(number) } else { reckoned.checked_div(number) };
            reckoned = next.ok_or_else(wrong)?;
            by = part.chars().next_back().unwrap_or('*');
        }
        Ok(Some(reckoned.to_string()))
    }

    /// Puts in the variables of a value. One that does not exist is empty, as in fio; the last of these is named.
    fn expand(&self, value: &str) -> Result<(String, Option<String>), Wrong> {
        let of_machine = self.of_machine(value)?;
        let value = of_machine.as_deref().unwrap_or(value);
        let (mut out, mut lacks) = (String::new(), None);
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, behind)) = after.split_once('}') else {
                return Err(Wrong::new(format!("${{{after}"), "a name between ${ and }"));
            };
            out.push_str(before);
            let variable = self.world.variable(name);
            if variable.is_none() {
                lacks = Some(name.to_owned());
            }
            let value = variable.unwrap_or_default().into_string();
            let no_text = |_| Wrong::new(format!("${{{name}}}, which is not text"), "a variable in UTF-8");
            out.push_str(&value.map_err(no_text)?);
            rest = behind;
        }
        out.push_str(rest);
        Ok((out, lacks))
    }
}
