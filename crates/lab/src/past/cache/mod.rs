//! Aged drives that are kept between runs, so that each is made once: a folder for each, by a hash of everything that
//! made it.
//!
//! Whoever ages a drive holds a lock on its folder meanwhile, which goes with the process. What is damaged, or cannot
//! be what it says, is made anew, and what cannot be kept is not: a run never fails for its cache. What is not the
//! user's own is not used (its module `own` says how that is known).

mod file;
mod own;
mod packed;

use crate::base::error::Failure;
use crate::base::files::{FolderLock, Replacement, remove_left_behind};
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::measure::progress::Progress;
use crate::past::precondition::{Preconditioned, Recipe};
use file::Head;
use own::Made;
use ssd::{Drive, DriveConfig};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// What all drives of a cache take at most; bytes (assumed).
pub const BYTES_AT_MOST: u64 = 4 << 30;
/// What is made sooner is not kept (assumed: it takes about as long to read it).
const LEAST: Duration = Duration::from_secs(2);
/// Between two looks at whether another process has aged the drive.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// For so long others are waited for without a word.
const WAITS_SILENTLY: Duration = Duration::from_secs(5);
/// A snapshot takes this and so many times the drive's tables at most (measured: 2.4 times those of small drives, less
/// than twice those of large ones; what the host's buffer holds comes to it); bytes.
const SNAPSHOT_AT_MOST: (u64, u64) = (64 << 20, 4);

/// The file of a drive in its folder.
const FILE: &str = "aged.drive";

/// A folder of aged drives.
#[derive(Debug)]
pub struct DriveCache {
    folder: PathBuf,
    least: Duration,
    bytes_at_most: u64,
    waits_silently: Duration,
    remarks: Mutex<Remarks>,
}

/// What went wrong, for whoever asks.
#[derive(Debug, Default)]
struct Remarks {
    new: Vec<String>,
    /// That the whole cache is not used was told.
    is_refused: bool,
}

/// What a drive is kept under.
pub(crate) struct CacheKey {
    /// All that makes it what it is: its configuration, how it is aged and with what, and the sources of the program.
    pub identity: String,
    /// The same in words.
    pub what: String,
    /// How it is aged: what can be said of it follows in part.
    pub recipe: Recipe,
}

/// A drive that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is, in words.
    pub what: String,
    /// Processor time that it took to make it; s.
    pub cpu_seconds: f64,
    /// What its file takes.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
    folder: PathBuf,
}

/// A drive's folder that is locked, if there can be locks.
struct Place {
    lock: Option<FolderLock>,
    made: Option<Made>,
}

impl Drop for Place {
    fn drop(&mut self) {
        // The lock's file is in the folder, which goes if it is empty.
        self.lock = None;
        self.made = None;
    }
}

