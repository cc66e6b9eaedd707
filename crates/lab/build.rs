//! Tells the crate which commit it was built from: `WORDLINE_COMMIT`, empty where that is not known; and its benches by
//! which compiler: `WORDLINE_COMPILER`; and a hash of all sources that decide what a drive does: `WORDLINE_SOURCES`.

include!("commit.rs");
include!("sources.rs");

fn main() {
    println!("cargo:rerun-if-env-changed=WORDLINE_COMMIT");
    let given = std::env::var("WORDLINE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(own_commit).unwrap_or_default();
    println!("cargo:rustc-env=WORDLINE_COMMIT={commit}");
    println!("cargo:rustc-env=WORDLINE_COMPILER={}", compiler().unwrap_or_default());
    let sources = hash_of_sources(Path::new(""), &DECIDING, &mut |path| {
        println!("cargo:rerun-if-changed={path}");
    });
    println!("cargo:rustc-env=WORDLINE_SOURCES={sources:016x}");
}

/// Version and target of the compiler: `rustc 1.95.0 (59807616e 2026-04-14), x86_64-unknown-linux-gnu`.
fn compiler() -> Option<String> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    Some(format!("{}, {}", version.trim(), std::env::var("TARGET").ok()?))
}

/// The commit of the checkout this crate lies in, if it lies in its own and not in somebody else's.
fn own_commit() -> Option<String> {
    // As cargo says it now: a script that was built elsewhere, and copied with what is built, would watch that place.
    let crate_folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).canonicalize().ok()?;
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
