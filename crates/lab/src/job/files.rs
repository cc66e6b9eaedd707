//! Files that the user names to be read.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::error::JobError;

/// The bytes of a file.
pub fn read(path: &Path, action: &str) -> Result<Vec<u8>, JobError> {
    check(path, action)?;
    std::fs::read(path).map_err(|error| JobError::file(path, action, &error))
}

/// Refuses a named pipe: opened while nobody writes to it, it would wait for ever. Those of a shell (`<(...)`) are open
/// already and have no name but a number.
pub fn check(path: &Path, action: &str) -> Result<(), JobError> {
    let is_open = ["/dev/", "/proc/"].iter().any(|folder| path.starts_with(folder));
    let is_pipe = std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    if is_pipe && !is_open {
        return Err(JobError::file(path, action, &"it is a named pipe, allowed: a file"));
    }
    Ok(())
}

/// Where the configuration of a snapshot lies.
pub fn beside(snapshot: &Path) -> PathBuf {
    let mut name = snapshot.as_os_str().to_owned();
    name.push(".toml");
    PathBuf::from(name)
}
