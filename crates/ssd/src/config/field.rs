//! One declaration per parameter: the `section!` and `choice!` macros and what they produce.
//!
//! A parameter is written once, with its type, default, unit, allowed range and meaning. From that one line
//! come the struct field, the TOML key, the range check, the text of `wordline policies` and `wordline explain`,
//! and the canonical form that is hashed.

use std::fmt::{self, Display};

use super::error::Problem;
use super::units::in_unit;
use crate::nand::gray;
use crate::policy::FamilyInfo;

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
    /// A Gray code: its name, or for each page type the thresholds that are sensed.
    GrayCode,
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
            Kind::GrayCode => {
                let names: Vec<&str> = gray::NAMED.iter().map(|code| code.name).collect();
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
            (Some(limits), Kind::Numbers | Kind::GrayCode) => {
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

    fn wrong_type(&self, found: &Value) -> Problem {
        Problem::WrongType { found: found.to_string(), allowed: self.range_text() }
    }

    fn out_of_range(&self, found: &dyn Display) -> Problem {
        Problem::OutOfRange { found: found.to_string(), allowed: self.range_text() }
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

impl Parameter for Vec<Vec<u32>> {
    const KIND: Kind = Kind::GrayCode;
    fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
        if let Value::Text(name) = value {
            let names = gray::NAMED.iter().map(|code| code.name);
            let code = gray::named(name).ok_or_else(|| Problem::no_such_name("Gray code", name, names))?;
            return Ok(code.code());
        }
        let Value::List(rows) = value else { return Err(field.wrong_type(value)) };
        let mut table = Self::new();
        for row in rows {
            let Value::List(cells) = row else { return Err(field.wrong_type(value)) };
            table.push(cells.iter().map(|cell| u32::read(cell, field)).collect::<Result<_, _>>()?);
        }
        Ok(table)
    }
    fn check(&self, field: &Field) -> Result<(), Problem> {
        self.iter().flatten().try_for_each(|n| n.check(field))
    }
    fn show(&self) -> String {
        let row =
            |row: &Vec<u32>| format!("[{}]", row.iter().map(u32::to_string).collect::<Vec<_>>().join(", "));
        format!("[{}]", self.iter().map(row).collect::<Vec<_>>().join(", "))
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    }
}

/// The shortest text that reads back to the same number.
pub(super) fn show_f64(x: f64) -> String {
    // TOML writes nan in lower case.
    let text = format!("{x:?}").to_lowercase();
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The text as a TOML basic string.
pub(super) fn quote(text: &str) -> String {
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

/// A table of a configuration file: a fixed section, or the chosen policy of a family with its parameters.
pub trait Table {
    /// The parameters it has (for a family: those of the chosen policy).
    fn fields(&self) -> &'static [Field];
    /// Sets one parameter from a file value. Range included; relations to other keys are not checked here.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Problem>;
    /// One parameter as TOML text; `None` if there is no such parameter.
    fn show(&self, key: &str) -> Option<String>;
    /// The parameters that are out of range, which only code can bring about.
    fn check(&self) -> Vec<(&'static str, Problem)>;
    /// Pairs of parameters of which the first must not exceed the second.
    fn in_order(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// The family, if the table chooses a policy of one.
    fn family(&self) -> Option<&'static FamilyInfo> {
        None
    }
    /// Name of the chosen policy.
    fn policy(&self) -> Option<&'static str> {
        None
    }
    /// Chooses a policy by name. Another policy than the one chosen starts with its own defaults.
    fn select(&mut self, policy: &str) -> Result<(), Problem> {
        Err(Problem::no_such_name("policy", policy, []))
    }
}

/// Declares a table of parameters: struct, keys, defaults, units, ranges and documentation in one place. A line
/// `in_order low <= high;` behind the struct refuses configurations where the first exceeds the second.
///
/// ```
/// ssd::section! {
///     /// Parameters of a sampling policy.
///     pub struct Params {
///         /// Blocks sampled for each decision.
///         d: u32 = 10, unit "blocks", range 1..=4096;
///         /// Sample with replacement.
///         replace: bool = false;
///     }
/// }
/// assert_eq!(Params::default().d, 10);
/// assert_eq!(Params::FIELDS[0].range_text(), "a whole number, 1 to 4096 blocks");
/// ```
#[macro_export]
macro_rules! section {
    ($(#[doc = $about:literal])* $vis:vis struct $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident : $ty:ty = $default:expr
            $(, unit $unit:literal)? $(, range $min:literal ..= $max:literal)?;)*
    } $(in_order $low:ident <= $high:ident;)*) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        $vis struct $name {
            $($(#[doc = $doc])+ $(#[doc = concat!("\n\nUnit: ", $unit, ".")])? pub $field: $ty,)*
        }

        impl $name {
            /// The parameters in the order of declaration.
            pub const FIELDS: &'static [$crate::config::Field] = &[$($crate::config::Field {
                key: stringify!($field),
                unit: concat!($($unit)?),
                kind: <$ty as $crate::config::Parameter>::KIND,
                limits: $crate::section!(@limits $($min, $max)?),
                doc: concat!($($doc),+).trim_ascii(),
                default: || $crate::config::Parameter::show(&$name::default().$field),
            },)*];
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::config::Table for $name {
            fn fields(&self) -> &'static [$crate::config::Field] {
                Self::FIELDS
            }
            #[allow(unused_variables)] // a table may have no parameters
            fn set(&mut self, key: &str, value: &$crate::config::Value) -> Result<(), $crate::config::Problem> {
                match Self::FIELDS.iter().find(|field| field.key == key) {
                    None => Err($crate::config::Problem::no_such_key(key, Self::FIELDS, false)),
                    Some(field) => {
                        let value = &field.in_unit(value);
                        $(if key == stringify!($field) {
                            self.$field = $crate::config::Parameter::read(value, field)?;
                        })*
                        Ok(())
                    }
                }
            }
            fn show(&self, key: &str) -> Option<String> {
                $(if key == stringify!($field) {
                    return Some($crate::config::Parameter::show(&self.$field));
                })*
                let _ = key;
                None
            }
            #[allow(unused_mut, unused_variables)] // as above
            fn check(&self) -> Vec<(&'static str, $crate::config::Problem)> {
                let mut problems = Vec::new();
                for field in Self::FIELDS {
                    $(if field.key == stringify!($field) {
                        if let Err(problem) = $crate::config::Parameter::check(&self.$field, field) {
                            problems.push((field.key, problem));
                        }
                    })*
                }
                problems
            }
            fn in_order(&self) -> &'static [(&'static str, &'static str)] {
                $(let _ = &self.$low <= &self.$high;)*
                &[$((stringify!($low), stringify!($high))),*]
            }
        }
    };
    (@limits) => { None };
    (@limits $min:literal, $max:literal) => {
        Some($crate::config::Limits { min: $min as f64, max: $max as f64 })
    };
}

