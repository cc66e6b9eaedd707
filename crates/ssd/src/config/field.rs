//! One parameter: its key, unit, sort, range and meaning, and the types it can have.

use std::fmt::{self, Display};
use std::path::PathBuf;

use super::error::Problem;
use super::near::{nearest, split_unit};
use super::units::in_unit;
use super::value::{Value, quote, show_f64};

/// Lowest and highest allowed value, both included. For a list they hold for every element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Lowest allowed value.
    pub min: f64,
    /// Highest allowed value.
    pub max: f64,
}

impl Limits {
    fn contain(&self, x: f64) -> bool {
        x >= self.min && x <= self.max
    }
}

impl Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", show_f64(self.min), show_f64(self.max))
    }
}

/// What sort of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A list of steps, each in one of these forms.
    Steps(&'static [&'static str]),
    /// A number, or a list of numbers.
    Numbers,
    /// A name, or a list of names.
    Names,
    /// The path of a file.
    Path,
    /// A Gray code: its name, one of these, or for each page type the thresholds that are sensed.
    GrayCode(&'static [&'static str]),
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Integer => f.write_str("a whole number"),
            Kind::Number => f.write_str("a number"),
            Kind::Switch => f.write_str("true or false"),
            Kind::Choice(names) => write!(f, "one of {}", names.join(", ")),
            Kind::Steps(forms) => write!(f, "a list of steps such as {}", forms.join(", ")),
            Kind::Numbers => f.write_str("a number or a list of numbers"),
            Kind::Names => f.write_str("a name or a list of names, in quotes"),
            Kind::Path => f.write_str("the path of a file, in quotes"),
            Kind::GrayCode(names) => {
                write!(f, "one of {}, or a list of lists of whole numbers", names.join(", "))
            }
        }
    }
}

/// One parameter of a section or policy.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Key in the file, and name of the Rust field.
    pub key: &'static str,
    /// Unit of the value; empty for pure numbers, names and switches.
    pub unit: &'static str,
    /// What sort of value it takes.
    pub kind: Kind,
    /// Allowed values, if they are limited.
    pub limits: Option<Limits>,
    /// What it means.
    pub doc: &'static str,
    /// The default, as TOML text.
    pub default: fn() -> String,
}

impl Field {
    /// The default as TOML text.
    pub fn default_text(&self) -> String {
        (self.default)()
    }

    /// What is allowed, for a person: the range, or the sort of value, with the unit.
    pub fn range_text(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match (&self.limits, self.kind) {
            (Some(limits), Kind::Numbers | Kind::GrayCode(_)) => {
                format!("{}, each {limits}{unit}", self.kind)
            }
            (Some(limits), Kind::Integer) => format!("a whole number, {limits}{unit}"),
            (Some(limits), _) => format!("{limits}{unit}"),
            (None, kind) if self.unit.is_empty() => kind.to_string(),
            (None, kind) => format!("{kind} ({})", self.unit),
        }
    }

    /// The value with numbers that carry a unit, such as `"60us"`, turned into this parameter's.
    #[doc(hidden)]
    pub fn in_unit(&self, value: &Value) -> Value {
        match (value, self.kind) {
            (Value::Text(text), Kind::Integer | Kind::Number | Kind::Numbers) => {
                in_unit(text, self.unit).unwrap_or_else(|| value.clone())
            }
            (Value::List(items), Kind::Numbers) => {
                Value::List(items.iter().map(|item| self.in_unit(item)).collect())
            }
            _ => value.clone(),
        }
    }

    fn within(&self, x: f64) -> bool {
        x.is_finite() && self.limits.is_none_or(|limits| limits.contain(x))
    }

    /// The error for a value of another sort.
    pub(crate) fn wrong_type(&self, found: &Value) -> Problem {
        Problem::WrongType { found: found.to_string(), allowed: self.range_text() }
    }

    fn out_of_range(&self, found: &dyn Display) -> Problem {
        Problem::OutOfRange { found: found.to_string(), allowed: self.range_text() }
    }
}

impl Problem {
    /// An unknown key of a table with these fields (and `policy`, if it is a family).
    pub fn no_such_key(found: &str, fields: &'static [Field], with_policy: bool) -> Self {
        let stem = split_unit(found).0;
        let same_stem = fields.iter().find(|field| split_unit(field.key).0 == stem);
        let mut allowed: Vec<String> = fields.iter().map(|field| field.key.to_owned()).collect();
        if with_policy {
            allowed.insert(0, "policy".to_owned());
        }
        let near = match same_stem {
            Some(field) => Some(field.key.to_owned()),
            None => nearest(found, allowed.iter().map(String::as_str)).map(str::to_owned),
        };
        Problem::NoSuchKey { found: found.to_owned(), allowed, near, unit: same_stem.map(|field| field.unit) }
    }
}

