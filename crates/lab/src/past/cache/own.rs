//! What in a cache is the user's own: nothing else is read, written or removed.
//!
//! The folder of a cache may be reached by a link, which its user has set. It must belong to the user, and others must
//! not be able to exchange what is in it, so that what was looked at is still there a moment later. In it links are
//! not followed, and drives are regular files of the user's that nobody else may write to.

use crate::base::process::effective_user;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Others than the user may write to it.
const BY_OTHERS: u32 = 0o022;
/// In such a folder nobody may rename or remove what belongs to another.
const STICKY: u32 = 0o1000;
/// The user alone may use it.
const PRIVATE_FOLDER: u32 = 0o700;

/// Why the folder of a cache is not used. One that is not there, or cannot be looked at, has no reason.
pub(super) fn refusal(cache: &Path) -> Option<String> {
    let found = fs::metadata(cache).ok().filter(Metadata::is_dir)?;
    let by_others = found.mode() & BY_OTHERS != 0 && found.mode() & STICKY == 0;
    of_another(&found).or_else(|| by_others.then(|| "others may write to it (chmod go-w)".to_owned()))
}

fn of_another(found: &Metadata) -> Option<String> {
    (found.uid() != effective_user()).then(|| format!("it belongs to another user (number {})", found.uid()))
}

/// Refuses the folder of a drive that is none, or not the user's; there may be nothing.
pub(super) fn check_folder(folder: &Path) -> Result<(), String> {
    let Ok(found) = fs::symlink_metadata(folder) else { return Ok(()) };
    let kind = (!found.is_dir()).then(|| format!("it is {}, not a folder", kind(&found)));
    kind.or_else(|| of_another(&found)).map_or(Ok(()), Err)
}

/// What something is that is no file, or no folder.
fn kind(found: &Metadata) -> &'static str {
    let kind = found.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_file() => "a file",
        () => "a device",
    }
}

/// Opens a drive's file to read it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let refuse = |found: &Metadata| {
        let strange = (!found.is_file()).then(|| format!("it is {}, not a file", kind(found)));
        let by_others = || (found.mode() & BY_OTHERS != 0).then(|| "others may write to it".to_owned());
        let why = strange.or_else(|| of_another(found)).or_else(by_others);
        why.map_or(Ok(()), |why| Err(io::Error::other(why)))
    };
    // Looked at first, for the sake of devices, which may do something when they are opened; and then what was opened.
    refuse(&fs::symlink_metadata(path)?)?;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    refuse(&file.metadata()?)?;
    Ok(file)
}

/// Removes links, pipes and devices from a drive's folder: there are none but by mistake or malice, and they hold no
/// data. Says which there were.
pub(super) fn tidy(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut gone = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if !found.is_file() && !found.is_dir() && fs::remove_file(&path).is_ok() {
            gone.push((path, kind(&found)));
        }
    }
    gone
}

/// Folders that were made, for the user alone, and go again if they stay empty.
#[derive(Debug)]
pub(super) struct Made(Vec<PathBuf>);

impl Made {
    /// Makes a folder, and those above it.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let missing = |at: &&Path| !at.as_os_str().is_empty() && !at.exists();
        let made = folder.ancestors().take_while(missing).map(Path::to_owned).collect();
        DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder)?;
        Ok(Made(made))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in &self.0 {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
