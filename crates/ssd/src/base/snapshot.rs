//! Snapshots: a whole drive as bytes, and back, bit for bit, with everything that is under way.
//!
//! A snapshot is a header of 40 bytes (magic, version, hash of the configuration, length and checksum of the rest,
//! all little-endian) and the state in postcard form, with large tables as raw bytes, piece by piece: what is written
//! and read is nowhere as a whole. It fits only a drive of the same configuration: limits and policies are not stored
//! in it.

use core::fmt;
use serde::Serialize;
use std::io::{self, Write};

/// First bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"WLSNAP\r\n";

/// Version of the format; a snapshot of another version is refused.
pub const VERSION: u64 = 49;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 40;

/// Why a snapshot was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// Not as long as its header says, or shorter than a header.
    Truncated {
        /// Bytes a whole snapshot would have.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Does not begin as a snapshot does.
    NotASnapshot,
    /// Written by another version of the format.
    Version {
        /// That version.
        found: u64,
    },
    /// Of a drive with another configuration.
    OtherConfig {
        /// Hash of the configuration asked for.
        expected: u64,
        /// Hash of the configuration it was saved with.
        found: u64,
    },
    /// The checksum does not fit: the bytes were damaged.
    Damaged,
    /// The checksum fits and yet the content is not a drive of this configuration.
    Malformed(String),
}

impl SnapshotError {
    /// What is wrong with a snapshot, of an error of reading it; what cannot be read is no snapshot.
    pub(crate) fn within(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(|other| SnapshotError::Malformed(other.to_string()))
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { expected, found } => {
                write!(f, "the snapshot is incomplete: found {found} bytes, expected {expected}")
            }
            Self::NotASnapshot => {
                write!(f, "this is not a Wordline snapshot: its first bytes are not WLSNAP")
            }
            Self::Version { found } => {
                write!(f, "the snapshot has format version {found}, this program reads version {VERSION}")
            }
            Self::OtherConfig { expected, found } => write!(
                f,
                "the snapshot is of a drive with another configuration (hash {found:016x}, here \
                 {expected:016x})"
            ),
            Self::Damaged => write!(f, "the snapshot is damaged: its checksum does not match"),
            Self::Malformed(what) => write!(f, "the snapshot cannot be read: {what}"),
        }
    }
}

impl std::error::Error for SnapshotError {}

/// A checksum of bytes (FNV-1a over 64-bit words, with the length).
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::of(bytes.len() as u64);
    sum.take(bytes);
    sum.finish()
}

/// A checksum of bytes that come piece by piece, whose number is known before.
pub(crate) struct Checksum {
    hash: u64,
    /// The beginning of a word.
    part: [u8; 8],
    /// Bytes of it.
    held: usize,
}

impl Checksum {
    pub(crate) fn of(bytes: u64) -> Self {
        Checksum { hash: 0xcbf2_9ce4_8422_2325 ^ bytes, part: [0; 8], held: 0 }
    }

    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        if self.held > 0 {
            let (more, rest) = bytes.split_at(bytes.len().min(8 - self.held));
            self.part[self.held..self.held + more.len()].copy_from_slice(more);
            (self.held, bytes) = (self.held + more.len(), rest);
            if self.held < 8 {
                return;
            }
            (self.held, self.hash) = (0, Self::with_word(self.hash, self.part));
        }
        let (words, rest) = bytes.as_chunks();
        self.hash = words.iter().fold(self.hash, |hash, word| Self::with_word(hash, *word));
        self.part[..rest.len()].copy_from_slice(rest);
        self.held = rest.len();
    }

    #[inline]
    fn with_word(hash: u64, word: [u8; 8]) -> u64 {
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    }

    pub(crate) fn finish(self) -> u64 {
        let rest = self.part[..self.held].iter();
        let with_byte = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        crate::rng::mix(rest.fold(self.hash, with_byte))
    }
}

impl io::Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts bytes.
struct Length(u64);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A drive's snapshot that is to be written, piece by piece: it is as large as the drive, and is nowhere as a whole.
pub struct Saving<'a, T> {
    content: &'a T,
    header: [u8; HEADER_BYTES],
    bytes: u64,
}

impl<'a, T: Serialize> Saving<'a, T> {
    /// Of a drive's state, which is of a configuration.
    pub(crate) fn new(config_hash: u64, content: &'a T) -> io::Result<Self> {
        let (mut length, mut header) = (Length(0), [0; HEADER_BYTES]);
        put(content, &mut length)?;
        let mut sum = Checksum::of(length.0);
        put(content, &mut sum)?;
        header[..8].copy_from_slice(&MAGIC);
        header[8..16].copy_from_slice(&VERSION.to_le_bytes());
        header[16..24].copy_from_slice(&config_hash.to_le_bytes());
        header[24..32].copy_from_slice(&length.0.to_le_bytes());
        header[32..40].copy_from_slice(&sum.finish().to_le_bytes());
        Ok(Saving { content, header, bytes: HEADER_BYTES as u64 + length.0 })
    }

    /// Its header, in which its length and checksum stand.
    pub fn header(&self) -> &[u8; HEADER_BYTES] {
        &self.header
    }

