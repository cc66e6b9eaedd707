//! Files that are there as a whole or not at all, and folders that one run writes to at a time.
//!
//! A file is written beside its place, under a name nobody else has, and renamed when it is whole: a full disk, a
//! signal or a crash leaves what was there before.

use crate::error::ReportError;
use ssd::{Drive, DriveConfig};
use std::fs::{File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use tempfile::NamedTempFile;

/// Begin and end of the names of files that are not whole yet.
const PART: (&str, &str) = (".wordline-", ".part");
/// Name of the file by which a folder is locked.
const LOCK: &str = ".wordline.lock";
/// Links followed one after the other before they count as a circle, as Linux does.
const LINKS: usize = 40;
/// What a new file is allowed to whom, before the user's mask.
const MODE: u32 = 0o666;

/// Which file a path means: two paths with the same identity are one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// One that exists: its device and number, whatever it is called.
    Existing(u64, u64),
    /// One that does not exist yet: its name in a folder without links.
    Named(PathBuf),
}

impl Identity {
    /// Of a path; links are followed, to files that do not exist yet too. `None` for what can be shared: terminals,
    /// `/dev/null` and other devices, pipes.
    pub fn of(path: &Path) -> Option<Self> {
        match std::fs::metadata(path) {
            Ok(found) => Self::of_metadata(&found),
            Err(_) => Some(Identity::Named(resolve(path))),
        }
    }

    /// Of a file that is open; `None` for what can be shared.
    pub fn of_open(file: &File) -> Option<Self> {
        Self::of_metadata(&file.metadata().ok()?)
    }

    fn of_metadata(found: &Metadata) -> Option<Self> {
        let is_own = found.is_file() || found.is_dir();
        is_own.then(|| Identity::Existing(found.dev(), found.ino()))
    }
}

/// Where a path leads: links followed and folders written out as far as they exist.
pub fn resolve(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..LINKS {
        if let Ok(whole) = path.canonicalize() {
            return whole;
        }
        // A link to nothing: what it names would be created.
        let Ok(target) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(target);
    }
    let Some(parent) = path.parent() else { return path };
    let folder = resolve(parent);
    match path.components().next_back() {
        Some(Component::ParentDir) => folder.parent().unwrap_or(&folder).to_owned(),
        Some(Component::Normal(name)) => folder.join(name),
        _ => folder,
    }
}

