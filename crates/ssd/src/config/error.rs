//! What can be wrong with a configuration, and how it is told.
//!
//! Every error names the place (file and line, or the `--set` argument), the key, what was found and what is
//! allowed, and a near match where there is one. All errors of a configuration are reported at once.

use std::fmt::{self, Display};

use super::near::nearest;
use super::shown::{ERRORS_MAX, escaped, shown, shown_up_to};
use super::value::quote;

/// Errors that are told of a configuration: more are no help.
const TOLD_MAX: usize = 20;

/// Most characters of a source, which may be a path: none is longer.
const SOURCE_MAX: usize = 4096;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `preset drive/tlc`, the path of a file, or the `--set` argument.
    pub source: String,
    /// Line in that source, from 1; `None` for a `--set` argument.
    pub line: Option<u32>,
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", shown_up_to(&self.source, SOURCE_MAX)),
            None => f.write_str(&shown_up_to(&self.source, SOURCE_MAX)),
        }
    }
}

/// What is wrong, apart from where.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The text is not TOML, or names a key twice.
    Syntax {
        /// What the TOML parser says, with the text of the line.
        message: String,
    },
    /// No section of that name.
    NoSuchTable {
        /// The name that was found.
        found: String,
        /// The sections there are.
        allowed: Vec<String>,
        /// The one that was probably meant.
        near: Option<String>,
    },
    /// The section has no such key.
    NoSuchKey {
        /// The key that was found.
        found: String,
        /// The keys it has.
        allowed: Vec<String>,
        /// The one that was probably meant.
        near: Option<String>,
        /// The unit of the near key, when the key was written with another unit.
        unit: Option<&'static str>,
    },
    /// The parameter exists, but belongs to other policies than the chosen one.
    NotOfThisPolicy {
        /// The parameter.
        found: String,
        /// The policy that is chosen.
        policy: String,
        /// The policies that have the parameter.
        policies: Vec<String>,
        /// The parameters of the chosen policy.
        allowed: Vec<String>,
    },
    /// A name (of a policy, preset or choice) that does not exist.
    NoSuchName {
        /// What is named: `policy`, `preset`, `NAND part`, `cell part`, `Gray code`, `value`.
        what: &'static str,
        /// The name that was found.
        found: String,
        /// The names there are.
        allowed: Vec<String>,
        /// The one that was probably meant.
        near: Option<String>,
    },
    /// A name that something had before.
    Renamed {
        /// What is named: `policy`.
        what: &'static str,
        /// The name that was found.
        found: String,
        /// The names there are.
        allowed: Vec<String>,
        /// What it is called now.
        now: String,
    },
    /// A value of the wrong sort.
    WrongType {
        /// The value.
        found: String,
        /// What it may be.
        allowed: String,
    },
    /// A value outside its range.
    OutOfRange {
        /// The value.
        found: String,
        /// The range.
        allowed: String,
    },
    /// Values that are each in range, but impossible together.
    Conflict {
        /// What they amount to.
        found: String,
        /// What is possible, and which change would do.
        allowed: String,
    },
}

