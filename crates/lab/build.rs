//! Tells the crate which commit it was built from: `WORDLINE_COMMIT`, empty where that is not known.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=WORDLINE_COMMIT");
    let given = std::env::var("WORDLINE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = given.or_else(own_commit).unwrap_or_default();
    println!("cargo:rustc-env=WORDLINE_COMMIT={commit}");
}

/// The commit of the checkout this crate lies in, if it lies in its own and not in somebody else's.
fn own_commit() -> Option<String> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().ok()?;
    let top = Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if top.join("crates").join("lab") != crate_folder {
        return None;
    }
    // Every commit, checkout and reset is a line in this log.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if crate_folder.join(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
