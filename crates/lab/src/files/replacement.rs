//! Files that take their place when they are whole.

use super::lock::{PART, lock_part, part_prefix};
use super::{claimed, resolve};
use crate::error::ReportError;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What a new file is allowed to whom, before the user's mask.
const MODE: u32 = 0o666;

/// A file on its way to its place.
#[derive(Debug)]
pub struct Replacement {
    /// As it was named.
    path: PathBuf,
    /// Where that leads to.
    place: PathBuf,
    file: Target,
}

#[derive(Debug)]
enum Target {
    /// Beside its place; removed unless it comes there.
    Beside(NamedTempFile),
    /// A device or a pipe: there is nothing to keep whole.
    Direct(File),
}

impl Replacement {
    /// Begins a file that will stand at `path`, or where a link there leads to.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Not where a link leads to that was put there after the place was claimed.
        let place = claimed::place_of(path).unwrap_or_else(|| resolve(path));
        let path = path.to_owned();
        let before = std::fs::metadata(&place).ok();
        match &before {
            Some(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Some(found) if !found.is_file() => {
                let file = Target::Direct(OpenOptions::new().write(true).open(&place)?);
                return Ok(Replacement { path, place, file });
            }
            // A file that may not be written is not replaced either.
            Some(_) => drop(OpenOptions::new().write(true).open(&place)?),
            None => {}
        }
        let folder = place.parent().ok_or(ErrorKind::IsADirectory)?;
        let file = part(folder)?;
        if let Some(found) = before {
            file.as_file().set_permissions(found.permissions())?;
        }
        Ok(Replacement { path, place, file: Target::Beside(file) })
    }

    /// Whether it goes to a device or a pipe.
    pub fn is_direct(&self) -> bool {
        matches!(self.file, Target::Direct(_))
    }

    /// What was written until now, read back; `None` of a device or a pipe.
    pub fn read_back(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Target::Beside(file) = &mut self.file else { return Ok(None) };
        let mut bytes = Vec::new();
        file.as_file_mut().seek(SeekFrom::Start(0))?;
        file.as_file_mut().read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Makes sure that what was written is on the disk, so that of several files all can take their places at once.
    pub fn sync(&self) -> io::Result<()> {
        match &self.file {
            Target::Direct(_) => Ok(()),
            Target::Beside(file) => file.as_file().sync_all(),
        }
    }

    /// Everything is written: makes sure that it is on the disk, and puts it in its place. What has come there since
    /// the place was claimed is somebody else's: then it is kept beside it, which is an error.
    pub fn commit(self) -> io::Result<()> {
        match self.file {
            Target::Direct(mut file) => file.flush(),
            Target::Beside(file) => {
                file.as_file().sync_all()?;
                if !claimed::is_as_claimed(&self.path) {
                    return Err(kept_beside(file, &self.place));
                }
                file.persist(&self.place).map(drop).map_err(|error| error.error)?;
                claimed::renew(&self.path);
                Ok(())
            }
        }
    }
}

/// So many names are tried for what cannot take its place.
const NAMES_BESIDE: u32 = 100;

/// Keeps a file under a name that nothing has; the error that tells it.
fn kept_beside(mut file: NamedTempFile, place: &Path) -> io::Error {
    let since = "something else has been put there since the command began";
    for number in 1..NAMES_BESIDE {
        let mut name = place.as_os_str().to_owned();
        name.push(format!(".{number}"));
        match file.persist_noclobber(&name) {
            Ok(_) => {
                return io::Error::other(format!("{since}; what was to be there is in {}", name.display()));
            }
            Err(error) => file = error.file,
        }
    }
    io::Error::other(since)
}

/// A new file that is not whole yet, locked.
fn part(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        // The system's own error: the library's names a file that no user has heard of.
        let mut failed = None;
        let prefix = part_prefix();
        let mut builder = tempfile::Builder::new();
        let made = builder.prefix(&prefix).suffix(PART).make_in(folder, |path| {
            let mut options = OpenOptions::new();
            let opened = options.read(true).write(true).create_new(true).mode(MODE).open(path);
            opened.inspect_err(|error| failed = error.raw_os_error())
        });
        let system = |error: io::Error| failed.map_or(error, io::Error::from_raw_os_error);
        let file = made.map_err(system)?;
        if lock_part(file.as_file(), file.path()) {
            return Ok(file);
        }
        // Somebody has taken it for one left behind: what is removed with it is not ours any more.
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Target::Beside(file) => file.as_file_mut().write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file of a folder that is ours, as a whole or not at all: never through a link, or to a pipe.
pub fn replace_plain(path: &Path, content: &[u8]) -> Result<(), ReportError> {
    let written = plain(path).and_then(|()| staged(path, content)).and_then(Replacement::commit);
    written.map_err(|error| ReportError::new(path, "write", error))
}

/// Refuses what is neither a file nor nothing.
fn plain(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() && !found.is_dir() => Err(io::Error::other("it is not a regular file")),
        _ => Ok(()),
    }
}

/// Writes a file as a whole or not at all.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), ReportError> {
    let written = staged(path, content).and_then(Replacement::commit);
    written.map_err(|error| ReportError::new(path, "write", error))
}

fn staged(path: &Path, content: &[u8]) -> io::Result<Replacement> {
    let mut file = Replacement::create(path)?;
    file.write_all(content)?;
    Ok(file)
}

/// Writes the files of a folder, the most important first, and removes those in `stale` that are not among them. All of
/// them are written beside their places before the first takes its own. If one cannot be written, files that are there
/// stay as they are, all of them; where there were none, those that could be written are kept.
pub fn replace_all(
    folder: &Path,
    files: &[(String, Vec<u8>)],
    stale: &[String],
) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(folder).map_err(|error| ReportError::new(folder, "create", error))?;
    let mut ready = Vec::new();
    let mut missing: Vec<(&str, io::Error)> = Vec::new();
    for (name, content) in files {
        let path = folder.join(name);
        match plain(&path).and_then(|()| staged(&path, content)) {
            Ok(file) => ready.push((name, file)),
            Err(error) => missing.push((name, error)),
        }
    }
    let was_there = files.iter().any(|(name, _)| folder.join(name).exists());
    if let Some((_, error)) = missing.first()
        && was_there
    {
        let message = format!("{error}; nothing was replaced there");
        return Err(ReportError::new(folder, "write", message));
    }
    let mut written = Vec::new();
    // The most important comes last: when it is there, all are.
    for (name, file) in ready.into_iter().rev() {
        match file.commit() {
            Ok(()) => written.push(folder.join(name)),
            Err(error) => missing.push((name, error)),
        }
    }
    written.reverse();
    if let Some((_, error)) = missing.first() {
        let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
        let message = format!("{error}; missing there: {}", names.join(", "));
        return Err(ReportError::new(folder, "write", message));
    }
    for name in stale.iter().filter(|name| files.iter().all(|(file, _)| file != *name)) {
        // What is not there need not go; what cannot go is of another run, as its date shows.
        let _ = std::fs::remove_file(folder.join(name));
    }
    Ok(written)
}
