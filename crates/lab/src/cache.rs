//! Aged drives that are kept between runs, so that each is made once: a folder for each, by a hash of everything that
//! made it.
//!
//! Whoever ages a drive holds a lock on its folder meanwhile, which goes with the process. What is damaged is made
//! anew, and what cannot be kept is not: a run never fails for its cache.

use crate::error::Failure;
use crate::files::{FolderLock, Replacement};
use crate::phase::{Phase, Progress};
use crate::precondition::Preconditioned;
use crate::stop::Stop;
use serde::{Deserialize, Serialize};
use ssd::{Drive, DriveConfig};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// What all drives of a cache take at most; bytes (assumed).
pub const BYTES_AT_MOST: u64 = 4 << 30;
/// What is made sooner is not kept (assumed: it takes about as long to read it).
const LEAST: Duration = Duration::from_secs(2);
/// Between two looks at whether another process has aged the drive.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The file of a drive in its folder.
const FILE: &str = "aged.drive";
/// Its first bytes.
const MAGIC: &[u8] = b"wordline aged drive 1\n";
/// The longest head that is read; bytes.
const HEAD_AT_MOST: u64 = 1 << 24;

/// A folder of aged drives.
#[derive(Debug)]
pub struct DriveCache {
    folder: PathBuf,
    least: Duration,
    bytes_at_most: u64,
    remarks: Mutex<Vec<String>>,
}

/// What a drive is kept under.
pub(crate) struct CacheKey {
    /// All that makes it what it is: its configuration, how it is aged and with what, and the sources of the program.
    pub identity: String,
    /// The same in words.
    pub what: String,
}

