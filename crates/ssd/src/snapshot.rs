//! Snapshots: a whole drive as bytes, and back, bit for bit, with everything that is under way.
//!
//! A snapshot is a header of 40 bytes (magic, version, hash of the configuration, length and checksum of the rest,
//! all little-endian) and the state in postcard form, with large tables as raw bytes. It fits only a drive of the
//! same configuration: limits and policies are not stored in it.

use core::fmt;

/// First bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"WLSNAP\r\n";

/// Version of the format; a snapshot of another version is refused.
pub const VERSION: u64 = 38;

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
    let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let mut eight = [0; 8];
        eight.copy_from_slice(word);
        hash = (hash ^ u64::from_le_bytes(eight)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
    for &byte in words.remainder() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    crate::rng::mix(hash)
}

/// Puts a header before a snapshot's content.
pub fn seal(config_hash: u64, content: &[u8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&VERSION.to_le_bytes());
    header[16..24].copy_from_slice(&config_hash.to_le_bytes());
    header[24..32].copy_from_slice(&(content.len() as u64).to_le_bytes());
    header[32..40].copy_from_slice(&checksum(content).to_le_bytes());
    header
}

/// Checks a snapshot's header and checksum and returns its content.
pub fn open(config_hash: u64, bytes: &[u8]) -> Result<&[u8], SnapshotError> {
    let found = bytes.len() as u64;
    if !bytes.starts_with(&MAGIC[..bytes.len().min(8)]) {
        return Err(SnapshotError::NotASnapshot);
    }
    let Some((header, content)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err(SnapshotError::Truncated { expected: HEADER_BYTES as u64, found });
    };
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|i| header[at + i]));
    let version = word(8);
    if version != VERSION {
        return Err(SnapshotError::Version { found: version });
    }
    if word(16) != config_hash {
        return Err(SnapshotError::OtherConfig { expected: config_hash, found: word(16) });
    }
    if word(24) != content.len() as u64 {
        return Err(SnapshotError::Truncated {
            expected: word(24).saturating_add(HEADER_BYTES as u64),
            found,
        });
    }
    if word(32) != checksum(content) {
        return Err(SnapshotError::Damaged);
    }
    Ok(content)
}

/// Large tables as raw little-endian bytes, for `#[serde(with = "raw")]`.
pub mod raw {
    use bytemuck::Pod;
    use core::fmt;
    use core::marker::PhantomData;
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes the table.
    pub fn serialize<T: Pod, S: Serializer>(table: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytemuck::cast_slice(table))
    }

    /// Reads the table.
    pub fn deserialize<'de, T: Pod, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        struct Table<T>(PhantomData<T>);
        impl<T: Pod> Visitor<'_> for Table<T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table as bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
                if !bytes.len().is_multiple_of(size_of::<T>()) {
                    return Err(E::invalid_length(bytes.len(), &self));
                }
                let mut table = vec![T::zeroed(); bytes.len() / size_of::<T>()];
                bytemuck::cast_slice_mut(&mut table).copy_from_slice(bytes);
                Ok(table)
            }
        }
        deserializer.deserialize_bytes(Table(PhantomData))
    }
}

#[cfg(test)]
mod tests {
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
            for tag in 0..1_500 {
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
            assert!(stopped > 250 && twice > 50, "{stopped} stopped, {twice} a second time");
            assert_eq!(done[0], done[1]);
            // What was done in vain counts, too.
            let adds_up = |done: &Completion| done.breakdown.total() == (done.completed - done.arrival).0;
            assert!(done[0].iter().all(adds_up));
            let end = |drive: &Drive| (drive.event_hash(), drive.stats(), drive.now());
            assert_eq!(end(&drive), end(&twin));
        }
    }
}
