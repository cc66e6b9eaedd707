//! Rows as CSV, plain or compressed.

use super::{Cell, Column};
use crate::base::error::ReportError;
use crate::base::files::Replacement;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 << 10;
/// No row is longer: that of a request has 28 numbers of at most 20 digits, three words, and separators.
const ROW_BYTES: usize = 1024;
/// Compression level of Zstandard: its default, and faster than a disk.
const LEVEL: i32 = 3;

enum Target {
    Plain(Replacement),
    Compressed(zstd::Encoder<'static, Replacement>),
}

impl Target {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Target::Plain(file) => file.write_all(bytes),
            Target::Compressed(encoder) => encoder.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Target::Plain(file) => file.commit(),
            Target::Compressed(encoder) => encoder.finish()?.commit(),
        }
    }
}

/// A CSV file being written.
pub(super) struct CsvRows {
    path: PathBuf,
    target: Target,
    buffer: Vec<u8>,
}

impl CsvRows {
    pub fn create(path: &Path, columns: &[Column], compressed: bool) -> Result<Self, ReportError> {
        let fail = |error: io::Error| ReportError::new(path, "create", error);
        let file = Replacement::create(path).map_err(fail)?;
        let target = if compressed {
            Target::Compressed(zstd::Encoder::new(file, LEVEL).map_err(fail)?)
        } else {
            Target::Plain(file)
        };
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        buffer.extend_from_slice(names.join(",").as_bytes());
        buffer.push(b'\n');
        Ok(CsvRows { path: path.to_owned(), target, buffer })
    }

    pub fn add(&mut self, cells: &[Cell]) -> Result<(), ReportError> {
        for cell in cells {
            match *cell {
                Cell::Number(number) => self.number(number),
                Cell::Word(word) => self.word(word),
                Cell::Nothing => self.word(""),
            }
        }
        if let Some(last) = self.buffer.last_mut() {
            *last = b'\n';
        }
        if self.buffer.len() > BUFFER_BYTES - ROW_BYTES { self.flush() } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<(), ReportError> {
        self.flush()?;
        self.target.finish().map_err(|error| ReportError::new(&self.path, "write", error))
    }

    fn flush(&mut self) -> Result<(), ReportError> {
        let written = self.target.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| ReportError::new(&self.path, "write", error))
    }

    fn word(&mut self, word: &str) {
        self.buffer.extend_from_slice(word.as_bytes());
        self.buffer.push(b',');
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [b','; 21];
        let mut at = digits.len() - 1;
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.buffer.extend_from_slice(&digits[at..]);
    }
}