/// Declares an enum whose variants have a name in configuration files.
///
/// ```
/// ssd::choice! {
///     /// Which end first?
///     pub enum End {
///         /// The upper end.
///         Top = "top",
///         /// The lower end.
///         Bottom = "bottom",
///     }
/// }
/// assert_eq!(End::from_name("bottom"), Some(End::Bottom));
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[doc = $about:literal])* $vis:vis enum $name:ident {
        $($(#[doc = $doc:literal])* $variant:ident = $text:literal),* $(,)?
    }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name {
            $($(#[doc = $doc])* #[doc = concat!("\n\nIn files: `", $text, "`.")] $variant,)*
        }

        impl $name {
            /// Every variant in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            /// The names in files, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// The name in files.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The variant of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl $crate::config::Parameter for $name {
            const KIND: $crate::config::Kind = $crate::config::Kind::Choice($name::NAMES);
            fn read(
                value: &$crate::config::Value,
                field: &$crate::config::Field,
            ) -> Result<Self, $crate::config::Problem> {
                let name = $crate::config::read_name(value, $name::NAMES, field)?;
                Self::from_name(name)
                    .ok_or_else(|| $crate::config::Problem::no_such_name("value", name, $name::NAMES.iter().copied()))
            }
            fn check(&self, _: &$crate::config::Field) -> Result<(), $crate::config::Problem> {
                Ok(())
            }
            fn show(&self) -> String {
                format!("\"{}\"", self.name())
            }
        }
    };
}
