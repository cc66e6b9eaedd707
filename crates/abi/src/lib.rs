//! Policies from outside by a C interface: the functions of a shared library, or a C address.
//!
//! The core takes policies as trait objects ([`ssd::external`]); here are those that call C. The interface is
//! `include/wordline_policy.h`; [`layout`] is the same in Rust, and its version and the sizes of its records are
//! compared with a library's before anything of it is called.

#[allow(unsafe_code, reason = "functions of C are called")]
mod call;
mod family;
#[allow(unsafe_code, reason = "types that a library shares are declared so")]
pub mod layout;
#[allow(unsafe_code, reason = "libraries are loaded, and their symbols read")]
mod library;

pub use call::{AddressError, lane_from_address, record, stream_from_address};
pub use family::Family;
pub use library::{Library, LibraryError, hash};

/// The header `wordline_policy.h`.
pub const HEADER: &str = include_str!("../wordline_policy.h");
/// The Rust side of it, for libraries written in Rust.
pub const LAYOUT: &str = include_str!("layout.rs");
