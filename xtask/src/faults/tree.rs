//! A copy of the checkout with all faults in it, switched off.

use super::VARIABLE;
use super::text::Fault;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The module that knows which fault is switched on.
const SWITCH: &str = "//! Which deliberate fault is switched on; written by the script that puts them in.

use std::sync::OnceLock;

/// Whether it is this one.
#[inline]
pub fn on(number: u32) -> bool {
    static ON: OnceLock<u32> = OnceLock::new();
    *ON.get_or_init(|| std::env::var(\"VARIABLE\").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number
}
";

/// Lays the copy, writing only what differs from what is there, so that cargo builds only that. Returns a hash of it.
pub fn lay(root: &Path, place: &Path, faults: &[Fault]) -> Result<u64, String> {
    let mut tree = Tree::read(root)?;
    let contents = &mut tree.files;
    for (number, fault) in (1..).zip(faults) {
        let bytes = contents.get_mut(&fault.path).ok_or(format!("{}: no file {}", fault.slug, fault.path))?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        *bytes = fault.put_into(&text, number)?.into_bytes();
    }
    contents.insert("crates/ssd/src/faults.rs".to_owned(), SWITCH.replace("VARIABLE", VARIABLE).into_bytes());
    let root_module = contents.get_mut("crates/ssd/src/lib.rs").ok_or("no crates/ssd/src/lib.rs")?;
    root_module.extend_from_slice(b"\npub mod faults;\n");
    tree.write(place)?;
    // What lies beside the checkout lies beside the copy.
    let beside = root.join("..").join("shared");
    let link = place.with_file_name("shared");
    if let Ok(beside) = beside.canonicalize()
        && !link.exists()
    {
        symlink(&beside, &link).map_err(|e| format!("{}: {e}", link.display()))?;
    }
    Ok(hash(&tree.files))
}

/// The files of a checkout, in memory, by their paths in it.
pub struct Tree {
    /// Contents.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Links to folders.
    links: BTreeMap<String, PathBuf>,
}

impl Tree {
    /// All that git has or would take.
    pub fn read(root: &Path) -> Result<Self, String> {
        let files = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("git does not run: {error}"))?;
        let names = String::from_utf8_lossy(&files.stdout).into_owned();
        let mut tree = Tree { files: BTreeMap::new(), links: BTreeMap::new() };
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            let path = root.join(name);
            // What is deleted but not committed is listed, too.
            match (fs::read(&path), fs::read_link(&path)) {
                (Ok(bytes), _) => _ = tree.files.insert(name.to_owned(), bytes),
                (Err(_), Ok(link)) => _ = tree.links.insert(name.to_owned(), link),
                (Err(_), Err(_)) => {}
            }
        }
        Ok(tree)
    }

    /// Writes it, as far as it differs from what is there, and removes what is no part of it.
    pub fn write(&self, place: &Path) -> Result<(), String> {
        let said = |path: &Path, error| format!("{}: {error}", path.display());
        for (file, bytes) in &self.files {
            let path = place.join(file);
            if fs::read(&path).is_ok_and(|there| there == *bytes) {
                continue;
            }
            let folder = path.parent().unwrap_or(place);
            fs::create_dir_all(folder).map_err(|error| said(folder, error))?;
            fs::write(&path, bytes).map_err(|error| said(&path, error))?;
        }
        for (file, link) in &self.links {
            let path = place.join(file);
            if fs::read_link(&path).is_err() {
                symlink(link, &path).map_err(|error| said(&path, error))?;
            }
        }
        self.remove_others(place, place)
    }

    fn remove_others(&self, place: &Path, folder: &Path) -> Result<(), String> {
        let said = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(said)? {
            let entry = entry.map_err(said)?;
            let path = entry.path();
            let name = path.strip_prefix(place).unwrap_or(&path).to_string_lossy().into_owned();
            // A link to a folder is no folder here: what it leads to is not looked into.
            if entry.file_type().map_err(said)?.is_dir() {
                self.remove_others(place, &path)?;
            } else if !self.files.contains_key(&name) && !self.links.contains_key(&name) {
                fs::remove_file(&path).map_err(said)?;
            }
        }
        Ok(())
    }
}

/// FNV-1a over names and contents.
fn hash(contents: &BTreeMap<String, Vec<u8>>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bytes = contents.iter().flat_map(|(name, bytes)| name.as_bytes().iter().chain([&0]).chain(bytes));
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
