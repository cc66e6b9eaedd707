//! Tells the crate which commit it was built from: `WORDLINE_COMMIT`, empty where that is not known; and its benches by
//! which compiler: `WORDLINE_COMPILER`; and a hash of all sources that decide what a drive does: `WORDLINE_SOURCES`.

include!("commit.rs");

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=WORDLINE_COMMIT");
    let given = std::env::var("WORDLINE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(own_commit).unwrap_or_default();
    println!("cargo:rustc-env=WORDLINE_COMMIT={commit}");
    println!("cargo:rustc-env=WORDLINE_COMPILER={}", compiler().unwrap_or_default());
    println!("cargo:rustc-env=WORDLINE_SOURCES={:016x}", hash_of_sources());
}

/// What decides how a drive ages, from this crate's folder.
const DECIDING: [&str; 5] = ["src", "../ssd/src", "../workload/src", "../../presets", "../../Cargo.lock"];

/// A hash of the names and contents of all of it: where there is no git, no commit tells programs apart.
fn hash_of_sources() -> u64 {
    let (mut files, mut folders) = (Vec::new(), DECIDING.map(PathBuf::from).to_vec());
    while let Some(path) = folders.pop() {
        println!("cargo:rerun-if-changed={}", path.display());
        match std::fs::read_dir(&path) {
            Ok(inside) => folders.extend(inside.filter_map(Result::ok).map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
    files.sort();
    // FNV-1a, as its authors have it: the same with each compiler.
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    files.iter().fold(0xcbf2_9ce4_8422_2325, |hash, path| {
        let hash = path.to_string_lossy().as_bytes().iter().fold(hash, fnv);
        std::fs::read(path).unwrap_or_default().iter().fold(hash, fnv)
    })
}

/// Version and target of the compiler: `rustc 1.95.0 (59807616e 2026-04-14), x86_64-unknown-linux-gnu`.
fn compiler() -> Option<String> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    Some(format!("{}, {}", version.trim(), std::env::var("TARGET").ok()?))
}

/// The commit of the checkout this crate lies in, if it lies in its own and not in somebody else's.
fn own_commit() -> Option<String> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().ok()?;
    let top = git(&crate_folder, &["rev-parse", "--show-toplevel"])?;
    let top = Path::new(top.trim()).canonicalize().ok()?;
    if top.join("crates").join("lab") != crate_folder {
        return None;
    }
    // Every commit, checkout and reset is a line in this log; every change before that is one of a source.
    let log = top.join(git(&top, &["rev-parse", "--git-path", "logs/HEAD"])?.trim());
    for path in [log].into_iter().chain(SOURCES.map(|source| top.join(source))).filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    commit_of(&top)
}
