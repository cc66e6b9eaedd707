//! Flags that say which drive it is, which all commands about a drive share.

use std::path::{Path, PathBuf};

use clap::Args;
use lab::Job;
use ssd::config::Layer;

use crate::failure::Failure;

/// Which drive.
#[derive(Args, Debug, Default)]
pub struct DriveArgs {
    /// Configuration file (TOML): a drive, and optionally the tables `[workload]` and `[run]`
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Shipped drive to start from, overriding the configuration's (see `wordline presets`)
    #[arg(long, value_name = "PRESET")]
    pub drive: Option<String>,

    /// Set one key, such as ftl.gc_victim.policy=fifo or run.depth=8; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl DriveArgs {
    /// The job they describe; `config` is the file if it was not named by `--config`, `flags` are settings from other
    /// flags.
    pub fn job(&self, config: Option<&Path>, flags: Vec<Layer>) -> Result<Job, Failure> {
        let path = match (config, &self.config) {
            (Some(first), Some(second)) => {
                let both = format!("{} and {}", first.display(), second.display());
                return Err(Failure::usage(format!("two configuration files, {both}; allowed: one")));
            }
            (first, second) => first.or(second.as_deref()),
        };
        Ok(Job::read(path, self.drive.as_deref(), &self.set)?.with_flags(flags))
    }
}
