//! Records what a program does to regular files, with the call stack of each call.
//!
//! A kernel filter (seccomp) stops the command's threads only at calls that change or remove files;
//! everything else runs at full speed. While a thread waits, its stack is copied and unwound with the tables for
//! exceptions. Processes, threads and programs that the command starts are followed. The format is that of
//! [`workload::capture`].
//!
//! This needs Linux on x86-64 or aarch64, 5.6 or later; elsewhere [`record`] says so.

use std::ffi::OsString;
use std::io::{self, Write};

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
mod recorded;

pub use recorded::{End, Error, Recorded};

/// Runs a command to its end and writes a capture of it. Its input, output and exit are its own; signals that other
/// programs send to this one are passed on to it, and those of a terminal end it alone: whoever calls this goes on.
///
/// Names of files are kept only if that is asked for.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn record<W: Write>(command: &[OsString], keeps_names: bool, out: W) -> Result<(W, Recorded), Error> {
    linux::record(command, keeps_names, out)
}

/// Says that it cannot be done on this system.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn record<W: Write>(_: &[OsString], _: bool, _: W) -> Result<(W, Recorded), Error> {
    Err(Error::Unsupported)
}

/// Why programs cannot be captured here; `None` if they can.
pub fn refusal() -> Option<Error> {
    record(&["true".into()], false, io::sink()).err()
}
