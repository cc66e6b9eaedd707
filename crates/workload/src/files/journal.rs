//! The journal: a ring of blocks on the drive that metadata is written to before it goes home, as in ext4's jbd2
//! (`data=ordered`; Mathur et al., OLS 2007; the kernel's documentation of the journal's layout). One transaction runs
//! at a time; a commit writes descriptor and metadata blocks, flushes, and writes the commit block with force unit
//! access.
//!
//! Not modelled: escaped blocks, revocations, checksums, the blocks of orphans; the superblock of the journal is
//! written only when its beginning moves because a quarter of the ring is full.

use super::out::Out;
use super::space::Extent;
use crate::base::pages::ChunkHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

/// Blocks that a descriptor block lists (16-byte tags, jbd2 with 64-bit addresses).
const TAGS: u32 = 254;

/// What is known of a metadata block.
#[derive(Clone, Copy, Default)]
struct Meta {
    /// The transaction that changed it last.
    joined: u64,
    /// The last one committed with it that it has not gone home from; 0 if it is at home.
    committed: u64,
}

/// A committed transaction that still holds part of the ring.
#[derive(Clone, Copy)]
struct Held {
    blocks: u32,
    /// Its metadata blocks that are neither at home nor in a later one.
    away: u32,
}

#[derive(Clone)]
pub(super) struct Journal {
    /// Its blocks, the first of which is its superblock.
    ring: Extent,
    /// Where the next block goes, from the block behind the superblock.
    head: u32,
    /// Number of the running transaction, from 1.
    running: u64,
    /// Metadata blocks of the running transaction.
    joined: Vec<u32>,
    /// Only looked up, never walked.
    meta: HashMap<u32, Meta, BuildHasherDefault<ChunkHasher>>,
    held: VecDeque<Held>,
    held_blocks: u32,
    /// Metadata to be written home, by when: each since it was first committed.
    home: VecDeque<(u64, u32)>,
    home_ns: u64,
    /// Blocks of the ring that may be in use before all metadata goes home.
    full: u32,
    /// Scratch: blocks on their way home.
    leaving: Vec<u32>,
}

impl Journal {
    pub(super) fn new(ring: Extent, home_ns: u64, full_percent: f64) -> Self {
        Journal {
            ring,
            head: 0,
            running: 1,
            joined: Vec::new(),
            meta: HashMap::default(),
            held: VecDeque::new(),
            held_blocks: 0,
            home: VecDeque::new(),
            home_ns,
            full: ((f64::from(ring.len) * full_percent / 100.0) as u32).clamp(4, ring.len - 1),
            leaving: Vec::new(),
        }
    }

    /// Number of the running transaction.
    #[inline]
    pub(super) fn running(&self) -> u64 {
        self.running
    }

    /// Whether the running transaction has changed anything.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.joined.is_empty()
    }

    /// Whether the running transaction is as large as one may be.
    #[inline]
    pub(super) fn is_large(&self) -> bool {
        self.joined.len() as u32 + self.joined.len() as u32 / TAGS + 2 >= self.full
    }

    /// The running transaction changes a metadata block.
    #[inline]
    pub(super) fn join(&mut self, block: u32) {
        let meta = self.meta.entry(block).or_default();
        if meta.joined != self.running {
            meta.joined = self.running;
            self.joined.push(block);
        }
    }

    /// Commits the running transaction.
    pub(super) fn commit(&mut self, now_ns: u64, out: &mut Out) {
        let blocks = self.joined.len() as u32;
        let before = blocks + blocks.div_ceil(TAGS);
        if self.held_blocks + before + 1 >= self.ring.len {
            self.all_home(out);
        }
        self.append(before, false, out);
        out.flush();
        self.append(1, true, out);
        self.held.push_back(Held { blocks: before + 1, away: blocks });
        self.held_blocks += before + 1;
        for block in self.joined.drain(..) {
            let meta = self.meta.entry(block).or_default();
            if meta.committed == 0 {
                self.home.push_back((now_ns.saturating_add(self.home_ns), block));
            } else {
                // The newer copy takes the older one's place.
                let behind = (self.running - meta.committed) as usize;
                let at = self.held.len() - 1 - behind;
                self.held[at].away -= 1;
            }
            meta.committed = self.running;
        }
        self.running += 1;
        self.release();
        if self.held_blocks > self.full {
            self.all_home(out);
        }
    }

    /// Writes so many blocks at the head of the ring.
    fn append(&mut self, mut blocks: u32, is_commit: bool, out: &mut Out) {
        // The superblock of the journal stays where it is.
        let (first, len) = (self.ring.start + 1, self.ring.len - 1);
        while blocks > 0 {
            let count = blocks.min(len - self.head);
            out.journal(first + self.head, count, is_commit);
            self.head = (self.head + count) % len;
            blocks -= count;
        }
    }

    /// Gives back the part of the ring that no metadata needs any more.
    fn release(&mut self) {
        while let Some(held) = self.held.front().filter(|held| held.away == 0) {
            self.held_blocks -= held.blocks;
            self.held.pop_front();
        }
    }

    /// Metadata whose time has come goes home.
    pub(super) fn due_home(&mut self, now_ns: u64, out: &mut Out) {
        let mut leaving = std::mem::take(&mut self.leaving);
        while let Some(&(due, block)) = self.home.front().filter(|(due, _)| *due <= now_ns) {
            let meta = self.meta.get(&block).copied().unwrap_or_default();
            self.home.pop_front();
            if meta.joined == self.running {
                // The running transaction has it: it may go only after that has committed.
                self.home.push_back((due.saturating_add(self.home_ns), block));
                continue;
            }
            leaving.push(block);
        }
        self.go(&mut leaving, out);
        self.leaving = leaving;
    }

    /// All committed metadata goes home, and the ring is free.
    fn all_home(&mut self, out: &mut Out) {
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.extend(self.home.drain(..).map(|(_, block)| block));
        self.go(&mut leaving, out);
        self.leaving = leaving;
        out.flush();
        out.journal(self.ring.start, 1, true);
    }

    /// These go home, in ascending order, neighbours together.
    fn go(&mut self, leaving: &mut Vec<u32>, out: &mut Out) {
        leaving.sort_unstable();
        for run in leaving.chunk_by(|a, b| a + 1 == *b) {
            out.metadata(run[0], run.len() as u32);
        }
        let last = self.running - 1;
        for block in leaving.drain(..) {
            let meta = self.meta.entry(block).or_default();
            let at = self.held.len() - 1 - (last - meta.committed) as usize;
            self.held[at].away -= 1;
            meta.committed = 0;
        }
        self.release();
    }
}
