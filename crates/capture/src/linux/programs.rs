//! What a program is called, where it is, and of what kind.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::sys::Tid;

/// The file of a command: its path if it is one, else that of a program in a folder of `PATH`.
pub fn find(command: &OsStr) -> Option<PathBuf> {
    if command.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(command)).filter(|path| path.exists());
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    std::env::split_paths(&folders).map(|folder| folder.join(command)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// What a process is called: its program's name, at most 15 letters.
pub fn name_of(pid: Tid) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// The process that a thread belongs to.
pub fn process_of(tid: Tid) -> Option<Tid> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// The bits that give a program the rights of its file's user or group.
const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
/// Numbers of architectures in ELF files (`e_machine`).
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
/// The class of ELF files with 64-bit addresses.
const CLASS_64: u8 = 2;

/// Whether a process's program would have other rights, and whether it is of another architecture.
pub fn kind_of(pid: Tid) -> (bool, bool) {
    let Ok(mut file) = File::open(format!("/proc/{pid}/exe")) else { return (false, false) };
    let mode = file.metadata().map_or(0, |facts| facts.permissions().mode());
    let mut head = [0; 20];
    let is_read = file.read_exact(&mut head).is_ok();
    let is_native = head[4] == CLASS_64 && u16::from_le_bytes([head[18], head[19]]) == MACHINE;
    (mode & SET_ID != 0, is_read && !is_native)
}
