//! The macros that declare tables of parameters and choices.
//!
//! A declaration is the only place where a parameter is written down: from it come the struct field, the TOML key, the
//! range check, the text of `wordline policies` and `wordline explain`, and the canonical form that is hashed.

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
