//! The C compiler of this machine, if it has one.

use std::path::{Path, PathBuf};
use std::process::Command;

fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

/// Whether there is one; a test without says that it is skipped.
pub fn has_compiler() -> bool {
    let has = Command::new(compiler()).arg("--version").output().is_ok_and(|done| done.status.success());
    if !has {
        println!("skipped: no C compiler ({})", compiler());
    }
    has
}

/// A library of C code that has the header; what the compiler says if it refuses.
pub fn compile(name: &str, code: &str) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abi");
    std::fs::create_dir_all(&folder).unwrap();
    // Tests run side by side: each has sources of its own name, and all the same header.
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&source, format!("#include \"wordline_policy.h\"\n{code}")).unwrap();
    let flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o"];
    let done = Command::new(compiler()).arg("-I").arg(header).args(flags).arg(&library).arg(&source).output();
    let done = done.unwrap();
    if done.status.success() { Ok(library) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}
