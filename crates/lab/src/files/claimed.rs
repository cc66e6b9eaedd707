//! What was at the places that this process has claimed, when it claimed them: what is there at the end must be the
//! same, or somebody else has put it there.

use super::{Identity, resolve};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was at a place: its device and number, of a link its own; `None` where there was nothing.
type Before = Option<Identity>;

/// Places by the paths that they were claimed under: where each leads to, and what was there.
static CLAIMED: Mutex<BTreeMap<PathBuf, (PathBuf, Before)>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<PathBuf, (PathBuf, Before)>> {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path as it is claimed: the same text for the same call.
fn key(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What is at a place itself, be it a link.
fn identity(place: &Path) -> Before {
    let of = |found: Metadata| Identity::Existing(found.dev(), found.ino());
    place.symlink_metadata().ok().map(of)
}

/// Claims; they go with this.
#[derive(Debug, Default)]
pub(super) struct Claims(Vec<PathBuf>);

impl Claims {
    /// Claims one more place as it is now.
    pub fn add(&mut self, path: &Path) {
        let (key, place) = (key(path), resolve(path));
        let before = identity(&place);
        all().insert(key.clone(), (place, before));
        self.0.push(key);
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        let mut all = all();
        self.0.iter().for_each(|key| _ = all.remove(key));
    }
}

/// Where a path led to when it was claimed; `None` if it was not.
pub(super) fn place_of(path: &Path) -> Option<PathBuf> {
    all().get(&key(path)).map(|(place, _)| place.clone())
}

/// Whether a place is as it was when it was claimed, or nobody has claimed it.
pub(super) fn is_as_claimed(path: &Path) -> bool {
    all().get(&key(path)).is_none_or(|(place, before)| identity(place) == *before)
}

/// What is at a claimed place now is this process's own.
pub(super) fn renew(path: &Path) {
    if let Some((place, before)) = all().get_mut(&key(path)) {
        *before = identity(place);
    }
}
