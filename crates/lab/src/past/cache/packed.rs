//! How a drive's tables are packed: as differences, compressed.
//!
//! Most of a drive is tables of numbers that count up, page by page and die by die, which no compressor sees in them;
//! it does in how each eight bytes differ from those before. What was written in order, by one command after the other,
//! takes a hundredth of its room so; what was written at random as much as before.

use std::io::{self, BufRead, Read, Write};

/// Bytes that are compared with those before.
const STEP: usize = 8;
/// Bytes that are packed at once.
const ROOM: usize = 1 << 16;
/// How hard it is compressed: as fast as it goes.
const LEVEL: i32 = 1;

/// Each byte of a word, minus that of another.
fn difference(word: [u8; STEP], before: [u8; STEP]) -> [u8; STEP] {
    std::array::from_fn(|i| word[i].wrapping_sub(before[i]))
}

fn sum(difference: [u8; STEP], before: [u8; STEP]) -> [u8; STEP] {
    std::array::from_fn(|i| difference[i].wrapping_add(before[i]))
}

/// Packs what is written to it.
pub(super) struct Packing<W: Write> {
    out: zstd::stream::write::Encoder<'static, W>,
    buffer: Vec<u8>,
    before: [u8; STEP],
}

impl<W: Write> Packing<W> {
    pub fn new(out: W) -> io::Result<Self> {
        let out = zstd::stream::write::Encoder::new(out, LEVEL)?;
        Ok(Packing { out, buffer: Vec::with_capacity(ROOM), before: [0; STEP] })
    }

    /// Writes what is complete of the buffer.
    fn pack(&mut self) -> io::Result<()> {
        let (words, rest) = self.buffer.as_chunks_mut::<STEP>();
        let rest = rest.len();
        for word in &mut *words {
            (*word, self.before) = (difference(*word, self.before), *word);
        }
        let packed = self.buffer.len() - rest;
        self.out.write_all(&self.buffer[..packed])?;
        self.buffer.drain(..packed);
        Ok(())
    }

    /// Writes the end.
    pub fn finish(mut self) -> io::Result<()> {
        self.pack()?;
        self.out.write_all(&self.buffer)?;
        self.out.finish()?.flush()
    }
}

impl<W: Write> Write for Packing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(ROOM - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == ROOM {
            self.pack()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What was packed, as it was.
pub(super) struct Unpacking<R: BufRead> {
    from: zstd::stream::read::Decoder<'static, R>,
    buffer: Vec<u8>,
    /// What of the buffer is to be read.
    held: std::ops::Range<usize>,
    /// Bytes that were packed and are not unpacked; what follows them is nobody's, and left as it is.
    left: u64,
    before: [u8; STEP],
}

impl<R: BufRead> Unpacking<R> {
    /// Of so many bytes.
    pub fn new(from: R, bytes: u64) -> io::Result<Self> {
        let from = zstd::stream::read::Decoder::with_buffer(from)?;
        Ok(Unpacking { from, buffer: vec![0; ROOM], held: 0..0, left: bytes, before: [0; STEP] })
    }

    /// Fills the buffer; at the end with less.
    fn unpack(&mut self) -> io::Result<()> {
        let mut read = 0;
        while read < ROOM {
            match self.from.read(&mut self.buffer[read..]) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // A word that lacks bytes at the end was packed as it is.
        let packed = self.left.min(read as u64) as usize;
        self.left -= packed as u64;
        for word in self.buffer[..packed].as_chunks_mut().0 {
            *word = sum(*word, self.before);
            self.before = *word;
        }
        self.held = 0..read;
        Ok(())
    }
}

impl<R: BufRead> Read for Unpacking<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.held.is_empty() {
            self.unpack()?;
        }
        let taken = bytes.len().min(self.held.len());
        let from = self.held.start;
        bytes[..taken].copy_from_slice(&self.buffer[from..from + taken]);
        self.held.start += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut packing = Packing::new(&mut out).unwrap();
        bytes.chunks(piece).for_each(|piece| packing.write_all(piece).unwrap());
        packing.finish().unwrap();
        out
    }

    /// Whatever it is and in whatever pieces it comes.
    #[test]
    fn what_is_packed_comes_back() {
        let mut rng = ssd::rng::Rng::named(1, "packed");
        let noise: Vec<u8> = (0..300_000).map(|_| rng.next_u64() as u8).collect();
        for length in [0, 1, 7, 8, 9, 4_095, ROOM - 1, ROOM, ROOM + 1, 2 * ROOM + 5, noise.len()] {
            for piece in [1, 13, 4_096, ROOM + 3] {
                let packed = packed(&noise[..length], piece);
                let mut back = Vec::new();
                Unpacking::new(&packed[..], length as u64).unwrap().read_to_end(&mut back).unwrap();
                assert!(back == noise[..length], "{length} in pieces of {piece}");
            }
        }
    }

    /// What somebody put behind changes nothing before it, whatever the length.
    #[test]
    fn what_follows_is_left_as_it_is() {
        let mut rng = ssd::rng::Rng::named(2, "packed");
        let noise: Vec<u8> = (0..2 * ROOM).map(|_| rng.next_u64() as u8).collect();
        let more = b"and more of it";
        for length in (0..20).chain(ROOM - 9..ROOM + 9) {
            let mut file = packed(&noise[..length], ROOM);
            file.extend(zstd::encode_all(&more[..], LEVEL).unwrap());
            let mut back = Vec::new();
            Unpacking::new(&file[..], length as u64).unwrap().read_to_end(&mut back).unwrap();
            assert!(back == [&noise[..length], more].concat(), "{length}");
        }
    }

    /// A map of what was written in order: four units a page, a page of each plane of each die, then the next.
    #[test]
    fn what_counts_up_takes_little() {
        let place = |unit: u32| {
            let (page, at) = (unit / 4, unit % 4);
            let (lane, page) = (page % 64, page / 64);
            !(lane * 2_000_000 + page * 4 + at)
        };
        let map: Vec<u8> = (0..1_000_000).flat_map(|unit| place(unit).to_le_bytes()).collect();
        let size = packed(&map, 1 << 18).len();
        assert!(size * 50 < map.len(), "{size} of {}", map.len());
    }
}
