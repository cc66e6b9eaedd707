//! Writes whose deaths are taken together. A command that is complete when all its data is in flash (FUA, or no buffer)
//! is programmed page by page, so that what it replaces dies page by page. Where one of them is about to end all that
//! lives in a physical block, pages of that block wait for the end of the command: one lock of the block may then do.
//!
//! A write that is complete in DRAM has no end that anybody could wait for: what it wrote leaves DRAM later, unit by
//! unit, and some of it never. Each of its programs is taken by itself. That matters little: papers/evanesco/README.md
//! counts the page locks that lay in a block that was wholly dead when its write ended.

use super::exposed::HELD;
use super::generations::Generations;
use super::manner::Manner;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::facts::Death;
use crate::restore::{Verdict, ensure, keep_room};
use crate::units::{BlockId, Lpn, Ppn, Pun};
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// Logical units that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Writing {
    first: u32,
    end: u32,
}

/// Host writes under way whose deaths are taken together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Writes {
    all: Vec<Writing>,
}

impl Writes {
    /// None, with room for so many.
    pub(super) fn with_capacity(count: usize) -> Self {
        Writes { all: Vec::with_capacity(count) }
    }

    /// Takes the room of fresh ones, and checks that they can be.
    pub(super) fn restored(&mut self, fresh: &Writes, units: u32) -> Verdict {
        let can_be = |it: &Writing| it.first < it.end && it.end <= units;
        let is_sound = self.all.len() <= fresh.all.capacity() && self.all.iter().all(can_be);
        keep_room(&mut self.all, &fresh.all);
        ensure(is_sound, "writes whose deaths are taken together")
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// A host write of these logical units begins that is complete when all of them are in flash. A few pages are
    /// locked one by one in any case.
    #[cold]
    pub fn begin(&mut self, manner: &Manner, units: Range<u32>) {
        let count = units.end.saturating_sub(units.start);
        if manner.policy.locks_blocks() && u64::from(count) * manner.page_ns > manner.block_ns {
            self.all.push(Writing { first: units.start, end: units.end });
        }
    }

    /// All of them are, or will never be. Whether this was one whose deaths are taken together.
    pub(super) fn end(&mut self, units: Range<u32>) -> bool {
        let written = Writing { first: units.start, end: units.end };
        let at = self.all.iter().position(|it| *it == written);
        at.map(|at| self.all.swap_remove(at)).is_some()
    }

    fn has(&self, lpn: Lpn) -> bool {
        self.all.iter().any(|it| (it.first..it.end).contains(&lpn.0))
    }

    /// How a copy has died: one that the host has written again died by that, if the write goes on.
    pub(super) fn death_of(&self, tables: &Tables, unit: Pun, by: Death) -> Death {
        match by {
            Death::Written if self.all.is_empty() => Death::Ended,
            Death::Written if !self.has(tables.map.stored(unit)) => Death::Ended,
            by => by,
        }
    }

    /// Whether a page of this state waits for the end of a write: all that lives in its physical block, which is full,
    /// is about to die by writes under way.
    pub(super) fn hold_back(
        &self,
        generations: &Generations,
        tables: &Tables,
        state: u8,
        (block, member): (BlockId, u32),
    ) -> bool {
        if state & HELD == 0
            || self.all.is_empty()
            || generations.is_awaited(state)
            || tables.blocks.state(block) != BlockState::Closed
            || tables.blocks.programming(block) > 0
            || tables.blocks.live(block) == 0
        {
            return false;
        }
        let of_page = |page: Ppn| tables.layout.units_of_page(page);
        let mut live = tables
            .layout
            .pages_of_member(block, member)
            .flat_map(of_page)
            .filter(|&it| tables.map.is_live(it));
        let mut lives = false;
        // In most blocks the first that lives stays.
        live.all(|unit| {
            lives = true;
            self.has(tables.map.stored(unit))
        }) && lives
    }
}