/// A type that a parameter can have.
pub trait Parameter: Sized {
    /// What sort of value it reads.
    const KIND: Kind;
    /// Takes the value from a file; range included.
    fn read(value: &Value, field: &Field) -> Result<Self, Problem>;
    /// Is a value that was set by code in range?
    fn check(&self, field: &Field) -> Result<(), Problem>;
    /// The value as TOML text that reads back to the same value.
    fn show(&self) -> String;
}

macro_rules! integer_parameter {
    ($($ty:ty),*) => {$(
        impl Parameter for $ty {
            const KIND: Kind = Kind::Integer;
            fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
                let Value::Integer(n) = value else { return Err(field.wrong_type(value)) };
                let n = <$ty>::try_from(*n).map_err(|_| field.out_of_range(value))?;
                n.check(field).map(|()| n)
            }
            fn check(&self, field: &Field) -> Result<(), Problem> {
                if field.within(*self as f64) { Ok(()) } else { Err(field.out_of_range(self)) }
            }
            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
integer_parameter!(u32, u64);

impl Parameter for f64 {
    const KIND: Kind = Kind::Number;
    fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
        let x = number(value).ok_or_else(|| field.wrong_type(value))?;
        x.check(field).map(|()| x)
    }
    fn check(&self, field: &Field) -> Result<(), Problem> {
        if field.within(*self) { Ok(()) } else { Err(field.out_of_range(&show_f64(*self))) }
    }
    fn show(&self) -> String {
        show_f64(*self)
    }
}

impl Parameter for bool {
    const KIND: Kind = Kind::Switch;
    fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
        match value {
            Value::Bool(b) => Ok(*b),
            other => Err(field.wrong_type(other)),
        }
    }
    fn check(&self, _: &Field) -> Result<(), Problem> {
        Ok(())
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Parameter for Vec<f64> {
    const KIND: Kind = Kind::Numbers;
    fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
        let list = match value {
            Value::List(items) => {
                let numbers: Option<Self> = items.iter().map(number).collect();
                numbers.ok_or_else(|| field.wrong_type(value))?
            }
            one => vec![number(one).ok_or_else(|| field.wrong_type(value))?],
        };
        list.check(field).map(|()| list)
    }
    fn check(&self, field: &Field) -> Result<(), Problem> {
        self.iter().try_for_each(|x| x.check(field))
    }
    fn show(&self) -> String {
        format!("[{}]", self.iter().map(Parameter::show).collect::<Vec<_>>().join(", "))
    }
}

impl Parameter for PathBuf {
    const KIND: Kind = Kind::Path;
    fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
        match value {
            Value::Text(path) => Ok(PathBuf::from(path)),
            other => Err(field.wrong_type(other)),
        }
    }
    fn check(&self, _: &Field) -> Result<(), Problem> {
        Ok(())
    }
    fn show(&self) -> String {
        quote(&self.display().to_string())
    }
}

impl Parameter for Vec<String> {
    const KIND: Kind = Kind::Names;
    fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
        let name = |item: &Value| match item {
            Value::Text(name) => Some(name.clone()),
            _ => None,
        };
        let names: Option<Self> = match value {
            Value::List(items) => items.iter().map(name).collect(),
            one => name(one).map(|name| vec![name]),
        };
        names.ok_or_else(|| field.wrong_type(value))
    }
    fn check(&self, _: &Field) -> Result<(), Problem> {
        Ok(())
    }
    fn show(&self) -> String {
        format!("[{}]", self.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", "))
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(*n as f64),
        // A zero below zero is zero: two drives that are the same have one text.
        Value::Float(x) => Some(*x + 0.0),
        _ => None,
    }
}

/// Reads the name of a choice; used by `choice!`.
#[doc(hidden)]
pub fn read_name<'v>(
    value: &'v Value,
    names: &'static [&'static str],
    field: &Field,
) -> Result<&'v str, Problem> {
    match value {
        Value::Text(name) if names.contains(&name.as_str()) => Ok(name),
        Value::Text(name) => Err(Problem::no_such_name("value", name, names.iter().copied())),
        other => Err(field.wrong_type(other)),
    }
}
