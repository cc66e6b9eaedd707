//! Copies inside a plane (copyback): which moves go past the controller, and how often in a row each page's data has.
//!
//! A byte a page, where copies are limited: three bits count the copies in a row that its data has behind it, three
//! hold the lowest limit of all blocks that it has been in since the controller corrected it. The limit of a copy is
//! that lowest one, target included (assumed): errors of an old block stay with data that has left it, so that the
//! limit of younger blocks alone would let it go on too long.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::ftl::Ftl;
use crate::ftl::migration::{self, MOST, Policy};
use crate::ftl::tables::worn::Worn;
use crate::nand::PageAddress;
use crate::nand::cell::CellModel;
use crate::restore::{Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::{BlockId, LaneId, Ppn, Pun};
use serde::{Deserialize, Serialize};

/// Bits of a page's byte that count.
const COUNT_BITS: u32 = 3;

/// What is copied inside the chips.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Copies {
    policy: Policy,
    /// Of each page, see above; 0 of what comes from the controller. Empty where copies are not limited.
    #[serde(with = "raw")]
    in_a_row: Vec<u8>,
    /// Pages of a block.
    pages_per_block: u32,
}

impl Copies {
    pub fn new(config: &migration::Config, blocks: u32, pages_per_block: u32) -> Self {
        let policy = Policy::build(config);
        let pages = if policy.counts() { blocks as usize * pages_per_block as usize } else { 0 };
        Copies { policy, in_a_row: vec![0; pages], pages_per_block }
    }

    /// Takes what follows from the configuration from fresh ones, and checks the rest.
    pub fn restored(&mut self, fresh: Copies) -> Verdict {
        alike("copies in a row", &self.in_a_row, &fresh.in_a_row)?;
        let is_row = |&row: &u8| row >> (2 * COUNT_BITS) == 0 && row & MOST <= row >> COUNT_BITS;
        ensure(self.in_a_row.iter().all(is_row), "copies in a row")?;
        self.pages_per_block = fresh.pages_per_block;
        self.policy.restored(fresh.policy)
    }

    /// Whether anything is ever copied inside chips.
    #[inline(always)]
    pub fn are_made(&self) -> bool {
        self.policy.copies()
    }

    /// Told of the cells, where they age.
    pub fn learn(&mut self, cells: &CellModel) {
        self.policy.learn(cells);
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> usize {
        self.in_a_row.len()
    }

    /// The data of an erased block is gone.
    #[inline]
    pub fn on_erase(&mut self, block: BlockId) {
        if !self.in_a_row.is_empty() {
            let pages = self.pages_per_block as usize;
            self.in_a_row[block.index() * pages..][..pages].fill(0);
        }
    }

    /// The byte of a page copied from another one, in blocks that give and take data copied so often; nothing if it
    /// was copied as often as it may be.
    fn next(&self, from: Ppn, limit: u8) -> Option<u8> {
        let row = self.in_a_row.get(from.index()).copied().unwrap_or(0);
        let (count, lowest) = (row & MOST, row >> COUNT_BITS);
        let lowest = if count == 0 { limit.min(MOST) } else { lowest.min(limit) };
        (count < lowest).then_some((count + 1) | lowest << COUNT_BITS)
    }
}

impl Ftl {
    /// Copies a page inside the chip if the next page of the stream lies in the same plane and the policy has it so.
    pub(in crate::ftl) fn copy_back(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        cause: Cause,
        unit: UnitRef,
    ) -> bool {
        let (streams, clock) = (self.space.allocator.streams(), self.tables.clock);
        let stream = self.separation.peek_move(streams, clock, cause, &unit);
        let source = self.tables.layout.page_of_unit(Pun(unit.source)).0;
        let from = self.tables.layout.locate(source);
        let next = self.space.allocator.peek(lane, stream, &self.tables.blocks);
        let to = next.map(|page| self.tables.layout.locate(page));
        let Some(to) = to.filter(|to| (from.die, from.plane) == (to.die, to.plane)) else {
            self.work.counts.copies_refused_by_place += 1;
            return false;
        };
        let Some(row) = self.judge_copy(flash, (source, from), to) else { return false };
        let Some(found) = self.space.move_target(&mut self.tables, self.work.reserve, lane, stream) else {
            self.work.counts.copies_refused_by_place += 1;
            return false;
        };
        let unit = self.in_stream_of_move(cause, unit);
        let op = self.space.op_of_move(
            &self.tables,
            &self.work,
            flash,
            (OpKind::Copyback, cause),
            found.page,
            lane,
        );
        let mut op = self.tables.bound_for(self.tables.layout.block_of_page(found.page).0, op);
        self.erase_if_opened(flash, found);
        self.tables.blocks.leave(self.tables.layout.block_of_unit(Pun(unit.source)), 1);
        self.work.counts.copies += 1;
        self.work.counts.copies_in_a_row_max =
            self.work.counts.copies_in_a_row_max.max(u32::from(row & MOST));
        if let Some(place) = self.copies.in_a_row.get_mut(found.page.index()) {
            *place = row;
        }
        if self.issue_copy(flash, lane, &mut op, from, unit) {
            self.copied(flash, lane, &op, unit);
        }
        self.after_allocation(lane, found);
        true
    }

