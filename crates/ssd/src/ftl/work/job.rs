//! Jobs are values: what a lane's moves are at, how far that is, and what is to be done next.

use super::migration::Migration;
use super::walk::{AHEAD, PageUnits, Step, Walk};
use crate::ftl::tables::Tables;
use crate::units::BlockId;
use serde::{Deserialize, Serialize};

/// What a lane is at, one thing after the other. A technique may have a job of its own beside these.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) enum Job {
    /// All of a block is to move, so that it can be erased.
    Empty {
        /// What of it is being read.
        walk: Walk,
        /// The policy says in which order its parts leave.
        in_parts: bool,
    },
    /// Parts of a block are to move, or to have replicas; it stays.
    Migrate(Migration),
}

impl Job {
    /// Empties a block, in the order of its pages, or in parts.
    pub fn empty(tables: &Tables, block: BlockId, in_parts: bool) -> Job {
        let first = tables.layout.first_unit(block).0;
        let end = first + tables.layout.units_per_block();
        let cursor = if in_parts { end } else { first };
        let mut walk = Walk { block, pages: None, cursor, end, ahead: cursor };
        walk.look_ahead(tables, AHEAD);
        Job::Empty { walk, in_parts }
    }

    /// The block it is at.
    pub fn block(&self) -> BlockId {
        match self {
            Job::Empty { walk, .. } => walk.block,
            Job::Migrate(migration) => migration.candidate.block,
        }
    }

    /// What it is reading, if anything.
    #[inline]
    pub fn walk(&self) -> Option<&Walk> {
        match self {
            Job::Empty { walk, .. } => Some(walk),
            Job::Migrate(migration) => migration.walk(),
        }
    }

    /// Whether pages with live units are left of the row that it is reading.
    #[inline]
    pub fn is_in_row(&self, tables: &Tables) -> bool {
        matches!(self, Job::Empty { walk, .. } if walk.is_in_row(tables))
    }

    /// Units that it has still to move, at most, of those that live in its block.
    pub fn left(&self, live: u32) -> u32 {
        match (self, self.walk()) {
            (_, None) => 0,
            // Part by part all of it, also between two parts, when none is being read.
            (Job::Empty { in_parts: true, .. }, Some(_)) => live,
            (Job::Empty { .. }, Some(walk)) if walk.pages.is_some() => live,
            (_, Some(walk)) => live.min(walk.end - walk.cursor.min(walk.end)),
        }
    }

    /// Whether it does nothing at all as long as the lane may have no more pages on their way.
    #[inline(always)]
    pub fn rests_while_it_waits(&self) -> bool {
        matches!(self, Job::Empty { .. })
    }

    /// What is to be done next; `may_read` if the lane may have more pages on their way. Not asked of a job that
    /// [rests](Self::rests_while_it_waits) then.
    #[inline(always)]
    pub fn step(&mut self, tables: &Tables, may_read: bool, units: &mut PageUnits) -> Step {
        match self {
            Job::Empty { walk, in_parts } => match walk.step(tables, units) {
                Step::Done if *in_parts => Step::Ask,
                step => step,
            },
            Job::Migrate(migration) => migration.step(tables, may_read, units),
        }
    }
}
