//! A value as it stands in a file, and how values are written.

use std::fmt::{self, Display};

/// A value as it stands in a configuration file, without its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number. Wide enough for every `u64` and for the sign of a wrong one.
    Integer(i128),
    /// A number with a fraction or exponent.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// Text in quotes (on the command line also a bare word).
    Text(String),
    /// `[ ... ]`.
    List(Vec<Value>),
    /// Something no parameter takes (a date, an inline table), by its name in TOML.
    Other(&'static str),
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(n) => write!(f, "{n}"),
            // With its ".0": a whole number written so is still the wrong type for an integer.
            Value::Float(x) => f.write_str(&format!("{x:?}").to_lowercase()),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Text(s) => f.write_str(&quote(s)),
            Value::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
            Value::Other(what) => f.write_str(what),
        }
    }
}

/// The shortest text that reads back to the same number.
pub(crate) fn show_f64(x: f64) -> String {
    // TOML writes nan in lower case.
    let text = format!("{x:?}").to_lowercase();
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The text as a TOML basic string.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
