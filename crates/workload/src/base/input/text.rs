//! The lines of a text that is no trace but may be as large as one.

use crate::base::error::{Problem, WorkloadError, printable};
use crate::base::findings::BadReason;
use crate::base::input::bytes::Input;
use crate::base::input::lines::{LINE_ALLOWED, Lines};
use crate::base::input::whole;
use std::path::Path;

/// Lines of a text file, plain or packed as traces are, in constant memory.
pub struct TextLines {
    lines: Lines,
    number: u64,
}

impl TextLines {
    /// Opens a file, or a pipe of a shell.
    pub fn open(path: &Path) -> Result<Self, WorkloadError> {
        let name = path.display().to_string();
        let fail = |error: std::io::Error| Problem::File {
            file: name.clone(),
            action: "open",
            message: error.to_string(),
        };
        let file = whole::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        Ok(TextLines { lines: Lines::new(Input::of(file, name, size)?)?, number: 0 })
    }

    /// The next line, without its line end; one that is longer than [`LINE_BYTES_MAX`](crate::LINE_BYTES_MAX) is an
    /// error.
    #[allow(clippy::should_implement_trait, reason = "a line borrows the buffer, so this is no iterator")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, WorkloadError> {
        self.number += 1;
        let file = self.lines.file().to_owned();
        match self.lines.next()? {
            Some(line) if line.too_long => Err(Problem::BadLine {
                file,
                line: self.number,
                byte: None,
                column: "",
                reason: BadReason::LineTooLong,
                found: printable(line.bytes),
                allowed: LINE_ALLOWED.to_owned(),
            }
            .into()),
            line => Ok(line.map(|line| line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes))),
        }
    }
}
