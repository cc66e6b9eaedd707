//! What was at the places that this process has claimed, when it claimed them: what is there at the end must be the
//! same, or somebody else has put it there. The lock that they were claimed under must be there, too, or nobody's.

use super::{Identity, resolve};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was at a place, of a link itself: its device and number, and when it was written (s, ns), for numbers are given
/// anew; `None` where there was nothing.
type Before = Option<(Identity, (i64, i64))>;

/// A place that is claimed.
#[derive(Debug)]
struct Claim {
    /// Where its path leads to.
    place: PathBuf,
    /// What was there.
    before: Before,
    /// The file of the lock that it was claimed under.
    lock: (PathBuf, Option<Identity>),
}

/// Claims by their paths.
static CLAIMED: Mutex<BTreeMap<PathBuf, Claim>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<PathBuf, Claim>> {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path as it is claimed: the same text for the same call.
fn key(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What is at a place itself, be it a link.
fn identity(place: &Path) -> Before {
    let of =
        |found: Metadata| (Identity::Existing(found.dev(), found.ino()), (found.mtime(), found.mtime_nsec()));
    place.symlink_metadata().ok().map(of)
}

/// Which file a lock's is: whoever shares it writes to it.
fn lock_file(path: &Path) -> Option<Identity> {
    identity(path).map(|(identity, _)| identity)
}

/// Claims under a lock; they go with this.
#[derive(Debug)]
pub(super) struct Claims {
    paths: Vec<PathBuf>,
    lock: (PathBuf, Option<Identity>),
}

impl Claims {
    /// Claims nothing yet, under the lock of that file.
    pub fn under(lock: &Path) -> Self {
        Claims { paths: Vec::new(), lock: (lock.to_owned(), lock_file(lock)) }
    }

    /// Claims one more place as it is now.
    pub fn add(&mut self, path: &Path) {
        let (key, place) = (key(path), resolve(path));
        let before = identity(&place);
        all().insert(key.clone(), Claim { place, before, lock: self.lock.clone() });
        self.paths.push(key);
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        let mut all = all();
        self.paths.iter().for_each(|key| _ = all.remove(key));
    }
}

/// Where a path led to when it was claimed; `None` if it was not.
pub(super) fn place_of(path: &Path) -> Option<PathBuf> {
    all().get(&key(path)).map(|claim| claim.place.clone())
}

/// Refuses a place that is not as it was when it was claimed, and one that another process has claimed since; nobody
/// has claimed others.
pub(super) fn check(path: &Path) -> io::Result<()> {
    let all = all();
    let Some(claim) = all.get(&key(path)) else { return Ok(()) };
    if identity(&claim.place) != claim.before {
        return Err(io::Error::other("something else has been put there since the command began"));
    }
    // Where it was removed, and nobody has made it anew, nobody else is there.
    let lock = lock_file(&claim.lock.0);
    if lock.is_some() && lock != claim.lock.1 {
        let file = claim.lock.0.display();
        return Err(io::Error::other(format!("{file} was removed, and another run is writing there since")));
    }
    Ok(())
}

/// What is at a claimed place now is this process's own.
pub(super) fn renew(path: &Path) {
    if let Some(claim) = all().get_mut(&key(path)) {
        claim.before = identity(&claim.place);
    }
}
