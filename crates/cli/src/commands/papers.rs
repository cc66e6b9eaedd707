//! Flags of commands that run papers.

use std::path::{Path, PathBuf};

use clap::Args;
use lab::reproduce::{Options, papers};

use crate::failure::Failure;

/// Where papers and their traces are, and how many runs there are at a time.
#[derive(Args, Debug)]
pub struct Papers {
    /// Folder of the papers
    #[arg(long = "papers", value_name = "DIR", default_value = "papers")]
    pub folder: PathBuf,

    /// Folder with more traces than data/; may be repeated
    #[arg(long, value_name = "DIR")]
    traces: Vec<PathBuf>,

    /// Runs at a time [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
}

impl Papers {
    /// The papers of these names, which there are; all of them for none.
    pub fn named(&self, names: &[String]) -> Result<Vec<String>, Failure> {
        let all = papers(&self.folder).map_err(|error| {
            Failure::usage(format!("{error}\n    run this in a checkout, or name the folder: --papers DIR"))
        })?;
        if all.is_empty() {
            let folder = self.folder.display();
            return Err(Failure::usage(format!("{folder}: no papers (folders with an experiment.toml)")));
        }
        let known: Vec<&str> = all.iter().map(String::as_str).collect();
        match names.iter().find(|name| !known.contains(&name.as_str())) {
            Some(wrong) => Err(Failure::no_such("paper", wrong, &known)),
            None if names.is_empty() => Ok(all),
            None => Ok(names.to_vec()),
        }
    }

    /// Runs at a time, if they were said.
    pub fn jobs(&self) -> Option<usize> {
        self.jobs.map(|jobs| jobs as usize)
    }

    /// How papers are run, with traces in `data/` beside them and in the folders said.
    pub fn options(&self, (quick, resume): (bool, bool), seed: u64, out: &Path) -> Options {
        let mut traces = vec![self.folder.parent().unwrap_or(Path::new("")).join("data")];
        traces.extend(self.traces.iter().cloned());
        Options { quick, seed, jobs: self.jobs().unwrap_or(0), resume, out: out.to_owned(), traces }
    }
}