    /// The byte of the page that a copy makes; nothing if it is not to be made.
    fn judge_copy(
        &mut self,
        flash: &Flash,
        (source, from): (Ppn, PageAddress),
        to: PageAddress,
    ) -> Option<u8> {
        // What is read of a first page for its errors has none but its own.
        if to.page == 0 && self.techniques.read_first_pages().is_some() {
            self.work.counts.copies_refused_by_place += 1;
            return None;
        }
        if flash.chip.page_age(from.block, from.page).minutes > self.copies.policy.max_source_minutes() {
            self.work.counts.copies_refused_by_age_of_data += 1;
            return None;
        }
        if !self.copies.policy.counts() {
            return Some(0);
        }
        let limit = |at: PageAddress| self.copies.policy.limit(&self.worn(flash, at.block));
        let row = self.copies.next(source, limit(from).min(limit(to)));
        self.work.counts.copies_refused_by_limit += u64::from(row.is_none());
        row
    }

    /// What the firmware knows of a physical block's wear.
    fn worn(&self, flash: &Flash, physical: u32) -> Worn {
        self.techniques.worn(physical, flash.chip.erase_count(physical))
    }

    /// Issues a copy of a page. Returns whether it is done already: then the operation says how it ended.
    fn issue_copy(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        op: &mut Op,
        from: PageAddress,
        unit: UnitRef,
    ) -> bool {
        if flash.is_instant() {
            self.apply_before(flash, op);
            flash.copy_at_once(op, from);
            self.effects.tell_at_once(&self.tables.layout, op, &[unit]);
            return true;
        }
        let id = self.begin_move(flash, lane, *op, &[unit]);
        flash.note_source(id, from);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(blocks: u32, pages: u32) -> Copies {
        let config = migration::Config::named("copyback_by_cycles").expect("a member");
        Copies::new(&config, blocks, pages)
    }

    /// Copies a page so often in a row from page to page, each time between blocks of a limit; how often it went.
    fn chain(limits: &[u8]) -> usize {
        let mut copies = copies(1, limits.len() as u32 + 1);
        for (at, &limit) in limits.iter().enumerate() {
            let Some(row) = copies.next(Ppn(at as u32), limit) else { return at };
            copies.in_a_row[at + 1] = row;
        }
        limits.len()
    }

    #[test]
    fn copies_in_a_row_end_at_the_lowest_limit_on_their_way() {
        assert_eq!([0, 1, 2, 3, 7].map(|limit| chain(&[limit; 8])), [0, 1, 2, 3, 7]);
        // Two copies in an old block, and the young one takes no third; nor does an old one what has three behind it.
        assert_eq!(chain(&[2, 5, 5, 5]), 2);
        assert_eq!(chain(&[5, 5, 2, 5]), 2);
        assert_eq!(chain(&[5, 5, 5, 2]), 3);
        assert_eq!(chain(&[5, 3, 5, 5]), 3);
    }

    #[test]
    fn an_erase_ends_a_row() {
        let mut copies = copies(2, 2);
        copies.in_a_row = vec![0o33, 0o33, 0o33, 0o33];
        assert_eq!(copies.next(Ppn(2), 5), None);
        copies.on_erase(BlockId(1));
        assert_eq!(copies.in_a_row, [0o33, 0o33, 0, 0]);
        assert_eq!(copies.next(Ppn(2), 5), Some(0o51));
    }

    #[test]
    fn what_is_no_row_is_refused_in_a_snapshot() {
        for (row, is_row) in [(0, true), (0o33, true), (0o43, true), (0o34, false), (0o101, false)] {
            let mut found = copies(1, 1);
            found.in_a_row = vec![row];
            assert_eq!(found.restored(copies(1, 1)).is_ok(), is_row, "{row:o}");
        }
        assert!(copies(2, 1).restored(copies(1, 1)).is_err());
    }
}
