//! Flags that bring policies of the user's own.

use std::path::{Path, PathBuf};

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

    /// Run in a process of its own: if a library crashes or ends that, the error says so
    #[arg(long)]
    isolate_policies: bool,

    /// This is that process, which leaves its exit code in a file
    #[arg(long, hide = true, value_name = "FILE")]
    isolated: Option<PathBuf>,
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

    /// Whether another process is to do the work.
    pub fn isolate(&self) -> bool {
        self.isolate_policies && self.isolated.is_none()
    }

    /// Where this process leaves its exit code, if it is such another.
    pub fn note(&self) -> Option<&Path> {
        self.isolated.as_deref()
    }
}
