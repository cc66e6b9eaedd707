//! Settings of a workload: declared once with key, type, default, unit, range and text, and from that come the
//! struct, the table for help, and reading a `[workload]` table with errors that name the key.

use crate::base::error::WorkloadError;
use crate::base::near::near;
use ssd::config::{in_unit, shown, whole_with_exponent};
use std::path::PathBuf;
use toml::de::{DeInteger, DeValue};

/// What a person needs to know about a key of the `[workload]` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub key: &'static str,
    /// Unit of its value, or empty.
    pub unit: &'static str,
    /// Its default, as TOML text.
    pub default: String,
    /// What is allowed.
    pub allowed: String,
    /// What it means.
    pub text: String,
}

/// A type that settings can have.
pub(crate) trait Value: Sized + Clone {
    /// Reads it; `None` if the value is of another kind or not one of the words.
    fn read(value: &DeValue<'_>) -> Option<Self>;
    /// Shows it as TOML text.
    fn show(&self) -> String;
    /// The words or the kind allowed.
    fn allowed() -> String;
    /// Says more closely what is wrong with a value that cannot be read, if it can.
    fn explain(_key: &str, _value: &DeValue<'_>) -> Option<WorkloadError> {
        None
    }
    /// Names for "did you mean".
    fn names() -> &'static [&'static str] {
        &[]
    }
}

/// An integer of TOML as a `u64`.
pub(crate) fn whole(value: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(value.as_str(), value.radix()).ok()
}

impl Value for String {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_str().map(str::to_string)
    }
    fn show(&self) -> String {
        quoted(self)
    }
    fn allowed() -> String {
        "text".to_string()
    }
}

impl Value for Vec<String> {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        let DeValue::Array(items) = value else { return None };
        items.iter().map(|item| String::read(item.get_ref())).collect()
    }
    fn show(&self) -> String {
        format!("[{}]", self.iter().map(Value::show).collect::<Vec<_>>().join(", "))
    }
    fn allowed() -> String {
        "a list of texts".to_string()
    }
}

impl Value for PathBuf {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_str().map(PathBuf::from)
    }
    fn show(&self) -> String {
        // Whoever writes a configuration refuses paths that are no text before that.
        quoted(&self.to_string_lossy())
    }
    fn allowed() -> String {
        "text".to_string()
    }
}

impl Value for u64 {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Integer(n) => whole(n),
            // 1e6 is a float in TOML, but a whole number to everybody else.
            DeValue::Float(x) => u64::try_from(whole_with_exponent(x.as_str())?).ok(),
            _ => None,
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
    fn allowed() -> String {
        "a whole number from 0".to_string()
    }
}

impl Value for bool {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_bool()
    }
    fn show(&self) -> String {
        self.to_string()
    }
    fn allowed() -> String {
        "true or false".to_string()
    }
}

impl Value for f64 {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        let number = match value {
            DeValue::Integer(n) => whole(n)? as f64,
            DeValue::Float(x) => x.as_str().parse().ok()?,
            _ => return None,
        };
        // A zero below zero is zero: workloads that are the same have one text.
        number.is_finite().then_some(number + 0.0)
    }
    fn show(&self) -> String {
        format!("{self:?}")
    }
    fn allowed() -> String {
        "a number".to_string()
    }
}

/// Text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    ssd::config::Value::Text(text.to_string()).to_string()
}

/// What was found, for a message.
pub(crate) fn found(value: &DeValue<'_>) -> String {
    shown(&spelled(value)).into_owned()
}

/// A value as it is written in TOML.
fn spelled(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(n) => n.to_string(),
        DeValue::Float(x) => x.to_string(),
        DeValue::Boolean(b) => b.to_string(),
        DeValue::Datetime(d) => d.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| spelled(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(_) => "a table".to_string(),
    }
}

/// Reads a number that carries its unit, such as "512MiB" for a key in GiB.
fn read_in_unit<T: Value>(value: &DeValue<'_>, unit: &str) -> Option<T> {
    let number = in_unit(value.as_str()?, unit)?.to_string();
    T::read(DeValue::parse(&number).ok()?.get_ref())
}

/// Reads the value of a key and checks its range.
pub(crate) fn read<T: Value>(
    key: &str,
    value: &DeValue<'_>,
    unit: &str,
    allowed: &str,
    is_allowed: impl FnOnce(&T) -> bool,
) -> Result<T, WorkloadError> {
    T::read(value).or_else(|| read_in_unit(value, unit)).filter(is_allowed).ok_or_else(|| {
        if let Some(error) = T::explain(key, value) {
            return error;
        }
        let allowed = if allowed.is_empty() { T::allowed() } else { allowed.to_string() };
        let near = value.as_str().and_then(|given| near(given, T::names().iter().copied()));
        WorkloadError::setting(key, format!("found {}", found(value)), allowed).with_near(near)
    })
}

