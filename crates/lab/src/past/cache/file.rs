//! A drive's file: some words on it, and its snapshot.
//!
//! First stand the format's name, length and checksum of the head, and the head; the rest is the snapshot, packed
//! (`packed`). The head holds the checksum of the snapshot's own header, in which the one of its content is: none can
//! be exchanged. What is written and read is nowhere as a whole.

use super::packed::{Packing, Unpacking};
use crate::past::precondition::Preconditioned;
use serde::{Deserialize, Serialize};
use ssd::snapshot::{HEADER_BYTES, Saving, checksum};
use ssd::{Drive, DriveConfig};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};

/// The first bytes.
const MAGIC: &[u8] = b"wordline aged drive 3\n";
/// Where the format's number stands in them.
const NUMBER_AT: usize = MAGIC.len() - 2;
/// The longest head that is read; bytes.
const HEAD_AT_MOST: u64 = 1 << 24;
/// The longest description; bytes.
const WHAT_AT_MOST: usize = 4096;

/// What stands before the snapshot.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    /// All that made the drive.
    pub identity: String,
    /// In words.
    pub what: String,
    pub aged: Preconditioned,
    /// Bytes of the snapshot, before it is packed.
    bytes: u64,
    /// Checksum of the snapshot's header.
    seal: u64,
}

/// The checksum of a snapshot's header; of what is too short for one, of all of it.
fn seal(snapshot: &[u8]) -> u64 {
    checksum(&snapshot[..snapshot.len().min(HEADER_BYTES)])
}

impl Head {
    /// Of a drive that is kept.
    pub fn new<T: Serialize>(
        (identity, what): (&str, &str),
        aged: &Preconditioned,
        snapshot: &Saving<'_, T>,
    ) -> Self {
        Head {
            identity: identity.to_owned(),
            what: what.to_owned(),
            aged: aged.clone(),
            bytes: snapshot.bytes(),
            seal: seal(snapshot.header()),
        }
    }

    /// Writes a file.
    pub fn write<T: Serialize>(&self, snapshot: &Saving<'_, T>, file: &mut impl Write) -> io::Result<()> {
        let head = serde_json::to_vec(self)?;
        file.write_all(MAGIC)?;
        file.write_all(&(head.len() as u64).to_le_bytes())?;
        file.write_all(&checksum(&head).to_le_bytes())?;
        file.write_all(&head)?;
        let mut packing = Packing::new(file)?;
        snapshot.write(&mut packing)?;
        packing.finish()
    }

    /// Reads the beginning of a file. What it says of the drive must still be compared with the drive
    /// ([`Preconditioned::check`]).
    pub fn read(file: &mut File) -> io::Result<Self> {
        let wrong = |what: &str| Err(io::Error::other(what));
        let size = file.metadata()?.len();
        let mut begin = [0; MAGIC.len() + 16];
        if size < begin.len() as u64 {
            return wrong("it is too short for an aged drive");
        }
        file.read_exact(&mut begin)?;
        let (magic, numbers) = begin.split_at(MAGIC.len());
        if magic != MAGIC {
            let is_other = magic.starts_with(&MAGIC[..NUMBER_AT]);
            return wrong(if is_other {
                "it is of another version of the program"
            } else {
                "it does not begin like an aged drive"
            });
        }
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| numbers[at + i]));
        let (length, sum) = (number(0), number(8));
        let rest = size - begin.len() as u64;
        if length > rest.min(HEAD_AT_MOST) {
            return wrong("its head is longer than a head can be");
        }
        let mut head = vec![0; length as usize];
        file.read_exact(&mut head)?;
        if checksum(&head) != sum {
            return wrong("its checksum is another");
        }
        // What the parser quotes is of any length, and anybody's.
        let Ok(head) = serde_json::from_slice::<Head>(&head) else {
            return wrong("its head cannot be understood");
        };
        let is_plain =
            head.what.len() <= WHAT_AT_MOST && head.what.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if is_plain { Ok(head) } else { wrong("its description is no plain text") }
    }

    /// Reads the drive that follows, of a configuration, if its snapshot takes no more than so many bytes.
    pub fn drive(&self, file: &mut File, config: &DriveConfig, at_most: u64) -> io::Result<Drive> {
        let wrong = |what: String| Err(io::Error::other(what));
        let told = self.bytes;
        if told > at_most {
            return wrong(format!(
                "its snapshot takes {told} bytes, a drive of its configuration {at_most} at most"
            ));
        }
        let mut unpacking = Unpacking::new(BufReader::new(file), told.max(HEADER_BYTES as u64))?;
        let mut header = Vec::with_capacity(HEADER_BYTES);
        (&mut unpacking).take(HEADER_BYTES as u64).read_to_end(&mut header)?;
        if seal(&header) != self.seal {
            return wrong("its snapshot is another drive's".to_owned());
        }
        let drive = Drive::restore_from(config, &mut header.chain(&mut unpacking), told)?;
        // What is behind it would take room, and nobody would miss it.
        if unpacking.read(&mut [0])? > 0 {
            return wrong(format!("it goes on after {told} bytes of its snapshot"));
        }
        Ok(drive)
    }
}
