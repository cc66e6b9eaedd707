//! Files that take their place when they are whole.

use super::lock::{PART, lock_part, part_prefix};
use super::pipe::Pipe;
use super::{claimed, resolve};
use crate::base::error::ReportError;
use crate::base::process::effective_user;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What a new file is allowed to whom, before the user's mask.
const MODE: u32 = 0o666;
/// Its user alone may use it.
const PRIVATE: u32 = 0o600;
/// In such a folder nobody may replace what belongs to another.
const STICKY: u32 = 0o1000;

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
    Direct(Pipe<File>),
}

impl Replacement {
    /// Begins a file that will stand at `path`, or where a link there leads to.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Not where a link leads to that was put there after the place was claimed.
        let place = match claimed::place_of(path) {
            Some(place) => place,
            None => led_to(path)?,
        };
        let path = path.to_owned();
        let before = std::fs::metadata(&place).ok();
        match &before {
            Some(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Some(found) if !found.is_file() => {
                let file = Target::Direct(Pipe::open(&place, found.file_type().is_fifo())?);
                return Ok(Replacement { path, place, file });
            }
            Some(found) => check_replaceable(&place, found)?,
            None => {}
        }
        let file = part(folder_of(&place)?, MODE)?;
        if let Some(found) = before {
            file.as_file().set_permissions(found.permissions())?;
        }
        Ok(Replacement { path, place, file: Target::Beside(file) })
    }

    /// Begins a file for its user alone that will stand at `place` itself: a link there goes, and not what it leads to.
    pub(crate) fn private(place: &Path) -> io::Result<Self> {
        let file = Target::Beside(part(folder_of(place)?, PRIVATE)?);
        Ok(Replacement { path: place.to_owned(), place: place.to_owned(), file })
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
        self.put().map_err(|refused| match refused {
            Refused { error, file: Some(file), is_of_others: true } => match file.keep_beside() {
                Some(name) => {
                    io::Error::other(format!("{error}; what was to be there is in {}", name.display()))
                }
                None => error,
            },
            Refused { error, .. } => error,
        })
    }

    /// As [`commit`](Self::commit), but gives the file back that cannot be put in its place.
    pub(super) fn put(self) -> Result<(), Refused> {
        let Replacement { path, place, file } = self;
        let mut file = match file {
            Target::Direct(mut file) => return file.flush().map_err(Refused::without_file),
            Target::Beside(file) => file,
        };
        let mut is_of_others = false;
        let put = file
            .as_file()
            .sync_all()
            .and_then(|()| claimed::check(&path).inspect_err(|_| is_of_others = true));
        let error = match put {
            Err(error) => error,
            Ok(()) => match file.persist(&place) {
                Ok(_) => {
                    claimed::renew(&path);
                    return Ok(());
                }
                Err(failed) => {
                    file = failed.file;
                    failed.error
                }
            },
        };
        let file = Some(Replacement { path, place, file: Target::Beside(file) });
        Err(Refused { error, file, is_of_others })
    }

    /// Keeps it beside its place under a name that nothing has, and says which; `None` where that cannot be.
    pub(super) fn keep_beside(self) -> Option<PathBuf> {
        let Target::Beside(mut file) = self.file else { return None };
        for name in names_beside(&self.place) {
            match file.persist_noclobber(&name) {
                Ok(_) => return Some(name),
                Err(failed) => file = failed.file,
            }
        }
        None
    }

    /// What is in its place, kept under a name of its own as long as what is returned lives; `None` where nothing is,
    /// or where the file system has no second names.
    pub(super) fn keep_earlier(&self) -> Option<NamedTempFile> {
        let folder = folder_of(&self.place).ok()?;
        let made = tempfile::Builder::new().prefix(&part_prefix()).suffix(PART).make_in(folder, |path| {
            std::fs::hard_link(&self.place, path)?;
            File::open(path)
        });
        made.ok().filter(|file| lock_part(file.as_file(), file.path()))
    }

    /// Where it will stand.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }
}

/// Why a file has not come to its place.
#[derive(Debug)]
pub(super) struct Refused {
    pub error: io::Error,
    /// The file, unless it went to a device or a pipe.
    pub file: Option<Replacement>,
    /// The place is another's.
    is_of_others: bool,
}

impl Refused {
    fn without_file(error: io::Error) -> Self {
        Refused { error, file: None, is_of_others: false }
    }
}

/// The folder of a file.
fn folder_of(place: &Path) -> io::Result<&Path> {
    place.parent().ok_or_else(|| ErrorKind::IsADirectory.into())
}

/// Where a path leads to; an error for links that lead in a circle.
fn led_to(path: &Path) -> io::Result<PathBuf> {
    let place = resolve(path);
    match std::fs::metadata(&place) {
        Err(error) if place.is_symlink() => Err(error),
        _ => Ok(place),
    }
}

/// Whether a regular file could be replaced by its user.
pub fn replaceable(path: &Path) -> io::Result<()> {
    match path.metadata() {
        Ok(found) if found.is_file() => check_replaceable(path, &found),
        _ => Ok(()),
    }
}

/// Refuses a file that may not be replaced: one that may not be written, or is another user's in a folder where only
/// owners replace theirs.
fn check_replaceable(place: &Path, found: &Metadata) -> io::Result<()> {
    drop(OpenOptions::new().write(true).open(place)?);
    let folder = std::fs::metadata(folder_of(place)?)?;
    let (user, is_sticky) = (effective_user(), folder.mode() & STICKY != 0);
    if is_sticky && user != 0 && user != found.uid() && user != folder.uid() {
        let owner = found.uid();
        return Err(io::Error::other(format!(
            "it belongs to another user (number {owner}), in a folder where only owners replace files"
        )));
    }
    Ok(())
}

/// So many names are tried for what cannot take its place.
const NAMES_BESIDE: u32 = 100;

/// Names for what cannot take its place.
pub(super) fn names_beside(place: &Path) -> impl Iterator<Item = PathBuf> {
    (1..NAMES_BESIDE).map(|number| {
        let mut name = place.as_os_str().to_owned();
        name.push(format!(".{number}"));
        name.into()
    })
}

/// A new file that is not whole yet, locked.
fn part(folder: &Path, mode: u32) -> io::Result<NamedTempFile> {
    loop {
        // The system's own error: the library's names a file that no user has heard of.
        let mut failed = None;
        let prefix = part_prefix();
        let mut builder = tempfile::Builder::new();
        let made = builder.prefix(&prefix).suffix(PART).make_in(folder, |path| {
            let mut options = OpenOptions::new();
            let opened = options.read(true).write(true).create_new(true).mode(mode).open(path);
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
pub(super) fn plain(path: &Path) -> io::Result<()> {
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

/// A file of that content that has not taken its place.
pub(super) fn staged(path: &Path, content: &[u8]) -> io::Result<Replacement> {
    let mut file = Replacement::create(path)?;
    file.write_all(content)?;
    Ok(file)
}
