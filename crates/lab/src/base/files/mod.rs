//! Files that are there as a whole or not at all, and folders that one run writes to at a time.
//!
//! A file is written beside its place, under a name nobody else has, and renamed when it is whole: a full disk, a
//! signal or a crash leaves what was there before. It is locked until then, so that the next command sees what is left
//! of a process that has died, and removes it.

mod claimed;
mod identity;
mod lock;
mod owned;
mod pipe;
mod replacement;
mod set;

pub use identity::{Identity, resolve};
pub use lock::{FileLock, FolderLock};
pub(crate) use lock::{is_hidden_work, remove_left_behind};
pub use owned::{note, owned, write_set};
pub use pipe::Pipe;
pub use replacement::{Replacement, replace, replace_plain, replaceable};
pub use set::replace_all;

use ssd::{Drive, DriveConfig};
use std::io::{self, Write};
use std::path::Path;

/// Begins a file that holds a drive of that configuration. It is read back before it can take its place: a snapshot
/// that no run could go on from is an error. What goes to a device or a pipe is read before it goes there.
pub fn stage_drive(path: &Path, drive: &Drive, config: &DriveConfig) -> io::Result<Replacement> {
    let mut file = Replacement::create(path)?;
    let mut bytes = Vec::new();
    if file.is_direct() {
        drive.save(&mut bytes)?;
    } else {
        drive.save(&mut file)?;
        bytes = file.read_back()?.unwrap_or_default();
    }
    Drive::restore(config, &bytes)
        .map_err(|error| io::Error::other(format!("the file cannot be read back: {error}")))?;
    if file.is_direct() {
        file.write_all(&bytes)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
