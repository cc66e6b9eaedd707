//! Files that the user names to be read.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::failure::Failure;

/// The bytes of a file.
pub fn read(path: &Path, action: &str) -> Result<Vec<u8>, Failure> {
    check(path, action)?;
    std::fs::read(path).map_err(|error| Failure::file(path, action, &error))
}

/// Refuses a named pipe: opened while nobody writes to it, it would wait for ever. Those of a shell (`<(...)`) are open
/// already and have no name but a number.
pub fn check(path: &Path, action: &str) -> Result<(), Failure> {
    let is_open = ["/dev/", "/proc/"].iter().any(|folder| path.starts_with(folder));
    let is_pipe = std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    if is_pipe && !is_open {
        return Err(Failure::file(path, action, &"it is a named pipe, allowed: a file"));
    }
    Ok(())
}