/// The error for a key that does not exist.
pub(crate) fn unknown_key(key: &str, known: &[&'static str]) -> WorkloadError {
    WorkloadError::setting(key, "unknown key", known.join(", ")).with_near(near(key, known.iter().copied()))
}

/// Declares an enum of words, `pub enum Name { Variant = "word" | "synonym", … }`, that can be a setting. The first is
/// the default.
macro_rules! choice {
    ($(#[doc = $about:literal])* pub enum $name:ident {
        $(#[doc = $first_doc:literal])* $first:ident = $first_word:literal,
        $($(#[doc = $doc:literal])* $variant:ident = $word:literal $(| $synonym:literal)?,)*
    }) => {
        ssd::choice! {
            $(#[doc = $about])*
            pub enum $name {
                $(#[doc = $first_doc])* $first = $first_word,
                $($(#[doc = $doc])* $variant = $word,)*
            }
        }

        $crate::base::settings::words!($name { $($($synonym = $variant,)?)* });
    };
}
pub(crate) use choice;

/// Makes an enum of words one that can be a setting, by its words and their synonyms. The first is the default.
macro_rules! words {
    ($name:ident { $($synonym:literal = $variant:ident,)* }) => {
        impl Default for $name {
            fn default() -> Self {
                $name::ALL[0]
            }
        }

        impl $crate::base::settings::Value for $name {
            fn read(value: &toml::de::DeValue<'_>) -> Option<Self> {
                const SYNONYMS: &[(&str, $name)] = &[$(($synonym, $name::$variant),)*];
                let word = value.as_str()?;
                let synonym = || SYNONYMS.iter().find(|(synonym, _)| *synonym == word);
                Self::from_name(word).or_else(|| synonym().map(|(_, meant)| *meant))
            }
            fn show(&self) -> String {
                $crate::base::settings::quoted(self.name())
            }
            fn allowed() -> String {
                Self::NAMES.join(", ")
            }
            fn names() -> &'static [&'static str] {
                Self::NAMES
            }
        }
    };
}
pub(crate) use words;

/// A struct of settings, whichever it is; `settings!` makes one.
pub(crate) trait Settings {
    /// Names of all keys, in the order they are declared.
    fn names(&self) -> &'static [&'static str];
    /// All keys with unit, default, range and meaning.
    fn keys(&self) -> Vec<Key>;
    /// All keys with their values as TOML text.
    fn entries(&self) -> Vec<(&'static str, String)>;
    /// Sets one key; an unknown one is an error.
    fn set_value(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), WorkloadError>;
}

/// Declares a struct of settings. Each line is
/// `/// text` `key: Type = default, unit "…", allowed "…", if |value| condition;` (an empty `allowed` means what
/// the type allows).
macro_rules! settings {
    ($(#[$doc:meta])* pub struct $name:ident { $(
        $(#[doc = $text:literal])+
        $key:ident: $type:ty = $default:expr, unit $unit:literal, allowed $allowed:literal, if $check:expr;
    )* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[doc = $text])+ pub $key: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                $name { $($key: $default,)* }
            }
        }

        impl $name {
            /// Names of all keys, in the order they are declared.
            pub(crate) const NAMES: &'static [&'static str] = &[$(stringify!($key)),*];

            /// All keys with unit, default, range and meaning.
            pub fn keys() -> Vec<$crate::base::settings::Key> {
                use $crate::base::settings::Value;
                let default = $name::default();
                vec![$($crate::base::settings::Key {
                    key: stringify!($key),
                    unit: $unit,
                    default: default.$key.show(),
                    allowed: if $allowed.is_empty() { <$type>::allowed() } else { $allowed.to_string() },
                    text: [$($text),+].concat().trim().to_string(),
                }),*]
            }

            /// All keys with their values as TOML text.
            pub fn entries(&self) -> Vec<(&'static str, String)> {
                use $crate::base::settings::Value;
                vec![$((stringify!($key), self.$key.show())),*]
            }

            /// Sets one key; an unknown one is an error.
            pub(crate) fn set_value(
                &mut self,
                key: &str,
                value: &toml::de::DeValue<'_>,
            ) -> Result<(), $crate::base::error::WorkloadError> {
                match key {
                    $(stringify!($key) => {
                        let check: fn(&$type) -> bool = $check;
                        self.$key = $crate::base::settings::read(key, value, $unit, $allowed, check)?;
                    })*
                    _ => return Err($crate::base::settings::unknown_key(key, Self::NAMES)),
                }
                Ok(())
            }
        }

        impl $crate::base::settings::Settings for $name {
            fn names(&self) -> &'static [&'static str] {
                Self::NAMES
            }
            fn keys(&self) -> Vec<$crate::base::settings::Key> {
                Self::keys()
            }
            fn entries(&self) -> Vec<(&'static str, String)> {
                self.entries()
            }
            fn set_value(
                &mut self,
                key: &str,
                value: &toml::de::DeValue<'_>,
            ) -> Result<(), $crate::base::error::WorkloadError> {
                self.set_value(key, value)
            }
        }
    };
}
pub(crate) use settings;
