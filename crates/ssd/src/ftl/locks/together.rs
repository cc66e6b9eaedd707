//! Writes whose deaths are taken together. A command that is complete when all its data is in flash (FUA, or no buffer)
//! is programmed page by page, so that what it replaces dies page by page. Where one of them is about to end all that
//! lives in a physical block, pages of that block wait for the end of the command: one lock of the block may then do.
//!
//! A write that is complete in DRAM has no end that anybody could wait for: what it wrote leaves DRAM later, unit by
//! unit, and some of it never. Each of its programs is taken by itself. That matters little: papers/evanesco/README.md
//! counts the page locks that lay in a block that was wholly dead when its write ended.

use super::Locks;
use super::exposed::HELD;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::facts::Death;
use crate::ftl::work::Work;
use crate::restore::{Verdict, ensure, keep_room};
use crate::units::{BlockId, Lpn, Pun};
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// Logical units that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Writing {
    first: u32,
    end: u32,
}

impl Locks {
    /// Takes the room of a fresh list of writes, and checks that they can be.
    pub(super) fn restored_writes(&mut self, fresh: &Vec<Writing>, units: u32) -> Verdict {
        let can_be = |it: &Writing| it.first < it.end && it.end <= units;
        let is_sound = self.writes.len() <= fresh.capacity() && self.writes.iter().all(can_be);
        keep_room(&mut self.writes, fresh);
        ensure(is_sound, "writes whose deaths are taken together")
    }

    /// A host write of these logical units begins that is complete when all of them are in flash. A few pages are
    /// locked one by one in any case.
    #[cold]
    pub fn begin_write(&mut self, units: Range<u32>) {
        let locks = &mut *self;
        let count = units.end.saturating_sub(units.start);
        if locks.manner.policy.locks_blocks()
            && u64::from(count) * locks.manner.page_ns > locks.manner.block_ns
        {
            locks.writes.push(Writing { first: units.start, end: units.end });
        }
    }

    /// All of them are, or will never be: what has waited for that is looked at.
    #[cold]
    pub fn end_write(&mut self, tables: &Tables, work: &mut Work, units: Range<u32>) {
        let written = Writing { first: units.start, end: units.end };
        let Some(at) = self.writes.iter().position(|it| *it == written) else { return };
        self.writes.swap_remove(at);
        for _ in 0..self.lists.deferred.len() {
            let Some((block, since)) = self.lists.deferred.pop_front() else { return };
            if tables.blocks.state(block) == BlockState::Closed && self.exposed.has(block) {
                self.lists.list(tables, work, block, 0..tables.layout.pages_per_block);
                self.lists.blocks[block.index()].deferred = false;
            } else {
                self.lists.deferred.push_back((block, since));
            }
        }
    }

    pub(in crate::ftl) fn is_being_written(&self, lpn: Lpn) -> bool {
        self.writes.iter().any(|it| (it.first..it.end).contains(&lpn.0))
    }

    /// How a copy has died: one that the host has written again died by that, if the write goes on.
    pub(in crate::ftl) fn death_of(&self, tables: &Tables, unit: Pun, by: Death) -> Death {
        match by {
            Death::Written if self.writes.is_empty() => Death::Ended,
            Death::Written if !self.is_being_written(tables.map.stored(unit)) => Death::Ended,
            by => by,
        }
    }

    /// Whether a page of this state waits for the end of a write: all that lives in its physical block, which is full,
    /// is about to die by writes under way.
    pub(in crate::ftl) fn is_held(&self, tables: &Tables, state: u8, block: BlockId, member: u32) -> bool {
        if state & HELD == 0
            || self.writes.is_empty()
            || self.generations.is_awaited(state)
            || tables.blocks.state(block) != BlockState::Closed
            || tables.blocks.programming(block) > 0
            || tables.blocks.live(block) == 0
        {
            return false;
        }
        let of_page = |page: crate::units::Ppn| tables.layout.units_of_page(page);
        let mut live = tables
            .layout
            .pages_of_member(block, member)
            .flat_map(of_page)
            .filter(|&it| tables.map.is_live(it));
        let mut lives = false;
        // In most blocks the first that lives stays.
        live.all(|unit| {
            lives = true;
            self.is_being_written(tables.map.stored(unit))
        }) && lives
    }
}
