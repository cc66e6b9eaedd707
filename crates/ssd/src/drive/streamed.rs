//! A snapshot's content read piece by piece, from a file that may be compressed: beside the drive itself, memory holds
//! no more than a piece of it.

use crate::snapshot::{self, Checksum, HEADER_BYTES, SnapshotError, raw};
use postcard::de_flavors::Flavor;
use postcard::{Deserializer, Error, Result};
use serde::de::DeserializeOwned;
use std::io::{self, Read};

/// Bytes read at once: a piece of a table is in one place, with room for what stands before it.
const ROOM: usize = 2 * raw::PIECE;

/// Content that is read as it is needed.
struct Streamed<'r, R> {
    from: &'r mut R,
    buffer: Vec<u8>,
    /// What of the buffer was read and not yet taken.
    held: std::ops::Range<usize>,
    /// Bytes of the content that were not yet read.
    left: u64,
    sum: Checksum,
    /// Why no more could be read.
    failed: Option<io::Error>,
}

impl<R: Read> Streamed<'_, R> {
    /// Has at least so many bytes in the buffer.
    fn need(&mut self, bytes: usize) -> Result<()> {
        if self.held.len() >= bytes {
            return Ok(());
        }
        self.buffer.copy_within(self.held.clone(), 0);
        self.held = 0..self.held.len();
        while self.held.len() < bytes {
            let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(ROOM - self.held.end);
            match self.from.read(&mut self.buffer[self.held.end..][..room]) {
                // Also where there is no room: nothing as long is written.
                Ok(0) => return Err(Error::DeserializeUnexpectedEnd),
                Ok(read) => {
                    self.sum.take(&self.buffer[self.held.end..][..read]);
                    self.held.end += read;
                    self.left -= read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(error);
                    return Err(Error::DeserializeUnexpectedEnd);
                }
            }
        }
        Ok(())
    }

    /// Reads what is left, for its checksum.
    fn read_all(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while self.left > 0 {
            self.held = 0..0;
            if self.need(1).is_err() {
                return Err(self.failed.take().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into()));
            }
        }
        Ok(())
    }
}

impl<'de, 'r: 'de, R: Read + 'de> Flavor<'de> for Streamed<'r, R> {
    type Remainder = Self;
    type Source = Self;

    #[inline]
    fn pop(&mut self) -> Result<u8> {
        self.need(1)?;
        let byte = self.buffer[self.held.start];
        self.held.start += 1;
        Ok(byte)
    }

    /// Nothing in a drive is borrowed from its snapshot.
    fn try_take_n(&mut self, _: usize) -> Result<&'de [u8]> {
        Err(Error::WontImplement)
    }

    fn try_take_n_temp<'a>(&'a mut self, bytes: usize) -> Result<&'a [u8]>
    where
        'de: 'a,
    {
        self.need(bytes)?;
        let begin = self.held.start;
        self.held.start += bytes;
        Ok(&self.buffer[begin..begin + bytes])
    }

    fn finalize(self) -> Result<Self> {
        Ok(self)
    }
}

/// Reads the state in a snapshot of so many bytes of a drive of a configuration. What is wrong with what could be read
/// is inside the error, as a [`SnapshotError`].
pub(crate) fn read<T: DeserializeOwned>(config_hash: u64, from: &mut impl Read, bytes: u64) -> io::Result<T> {
    let mut header = Vec::with_capacity(HEADER_BYTES);
    (&mut *from).take(HEADER_BYTES as u64).read_to_end(&mut header)?;
    let (length, sum) = snapshot::announced(config_hash, &header, bytes).map_err(io::Error::other)?;
    content(from, length, sum)
}

/// Reads a state of so many bytes and this checksum.
fn content<T: DeserializeOwned>(from: &mut impl Read, bytes: u64, sum: u64) -> io::Result<T> {
    let begun = Checksum::of(bytes);
    let streamed =
        Streamed { from, buffer: vec![0; ROOM], held: 0..0, left: bytes, sum: begun, failed: None };
    let mut reader = Deserializer::from_flavor(streamed);
    let content = T::deserialize(&mut reader);
    let mut rest = reader.finalize().map_err(io::Error::other)?;
    let is_all = rest.held.is_empty() && rest.left == 0;
    // What was damaged need not be a state: the checksum knows it.
    rest.read_all()?;
    let wrong = |error: SnapshotError| Err(io::Error::other(error));
    if rest.sum.finish() != sum {
        return wrong(SnapshotError::Damaged);
    }
    match content {
        Ok(content) if is_all => Ok(content),
        Ok(_) => wrong(SnapshotError::Malformed("more than a drive".to_owned())),
        Err(error) => wrong(SnapshotError::Malformed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::content;
    use crate::snapshot::{SnapshotError, checksum, raw};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Some {
        word: String,
        #[serde(with = "raw")]
        table: Vec<[u32; 3]>,
        numbers: Vec<u64>,
        #[serde(with = "raw")]
        bytes: Vec<u8>,
    }

    /// Tables of several pieces, of entries that no piece has room for without a rest, after what moves them.
    #[test]
    fn tables_are_read_piece_by_piece() {
        for entries in [0, 1, raw::PIECE / 12, raw::PIECE / 12 + 1, 100_000] {
            let table = (0..entries as u32).map(|i| [i, i.wrapping_mul(0x9e37_79b9), !i]).collect();
            let numbers = (0..70_000).map(|i| i * i * i).collect();
            let some = Some { word: "here".to_owned(), table, numbers, bytes: vec![7; entries] };
            let bytes = postcard::to_allocvec(&some).unwrap();
            let (length, sum) = (bytes.len() as u64, checksum(&bytes));
            assert_eq!(content::<Some>(&mut &bytes[..], length, sum).unwrap(), some);
            let wrong = |bytes: &[u8], sum: u64| {
                SnapshotError::within(content::<Some>(&mut &*bytes, bytes.len() as u64, sum).unwrap_err())
            };
            assert_eq!(wrong(&bytes, sum ^ 1), SnapshotError::Damaged);
            let longer = [&bytes[..], b"more"].concat();
            let more = wrong(&longer, checksum(&longer));
            assert!(matches!(more, SnapshotError::Malformed(_)), "{more:?}");
        }
    }
}
