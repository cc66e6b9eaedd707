//! The project's own rules, which no compiler or linter holds: sizes, layers, purity of the core, policy families.
//!
//! Each rule is a function over the whole [`Tree`], named in [`RULES`]; the lists behind the rules are in
//! [`lists`]. One line of code is exempt by a comment with a reason, beside it or above it (above a function: all
//! of it):
//!
//! ```text
//! // tidy: allow(float): the table is built here, once, when the drive is made
//! ```

mod circles;
mod families;
mod lists;
mod manifest;
mod paths;
mod purity;
mod rust;
mod size;
mod source;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use self::source::Source;
pub use self::tables::written;
use std::fmt;
use std::io;
use std::path::Path;

/// One of the rules.
pub struct Rule {
    /// How reports and exemptions call it.
    pub name: &'static str,
    /// What it holds, in a line.
    pub holds: &'static str,
    check: fn(&Tree, &mut Report),
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule { name: "file", holds: "a Rust file is not too long", check: size::file },
    Rule { name: "function", holds: "a function fits a screen", check: size::function },
    Rule { name: "line", holds: "a line of code is not too wide", check: size::line },
    Rule { name: "unfinished", holds: "no work is left undone in the text", check: text::unfinished },
    Rule { name: "machine", holds: "no absolute path of some machine", check: text::machine },
    Rule { name: "reference", holds: "sources are cited by their keys", check: text::reference },
    Rule { name: "registry", holds: "no package registry is named", check: text::registry },
    Rule { name: "shared", holds: "nothing depends on the folder beside the checkout", check: text::shared },
    Rule { name: "exemption", holds: "an exemption names a rule and has a reason", check: text::exemption },
    Rule {
        name: "pure",
        holds: "the core reads no clock, file, thread, randomness or hash order",
        check: purity::pure,
    },
    Rule { name: "float", holds: "the event loop is integers", check: purity::float },
    Rule { name: "layer", holds: "dependencies run downward only", check: purity::layer },
    Rule { name: "circle", holds: "modules that lie side by side form no circle", check: circles::circle },
    Rule { name: "files", holds: "files that name each other form no circle", check: circles::files },
    Rule { name: "root", holds: "few files and folders lie at a crate's root", check: size::root },
    Rule { name: "print", holds: "only the command line prints", check: rust::print },
    Rule { name: "unsafe", holds: "unsafe code lives in few files", check: rust::unsafe_code },
    Rule { name: "lint", holds: "a lint is switched off with a reason", check: rust::lint },
    Rule { name: "unwrap", holds: "no unwrap outside tests", check: rust::unwrap },
    Rule { name: "spawn", holds: "a thread that cannot be had is no panic", check: rust::spawn },
    Rule { name: "orphan", holds: "each file is part of its crate", check: rust::orphan },
    Rule {
        name: "family",
        holds: "a policy's file, NAME and line in its family agree",
        check: families::family,
    },
    Rule { name: "table", holds: "tables of numbers are what their files say", check: tables::table },
    Rule {
        name: "manifest",
        holds: "few dependencies, and in the right direction",
        check: manifest::manifest,
    },
];

/// All files of a checkout that are text.
pub struct Tree {
    sources: Vec<Source>,
}

impl Tree {
    /// Reads a checkout.
    pub fn read(root: &Path) -> io::Result<Tree> {
        let mut sources = Vec::new();
        walk(root, "", &mut sources)?;
        Ok(Tree { sources })
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// The file at a path from the root.
    fn get(&self, path: &str) -> Option<&Source> {
        self.sources
            .binary_search_by(|source| source.path.as_str().cmp(path))
            .ok()
            .map(|at| &self.sources[at])
    }

    /// All Rust files.
    fn rust(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.is_rust())
    }

    /// All Rust files of the core.
    fn core(&self) -> impl Iterator<Item = &Source> {
        self.rust().filter(|source| source.path.starts_with(lists::CORE))
    }

    #[cfg(test)]
    fn of(files: &[(&str, &str)]) -> Tree {
        let mut sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(path, (*text).into())).collect();
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        Tree { sources }
    }
}

/// Adds the text files under `root`/`folder`, sorted by path.
fn walk(root: &Path, folder: &str, sources: &mut Vec<Source>) -> io::Result<()> {
    collect(root, folder, sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

fn collect(root: &Path, folder: &str, sources: &mut Vec<Source>) -> io::Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && !lists::SKIPPED_FOLDERS.contains(&name.as_str()) {
            collect(root, &path, sources)?;
        } else if kind.is_file() && lists::TEXT_ENDINGS.iter().any(|ending| path.ends_with(ending)) {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path())?).into_owned();
            sources.push(Source::new(&path, text));
        }
    }
    Ok(())
}

/// Does a path lie under a prefix of the lists?
fn is_under(path: &str, prefix: &str) -> bool {
    let Some(rest) = path.strip_prefix(prefix) else { return false };
    prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/') || rest == ".rs"
}

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    path: String,
    line: usize,
    rule: &'static str,
    found: String,
    advice: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { path, line, rule, found, advice } = self;
        write!(f, "{path}:{line}: [{rule}] {found}\n    {advice}")
    }
}

/// What a rule found.
pub struct Report {
    rule: &'static str,
    violations: Vec<Violation>,
}

impl Report {
    /// Notes a violation at a byte of a file, unless a comment exempts it.
    fn at(&mut self, source: &Source, offset: usize, found: impl Into<String>, advice: impl Into<String>) {
        if !source.is_exempt(self.rule, offset) {
            self.whole(&source.path, source.line_of(offset), found, advice);
        }
    }

    /// Notes a violation that no comment can exempt.
    fn whole(&mut self, path: &str, line: usize, found: impl Into<String>, advice: impl Into<String>) {
        let (path, found, advice) = (path.to_owned(), found.into(), advice.into());
        self.violations.push(Violation { path, line, rule: self.rule, found, advice });
    }
}

/// All violations in a checkout, sorted by place.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut report = Report { rule: "", violations: Vec::new() };
    for rule in RULES {
        report.rule = rule.name;
        (rule.check)(tree, &mut report);
    }
    report.violations.sort();
    report.violations
}
