//! The tables of replicas: which logical units have a second copy, and where; and what room physical blocks have left.

use super::blocks::{BlockState, Blocks};
use super::layout::Layout;
use super::map::Map;
use crate::index::UnitIndex;
use crate::restore::{Verdict, alike, ensure};
use crate::sections::Sections;
use crate::snapshot::raw;
use crate::units::{BlockId, Lpn, NONE, Ppn, Pun};
use serde::{Deserialize, Serialize};

/// The tables of replicas.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replicas {
    /// Replicas that a physical block takes, in pages; 0 if there never are any.
    pub limit: u32,
    /// First page of a physical block that data does not fill.
    pub first: u32,
    /// Pages of replicas programmed since the erase, by physical block; `limit` if no more may come.
    #[serde(with = "raw")]
    pub used: Vec<u16>,
    /// Pages being read that are to go there.
    #[serde(with = "raw")]
    pub promised: Vec<u16>,
    /// The firmware's block of each physical block, and its place there: `block * span + member`.
    #[serde(with = "raw")]
    pub owner: Vec<u32>,
    /// The replica mapping table: from a logical unit to the unit of flash that holds its replica.
    pub index: UnitIndex,
    pub count: u32,
}

impl Replicas {
    /// No replicas yet; tables for as many as there can be.
    pub fn new(cfg: &Sections, layout: &Layout) -> Self {
        let first = layout.data_pages_per_block / layout.abreast;
        let limit = layout.pages_per_block / layout.abreast - first;
        let physical = if limit > 0 { cfg.geometry.blocks() as usize } else { 0 };
        let mut owner = vec![NONE; physical];
        let members = layout.blocks() * if limit > 0 { layout.span } else { 0 };
        for at in 0..members {
            owner[layout.member(BlockId(at / layout.span), at % layout.span).block as usize] = at;
        }
        Replicas {
            limit,
            first,
            used: vec![0; physical],
            promised: vec![0; physical],
            owner,
            index: UnitIndex::new(members * limit * layout.units_per_page),
            count: 0,
        }
    }

    /// Takes what follows from the configuration from fresh ones, and checks the rest.
    pub fn restored(&mut self, fresh: Replicas, map: &Map) -> Verdict {
        alike("pages of replicas", &self.used, &fresh.used)?;
        alike("pages of replicas on their way", &self.promised, &fresh.promised)?;
        (self.limit, self.first, self.owner) = (fresh.limit, fresh.first, fresh.owner);
        ensure(self.used.iter().all(|&used| u32::from(used) <= self.limit), "pages of replicas of a block")?;
        let count = self.index.restored(&fresh.index, map.logical() as usize, map.physical() as usize)?;
        ensure(count == self.count as usize, "units with replicas")
    }

    /// Pages of a full block that are programmed or on their way, if more replicas may follow.
    pub fn filled(&self, physical: u32) -> Option<u32> {
        let used = u32::from(*self.used.get(physical as usize)?);
        (used < self.limit).then_some(self.first + used)
    }

    /// Whether there may be any.
    #[inline]
    pub fn are_used(&self) -> bool {
        self.limit > 0
    }

    /// Where the replica of a logical unit is, if it has one.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> Pun {
        if self.count == 0 { Pun::NONE } else { Pun(self.index.get(lpn)) }
    }

    /// A logical unit has a replica from now on; an older one no longer counts.
    pub fn set(&mut self, lpn: Lpn, at: Pun) {
        self.count += u32::from(self.index.set(lpn, at.0) == NONE);
    }

    /// The replica of a logical unit, if it has one, no longer counts: where it is.
    #[inline]
    pub fn forget(&mut self, lpn: Lpn) -> Option<Pun> {
        let at = self.get(lpn);
        if !at.is_some() {
            return None;
        }
        self.index.remove(lpn);
        self.count -= 1;
        Some(at)
    }

    /// Pages of a physical block that are taken by replicas, programmed or on their way.
    #[inline]
    pub fn used(&self, physical: u32) -> u32 {
        u32::from(self.used[physical as usize]) + u32::from(self.promised[physical as usize])
    }

    /// Whether a physical block may take another replica.
    pub fn may_hold(&self, blocks: &Blocks, layout: &Layout, physical: u32) -> bool {
        let owner = self.owner[physical as usize];
        let block = BlockId(owner / layout.span);
        owner != NONE
            && self.used(physical) < self.limit
            && blocks.state(block) == BlockState::Closed
            && !blocks.is_failing(block)
            && !blocks.is_one_bit(block)
    }

    /// The block stays as it is: no replica may follow its last page, because data does not fill it.
    pub fn close_off(&mut self, layout: &Layout, block: BlockId) {
        for member in 0..if self.are_used() { layout.span } else { 0 } {
            self.used[layout.member(block, member).block as usize] = self.limit as u16;
        }
    }

    /// The block is erased.
    pub fn reset(&mut self, layout: &Layout, block: BlockId) {
        for member in 0..if self.are_used() { layout.span } else { 0 } {
            self.used[layout.member(block, member).block as usize] = 0;
        }
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        if self.are_used() { 4 * self.used.len() + 4 * self.owner.len() + self.index.bytes() } else { 0 }
    }

    /// The page of a physical block that its next replica takes.
    pub fn take_page(&mut self, layout: &Layout, physical: u32) -> Ppn {
        let (owner, used) = (self.owner[physical as usize], &mut self.used[physical as usize]);
        let (block, member) = (owner / layout.span, owner % layout.span);
        let page = self.first + u32::from(*used);
        *used += 1;
        Ppn(block * layout.pages_per_block + page * layout.span + member)
    }
}
