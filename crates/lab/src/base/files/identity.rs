//! Which file a path means.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Links followed one after the other before they count as a circle, as Linux does.
const LINKS: usize = 40;

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
