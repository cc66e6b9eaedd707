//! Copies inside a plane (copyback): a page that moves goes past the controller, if a technique has it so.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::ftl::tables::worn::Worn;
use crate::ftl::techniques::{Hop, Which};
use crate::ftl::{Media, Moves};
use crate::nand::PageAddress;
use crate::units::{LaneId, Ppn, Pun};

impl Moves {
    /// Copies a page inside the chip if the next page of the stream lies in the same plane and a technique has it so.
    pub(in crate::ftl) fn copy_back(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        cause: Cause,
        unit: UnitRef,
    ) -> bool {
        let (streams, clock) = (self.media.space.allocator.streams(), self.media.tables.clock);
        let stream = self.separation.peek_move(streams, clock, cause, &unit);
        let source = self.media.tables.layout.page_of_unit(Pun(unit.source)).0;
        let from = self.media.tables.layout.locate(source);
        let next = self.media.space.allocator.peek(lane, stream, &self.media.tables.blocks);
        let to = next.map(|page| self.media.tables.layout.locate(page));
        let Some(to) = to.filter(|to| (from.die, from.plane) == (to.die, to.plane)) else {
            self.media.work.counts.copies_refused_by_place += 1;
            return false;
        };
        let Some(asked) = self.media.judge_copy(flash, (source, from), to) else { return false };
        let Some(found) =
            self.media.space.move_target(&mut self.media.tables, self.media.work.reserve, lane, stream)
        else {
            self.media.work.counts.copies_refused_by_place += 1;
            return false;
        };
        let unit = self.in_stream_of_move(cause, unit);
        let op = self.media.space.op_of_move(
            &self.media.tables,
            &self.media.work,
            flash,
            (OpKind::Copyback, cause),
            found.page,
            lane,
        );
        let mut op = self.media.tables.bound_for(self.media.tables.layout.block_of_page(found.page).0, op);
        self.media.erase_if_opened(flash, found);
        self.media.tables.blocks.leave(self.media.tables.layout.block_of_unit(Pun(unit.source)), 1);
        self.media.work.counts.copies += 1;
        self.media.techniques.copied(asked, found.page, &mut self.media.work.counts);
        if self.media.issue_copy(flash, lane, &mut op, from, unit) {
            self.copied(flash, lane, &op, unit);
        }
        self.media.after_allocation(lane, found);
        true
    }
}

impl Media {
    /// Whether a page is copied to that place: for which technique, and what that is told of it.
    fn judge_copy(
        &mut self,
        flash: &Flash,
        (source, from): (Ppn, PageAddress),
        to: PageAddress,
    ) -> Option<(Which, u8)> {
        // What is read of a first page for its errors has none but its own.
        if to.page == 0 && self.techniques.read_first_pages().is_some() {
            self.work.counts.copies_refused_by_place += 1;
            return None;
        }
        let worn = [from, to].map(|at| self.worn(flash, at.block));
        self.techniques.copy(&Hop { source, from, worn }, &flash.chip, &mut self.work.counts)
    }

    /// What is known of a physical block's wear, as far as anybody asks.
    fn worn(&self, flash: &Flash, physical: u32) -> Worn {
        let cycles = flash.chip.erase_count(physical);
        match self.techniques.copies_by_wear() {
            true => self.techniques.worn(physical, cycles),
            false => Worn { cycles, ..Worn::default() },
        }
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