impl DriveCache {
    /// In a folder, which is made when something is kept there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        DriveCache {
            folder,
            least: LEAST,
            bytes_at_most: BYTES_AT_MOST,
            waits_silently: WAITS_SILENTLY,
            remarks: Mutex::default(),
        }
    }

    /// Where the environment says: in `$WORDLINE_CACHE`, or `wordline` in `$XDG_CACHE_HOME` or `~/.cache`; none where
    /// the first is empty, or nothing is known.
    pub fn usual() -> Option<Self> {
        let variable = |name: &str| std::env::var_os(name);
        let folder = variable("WORDLINE_CACHE").map(PathBuf::from).or_else(|| {
            let home = |name: &str| variable(name).filter(|text| !text.is_empty()).map(PathBuf::from);
            let cache = home("XDG_CACHE_HOME").or_else(|| Some(home("HOME")?.join(".cache")));
            Some(cache?.join("wordline"))
        })?;
        (!folder.as_os_str().is_empty()).then(|| DriveCache::new(folder))
    }

    /// The same with other limits: what takes `least` to make is kept, up to so many bytes in all.
    pub fn with_limits(self, least: Duration, bytes_at_most: u64) -> Self {
        DriveCache { least, bytes_at_most, ..self }
    }

    /// The same that says for whom it waits after so long.
    pub fn waiting_silently(self, waits_silently: Duration) -> Self {
        DriveCache { waits_silently, ..self }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Why it is not used, if it is not: it belongs to another user, or others may write to it.
    pub fn refusal(&self) -> Option<String> {
        let why = own::refusal(&self.folder)?;
        Some(format!("{}: the cache is not used: {why}", self.folder.display()))
    }

    /// What went wrong since this was last asked, or is waited for, a line each.
    pub fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut self.remarks.lock().unwrap_or_else(PoisonError::into_inner).new)
    }

    /// All drives, the one used last first.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        Ok(self.look()?.0)
    }

    /// What has the name of a drive's folder and is not the user's own, or no folder, or has a folder where the drive
    /// should be, with the reason: it is neither used nor removed.
    pub fn strange(&self) -> io::Result<Vec<String>> {
        Ok(self.look()?.1)
    }

    /// Drives, and what is none.
    fn look(&self) -> io::Result<(Vec<Entry>, Vec<String>)> {
        let (mut all, mut strange) = (Vec::new(), Vec::new());
        for folder in self.folders()? {
            let not_used = |path: &Path, why| format!("{}: not used: {why}", path.display());
            match own::check_folder(&folder).map_err(|why| not_used(&folder, why)) {
                Ok(()) if folder.join(FILE).symlink_metadata().is_ok_and(|found| found.is_dir()) => {
                    strange.push(not_used(&folder.join(FILE), "it is a folder, not a file".to_owned()));
                }
                Ok(()) => all.extend(Entry::read(folder)),
                Err(why) => strange.push(why),
            }
        }
        all.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.folder.cmp(&b.folder)));
        Ok((all, strange))
    }

    /// Whatever has the name of a drive's folder.
    fn folders(&self) -> io::Result<Vec<PathBuf>> {
        if let Some(why) = own::refusal(&self.folder) {
            return Err(io::Error::other(why));
        }
        let list = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            list => list?,
        };
        let is_hash = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let mut all: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).filter(is_hash).collect();
        all.sort();
        Ok(all)
    }

    /// Removes all drives; how many there were, and the bytes they took.
    pub fn clear(&self) -> io::Result<(usize, u64)> {
        let all = self.entries()?;
        all.iter().try_for_each(Entry::remove)?;
        self.sweep_up()?;
        Ok((all.len(), all.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))))
    }

    /// Removes what processes that were killed have left: folders that nobody has locked, with what was not finished.
    fn sweep_up(&self) -> io::Result<()> {
        for folder in self.folders()?.into_iter().filter(|folder| own::check_folder(folder).is_ok()) {
            own::tidy(&folder);
            let Ok(lock) = FolderLock::take(&folder) else { continue };
            remove_left_behind(&folder);
            drop(lock);
            let _ = fs::remove_dir(&folder);
        }
        Ok(())
    }

    /// Takes the drive that is kept under this key in place of a new one; if there is none, ages the new one, and keeps
    /// it if that took long.
    pub(crate) fn prepare(
        &self,
        drive: &mut Drive,
        (config, key): (&DriveConfig, &CacheKey),
        (stop, progress): (&Stop, &mut dyn FnMut(Progress)),
        age: impl FnOnce(&mut Drive, &mut dyn FnMut(Progress)) -> Result<Preconditioned, Failure>,
    ) -> Result<Preconditioned, Failure> {
        let folder = self.folder.join(name(&key.identity));
        if !self.is_own(&folder) {
            return age(drive, progress);
        }
        if let Some(aged) = self.take(&folder, config, key, drive) {
            return Ok(aged);
        }
        let (mut place, has_waited) = self.lock(&folder, stop, progress)?;
        if has_waited {
            if let Some(aged) = self.take(&folder, config, key, drive) {
                return Ok(aged);
            }
            // Whoever aged it has not kept it: it is quickly made, or too large. The next need not wait for that.
            place.lock = None;
        }
        let begun = Instant::now();
        let aged = age(drive, progress)?;
        if begun.elapsed() >= self.least
            && let Err(error) = self.keep(&folder, (config, key), &aged, drive)
        {
            let folder = self.folder.display();
            self.remark(format!(
                "{folder}: the aged drive was not cached: {error} (--no-cache turns the cache off)"
            ));
        }
        drop(place);
        Ok(aged)
    }

    /// Whether the cache and a drive's folder in it are the user's own, as far as they are there. If not, that is told,
    /// once of the cache.
    fn is_own(&self, folder: &Path) -> bool {
        if let Some(why) = self.refusal() {
            let mut remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::replace(&mut remarks.is_refused, true) {
                remarks.new.push(why);
            }
            return false;
        }
        let checked = own::check_folder(folder);
        checked.map_err(|why| self.remark(format!("{}: not used: {why}", folder.display()))).is_ok()
    }

    /// The drive of a folder, if it is there and in order.
    fn take(
        &self,
        folder: &Path,
        config: &DriveConfig,
        key: &CacheKey,
        drive: &mut Drive,
    ) -> Option<Preconditioned> {
        let path = folder.join(FILE);
        let mut file = match own::open(&path) {
            // There is nothing, or no folder that it could be in.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return None;
            }
            Err(error) => {
                self.remark(format!("{}: not used, rebuilt: {error}", path.display()));
                return None;
            }
            Ok(file) => file,
        };
        let restored = Head::read(&mut file).and_then(|head| {
            if head.identity != key.identity {
                // Another drive of the same hash: it makes room.
                return Ok(None);
            }
            let restored = head.drive(&mut file, config, snapshot_at_most(drive))?;
            let is_same = head.what == key.what;
            let verdict = head.aged.check(&key.recipe, &restored, config);
            verdict.map_err(io::Error::other)?;
            if !is_same {
                return Err(io::Error::other("it is described as another"));
            }
            Ok(Some((restored, head.aged)))
        });
        match restored {
            Ok(Some((restored, aged))) => {
                *drive = restored;
                // Only who is removed first goes by it.
                let _ = file.set_modified(SystemTime::now());
                Some(Preconditioned { kept: true, ..aged })
            }
            Ok(None) => None,
            Err(error) => {
                self.remark(format!("{}: damaged, rebuilt: {error}", path.display()));
                None
            }
        }
    }

    /// Locks a drive's folder, which may have to wait for a process that ages it; without a lock where there can be
    /// none.
    fn lock(
        &self,
        folder: &Path,
        stop: &Stop,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Place, bool), Failure> {
        let (phase, begun, mut has_waited, mut has_told) = (Phase::Waiting, Instant::now(), false, false);
        loop {
            // Whoever had it may have removed it.
            let made = Made::new(folder).ok().filter(|_| self.is_own(folder));
            let Some(made) = made else { return Ok((Place { lock: None, made: None }, has_waited)) };
            // Of the drive's own place it was said already.
            let tidied = own::tidy(folder).into_iter().filter(|(path, _)| !path.ends_with(FILE));
            tidied.for_each(|(path, what)| {
                self.remark(format!("{}: removed: it is {what}, not a file", path.display()));
            });
            let error = match FolderLock::take(folder) {
                Err(error) if error.action == "lock" => error,
                lock => return Ok((Place { lock: lock.ok(), made: Some(made) }, has_waited)),
            };
            if stop.is_asked() {
                return Err(Failure::Interrupted { phase });
            }
            has_waited = true;
            let waits = begun.elapsed();
            if waits >= self.waits_silently && !std::mem::replace(&mut has_told, true) {
                self.remark(waiting_for(&error.message));
            }
            progress(Progress { phase, done: waits.as_secs(), total: None, simulated_ns: 0, so_far: None });
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Puts a drive there, and removes those that were not used for longest, as far as room is needed.
    fn keep(
        &self,
        folder: &Path,
        (config, key): (&DriveConfig, &CacheKey),
        aged: &Preconditioned,
        drive: &Drive,
    ) -> io::Result<()> {
        // What would not be believed later is no use.
        aged.check(&key.recipe, drive, config).map_err(io::Error::other)?;
        let snapshot = drive.saving()?;
        let (bytes, at_most) = (snapshot.bytes(), snapshot_at_most(drive));
        if bytes > at_most {
            return Err(io::Error::other(format!("it takes {bytes} bytes, allowed: {at_most}")));
        }
        let made = Made::new(folder)?;
        if let Some(why) = own::refusal(&self.folder).or_else(|| own::check_folder(folder).err()) {
            return Err(io::Error::other(why));
        }
        remove_left_behind(folder);
        let mut file = Limited {
            file: Replacement::private(&folder.join(FILE))?,
            bytes: 0,
            at_most: self.bytes_at_most,
        };
        Head::new((&key.identity, &key.what), aged, &snapshot).write(&snapshot, &mut file)?;
        self.make_room(folder, file.bytes)?;
        file.file.commit()?;
        drop(made);
        Ok(())
    }

    /// Removes drives other than that of this folder until so many bytes more have room.
    fn make_room(&self, folder: &Path, bytes: u64) -> io::Result<()> {
        let mut room = self.bytes_at_most.saturating_sub(bytes);
        for entry in self.entries()?.iter().filter(|entry| entry.folder != folder) {
            match room.checked_sub(entry.bytes) {
                Some(left) => room = left,
                None => entry.remove()?,
            }
        }
        Ok(())
    }

    fn remark(&self, what: String) {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).new.push(what);
    }
}

