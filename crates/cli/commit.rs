// Which commit a checkout is at. Part of the build scripts of programs, and of a test.

use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::process::Command;

/// What programs are compiled from, and in `crates` what they are not.
const SOURCES: [&str; 4] = ["crates", "presets", "Cargo.toml", "Cargo.lock"];
const ASIDE: [&str; 3] = ["tests", "benches", "examples"];

/// Tells the crate `folder` which commit it is built from: `WORDLINE_COMMIT`, empty where that is not known.
fn tell_commit(folder: &str) {
    println!("cargo:rerun-if-env-changed=WORDLINE_COMMIT");
    let given = std::env::var("WORDLINE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(|| own_commit(folder)).unwrap_or_default();
    println!("cargo:rustc-env=WORDLINE_COMMIT={commit}");
}

/// The commit of the checkout this crate lies in, if it lies in its own and not in somebody else's.
fn own_commit(folder: &str) -> Option<String> {
    // As cargo says it now: a script that was built elsewhere, and copied with what is built, would watch that place.
    let crate_folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).canonicalize().ok()?;
    let top = git(&crate_folder, &["rev-parse", "--show-toplevel"])?;
    let top = Path::new(top.trim()).canonicalize().ok()?;
    if top.join("crates").join(folder) != crate_folder {
        return None;
    }
    // Every commit, checkout and reset is a line in this log; every change before that is one of a source.
    let log = top.join(git(&top, &["rev-parse", "--git-path", "logs/HEAD"])?.trim());
    let inside =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_crates = inside(&top.join(SOURCES[0])).flat_map(|of| inside(&of).collect::<Vec<_>>());
    let of_crates = of_crates.filter(|path| !ASIDE.iter().any(|aside| path.ends_with(aside)));
    let others = SOURCES[1..].iter().map(|source| top.join(source)).filter(|path| path.exists());
    for path in [log].into_iter().chain(of_crates).chain(others) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    commit_of(&top)
}

/// The commit of the checkout at `top`; where sources differ from it, with `-dirty` and a hash of the differences, so
/// that results of different programs are never taken for one another's.
pub fn commit_of(top: &Path) -> Option<String> {
    let commit = git(top, &["rev-parse", "--short=12", "HEAD"]).filter(|text| !text.trim().is_empty())?;
    let commit = commit.trim();
    let aside = ASIDE.map(|aside| format!(":(exclude,glob){}/*/{aside}/**", SOURCES[0]));
    let aside = aside.each_ref().map(String::as_str);
    let about = |arguments: &[&str]| git(top, &[arguments, &["--"], &SOURCES, &aside].concat());
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
pub fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
