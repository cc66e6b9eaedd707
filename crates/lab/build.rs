//! Tells the crate a hash of all sources that decide what a drive does, `WORDLINE_SOURCES`; and its benches by which
//! compiler it was built, `WORDLINE_COMPILER`. Of the commit it is told by programs, which are all that a commit builds
//! anew.

use std::path::Path;
use std::process::Command;

include!("sources.rs");

fn main() {
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
