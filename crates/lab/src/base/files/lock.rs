//! Locks that go with the process that holds them, and what processes that have died left behind.

use super::Identity;
use super::claimed::Claims;
use crate::base::error::ReportError;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Name of the file by which a folder is locked.
const FOLDER: &str = ".wordline.lock";
/// Begin and end of the name of the file by which a single file is locked.
const FILE: (&str, &str) = (".wordline-", ".lock");
/// Ending of files that are not whole yet.
pub(super) const PART: &str = ".part";
/// The longest name that is repeated in that of a lock: names have 255 bytes at most.
const NAME_AT_MOST: usize = 200;
/// How often a folder is made again that somebody removes.
const TRIES: u32 = 20;
/// How every lock that is or was held begins.
const SIGNED: &str = "process ";
/// What is read of who holds a lock.
const OWNER_AT_MOST: u64 = 200;

/// How a file of locks is opened: it is never a link, and a pipe does not block.
const FLAGS: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK;

/// A locked file. Its name goes with it.
#[derive(Debug)]
struct Lock {
    file: File,
    path: PathBuf,
}

/// Why there is no lock.
enum Refused {
    /// Another process has it: who that is, if it is told.
    Held(String),
    Error(io::Error),
}

/// How a file is locked.
#[derive(Clone, Copy)]
enum How {
    /// For this process alone.
    Alone,
    /// With others that share it.
    Shared,
    /// For this process alone, as soon as whoever has it gives it back.
    InTurn,
}

impl Lock {
    /// Locks the file of that name, which is made for it.
    fn take(path: &Path, how: How) -> Result<Self, Refused> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).custom_flags(FLAGS);
            let file = options.open(path).map_err(Refused::Error)?;
            if !is_lock(&file) {
                return Err(Refused::Error(io::Error::other("it is not a lock of this program's")));
            }
            let tried = match how {
                How::Alone => file.try_lock(),
                How::Shared => file.try_lock_shared(),
                How::InTurn => file.lock().map_err(TryLockError::Error),
            };
            match tried {
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(TryLockError::WouldBlock) => return Err(Refused::Held(owner(&file))),
                // A file system without locks: then there are none.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // Whoever had it before may have removed it in between: then it locks nothing.
            let held = Identity::of_open(&file);
            if held.is_some() && held == Identity::of(path) {
                let lock = Lock { file, path: path.to_owned() };
                // Only a message of others depends on it.
                let _ = lock.sign();
                return Ok(lock);
            }
        }
    }

    /// Says in the file who holds it.
    fn sign(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        (&self.file).write_all(format!("process {} on {}", std::process::id(), host()).as_bytes())
    }
}

/// Whether a file is a lock, held or left: one of its own, empty or signed. Whatever else has such a name is a user's.
fn is_lock(mut file: &File) -> bool {
    if !file.metadata().is_ok_and(|found| found.is_file() && found.nlink() <= 1) {
        return false;
    }
    let mut begin = Vec::new();
    let read = file.take(SIGNED.len() as u64).read_to_end(&mut begin).is_ok();
    read && SIGNED.as_bytes().starts_with(&begin) && file.seek(SeekFrom::Start(0)).is_ok()
}