impl Problem {
    /// An unknown name, with its near match.
    pub fn no_such_name<'a>(
        what: &'static str,
        found: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let allowed: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let near = nearest(found, allowed.iter().map(String::as_str)).map(str::to_owned);
        Problem::NoSuchName { what, found: found.to_owned(), allowed, near }
    }

    fn headline(&self) -> &'static str {
        match self {
            Problem::Syntax { .. } => "not valid TOML",
            Problem::NoSuchTable { .. } => "no such section",
            Problem::NoSuchKey { .. } => "no such key",
            Problem::NotOfThisPolicy { .. } => "not a parameter of the chosen policy",
            Problem::NoSuchName { what: "policy", .. } | Problem::Renamed { what: "policy", .. } => {
                "no such policy"
            }
            Problem::NoSuchName { what: "preset", .. } => "no such preset",
            Problem::NoSuchName { what: "NAND part", .. } => "no such NAND part",
            Problem::NoSuchName { what: "cell part", .. } => "no such cell part",
            Problem::NoSuchName { what: "Gray code", .. } => "no such Gray code",
            Problem::NoSuchName { .. } | Problem::Renamed { .. } => "no such value",
            Problem::WrongType { .. } => "wrong type of value",
            Problem::OutOfRange { .. } => "out of range",
            Problem::Conflict { .. } => "impossible",
        }
    }

    fn found(&self) -> String {
        match self {
            // Both are ours, and of a line of input no more than its beginning.
            Problem::Syntax { message: found } | Problem::Conflict { found, .. } => {
                escaped(found).into_owned()
            }
            Problem::NoSuchTable { found, .. } => format!("[{}]", shown(found)),
            Problem::NoSuchName { found, .. } | Problem::Renamed { found, .. } => {
                shown(&quote(found)).into_owned()
            }
            Problem::NotOfThisPolicy { found, policy, .. } => {
                format!("{}, with policy = {}", shown(found), quote(policy))
            }
            Problem::NoSuchKey { found, .. }
            | Problem::WrongType { found, .. }
            | Problem::OutOfRange { found, .. } => shown(found).into_owned(),
        }
    }

    fn allowed(&self) -> Option<String> {
        let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        match self {
            Problem::Syntax { .. } => None,
            Problem::NoSuchTable { allowed, .. }
            | Problem::NoSuchKey { allowed, .. }
            | Problem::NoSuchName { allowed, .. }
            | Problem::Renamed { allowed, .. }
            | Problem::NotOfThisPolicy { allowed, .. } => Some(list(allowed)),
            Problem::WrongType { allowed, .. }
            | Problem::OutOfRange { allowed, .. }
            | Problem::Conflict { allowed, .. } => Some(allowed.clone()),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Problem::NoSuchTable { near: Some(near), .. } => Some(format!("did you mean [{near}]?")),
            Problem::NoSuchKey { near: Some(near), unit, .. } => Some(match unit {
                None => format!("did you mean {near}?"),
                Some("") => format!("did you mean {near}? It has no unit."),
                Some(unit) => format!("did you mean {near}? Its unit is {unit}."),
            }),
            Problem::NoSuchName { near: Some(near), .. } => Some(format!("did you mean {}?", quote(near))),
            Problem::Renamed { found, now, .. } => {
                Some(format!("{} is called {} now", quote(found), quote(now)))
            }
            Problem::NotOfThisPolicy { found, policies, .. } => {
                Some(format!("policies that have {found}: {}", policies.join(", ")))
            }
            _ => None,
        }
    }
}

/// One key that is part of an error.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyAt {
    /// Full path of the key, such as `nand.timing.t_read_us`.
    pub key: String,
    /// Where its value was set; `None` if it has its default or no place is known.
    pub origin: Option<Origin>,
}

/// One error: where, and what.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    /// The keys concerned, the one to look at first in front. Empty for a syntax error.
    pub keys: Vec<KeyAt>,
    /// Where the text itself is wrong, or where the first key was set.
    pub origin: Option<Origin>,
    /// What is wrong.
    pub problem: Problem,
}

impl Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        if let Some(first) = self.keys.first() {
            write!(f, "{}: ", shown(&first.key))?;
        }
        write!(f, "{}\n    found:   {}", self.problem.headline(), self.problem.found())?;
        if let Some(allowed) = self.problem.allowed() {
            write!(f, "\n    allowed: {allowed}")?;
        }
        if let Some(hint) = self.problem.hint() {
            write!(f, "\n    {hint}")?;
        }
        for other in self.keys.iter().skip(1) {
            match &other.origin {
                Some(origin) => write!(f, "\n    see also {} ({origin})", other.key)?,
                None => write!(f, "\n    see also {} (its default)", other.key)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// All errors of a configuration, in the order of the files. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().take(TOLD_MAX).enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        match self.0.len().saturating_sub(TOLD_MAX) {
            0 => Ok(()),
            _ if self.0.len() >= ERRORS_MAX => f.write_str("\n    and many more errors"),
            more => write!(f, "\n    and {more} more errors"),
        }
    }
}

impl std::error::Error for ConfigErrors {}

impl From<ConfigError> for ConfigErrors {
    fn from(error: ConfigError) -> Self {
        ConfigErrors(vec![error])
    }
}
