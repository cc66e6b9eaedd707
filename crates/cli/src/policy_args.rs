//! Flags that bring policies of the user's own.

use clap::Args;
use lab::policies::{Allowed, flag};
use ssd::config::Layer;

use crate::failure::Failure;

/// Policies of the user's own.
#[derive(Args, Debug, Default)]
pub struct PolicyArgs {
    /// Let a shared library decide: gc_victim=./mine.so, or likewise wear_leveling or stream (docs/own-policy.md);
    /// may be repeated
    #[arg(long = "policy", value_name = "FAMILY=FILE")]
    policy: Vec<String>,

    #[command(flatten)]
    libraries: LibraryArgs,
}

/// Whether a file may name libraries.
#[derive(Args, Debug, Default)]
pub struct LibraryArgs {
    /// Load the libraries that the configuration names under [policy]: they are code, and can do anything
    #[arg(long)]
    allow_libraries: bool,
}

impl LibraryArgs {
    /// Which libraries may be loaded.
    pub fn allowed(&self) -> Allowed {
        if self.allow_libraries { Allowed::All } else { Allowed::OfArguments }
    }
}

impl PolicyArgs {
    /// The settings that they stand for.
    pub fn layers(&self) -> Result<Vec<Layer>, Failure> {
        let layers: Result<Vec<_>, String> = self.policy.iter().map(|argument| flag(argument)).collect();
        Ok(layers.map_err(Failure::usage)?.concat())
    }

    /// Which libraries may be loaded.
    pub fn allowed(&self) -> Allowed {
        self.libraries.allowed()
    }
}
