//! Files that the user names to be read.

use super::error::JobError;
use std::path::{Path, PathBuf};
use workload::whole;

/// Most bytes of a saved drive that are read: of the largest, with 2^32 units, 16 bytes each [A].
const SNAPSHOT_BYTES_MAX: u64 = 64 << 30;

/// The text of a file that people write: a configuration, a sweep.
pub fn read_text(path: &Path, action: &str) -> Result<String, JobError> {
    whole::read_lines(path).and_then(whole::text).map_err(|error| JobError::file(path, action, &error))
}

/// The bytes of a saved drive.
pub fn read_snapshot(path: &Path) -> Result<Vec<u8>, JobError> {
    const ACTION: &str = "read the snapshot";
    whole::read(path, SNAPSHOT_BYTES_MAX).map_err(|error| JobError::file(path, ACTION, &error))
}

/// A path where it must be text, in TOML or JSON.
pub fn text<'p>(path: &'p Path, action: &str) -> Result<&'p str, JobError> {
    whole::path_as_text(path).map_err(|error| JobError::file(path, action, &error))
}

/// The same of where a path leads, whatever the working directory is then.
pub fn absolute_text(path: &Path, action: &str) -> Result<(), JobError> {
    let absolute = std::path::absolute(path).map_err(|error| JobError::file(path, action, &error))?;
    text(&absolute, action).map(drop)
}

/// Refuses what has no end, or waits for others to write: it is going to be read.
pub fn check(path: &Path, action: &str) -> Result<(), JobError> {
    whole::check(path).map_err(|error| JobError::file(path, action, &error))
}

/// Where the configuration of a snapshot lies.
pub fn beside(snapshot: &Path) -> PathBuf {
    let mut name = snapshot.as_os_str().to_owned();
    name.push(".toml");
    PathBuf::from(name)
}
