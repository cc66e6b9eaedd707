//! A copy of the checkout with all faults in it, switched off.

use super::VARIABLE;
use super::text::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
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
    let files = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git does not run: {error}"))?;
    let files = String::from_utf8_lossy(&files.stdout).into_owned();
    let mut contents = BTreeMap::new();
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        // What is deleted but not committed is listed, too.
        if let Ok(bytes) = fs::read(root.join(file)) {
            contents.insert(file.to_owned(), bytes);
        }
    }
    for (number, fault) in (1..).zip(faults) {
        let bytes = contents.get_mut(&fault.path).ok_or(format!("{}: no file {}", fault.slug, fault.path))?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        *bytes = fault.put_into(&text, number)?.into_bytes();
    }
    contents.insert("crates/ssd/src/faults.rs".to_owned(), SWITCH.replace("VARIABLE", VARIABLE).into_bytes());
    let root_module = contents.get_mut("crates/ssd/src/lib.rs").ok_or("no crates/ssd/src/lib.rs")?;
    root_module.extend_from_slice(b"\npub mod faults;\n");
    write(place, &contents)?;
    // What lies beside the checkout lies beside the copy.
    let beside = root.join("..").join("shared");
    let link = place.with_file_name("shared");
    if let Ok(beside) = beside.canonicalize()
        && !link.exists()
    {
        std::os::unix::fs::symlink(&beside, &link).map_err(|e| format!("{}: {e}", link.display()))?;
    }
    Ok(hash(&contents))
}

fn write(place: &Path, contents: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    let said = |path: &Path, error| format!("{}: {error}", path.display());
    for (file, bytes) in contents {
        let path = place.join(file);
        if fs::read(&path).is_ok_and(|there| there == *bytes) {
            continue;
        }
        let folder = path.parent().unwrap_or(place);
        fs::create_dir_all(folder).map_err(|error| said(folder, error))?;
        fs::write(&path, bytes).map_err(|error| said(&path, error))?;
    }
    remove_others(place, place, &contents.keys().map(String::as_str).collect())
}

/// Removes what is no file of the checkout any more.
fn remove_others(place: &Path, folder: &Path, files: &BTreeSet<&str>) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(said)? {
        let path = entry.map_err(said)?.path();
        if path.is_dir() {
            remove_others(place, &path, files)?;
        } else if !path.strip_prefix(place).is_ok_and(|p| files.contains(&*p.to_string_lossy())) {
            fs::remove_file(&path).map_err(said)?;
        }
    }
    Ok(())
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
