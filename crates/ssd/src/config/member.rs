//! What becomes of a family's list of members: the `family!` macro, and what the code that it writes stands on.

use super::error::Problem;
use super::family::FamilyInfo;
use super::table::Table;

/// Are the two texts equal? In constants, where `==` on text is not available.
#[doc(hidden)]
pub const fn same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Turns the list of a family's members into modules, configuration enum, trait, policy enum and table.
///
/// ```text
/// family! {
///     /// Which block is reclaimed?
///     path "ftl/gc_victim", default greedy;
///     members { greedy: Greedy, cost_benefit: CostBenefit }
///     methods {
///         /// The block to reclaim next.
///         fn choose(&mut self, view: &VictimView<'_>, rng: &mut Rng) -> Option<u32>;
///         /// A block is erased.
///         fn on_erase(&mut self, block: u32) {}
///     }
/// }
/// ```
///
/// It declares `pub mod` for each member, `Config` (which policy, with its `Params`), the trait `Member` with the
/// listed methods, `Policy` (the running one, with `build` and the same methods, each a match over the members) and
/// `FAMILY`. A method with a body is a default: a member answers only what it has an answer of its own to.
///
/// A member's file has `NAME` (equal to its stem), `SUMMARY`, `SOURCE`, `MEMORY`, `Params` (by `section!`) and `Policy`
/// with `new(&Params)` and `impl Member`. A policy that keeps nothing is its parameters: `pub type Policy = Params;`
/// (see [`Stateless`]). A member that had another name is told of by `renamed { "old_name" => new_name }` after the
/// members. With `external External, named external: Outside, kept in Record;` after that, a program that uses the
/// crate may run a policy of its own, which no snapshot holds. A configuration that expects one has `policy =
/// "external"`: the file `external.rs` holds what is to be known of it before it is given, and checks what it answers;
/// who was asked how often, and what went wrong, is in its `Record`. Of `techniques! { family! { { ... } } }` those are
/// members as well that techniques carry out: their files lie in the techniques' folders.
macro_rules! family {
    // One method after the other, each a match over the members; a default body is the trait's.
    (@methods $members:tt) => {};
    (@methods $members:tt
        $(#[$meta:meta])*
        fn $method:ident(&mut $this:ident $(, $arg:ident : $ty:ty)* $(,)?) $(-> $ret:ty)? { $($body:tt)* }
        $($rest:tt)*
    ) => {
        family!(@methods $members
            $(#[$meta])* fn $method(&mut $this $(, $arg: $ty)*) $(-> $ret)?; $($rest)*);
    };
    (@methods $members:tt
        $(#[$meta:meta])*
        fn $method:ident(&$this:ident $(, $arg:ident : $ty:ty)* $(,)?) $(-> $ret:ty)? { $($body:tt)* }
        $($rest:tt)*
    ) => {
        family!(@methods $members
            $(#[$meta])* fn $method(&$this $(, $arg: $ty)*) $(-> $ret)?; $($rest)*);
    };
    (@methods $members:tt
        $(#[$meta:meta])*
        fn $method:ident(&mut $this:ident $(, $arg:ident : $ty:ty)* $(,)?) $(-> $ret:ty)?;
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[inline]
        pub fn $method(&mut $this $(, $arg: $ty)*) $(-> $ret)? {
            family!(@dispatch $members $this $method ($($arg),*))
        }
        family!(@methods $members $($rest)*);
    };
    (@methods $members:tt
        $(#[$meta:meta])*
        fn $method:ident(&$this:ident $(, $arg:ident : $ty:ty)* $(,)?) $(-> $ret:ty)?;
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[inline]
        pub fn $method(&$this $(, $arg: $ty)*) $(-> $ret)? {
            family!(@dispatch $members $this $method ($($arg),*))
        }
        family!(@methods $members $($rest)*);
    };
    (@file $path:literal, $member:ident) => {
        concat!("crates/ssd/src/", $path, "/", stringify!($member), ".rs")
    };
    (@file $path:literal, $member:ident, $technique:ident) => {
        concat!("crates/ssd/src/ftl/techniques/", stringify!($technique), "/", stringify!($member), ".rs")
    };
    (@dispatch { $($variant:ident)* } $this:ident $method:ident $args:tt) => {
        match $this { $(Policy::$variant(policy) => policy.$method $args,)* }
    };
    (
        {
            $(#[doc = $question:literal])+
            path $path:literal, default $default:ident;
            members { $($own:tt)* }
            $($rest:tt)*
        }
        @techniques { $($others:tt)* }
        @members { $(
            $(#[$told:meta])* $technique:ident : $name:ident = $section:literal is [$($part:ident)*],
                member of $family:ident $member:ident : $variant:ident in $file:literal
                $(, cause $cause:ident($number:literal) $called:literal)?;
        )* }
    ) => {
        family! {
            $(#[doc = $question])+
            path $path, default $default;
            members { $($own)* $($member: $variant in $file of $technique,)* }
            $($rest)*
        }
    };
    (
        $(#[doc = $question:literal])+
        path $path:literal, default $default:ident;
        members { $($member:ident : $variant:ident $(in $file:literal of $technique:ident)?),+ $(,)? }
        $(renamed { $($old:literal => $now:ident),+ $(,)? })?
        $(external $external:ident, named $outside:ident : $named:ident, kept in $record:ident;)?
        methods { $($methods:tt)* }
    ) => {
        $($(#[path = $file])? pub mod $member;)+
        $(pub mod $outside;)?

        /// Which policy of the family, with its parameters.
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        pub enum Config {
            $(#[doc = concat!("Policy `", stringify!($member), "`.")] $variant($member::Params),)+
            $(
                /// A policy that whoever builds the drive gives.
                $named($outside::Params),
            )?
        }

        impl Config {
            /// The policy of that name with its default parameters.
            pub fn named(name: &str) -> Option<Self> {
                $(if name == $member::NAME {
                    return Some(Config::$variant($member::Params::default()));
                })+
                $(if name == $outside::NAME {
                    return Some(Config::$named($outside::Params::default()));
                })?
                None
            }

            /// Name of the policy.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Config::$variant(_) => $member::NAME,)+
                    $(Config::$named(_) => $outside::NAME,)?
                }
            }

            $(
                /// Whether it expects a policy that whoever builds the drive gives.
                pub const fn is_external(&self) -> bool {
                    matches!(self, Config::$named(_))
                }
            )?
        }

        $(impl From<$member::Params> for Config {
            fn from(params: $member::Params) -> Self {
                Config::$variant(params)
            }
        })+

        impl Default for Config {
            fn default() -> Self {
                $default::Params::default().into()
            }
        }

        impl $crate::config::Table for Config {
            fn fields(&self) -> &'static [$crate::config::Field] {
                match self {
                    $(Config::$variant(_) => $member::Params::FIELDS,)+
                    $(Config::$named(_) => $outside::Params::FIELDS,)?
                }
            }
            fn set(&mut self, key: &str, value: &$crate::config::Value) -> Result<(), $crate::config::Problem> {
                if $crate::config::Table::fields(self).iter().all(|field| field.key != key) {
                    return Err($crate::config::member::no_such_parameter(&FAMILY, self.name(), key));
                }
                match self {
                    $(Config::$variant(params) => $crate::config::Table::set(params, key, value),)+
                    $(Config::$named(params) => $crate::config::Table::set(params, key, value),)?
                }
            }
            fn show(&self, key: &str) -> Option<String> {
                match self {
                    $(Config::$variant(params) => $crate::config::Table::show(params, key),)+
                    $(Config::$named(params) => $crate::config::Table::show(params, key),)?
                }
            }
            fn check(&self) -> Vec<(&'static str, $crate::config::Problem)> {
                match self {
                    $(Config::$variant(params) => $crate::config::Table::check(params),)+
                    $(Config::$named(params) => $crate::config::Table::check(params),)?
                }
            }
            fn in_order(&self) -> &'static [(&'static str, &'static str)] {
                match self {
                    $(Config::$variant(params) => $crate::config::Table::in_order(params),)+
                    $(Config::$named(params) => $crate::config::Table::in_order(params),)?
                }
            }
            fn family(&self) -> Option<&'static $crate::config::FamilyInfo> {
                Some(&FAMILY)
            }
            fn policy(&self) -> Option<&'static str> {
                Some(self.name())
            }
            fn select(&mut self, policy: &str) -> Result<(), $crate::config::Problem> {
                if policy != self.name() {
                    *self = Config::named(policy).ok_or_else(|| FAMILY.no_such_policy(policy))?;
                }
                Ok(())
            }
        }

        /// What a policy of the family answers.
        #[allow(unused_variables)] // a default may need none of its arguments
        pub trait Member {
            $($methods)*

            $(
                /// What is kept of a policy that was given and whose answers are checked.
                fn record(&self) -> Option<&$record> {
                    None
                }
            )?

            /// It comes from a snapshot: takes what follows from the configuration from a fresh policy, and checks what
            /// it keeps of its own. By default it keeps nothing.
            fn restored(&mut self, fresh: Self) -> Result<(), String>
            where
                Self: Sized,
            {
                *self = fresh;
                Ok(())
            }
        }

        /// The running policy: one variant a member, so that a call is a jump and not a pointer chase.
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize)]
        #[allow(clippy::large_enum_variant)] // one instance a drive: its size does not matter
        pub enum Policy {
            $(#[doc = concat!("Policy `", stringify!($member), "`.")] $variant($member::Policy),)+
            $(
                /// A policy of the program that uses the crate.
                #[serde(skip)]
                $external(Box<dyn $external>),
            )?
        }

        impl Policy {
            /// The policy that the configuration names, in its initial state.
            pub fn build(config: &Config) -> Self {
                #[allow(unused_imports)] // of use where policies are their parameters
                use $crate::config::member::Stateless as _;
                match config {
                    $(Config::$variant(params) => Policy::$variant($member::Policy::new(params)),)+
                    $(Config::$named(params) => Policy::$external(Box::new($outside::Policy::new(params))),)?
                }
            }

            /// It comes from a snapshot, and a fresh one is as the configuration says: see [`Member::restored`].
            #[doc(hidden)]
            pub fn restored(&mut self, fresh: Policy) -> Result<(), String> {
                match (self, fresh) {
                    $((Policy::$variant(found), Policy::$variant(fresh)) => found.restored(fresh),)+
                    // No snapshot holds one: the drive goes on by the other.
                    $((found @ Policy::$external(_), fresh @ Policy::$external(_)) => {
                        *found = fresh;
                        Ok(())
                    })?
                    #[allow(unreachable_patterns)] // in a family of one
                    _ => Err(concat!("another policy of ", $path).to_owned()),
                }
            }

            $(
                /// What is kept of a policy that was given and whose answers are checked.
                #[inline]
                pub fn record(&self) -> Option<&$record> {
                    match self {
                        Policy::$external(policy) => policy.record(),
                        _ => None,
                    }
                }
            )?

            family!(@methods { $($variant)+ $($external)? } $($methods)*);
        }

        $(
            /// A policy of the program that uses the crate: any [`Member`] that can be copied with its drive.
            pub trait $external: Member + ::core::fmt::Debug + Send + Sync {
                /// A copy of it as it is now.
                fn copied(&self) -> Box<dyn $external>;
            }

            impl<P: Member + Clone + ::core::fmt::Debug + Send + Sync + 'static> $external for P {
                fn copied(&self) -> Box<dyn $external> {
                    Box::new(self.clone())
                }
            }

            impl Clone for Box<dyn $external> {
                fn clone(&self) -> Self {
                    (**self).copied()
                }
            }
        )?

        /// The family: its question and its members.
        pub const FAMILY: $crate::config::FamilyInfo = $crate::config::FamilyInfo {
            path: $path,
            question: concat!($($question),+).trim_ascii(),
            default: $default::NAME,
            members: &[$($crate::config::PolicyInfo {
                name: $member::NAME,
                summary: $member::SUMMARY,
                source: $member::SOURCE,
                memory: $member::MEMORY,
                fields: $member::Params::FIELDS,
                file: family!(@file $path, $member $(, $technique)?),
            }),+],
            outside: &[$($crate::config::PolicyInfo {
                name: $outside::NAME,
                summary: $outside::SUMMARY,
                source: $outside::SOURCE,
                memory: $outside::MEMORY,
                fields: $outside::Params::FIELDS,
                file: concat!("crates/ssd/src/", $path, "/", stringify!($outside), ".rs"),
            })?],
            renamed: &[$($(($old, $now::NAME)),+)?],
        };

        $(const _: () = assert!(
            $crate::config::member::same_text($member::NAME, stringify!($member)),
            "a policy's NAME is the stem of its file"
        );)+
    };
}

/// A policy that keeps nothing but its parameters: with `pub type Policy = Params;` these answer themselves.
pub trait Stateless: Clone {
    /// The policy with these parameters.
    fn new(params: &Self) -> Self {
        params.clone()
    }
}

impl<P: Clone + Table> Stateless for P {}

/// Why a policy cannot work on a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The keys that do not go together.
    pub keys: &'static [&'static str],
    /// What they say.
    pub found: String,
    /// What would go.
    pub allowed: String,
}

/// The error for a parameter that the chosen policy does not have.
#[doc(hidden)]
pub fn no_such_parameter(family: &FamilyInfo, policy: &str, key: &str) -> Problem {
    let fields = family.member(policy).map_or(&[][..], |member| member.fields);
    let others = family.members_with(key);
    if others.is_empty() {
        return Problem::no_such_key(key, fields, true);
    }
    Problem::NotOfThisPolicy {
        found: key.to_owned(),
        policy: policy.to_owned(),
        policies: others.into_iter().map(str::to_owned).collect(),
        allowed: std::iter::once("policy")
            .chain(fields.iter().map(|field| field.key))
            .map(str::to_owned)
            .collect(),
    }
}