/// A file on its way to its place.
#[derive(Debug)]
pub struct Replacement {
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
        let place = resolve(path);
        let before = std::fs::metadata(&place).ok();
        match &before {
            Some(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Some(found) if !found.is_file() => {
                let file = Target::Direct(OpenOptions::new().write(true).open(&place)?);
                return Ok(Replacement { place, file });
            }
            // A file that may not be written is not replaced either.
            Some(_) => drop(OpenOptions::new().write(true).open(&place)?),
            None => {}
        }
        let folder = place.parent().ok_or(ErrorKind::IsADirectory)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(PART.0).suffix(PART.1).permissions(Permissions::from_mode(MODE));
        let file = builder.tempfile_in(folder).map_err(bare)?;
        if let Some(found) = before {
            file.as_file().set_permissions(found.permissions())?;
        }
        Ok(Replacement { place, file: Target::Beside(file) })
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

    /// Everything is written: makes sure that it is on the disk, and puts it in its place.
    pub fn commit(self) -> io::Result<()> {
        match self.file {
            Target::Direct(mut file) => file.flush(),
            Target::Beside(file) => {
                file.as_file().sync_all()?;
                file.persist(&self.place).map(drop).map_err(|error| bare(error.error))
            }
        }
    }
}

/// The system's own error, without the name of a file that no user has heard of.
fn bare(error: io::Error) -> io::Error {
    let code = error.raw_os_error().or_else(|| {
        let inner = error.get_ref()?;
        std::error::Error::source(inner)?.downcast_ref::<io::Error>()?.raw_os_error()
    });
    match code {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
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

/// Begins a file that holds a drive of that configuration. It is read back before it can take its place: a snapshot
/// that no run could go on from is an error. What goes to a device or a pipe is read before it goes there.
pub fn stage_drive(path: &Path, drive: &Drive, config: &DriveConfig) -> io::Result<Replacement> {
    let mut file = Replacement::create(path)?;
    let mut bytes = Vec::new();
    drive.save(&mut bytes)?;
    if !file.is_direct() {
        file.write_all(&bytes)?;
        bytes = file.read_back()?.unwrap_or_default();
    }
    Drive::restore(config, &bytes)
        .map_err(|error| io::Error::other(format!("the file cannot be read back: {error}")))?;
    if file.is_direct() {
        file.write_all(&bytes)?;
    }
    Ok(file)
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
        match staged(&folder.join(name), content) {
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

/// A folder that nobody else writes to as long as this lives. A folder made for it goes with it if it is still empty.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
    path: PathBuf,
    /// Folders that were not there before, the innermost first.
    made: Vec<PathBuf>,
}

impl FolderLock {
    /// Makes the folder if there is none, and locks it; an error if another run has locked it.
    pub fn take(folder: &Path) -> Result<Self, ReportError> {
        let made = folder.ancestors().take_while(|at| !at.as_os_str().is_empty() && !at.exists());
        let made: Vec<PathBuf> = made.map(Path::to_owned).collect();
        std::fs::create_dir_all(folder).map_err(|error| ReportError::new(folder, "create", error))?;
        let path = folder.join(LOCK);
        let fail = |error: io::Error| ReportError::new(folder, "create", format!("a file in it: {error}"));
        loop {
            let mut options = OpenOptions::new();
            let file = options.write(true).create(true).truncate(false).open(&path).map_err(fail)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(ReportError::new(folder, "lock", "another run is writing to this folder"));
                }
                // A file system without locks: then there are none.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // Whoever had it before may have removed it in between: then it locks nothing.
            let held = Identity::of_open(&file);
            if held.is_some() && held == Identity::of(&path) {
                return Ok(FolderLock { file, path, made });
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Removed before it is given back, so that nobody locks what is about to go.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
        for folder in &self.made {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder for a test")
    }

    #[test]
    fn a_file_that_fails_leaves_the_old_one() {
        let folder = folder();
        let path = folder.path().join("file");
        replace(&path, b"old").unwrap();
        let mut next = Replacement::create(&path).unwrap();
        next.write_all(b"new, but not wh").unwrap();
        drop(next);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        replace(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    /// A drive whose snapshot nobody can go on from is not saved, and what was there stays.
    #[test]
    fn a_drive_that_cannot_be_read_back_is_not_saved() {
        let folder = folder();
        let path = folder.path().join("drive");
        let mut config = DriveConfig::default();
        (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
        let drive = Drive::new(&config).unwrap();
        stage_drive(&path, &drive, &config).unwrap().commit().unwrap();
        let saved = std::fs::read(&path).unwrap();
        assert!(Drive::restore(&config, &saved).is_ok());
        let mut other = config.clone();
        other.drive.seed += 1;
        let error = stage_drive(&path, &drive, &other).unwrap_err().to_string();
        assert!(error.contains("cannot be read back") && error.contains("configuration"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), saved);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn links_are_followed_and_rights_kept() {
        let folder = folder();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert_eq!(Identity::of(&link), Identity::of(&file));
        assert!(matches!(Identity::of(&file), Some(Identity::Named(_))));
        replace(&link, b"first").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        replace(&link, b"second").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"second");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(Identity::of(&link), Identity::of(&file));
        assert!(matches!(Identity::of(&file), Some(Identity::Existing(..))));
    }

    #[test]
    fn one_file_has_one_identity_whatever_it_is_called() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        std::os::unix::fs::symlink("sub", at("other")).unwrap();
        assert_eq!(Identity::of(&at("sub/new")), Identity::of(&at("other/new")));
        assert_eq!(Identity::of(&at("sub/new")), Identity::of(&at("sub/../sub/./new")));
        assert_ne!(Identity::of(&at("sub/new")), Identity::of(&at("new")));
        assert_eq!(Identity::of(&at("no/such/../new")), Identity::of(&at("no/new")));
        std::fs::write(at("file"), "").unwrap();
        std::fs::hard_link(at("file"), at("hard")).unwrap();
        assert_eq!(Identity::of(&at("file")), Identity::of(&at("hard")));
        assert_eq!(Identity::of(Path::new("/dev/null")), None);
    }

    #[test]
    fn a_folder_is_locked_once_and_goes_if_it_stays_empty() {
        let folder = folder();
        let inner = folder.path().join("a/b");
        let lock = FolderLock::take(&inner).unwrap();
        let second = FolderLock::take(&inner).unwrap_err();
        assert!(second.to_string().contains("another run"), "{second}");
        drop(lock);
        assert!(!folder.path().join("a").exists());
        let lock = FolderLock::take(&inner).unwrap();
        replace(&inner.join("file"), b"kept").unwrap();
        drop(lock);
        assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 1);
    }

    #[test]
    fn a_set_of_files_is_the_old_or_the_new() {
        let folder = folder();
        let set = |text: &str| vec![("a".to_owned(), text.into()), ("b".to_owned(), text.into())];
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        replace_all(folder.path(), &set("old"), &[]).unwrap();
        std::fs::write(folder.path().join("gone"), "").unwrap();
        // A folder in the place of a file cannot be replaced.
        let mut wrong = set("new");
        wrong.push(("c".to_owned(), Vec::new()));
        std::fs::create_dir(folder.path().join("c")).unwrap();
        let error = replace_all(folder.path(), &wrong, &["gone".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("nothing was replaced"), "{error}");
        assert_eq!((read("a"), read("b"), read("gone")), ("old".into(), "old".into(), String::new()));
        replace_all(folder.path(), &set("new"), &["gone".to_owned(), "a".to_owned()]).unwrap();
        assert_eq!((read("a"), read("b")), ("new".into(), "new".into()));
        assert!(!folder.path().join("gone").exists());
    }

    #[test]
    fn where_nothing_was_what_can_be_written_is_kept() {
        let folder = folder();
        let place = folder.path().join("new");
        let set = vec![("a".to_owned(), b"kept".to_vec()), ("no/such/folder".to_owned(), Vec::new())];
        let error = replace_all(&place, &set, &[]).unwrap_err().to_string();
        assert!(error.contains("missing there: no/such/folder"), "{error}");
        assert_eq!(std::fs::read(place.join("a")).unwrap(), b"kept");
    }
}