    /// Its length, with the header; bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes it.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let mut out = io::BufWriter::new(out);
        out.write_all(&self.header)?;
        put(self.content, &mut out)?;
        out.flush()
    }
}

/// Writes a state without its header.
fn put(content: &impl Serialize, out: &mut impl io::Write) -> io::Result<()> {
    // An error of what is written to does not come through.
    let mut out = Told { out, failed: None };
    let written = postcard::to_io(content, &mut out).map(drop);
    match out.failed {
        Some(error) => Err(error),
        None => written.map_err(io::Error::other),
    }
}

/// Keeps why something could not be written.
struct Told<'a, W> {
    out: &'a mut W,
    failed: Option<io::Error>,
}

impl<W: io::Write> Told<'_, W> {
    fn told<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            self.failed = Some(error);
            kind.into()
        })
    }
}

impl<W: io::Write> io::Write for Told<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write_all(bytes);
        self.told(done).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.told(done)
    }
}

/// What a header says of the content, if it is that of a snapshot of so many bytes of a drive of a configuration: its
/// length and checksum.
pub(crate) fn announced(config_hash: u64, begin: &[u8], bytes: u64) -> Result<(u64, u64), SnapshotError> {
    if !begin.starts_with(&MAGIC[..begin.len().min(8)]) {
        return Err(SnapshotError::NotASnapshot);
    }
    let Some(header) = begin.first_chunk::<HEADER_BYTES>() else {
        return Err(SnapshotError::Truncated { expected: HEADER_BYTES as u64, found: bytes });
    };
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|i| header[at + i]));
    let version = word(8);
    if version != VERSION {
        return Err(SnapshotError::Version { found: version });
    }
    if word(16) != config_hash {
        return Err(SnapshotError::OtherConfig { expected: config_hash, found: word(16) });
    }
    let expected = word(24).saturating_add(HEADER_BYTES as u64);
    if expected != bytes {
        return Err(SnapshotError::Truncated { expected, found: bytes });
    }
    Ok((word(24), word(32)))
}

/// Large tables as raw little-endian bytes, in pieces, for `#[serde(with = "raw")]`.
pub mod raw {
    use bytemuck::Pod;
    use core::fmt;
    use core::marker::PhantomData;
    use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
    use serde::{Deserializer, Serialize, Serializer};

    /// A piece of a table: whoever reads a snapshot needs room for one, beside the drive; bytes.
    pub(crate) const PIECE: usize = 1 << 18;

