//! Policies from outside by a C interface: the functions of a shared library, or a C address.
//!
//! The core takes policies as trait objects ([`ssd::external`]); here are those that call C. The interface is
//! `include/wordline_policy.h`; [`layout`] is the same in Rust, and its version and the sizes of its records are
//! compared with a library's before anything of it is called.

#[allow(unsafe_code, reason = "functions of C are called")]
mod call;
#[allow(unsafe_code, reason = "types that a library shares are declared so")]
pub mod layout;
#[allow(unsafe_code, reason = "libraries are loaded, and their symbols read")]
mod library;

pub use call::{AddressError, lane_from_address, record, stream_from_address};
pub use library::{Library, LibraryError, hash};

/// The header `wordline_policy.h`.
pub const HEADER: &str = include_str!("../wordline_policy.h");
/// The Rust side of it, for libraries written in Rust.
pub const LAYOUT: &str = include_str!("layout.rs");

/// A family whose policies may come from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// `ftl.gc_victim`.
    GcVictim,
    /// `ftl.wear_leveling`.
    WearLeveling,
    /// `ftl.stream`.
    Stream,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 3] = [Family::GcVictim, Family::WearLeveling, Family::Stream];

    /// Name on the command line and in `[policy]`.
    pub const fn name(self) -> &'static str {
        match self {
            Family::GcVictim => "gc_victim",
            Family::WearLeveling => "wear_leveling",
            Family::Stream => "stream",
        }
    }

    /// The family of that name.
    pub fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The symbol of a library's policy.
    pub fn symbol(self) -> String {
        format!("wordline_{}", self.name())
    }
}
