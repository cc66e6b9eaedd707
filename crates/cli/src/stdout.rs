//! Standard output that never stops the work: what cannot be printed is told at the end.

use std::io::{self, ErrorKind, Write};

/// A writer that keeps its first error for the end and takes everything after it as written.
pub struct Output<W> {
    inner: W,
    error: Option<io::Error>,
}

impl<W: Write> Output<W> {
    /// Around a writer.
    pub fn new(inner: W) -> Self {
        Output { inner, error: None }
    }

    /// Writes what is left; the first error there was.
    pub fn finish(mut self) -> Result<(), io::Error> {
        let _ = self.flush();
        self.error.map_or(Ok(()), Err)
    }

    fn keep<T>(&mut self, done: io::Result<T>, instead: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                self.error = Some(error);
                Ok(instead)
            }
            done => done,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.is_some() {
            return Ok(bytes.len());
        }
        let written = self.inner.write(bytes);
        self.keep(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.error.is_some() {
            return Ok(());
        }
        let flushed = self.inner.flush();
        self.keep(flushed, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_error_comes_at_the_end() {
        let mut out = Output::new(Full(3));
        out.write_all(b"four").unwrap();
        out.write_all(b"more").unwrap();
        assert_eq!(out.finish().unwrap_err().kind(), ErrorKind::StorageFull);
        let mut out = Output::new(Full(9));
        out.write_all(b"four").unwrap();
        assert!(out.finish().is_ok());
    }
}
