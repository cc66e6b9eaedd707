// Which commit a checkout is at. Part of the build script, and of a test.

use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::process::Command;

/// What is compiled.
const SOURCES: [&str; 4] = ["crates", "presets", "Cargo.toml", "Cargo.lock"];

/// The commit of the checkout at `top`; where sources differ from it, with `-dirty` and a hash of the differences, so
/// that results of different programs are never taken for one another's.
fn commit_of(top: &Path) -> Option<String> {
    let commit = git(top, &["rev-parse", "--short=12", "HEAD"]).filter(|text| !text.trim().is_empty())?;
    let commit = commit.trim();
    let about = |arguments: &[&str]| git(top, &[arguments, &["--"], &SOURCES].concat());
    let changes = about(&["diff", "HEAD", "--binary", "--no-ext-diff", "--no-color"])?;
    let new = about(&["ls-files", "--others", "--exclude-standard"])?;
    if changes.is_empty() && new.is_empty() {
        return Some(commit.to_owned());
    }
    let mut hash = DefaultHasher::new();
    hash.write(changes.as_bytes());
    for file in new.lines() {
        hash.write(file.as_bytes());
        hash.write(&std::fs::read(top.join(file)).unwrap_or_default());
    }
    Some(format!("{commit}-dirty-{:08x}", hash.finish() as u32))
}

/// What git says.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