/// What stands before the snapshot in a drive's file.
#[derive(Serialize, Deserialize)]
struct Head {
    /// All that made the drive.
    identity: String,
    /// In words.
    what: String,
    aged: Preconditioned,
    /// Bytes of the snapshot.
    bytes: u64,
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

impl DriveCache {
    /// In a folder, which is made when something is kept there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        DriveCache { folder, least: LEAST, bytes_at_most: BYTES_AT_MOST, remarks: Mutex::default() }
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

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What went wrong since this was last asked, a line each.
    pub fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut self.remarks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All drives, the one used last first. Files that cannot be read are none.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let list = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            list => list?,
        };
        let mut all: Vec<Entry> = list.filter_map(|at| Entry::read(at.ok()?.path()).ok()).collect();
        all.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.folder.cmp(&b.folder)));
        Ok(all)
    }

    /// Removes all drives; how many there were, and the bytes they took.
    pub fn clear(&self) -> io::Result<(usize, u64)> {
        let all = self.entries()?;
        all.iter().try_for_each(Entry::remove)?;
        self.sweep_up();
        Ok((all.len(), all.iter().map(|entry| entry.bytes).sum()))
    }

    /// Removes what processes that were killed have left: folders that nobody has locked, with what was not finished.
    fn sweep_up(&self) {
        let is_own = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let list = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for folder in list.filter(|path| is_own(path)) {
            let Ok(lock) = FolderLock::take(&folder) else { continue };
            for left in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if left.file_name().to_string_lossy().ends_with(".part") {
                    let _ = fs::remove_file(left.path());
                }
            }
            drop(lock);
            let _ = fs::remove_dir(&folder);
        }
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
        let folder = self.folder.join(format!("{:016x}", ssd::snapshot::checksum(key.identity.as_bytes())));
        if let Some(aged) = self.take(&folder, config, key, drive) {
            return Ok(aged);
        }
        let (mut lock, has_waited) = self.lock(&folder, stop, progress)?;
        if has_waited {
            if let Some(aged) = self.take(&folder, config, key, drive) {
                return Ok(aged);
            }
            // Whoever aged it has not kept it: it is quickly made, or too large. The next need not wait for that.
            lock = None;
        }
        let begun = Instant::now();
        let aged = age(drive, progress)?;
        if begun.elapsed() >= self.least
            && let Err(error) = self.keep(&folder, key, &aged, drive)
        {
            let folder = self.folder.display();
            self.remark(format!(
                "{folder}: the aged drive was not cached: {error} (--no-cache turns the \
                                 cache off)"
            ));
        }
        drop(lock);
        Ok(aged)
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
        let mut file = File::open(&path).ok()?;
        let restored = Head::read(&mut file).and_then(|head| {
            if head.identity != key.identity {
                // Another drive of the same hash: it makes room.
                return Ok(None);
            }
            let mut bytes = Vec::with_capacity(head.bytes as usize);
            file.read_to_end(&mut bytes)?;
            let restored = Drive::restore(config, &bytes).map_err(io::Error::other)?;
            Ok(Some((restored, head.aged)))
        });
        match restored {
            Ok(Some((restored, aged))) => {
                *drive = restored;
                // Only who is removed first goes by it.
                let _ =
                    File::options().append(true).open(&path).and_then(|f| f.set_modified(SystemTime::now()));
                Some(Preconditioned { kept: true, ..aged })
            }
            Ok(None) => None,
            Err(error) => {
                self.remark(format!("{}: damaged, rebuilt: {error}", path.display()));
                None
            }
        }
    }

    /// Locks a drive's folder, which may have to wait for a process that ages it; none where there can be no lock.
    fn lock(
        &self,
        folder: &Path,
        stop: &Stop,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Option<FolderLock>, bool), Failure> {
        let (phase, begun, mut has_waited) = (Phase::Waiting, Instant::now(), false);
        loop {
            match FolderLock::take(folder) {
                Ok(lock) => return Ok((Some(lock), has_waited)),
                Err(error) if error.action != "lock" => return Ok((None, has_waited)),
                Err(_) if stop.is_asked() => return Err(Failure::Interrupted { phase }),
                Err(_) => has_waited = true,
            }
            let done = begun.elapsed().as_secs();
            progress(Progress { phase, done, total: None, simulated_ns: 0, so_far: None });
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Puts a drive there, and removes those that were not used for longest, as far as room is needed.
    fn keep(&self, folder: &Path, key: &CacheKey, aged: &Preconditioned, drive: &Drive) -> io::Result<()> {
        let mut snapshot = Vec::new();
        drive.save(&mut snapshot)?;
        let bytes = snapshot.len() as u64;
        let mut room = self.bytes_at_most.checked_sub(bytes).ok_or_else(|| {
            io::Error::other(format!("it takes {bytes} bytes, allowed: {} in all", self.bytes_at_most))
        })?;
        for entry in self.entries()?.iter().filter(|entry| entry.folder != folder) {
            match room.checked_sub(entry.bytes) {
                Some(left) => room = left,
                None => entry.remove()?,
            }
        }
        let (identity, what) = (key.identity.clone(), key.what.clone());
        let head = serde_json::to_vec(&Head { identity, what, aged: aged.clone(), bytes })?;
        let mut file = Replacement::create(&folder.join(FILE))?;
        file.write_all(MAGIC)?;
        file.write_all(&(head.len() as u64).to_le_bytes())?;
        file.write_all(&ssd::snapshot::checksum(&head).to_le_bytes())?;
        file.write_all(&head)?;
        file.write_all(&snapshot)?;
        file.commit()
    }

    fn remark(&self, what: String) {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }
}

impl Head {
    fn read(file: &mut File) -> io::Result<Self> {
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic)?;
        let (mut length, mut checksum) = ([0; 8], [0; 8]);
        file.read_exact(&mut length)?;
        file.read_exact(&mut checksum)?;
        let (length, checksum) = (u64::from_le_bytes(length), u64::from_le_bytes(checksum));
        if magic != MAGIC || length > HEAD_AT_MOST {
            return Err(io::Error::other("it does not begin like an aged drive"));
        }
        let mut head = vec![0; length as usize];
        file.read_exact(&mut head)?;
        if ssd::snapshot::checksum(&head) != checksum {
            return Err(io::Error::other("its checksum is another"));
        }
        Ok(serde_json::from_slice(&head)?)
    }
}

impl Entry {
    fn read(folder: PathBuf) -> io::Result<Self> {
        let mut file = File::open(folder.join(FILE))?;
        let metadata = file.metadata()?;
        let head = Head::read(&mut file);
        // What is damaged takes room all the same.
        let (what, cpu_seconds) = head.map_or_else(
            |_| ("damaged: rebuilt when needed".to_owned(), 0.0),
            |head| (head.what, head.aged.cpu_seconds),
        );
        Ok(Entry { what, cpu_seconds, bytes: metadata.len(), used: metadata.modified()?, folder })
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_file(self.folder.join(FILE)) {
            // Somebody else was as quick.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Whoever ages it anew has the folder locked.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }
}