    /// Bytes of a piece.
    struct Piece<'a>(&'a [u8]);

    impl Serialize for Piece<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(self.0)
        }
    }

    /// Writes the table.
    pub fn serialize<T: Pod, S: Serializer>(table: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        let entries = PIECE / size_of::<T>();
        serializer.collect_seq(table.chunks(entries).map(|piece| Piece(bytemuck::cast_slice(piece))))
    }

    /// Where the pieces of a table go.
    struct Rest<'a, T>(&'a mut Vec<T>);

    impl<'de, T: Pod> DeserializeSeed<'de> for Rest<'_, T> {
        type Value = ();
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_byte_buf(self)
        }
    }

    impl<T: Pod> Visitor<'_> for Rest<'_, T> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table as bytes")
        }
        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<(), E> {
            if !bytes.len().is_multiple_of(size_of::<T>()) {
                return Err(E::invalid_length(bytes.len(), &self));
            }
            let begin = self.0.len();
            self.0.resize(begin + bytes.len() / size_of::<T>(), T::zeroed());
            bytemuck::cast_slice_mut(&mut self.0[begin..]).copy_from_slice(bytes);
            Ok(())
        }
    }

    /// Reads the table.
    pub fn deserialize<'de, T: Pod, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        struct Table<T>(PhantomData<T>);
        impl<'de, T: Pod> Visitor<'de> for Table<T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table in pieces")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut pieces: A) -> Result<Vec<T>, A::Error> {
                let mut table = Vec::new();
                while pieces.next_element_seed(Rest(&mut table))?.is_some() {}
                table.shrink_to_fit();
                Ok(table)
            }
        }
        deserializer.deserialize_seq(Table(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::{Checksum, checksum};
    use crate::config::Table;
    use crate::drive_config::DriveConfig;
    use crate::rng::Rng;
    use crate::{Command, Completion, Drive, Lba, OpCode};

    /// Four dies of two planes, reads of which go together; soon cleaned.
    fn config(cache_operations: bool) -> DriveConfig {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 2, 1, 2);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (16, 2, 3);
        cfg.drive.over_provisioning_percent = 35.0;
        cfg.timing.cache_operations = cache_operations;
        cfg.buffer.select("none").unwrap();
        cfg
    }

    /// Keeps 24 reads and writes under way.
    fn submit(drive: &mut Drive, rng: &mut Rng, tag: u64, done: &mut Vec<Completion>) {
        while drive.outstanding() >= 24 {
            assert!(drive.advance_to_completion(), "stuck");
            done.extend(std::iter::from_fn(|| drive.pop_completion()));
        }
        let sectors = drive.unit_bytes() / 512;
        let lba = Lba(u64::from(rng.below(drive.logical_units() / 4) * 4 * sectors));
        let op = if rng.below(3) == 0 { OpCode::Read } else { OpCode::Write };
        let command =
            Command { op, lba, sectors: 4 * sectors, tag, arrival: drive.now(), ..Command::default() };
        drive.submit(0, &command, drive.now()).unwrap();
    }

    /// By the definition: words first, then the bytes that are left.
    #[test]
    fn a_checksum_does_not_depend_on_the_pieces() {
        let bytes: Vec<u8> = (0..60_u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
        for length in 0..bytes.len() {
            let all = &bytes[..length];
            let step = |hash: u64, number: u64| (hash ^ number).wrapping_mul(0x0000_0100_0000_01b3);
            let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
            let begin = 0xcbf2_9ce4_8422_2325 ^ length as u64;
            let words = all.chunks_exact(8).fold(begin, |hash, of| step(hash, word(of)).rotate_left(23));
            let rest = all.chunks_exact(8).remainder();
            let defined = crate::rng::mix(rest.iter().fold(words, |hash, byte| step(hash, (*byte).into())));
            assert_eq!(checksum(all), defined, "{length}");
            for piece in [1, 3, 7, 8, 9, 20] {
                let mut sum = Checksum::of(length as u64);
                all.chunks(piece).for_each(|piece| sum.take(piece));
                assert_eq!(sum.finish(), defined, "{length} in pieces of {piece}");
            }
        }
    }

    /// What is known before it is written is so, and who cannot write says why.
    #[test]
    fn a_snapshot_is_announced_as_it_is_written() {
        let mut drive = Drive::new(&config(false)).unwrap();
        submit(&mut drive, &mut Rng::named(1, "test"), 0, &mut Vec::new());
        let (saving, mut bytes) = (drive.saving().unwrap(), Vec::new());
        saving.write(&mut bytes).unwrap();
        assert_eq!(
            (saving.bytes(), &saving.header()[..]),
            (bytes.len() as u64, &bytes[..super::HEADER_BYTES])
        );
        for room in [0, 10, 5_000, bytes.len() - 1] {
            let mut full = vec![0; room];
            let error = drive.save(&mut &mut full[..]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::WriteZero, "{room}: {error}");
        }
    }

    /// A count may be any number in bytes whose checksum fits; one to which nothing can come is refused.
    #[test]
    fn counts_that_are_full_are_refused() {
        let cfg = config(false);
        for count in [u64::MAX, 1 << 62] {
            let mut drive = Drive::new(&cfg).unwrap();
            drive.state.ftl.moves.media.work.counts.host_units = count;
            let mut bytes = Vec::new();
            drive.save(&mut bytes).unwrap();
            let error = Drive::restore(&cfg, &bytes).unwrap_err().to_string();
            assert!(error.contains("ftl.host_units has counted more than can happen"), "{error}");
        }
    }

    /// What is taken out of an array leaves its end in the queue. It is void, before and after a restore; several may
    /// be there for one die.
    #[test]
    fn void_ends_are_saved_and_stay_void() {
        for cache_operations in [false, true] {
            let cfg = config(cache_operations);
            let (mut drive, mut twin) = (Drive::new(&cfg).unwrap(), Drive::new(&cfg).unwrap());
            let (mut rng, mut done) = (Rng::named(7, "void"), [Vec::new(), Vec::new()]);
            let (mut stopped, mut twice) = (0, 0);
            for tag in 0..750 {
                for (drive, done) in [&mut drive, &mut twin].into_iter().zip(&mut done) {
                    submit(drive, &mut rng.clone(), tag, done);
                }
                rng.next_u64();
                if tag % 30 > 1 {
                    continue;
                }
                // The second time soon after the first: then two ends of what was begun before are void.
                for number in 0..cfg.geometry.dies() {
                    let of = |drive: &mut Drive| {
                        let now = drive.now();
                        drive.state.flash.stop_array(number, now, &mut drive.state.events)
                    };
                    let count = of(&mut drive);
                    assert_eq!(of(&mut twin), count);
                    stopped += count;
                    twice += u32::from(tag % 30 == 1 && count > 0);
                }
                let mut bytes = Vec::new();
                drive.save(&mut bytes).unwrap();
                drive = Drive::restore(&cfg, &bytes).unwrap();
                let mut again = Vec::new();
                drive.save(&mut again).unwrap();
                assert!(bytes == again);
            }
            for (drive, done) in [&mut drive, &mut twin].into_iter().zip(&mut done) {
                drive.drain();
                done.extend(std::iter::from_fn(|| drive.pop_completion()));
                drive.check().unwrap();
            }
            assert!(stopped > 125 && twice > 25, "{stopped} stopped, {twice} a second time");
            assert_eq!(done[0], done[1]);
            // What was done in vain counts, too.
            let adds_up = |done: &Completion| done.breakdown.total() == (done.completed - done.arrival).0;
            assert!(done[0].iter().all(adds_up));
            let end = |drive: &Drive| (drive.event_hash(), drive.stats(), drive.now());
            assert_eq!(end(&drive), end(&twin));
        }
    }
}