/// Who holds a lock, as its file says.
fn owner(file: &File) -> String {
    let mut text = String::new();
    let _ = file.take(OWNER_AT_MOST).read_to_string(&mut text);
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    if is_plain { format!(" ({text})") } else { String::new() }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While others share it, it is theirs; and so is one that was made anew since this one was removed.
        let is_there =
            Identity::of_open(&self.file).is_some_and(|held| Identity::of(&self.path) == Some(held));
        if is_there && !matches!(self.file.try_lock(), Err(TryLockError::WouldBlock)) {
            // Removed before it is given back, so that nobody locks what is about to go.
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

/// A folder that nobody else writes to as long as this lives. A folder made for it goes with it if it is still empty.
#[derive(Debug)]
pub struct FolderLock {
    lock: Option<Lock>,
    /// Files in it, as they were when they were claimed.
    claims: Claims,
    /// Folders that were not there before, the innermost first.
    made: Vec<PathBuf>,
}

impl FolderLock {
    /// Makes the folder if there is none, and locks it; an error if another run has locked it. Removes what processes
    /// that have died left in it.
    pub fn take(folder: &Path) -> Result<Self, ReportError> {
        Self::make(folder, How::Alone)
    }

    /// The same with others that share it: parts of one piece of work.
    pub fn share(folder: &Path) -> Result<Self, ReportError> {
        Self::make(folder, How::Shared)
    }

    /// Claims files of the folder: what is put there from now on is somebody else's, and not replaced.
    pub fn claim(&mut self, folder: &Path, names: &[String]) {
        names.iter().for_each(|name| self.claims.add(&folder.join(name)));
    }

    fn make(folder: &Path, how: How) -> Result<Self, ReportError> {
        let mut tries = 0..TRIES;
        let made = folder.ancestors().take_while(|at| !at.as_os_str().is_empty() && !at.exists());
        let made: Vec<PathBuf> = made.map(Path::to_owned).collect();
        loop {
            std::fs::create_dir_all(folder).map_err(|error| ReportError::new(folder, "create", error))?;
            let lock = match Lock::take(&folder.join(FOLDER), how) {
                Ok(lock) => lock,
                // Whoever made the folder has just removed it, for it stayed empty.
                Err(Refused::Error(error))
                    if error.kind() == io::ErrorKind::NotFound && tries.next().is_some() =>
                {
                    continue;
                }
                Err(Refused::Error(error)) => {
                    let message = format!("{FOLDER} in it: {error}");
                    return Err(ReportError::new(folder, "create", message));
                }
                Err(Refused::Held(by)) => {
                    let message = format!("another run is writing to this folder{by}");
                    return Err(ReportError::new(folder, "lock", message));
                }
            };
            remove_left_behind(folder);
            let claims = Claims::under(&lock.path);
            return Ok(FolderLock { lock: Some(lock), claims, made });
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        self.lock = None;
        for folder in &self.made {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

/// A file that no other run writes as long as this lives.
#[derive(Debug)]
pub struct FileLock {
    claims: Claims,
    _lock: Lock,
}

impl FileLock {
    /// Of a file that is there or is to be written; its folder must exist. Removes what processes that have died left
    /// there.
    pub fn take(path: &Path) -> Result<Self, ReportError> {
        let place = super::resolve(path);
        let (folder, name) =
            (place.parent().unwrap_or(Path::new("/")), place.file_name().unwrap_or_default());
        let lock = Lock::take(&folder.join(lock_of(name)), How::Alone).map_err(|refused| match refused {
            Refused::Held(by) => {
                ReportError::new(path, "lock", format!("another run is writing this file{by}"))
            }
            Refused::Error(error) => ReportError::new(path, "write", error),
        })?;
        remove_left_behind(folder);
        let mut claims = Claims::under(&lock.path);
        claims.add(path);
        Ok(FileLock { claims, _lock: lock })
    }
}

impl FileLock {
    /// Claims a file that goes with the locked one.
    pub fn claim(&mut self, path: &Path) {
        self.claims.add(path);
    }
}

/// Name of the file by which a file of that name is locked.
fn lock_of(name: &OsStr) -> OsString {
    let mut lock = OsString::from(FILE.0);
    if name.len() <= NAME_AT_MOST {
        lock.push(name);
    } else {
        lock.push(format!("{:016x}", ssd::snapshot::checksum(name.as_encoded_bytes())));
    }
    lock.push(FILE.1);
    lock
}

/// What those who share a folder do one after another, for as long as this lives.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: Lock,
}

impl Turn {
    /// Waits until nobody else changes that file of the folder.
    pub fn at(folder: &Path, name: &str) -> Result<Self, ReportError> {
        match Lock::take(&folder.join(lock_of(OsStr::new(name))), How::InTurn) {
            Ok(lock) => Ok(Turn { _lock: lock }),
            Err(Refused::Error(error)) => Err(ReportError::new(folder, "write", error)),
            Err(Refused::Held(by)) => Err(ReportError::new(folder, "lock", format!("{name} is held{by}"))),
        }
    }
}

/// Begin of the names of files of this machine that are not whole yet: only here is it known who lives.
pub(super) fn part_prefix() -> String {
    format!("{}{}-", FILE.0, host())
}

/// Locks a file that is about to be written under a name of its own; false if somebody has taken it for one left
/// behind meanwhile.
pub(super) fn lock_part(file: &File, path: &Path) -> bool {
    // Whoever has it locked is about to remove it. A file system without locks has nothing removed.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    !is_taken && Identity::of_open(file).is_some_and(|held| Identity::of(path) == Some(held))
}

/// Removes what processes of this machine that have died left in a folder: files that were not whole, and locks. Their
/// locks went with them.
pub(crate) fn remove_left_behind(folder: &Path) {
    let prefix = part_prefix();
    let is_left = |name: &str| {
        let is_part = name.starts_with(&prefix) && name.ends_with(PART);
        is_part || name.starts_with(FILE.0) && name.ends_with(FILE.1)
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(is_left) {
            continue;
        }
        let opened = OpenOptions::new().read(true).custom_flags(FLAGS).open(entry.path());
        let Ok(file) = opened else { continue };
        // What cannot be locked is alive, or nobody can say.
        let is_part = entry.file_name().as_encoded_bytes().ends_with(PART.as_bytes());
        let is_own =
            if is_part { file.metadata().is_ok_and(|found| found.is_file()) } else { is_lock(&file) };
        let is_dead = is_own && file.try_lock().is_ok();
        if is_dead && Identity::of_open(&file) == Identity::of(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether a file of that name is one of ours that is hidden and goes with its process, alive or not.
pub(crate) fn is_hidden_work(name: &str) -> bool {
    let is_of = |(begin, end): (&str, &str)| name.starts_with(begin) && name.ends_with(end);
    name == FOLDER || is_of(FILE) || is_of((FILE.0, PART))
}

/// What this machine calls itself, as far as it can stand in a file's name.
fn host() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').take(64);
    let name: String = plain.collect();
    if name.is_empty() { "here".to_owned() } else { name }
}
