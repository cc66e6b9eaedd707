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
    std::fs::write(folder.join("wordline_policy.h"), abi::HEADER).unwrap();
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&source, format!("#include \"wordline_policy.h\"\n{code}")).unwrap();
    let flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o"];
    let done = Command::new(compiler()).args(flags).arg(&library).arg(&source).output().unwrap();
    if done.status.success() { Ok(library) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}
