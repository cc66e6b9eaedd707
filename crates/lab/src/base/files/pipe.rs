//! Pipes, whose readers may sleep for ever: they are waited for as long as nobody asks the process to end.

use crate::base::process::is_writable;
use crate::base::stop::Stop;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// So much is taken at once by a pipe that takes anything (POSIX, `PIPE_BUF` is at least 512; Linux, `man 7 pipe`).
const AT_ONCE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };
/// Between two looks at whether the process is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A process that is to end waits so long for its reader (assumed).
const PATIENCE: Duration = Duration::from_secs(3);

/// Something to write to that may be a pipe. While nobody reads it, a signal that asks the process to end is heard:
/// then writing fails, after three seconds.
#[derive(Debug)]
pub struct Pipe<W> {
    inner: W,
    is_pipe: bool,
    patience: Patience,
}

impl Pipe<File> {
    /// Opens a pipe, or a device, to write.
    pub(super) fn open(place: &Path, is_pipe: bool) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true);
        if !is_pipe {
            return Ok(Pipe { inner: options.open(place)?, is_pipe, patience: Patience::default() });
        }
        options.custom_flags(libc::O_NONBLOCK);
        let mut patience = Patience::default();
        loop {
            match options.open(place) {
                // Nobody reads it yet.
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) => patience.wait()?,
                opened => return Ok(Pipe { inner: opened?, is_pipe, patience }),
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl<W: Write + AsFd> Pipe<W> {
    /// Around what is open already.
    pub fn new(inner: W) -> Self {
        let file = inner.as_fd().try_clone_to_owned().map(File::from);
        let found = file.and_then(|file| file.metadata());
        let is_pipe = found.is_ok_and(|found| found.file_type().is_fifo());
        Pipe { inner, is_pipe, patience: Patience::default() }
    }

    /// Waits until it takes something.
    fn wait(&mut self) -> io::Result<()> {
        while !is_writable(self.inner.as_fd(), LOOK_EVERY) {
            self.patience.wait()?;
        }
        Ok(())
    }
}

impl<W: Write + AsFd> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_pipe {
            return self.inner.write(bytes);
        }
        let bytes = &bytes[..bytes.len().min(AT_ONCE)];
        loop {
            self.wait()?;
            match self.inner.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(LOOK_EVERY),
                written => {
                    self.patience = Patience::default();
                    return written;
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Waiting, which ends some time after the process was asked to end.
#[derive(Debug, Default)]
struct Patience(Option<Instant>);

impl Patience {
    /// Another look: an error if it is over.
    fn wait(&mut self) -> io::Result<()> {
        if Stop::is_process_asked() && self.0.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            return Err(io::Error::other("nobody reads it, and the command was asked to end"));
        }
        Ok(())
    }
}
