//! Values that are wrong together: all their keys, what they amount to, and what is allowed, with the change that would
//! do; and how capacities are told.

use crate::config::value::show_f64;
use crate::config::{ConfigError, KeyAt, Problem};
use crate::sections::GIB;

/// Conflicts found so far.
pub(super) struct Conflicts(pub(super) Vec<ConfigError>);

impl Conflicts {
    pub(super) fn add(&mut self, keys: &[&str], found: String, allowed: &str) {
        let keys = keys.iter().map(|key| KeyAt { key: (*key).to_owned(), origin: None }).collect();
        let problem = Problem::Conflict { found, allowed: allowed.to_owned() };
        self.0.push(ConfigError { keys, origin: None, problem });
    }
}

/// Bytes in GiB, to a thousandth, rounded down.
pub(super) fn show_gib(bytes: u64) -> String {
    show_f64((bytes as f64 / GIB * 1000.0).floor() / 1000.0)
}

/// Bytes in GiB, to a thousandth, rounded up.
pub(super) fn show_gib_up(bytes: u64) -> String {
    show_f64((bytes as f64 / GIB * 1000.0).ceil() / 1000.0)
}