/// The most that a snapshot of such a drive takes, before it is packed.
fn snapshot_at_most(drive: &Drive) -> u64 {
    let (bytes, times) = SNAPSHOT_AT_MOST;
    let tables = drive.reports().table_bytes().all as u64;
    tables.saturating_mul(times).saturating_add(bytes)
}

/// A file that must not become longer than a cache may.
struct Limited {
    file: Replacement,
    bytes: u64,
    at_most: u64,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes + bytes.len() as u64 > self.at_most {
            return Err(io::Error::other(format!("it takes more than the {} bytes allowed", self.at_most)));
        }
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The name of a drive's folder.
fn name(identity: &str) -> String {
    format!("{:016x}", ssd::snapshot::checksum(identity.as_bytes()))
}

/// Whom is waited for, as the error of a lock that another has names its owner: `another run is writing to this folder
/// (process 7 on rack-7)`.
fn waiting_for(error: &str) -> String {
    let owner = error.rsplit_once('(').and_then(|(_, owner)| owner.strip_suffix(')'));
    let owner = owner.unwrap_or("another run");
    format!("waiting for {owner}, which is ageing the same drive (--no-cache does not wait)")
}

impl Entry {
    /// What is in a drive's folder; none if there is nothing.
    fn read(folder: PathBuf) -> Option<Self> {
        let path = folder.join(FILE);
        // What cannot be used takes room all the same.
        let found = fs::symlink_metadata(&path).ok().filter(|found| !found.is_dir())?;
        let unused = |why: String| (why, 0.0);
        let (what, cpu_seconds) = match own::open(&path) {
            Err(error) => unused(format!("not used, rebuilt when needed: {error}")),
            Ok(mut file) => match Head::read(&mut file) {
                Ok(head) if folder.ends_with(name(&head.identity)) => (head.what, head.aged.cpu_seconds),
                Ok(_) => unused("damaged, rebuilt when needed: it is another drive's".to_owned()),
                Err(error) => unused(format!("damaged, rebuilt when needed: {error}")),
            },
        };
        let used = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Entry { what, cpu_seconds, bytes: found.len(), used, folder })
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_file(self.folder.join(FILE)) {
            // Somebody else was as quick.
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Whoever ages it anew has the folder locked.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_says_for_whom() {
        let told = waiting_for("another run is writing to this folder (process 4242 on rack-7)");
        assert!(told.starts_with("waiting for process 4242 on rack-7, which"), "{told}");
        let told = waiting_for("another run is writing to this folder");
        assert!(told.starts_with("waiting for another run, which is ageing"), "{told}");
        assert!(
            waiting_for("who knows").contains("another run") && told.ends_with("(--no-cache does not wait)")
        );
    }
}
