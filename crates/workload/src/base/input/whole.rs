//! Files that are read whole: configurations, sweeps, jobs, results, snapshots.
//!
//! Each has a size that it may have at most, because what is read whole lies in memory, with what is made of it; and
//! it must have an end: a file, or a pipe that a shell has made (`<(...)`).

use crate::base::input::lines::LINE_BYTES_MAX;
use std::fs::{File, FileType, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Most bytes of a text that people write, or scripts for them: configurations, sweeps, jobs, claims. The largest
/// that ships has 0.8 MB.
pub const TEXT_BYTES_MAX: u64 = 4 << 20;
/// Most bytes of a result, or of a table of results: those of the longest runs have some ten MB.
pub const RESULT_BYTES_MAX: u64 = 1 << 30;

/// Refuses what has no end, or cannot be opened without waiting for somebody: devices, sockets, and named pipes. Those
/// of a shell are open already, and have no name but a number.
pub fn check(path: &Path) -> io::Result<()> {
    // What is not there is told by whoever opens it.
    let Ok(found) = std::fs::metadata(path) else { return Ok(()) };
    let is_open = ["/dev/", "/proc/"].iter().any(|folder| path.starts_with(folder));
    check_type(&found, is_open)
}

fn check_type(found: &Metadata, is_open: bool) -> io::Result<()> {
    let found = found.file_type();
    if found.is_file() || found.is_dir() || found.is_fifo() && is_open {
        return Ok(());
    }
    let message = format!("it is a {}, allowed: a file", name(found));
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

fn name(found: FileType) -> &'static str {
    if found.is_fifo() {
        "named pipe"
    } else if found.is_socket() {
        "socket"
    } else {
        "device"
    }
}

/// Opens a file that has an end.
pub fn open(path: &Path) -> io::Result<File> {
    check(path)?;
    let file = File::open(path)?;
    // It may have become another one meanwhile.
    check_type(&file.metadata()?, true)?;
    Ok(file)
}

/// The bytes of a file of at most so many.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let found = file.metadata()?;
    let size = if found.is_file() { found.len() } else { 0 };
    let too_large = |found: String| {
        let message = format!("it has {found} bytes, allowed: up to {most} bytes");
        io::Error::new(ErrorKind::FileTooLarge, message)
    };
    if size > most {
        return Err(too_large(size.to_string()));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize)?;
    // A pipe has no size, and a file may grow.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(format!("more than {most}")));
    }
    Ok(bytes)
}

/// The text of a file of at most so many bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read(path, most)?)
}

/// The bytes as text.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(ErrorKind::InvalidData, format!("byte {at} is not UTF-8 text"))
    })
}

/// The bytes of a text that people write, of at most [`TEXT_BYTES_MAX`], whose lines are as long as those of traces may
/// be.
pub fn read_lines(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = read(path, TEXT_BYTES_MAX)?;
    let long = bytes.split(|byte| *byte == b'\n').position(|line| line.len() > LINE_BYTES_MAX);
    match long {
        None => Ok(bytes),
        Some(line) => {
            let message = format!("line {} is longer than {LINE_BYTES_MAX} bytes", line + 1);
            Err(io::Error::new(ErrorKind::InvalidData, message))
        }
    }
}

/// A path where it must be text, in TOML or JSON: refused if it is none, because no text names it.
pub fn path_as_text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| {
        let found = path.as_os_str().as_encoded_bytes().escape_ascii();
        let why = "configurations and results name files in UTF-8";
        let allowed = "a path in UTF-8, perhaps that of a symbolic link to it";
        let message = format!("{why}\n    found:   \"{found}\"\n    allowed: {allowed}");
        io::Error::new(ErrorKind::InvalidFilename, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T>(result: io::Result<T>) -> String {
        result.err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn files_are_read_up_to_their_most_and_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, [b'x'; 10]).unwrap();
        assert_eq!(read(&path, 10).unwrap().len(), 10);
        assert_eq!(message(read(&path, 9)), "it has 10 bytes, allowed: up to 9 bytes");
        // Sparse: larger than any memory, and nothing of it is read.
        File::create(&path).unwrap().set_len(1 << 42).unwrap();
        assert!(message(read(&path, TEXT_BYTES_MAX)).contains("4398046511104 bytes"));
        std::fs::write(&path, [&b"a\n"[..], &[b'x'; LINE_BYTES_MAX + 1]].concat()).unwrap();
        assert_eq!(message(read_lines(&path)), "line 2 is longer than 65536 bytes");
        std::fs::write(&path, b"ab\xff").unwrap();
        assert_eq!(message(read_text(&path, 10)), "byte 2 is not UTF-8 text");
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        for device in ["/dev/zero", "/dev/urandom", "/dev/full"] {
            let told = message(read(Path::new(device), TEXT_BYTES_MAX));
            assert_eq!(told, "it is a device, allowed: a file", "{device}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(message(read(&path, 1)), "it is a socket, allowed: a file");
        assert!(message(read(&folder.path().join("none"), 1)).contains("No such file"));
        assert!(message(read(folder.path(), 1)).contains("directory"));
    }

    #[test]
    fn a_pipe_of_a_shell_is_read_up_to_the_most() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"seven b").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read(Path::new(&path), 7).unwrap(), b"seven b");
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"eight by").unwrap();
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let told = message(read(Path::new(&path), 7));
        assert_eq!(told, "it has more than 7 bytes, allowed: up to 7 bytes");
    }
}
