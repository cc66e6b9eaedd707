//! Blocks that deleted files leave: they may be used again, and told to the drive, only when the transaction that freed
//! them has committed.

use super::out::Out;
use super::space::{Extent, Space};
use crate::base::settings::choice;
use ssd::signals::{Hints, OpCode};

choice! {
    /// When free blocks are trimmed.
    pub enum Discard {
        /// When the transaction that freed them has committed (ext4's mount option `discard`).
        Online = "online",
        /// All at once, now and then (`fstrim`).
        Batched = "batched",
        /// Never.
        None = "none",
    }
}

#[derive(Clone)]
pub(super) struct Freed {
    discard: Discard,
    every_ns: u64,
    next_ns: u64,
    /// Of the running transaction.
    pending: Vec<Extent>,
    /// `batched`: groups in which anything was freed since.
    groups: Vec<bool>,
}

impl Freed {
    pub(super) fn new(discard: Discard, every_ns: u64) -> Self {
        let next_ns = if discard == Discard::Batched { every_ns } else { u64::MAX };
        Freed { discard, every_ns, next_ns, pending: Vec::new(), groups: Vec::new() }
    }

    /// The running transaction frees units.
    pub(super) fn add(&mut self, extent: Extent) {
        self.pending.push(extent);
    }

    /// The transaction has committed. `unit` is the blocks of a unit.
    pub(super) fn committed(&mut self, space: &mut Space, unit: u32, out: &mut Out) {
        self.pending.sort_unstable();
        let mut joined: Option<Extent> = None;
        for extent in self.pending.drain(..) {
            space.give_back(extent);
            match self.discard {
                Discard::Online => match &mut joined {
                    Some(before) if before.end() == extent.start => before.len += extent.len,
                    _ => {
                        joined.replace(extent).into_iter().for_each(|before| trim(before, unit, out));
                    }
                },
                Discard::Batched => {
                    let (first, last) = (space.group_of(extent.start), space.group_of(extent.end() - 1));
                    self.groups.resize(self.groups.len().max(last as usize + 1), false);
                    self.groups[first as usize..=last as usize].fill(true);
                }
                Discard::None => {}
            }
        }
        joined.into_iter().for_each(|before| trim(before, unit, out));
    }

    /// When all is to be trimmed.
    pub(super) fn due_at(&self) -> u64 {
        self.next_ns
    }

    /// Trims all free units of groups in which any were freed since the last time.
    pub(super) fn trim_all(&mut self, space: &Space, unit: u32, out: &mut Out) {
        self.next_ns += self.every_ns;
        for (group, was_freed) in self.groups.iter_mut().enumerate() {
            if std::mem::take(was_freed) {
                space.holes(group as u32).for_each(|hole| trim(hole, unit, out));
            }
        }
    }
}

/// Trims all that is free.
pub(super) fn trim_free(space: &Space, unit: u32, out: &mut Out) {
    let mut joined: Option<Extent> = None;
    for hole in (0..space.groups()).flat_map(|group| space.holes(group)) {
        match &mut joined {
            // Holes end with their group.
            Some(before) if before.end() == hole.start => before.len += hole.len,
            _ => joined.replace(hole).into_iter().for_each(|before| trim(before, unit, out)),
        }
    }
    joined.into_iter().for_each(|before| trim(before, unit, out));
}

fn trim(extent: Extent, unit: u32, out: &mut Out) {
    let blocks = Extent { start: extent.start * unit, len: extent.len * unit };
    out.blocks(OpCode::Trim, blocks, false, Hints::default());
}
