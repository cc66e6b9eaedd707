//! What a command reads and writes: nothing of the user's is overwritten by it, and no output by another.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use workload::{STANDARD_INPUT, Spec};

use crate::base::files::{Identity, resolve};
use crate::plan::job::JobError;

/// One file or folder.
struct Place {
    /// What it is, as a message says it.
    what: String,
    path: PathBuf,
    identity: Option<Identity>,
}

/// All files of a command.
#[derive(Default)]
pub struct Places {
    inputs: Vec<Place>,
    outputs: Vec<Place>,
}

impl Places {
    /// It reads this one.
    pub fn reads(&mut self, what: impl Into<String>, path: &Path) {
        self.inputs.push(Place::new(what.into(), path));
    }

    /// It reads standard input, which may be a file.
    pub fn reads_standard_input(&mut self, what: impl Into<String>) {
        let handle = std::io::stdin().as_fd().try_clone_to_owned();
        let identity = handle.ok().and_then(|handle| Identity::of_open(&File::from(handle)));
        self.inputs.push(Place { what: what.into(), path: PathBuf::new(), identity });
    }

    /// It reads the files of a workload.
    pub fn reads_workload(&mut self, spec: &Spec) {
        let what = match spec {
            Spec::Trace(_) => "the trace",
            Spec::Fio(_) => "the job file",
            _ => "a file of the workload",
        };
        for path in spec.reads() {
            if path == STANDARD_INPUT {
                self.reads_standard_input("the trace on standard input");
            } else {
                self.reads(what, Path::new(&path));
            }
        }
    }

    /// It writes this one.
    pub fn writes(&mut self, what: impl Into<String>, path: &Path) {
        self.outputs.push(Place::new(what.into(), path));
    }

    /// It prints to that, its standard output.
    pub fn prints(&mut self, output: impl AsFd) {
        let what = "standard output".to_owned();
        let handle = output.as_fd().try_clone_to_owned();
        let identity = handle.ok().and_then(|handle| Identity::of_open(&File::from(handle)));
        self.outputs.push(Place { what, path: PathBuf::new(), identity });
    }

    /// Refuses outputs that are inputs or other outputs; files are told apart by device and number, those that do not
    /// exist yet by their folder and name.
    pub fn check(&self) -> Result<(), JobError> {
        for (number, output) in self.outputs.iter().enumerate() {
            if let Some(input) = self.inputs.iter().find(|input| input.is(output)) {
                return Err(JobError::new(format!(
                    "{}: it would overwrite {}\n    found:   one file for both\n    allowed: another \
                     output file",
                    output.text(),
                    input.text()
                )));
            }
            if let Some(other) = self.outputs[..number].iter().find(|other| other.is(output)) {
                return Err(JobError::new(format!(
                    "{}: it would overwrite {}\n    found:   one file for both\n    allowed: a file for each",
                    output.text(),
                    other.text()
                )));
            }
        }
        Ok(())
    }

    /// Refuses inputs that lie in folders which are written anew as a whole.
    pub fn check_folders(&self) -> Result<(), JobError> {
        for output in &self.outputs {
            let folder = resolve(&output.path);
            if let Some(input) = self.inputs.iter().find(|input| resolve(&input.path).starts_with(&folder)) {
                return Err(JobError::new(format!(
                    "{}: it is rewritten, and {} is in it\n    allowed: another output folder",
                    output.text(),
                    input.text()
                )));
            }
        }
        Ok(())
    }
}

impl Place {
    fn new(what: String, path: &Path) -> Self {
        Place { what, path: path.to_owned(), identity: Identity::of(path) }
    }

    fn is(&self, other: &Place) -> bool {
        self.identity.is_some() && self.identity == other.identity
    }

    fn text(&self) -> String {
        if self.path.as_os_str().is_empty() {
            return self.what.clone();
        }
        format!("{} {}", self.what, self.path.display())
    }
}
