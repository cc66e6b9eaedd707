//! Standard input as a trace. A trace is read twice, and once more by each user that replays it, so what comes in is
//! kept, as it comes (compressed or not), in a temporary file that has no name and is gone with the process.

use crate::base::error::{Problem, WorkloadError};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};

/// What stands for standard input where the path of a trace is expected.
pub const STANDARD_INPUT: &str = "-";
/// What messages call it.
pub(crate) const NAME: &str = "standard input";

/// What was read.
#[derive(Clone)]
pub(crate) struct Spool {
    file: Arc<File>,
    pub bytes: u64,
}

static SPOOL: OnceLock<Result<Spool, WorkloadError>> = OnceLock::new();

/// Reads standard input to its end, if that has not been done, and says how many bytes are kept for it.
pub fn keep_standard_input() -> Result<u64, WorkloadError> {
    spool().map(|spool| spool.bytes)
}

pub(crate) fn spool() -> Result<Spool, WorkloadError> {
    SPOOL.get_or_init(|| keep(io::stdin().lock(), io::stdin().is_terminal())).clone()
}

fn keep(mut input: impl Read, is_terminal: bool) -> Result<Spool, WorkloadError> {
    let fail = |action, message: String| {
        WorkloadError::from(Problem::File { file: NAME.to_owned(), action, message })
    };
    if is_terminal {
        return Err(fail(
            "open",
            "it is a terminal; pipe a trace into it: cat TRACE | wordline run -".to_owned(),
        ));
    }
    let kept = tempfile::tempfile().map_err(|e| fail("read", format!("no temporary file for it: {e}")))?;
    let bytes = io::copy(&mut input, &mut &kept).map_err(|e| fail("read", e.to_string()))?;
    Ok(Spool { file: Arc::new(kept), bytes })
}

impl Spool {
    /// The bytes from the start; any number of readers go on each at its own place.
    pub(crate) fn reader(&self) -> impl Read + Send + 'static {
        SpoolReader { file: Arc::clone(&self.file), at: 0 }
    }
}

struct SpoolReader {
    file: Arc<File>,
    at: u64,
}

impl Read for SpoolReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(into, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_go_on_each_at_its_own_place() {
        let spool = keep(&b"first second"[..], false).unwrap();
        assert_eq!(spool.bytes, 12);
        let (mut one, mut two) = (spool.reader(), spool.reader());
        let mut start = [0; 5];
        one.read_exact(&mut start).unwrap();
        let mut all = String::new();
        two.read_to_string(&mut all).unwrap();
        let mut rest = String::new();
        one.read_to_string(&mut rest).unwrap();
        assert_eq!((&start, all.as_str(), rest.as_str()), (b"first", "first second", " second"));
        let error = keep(&b""[..], true).err().unwrap().to_string();
        assert!(error.contains("standard input") && error.contains("terminal"), "{error}");
    }
}
