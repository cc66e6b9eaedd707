//! Where moved data goes: pages for it, what becomes of its programs, and the end of the block it came from. Which page
//! is next `Space::move_target` says; a unit whose program failed waits for another one (`move_again`).

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::stream::StreamId;
use crate::ftl::tables::Tables;
use crate::ftl::tables::facts::Death;
use crate::ftl::tables::worn::Worn;
use crate::ftl::techniques::{Hop, Which};
use crate::ftl::work::walk::PageUnits;
use crate::ftl::{FtlCounts, Locks, Media, Moves};
use crate::nand::{Outcome, PageAddress};
use crate::observe::Effect;
use crate::units::{BlockId, LaneId, Lpn, Ppn, Pun};
use core::ops::Range;

/// Whether a page of which so many units are valid can leave its block by a copy at all.
fn may_be_copied(
    (tables, locks): (&Tables, &Locks),
    counts: &mut FtlCounts,
    (block, source): (BlockId, Ppn),
    units: usize,
) -> bool {
    let refused = if tables.blocks.is_one_bit(block) {
        &mut counts.copies_refused_by_slc
    } else if units < tables.layout.units_per_page as usize {
        &mut counts.copies_refused_by_valid
    } else if locks.are_on() && locks.spoils(tables, source) {
        &mut counts.copies_refused_by_reprogram
    } else {
        return true;
    };
    *refused += 1;
    false
}

impl Moves {
    /// Units of a page of a moving block were read: those that still live there wait to be programmed, those that
    /// cannot be corrected are lost. Returns whether the block was waiting for nothing else.
    #[inline]
    pub(in crate::ftl) fn take_read(
        &mut self,
        lane: LaneId,
        (cause, page, outcome): (Cause, Ppn, Outcome),
        units: &[UnitRef],
    ) -> bool {
        let block = self.media.tables.layout.block_of_page(page).0;
        let mut emptied = false;
        if outcome == Outcome::Fail {
            for unit in units {
                self.media.lose(Lpn(unit.lpn), Pun(unit.source));
                emptied |= self.media.tables.blocks.arrive(block);
            }
            return emptied;
        }
        if self.page_classes.sorts() {
            return self.sort_read(lane, (cause, block), units);
        }
        let Moves { media, separation, .. } = self;
        let Media { tables: Tables { map, blocks, clock, .. }, work, space, .. } = media;
        let gathered = &mut work.lanes[lane.index()].gathered;
        let is_there = |unit: &UnitRef| map.lookup(Lpn(unit.lpn)) == Pun(unit.source);
        let streams = space.allocator.streams();
        if let Some(only) = streams.only_for(cause)
            && units.iter().all(is_there)
        {
            let gathered = &mut gathered[only.index()];
            units.iter().for_each(|unit| gathered.push(unit.in_stream(only.0)));
            return false;
        }
        for unit in units {
            if is_there(unit) {
                let to = separation.of_move(streams, *clock, cause, unit);
                gathered[to.index()].push(unit.in_stream(to.0));
            } else {
                emptied |= blocks.arrive(block);
            }
        }
        emptied
    }

    /// Units of a page of a moving block were read well: those that still live there wait in the queue of their class
    /// of pages. Returns whether the block was waiting for nothing else.
    #[inline(never)]
    fn sort_read(&mut self, lane: LaneId, (cause, block): (Cause, BlockId), units: &[UnitRef]) -> bool {
        let mut emptied = false;
        for unit in units {
            let lpn = Lpn(unit.lpn);
            if self.media.tables.map.lookup(lpn) != Pun(unit.source) {
                emptied |= self.media.tables.blocks.arrive(block);
                continue;
            }
            let (streams, clock) = (self.media.space.allocator.streams(), self.media.tables.clock);
            let to = self.separation.of_move(streams, clock, cause, unit);
            // Destaging is no move (assumed: RHS leaves it open).
            let (class, lowered) = match cause {
                Cause::Destage => (self.page_classes.peek(lpn), false),
                _ => self.page_classes.of_move(lpn),
            };
            self.media.work.counts.heat_lowers += u64::from(lowered);
            let sorted = &mut self.media.work.lanes[lane.index()].sorted;
            sorted.push(to, class, unit.in_stream(to.0));
            self.media.work.counts.class_queued_max =
                self.media.work.counts.class_queued_max.max(sorted.held(to));
        }
        emptied
    }

    /// A unit moved for this cause, in the stream that it goes to.
    pub(in crate::ftl) fn in_stream_of_move(&mut self, cause: Cause, unit: UnitRef) -> UnitRef {
        let (streams, clock) = (self.media.space.allocator.streams(), self.media.tables.clock);
        unit.in_stream(self.separation.of_move(streams, clock, cause, &unit).0)
    }

    /// Programs full pages of gathered units, stream by stream; the rest too, if told so or nothing more will join
    /// them.
    pub(in crate::ftl) fn program_all_gathered(&mut self, flash: &mut Flash, lane: LaneId, rest: bool) {
        if self.media.work.lanes[lane.index()].has_gathered() {
            let mut room = [UnitRef::PADDING; UNITS_AT_MOST];
            self.program_streams(
                flash,
                lane,
                (0..self.media.space.allocator.streams().all(), rest),
                &mut room,
            );
        }
    }

    /// Programs full pages of the streams that take what is moved for this cause; false if no page was left for some of
    /// it.
    #[inline]
    pub(in crate::ftl) fn program_moved_for(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        cause: Cause,
        room: &mut PageUnits,
    ) -> bool {
        let cold = self.media.space.allocator.streams().cold().index();
        let is_cold = self.media.space.allocator.streams().is_cold(cause);
        let streams = if is_cold { cold..cold + 1 } else { 0..cold };
        self.program_streams(flash, lane, (streams, false), room)
    }

    #[inline]
    fn program_streams(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        (streams, rest): (Range<usize>, bool),
        room: &mut PageUnits,
    ) -> bool {
        let mut all = true;
        for stream in streams.map(|stream| StreamId(stream as u8)) {
            let Media { work, tables, space, .. } = &self.media;
            let count = space.allocator.page_of(&tables.layout, work, (lane, stream), rest);
            if count > 0 {
                all &= self.program_gathered(flash, lane, (stream, rest), (room, count));
            }
        }
        all
    }

    /// Programs pages of a stream that has `count` units for one; false if no page was left.
    fn program_gathered(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        (stream, rest): (StreamId, bool),
        (units, mut count): (&mut PageUnits, usize),
    ) -> bool {
        if self.page_classes.sorts() {
            return self.program_sorted(flash, lane, (stream, rest), units);
        }
        let which = stream.index();
        let per_page = self.media.tables.layout.units_per_page as usize;
        while count > 0 {
            let source = Pun(self.media.work.lanes[lane.index()].gathered[which].all()[0].source);
            let Some(found) =
                self.media.space.move_target(&mut self.media.tables, self.media.work.reserve, lane, stream)
            else {
                return false;
            };
            let cause = self.media.tables.blocks.cause(self.media.tables.layout.block_of_unit(source));
            let Media { space, tables, work, .. } = &mut self.media;
            let mut op = space.program_of_move(tables, work, flash, (cause, found.block, found.page), lane);
            self.media.erase_if_opened(flash, found);
            self.media.work.lane_mut(lane).gathered[which].take(count, &mut units[..]);
            if count < per_page {
                let Media { space, work, .. } = &mut self.media;
                count = space.allocator.fill_up(work, lane, stream, count, &mut units[..per_page]);
            }
            self.media.work.note_padding(&self.media.tables.layout, cause, count);
            self.program_moved(flash, lane, &mut op, &mut units[..count]);
            self.media.write_parity(flash, found, &op, flash.is_instant());
            self.media.after_allocation(lane, found);
            let Media { work, tables, space, .. } = &self.media;
            count = space.allocator.page_of(&tables.layout, work, (lane, stream), rest);
        }
        true
    }

    /// Programs pages of a stream where data is sorted: the page that comes next says which units go.
    #[inline(never)]
    fn program_sorted(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        (stream, rest): (StreamId, bool),
        units: &mut PageUnits,
    ) -> bool {
        let per_page = self.media.tables.layout.units_per_page as usize;
        loop {
            // What is next and has died while it waited leaves without a page.
            while let Some(dead) = self.media.work.take_dead(&self.media.tables, lane, stream) {
                self.media.unit_arrived(flash, self.media.tables.layout.block_of_unit(Pun(dead.source)));
            }
            let Media { tables, work, space, .. } = &mut self.media;
            if space.allocator.page_of(&tables.layout, work, (lane, stream), rest) == 0 {
                return true;
            }
            let here = &work.lanes[lane.index()];
            // A queue that drains goes page by page, as operations end.
            if here.programs >= work.in_flight_at_most {
                return false;
            }
            let Some(found) = space.move_target(tables, work.reserve, lane, stream) else {
                return false;
            };
            let count = space.allocator.take_sorted(
                work,
                lane,
                (stream, self.page_classes.class_of_page(tables, found.page)),
                &mut units[..per_page],
            );
            let cause = tables.blocks.cause(tables.layout.block_of_unit(Pun(units[0].source)));
            work.note_padding(&tables.layout, cause, count);
            let mut op = space.program_of_move(tables, work, flash, (cause, found.block, found.page), lane);
            self.media.erase_if_opened(flash, found);
            self.program_moved(flash, lane, &mut op, &mut units[..count]);
            self.media.write_parity(flash, found, &op, flash.is_instant());
            self.media.after_allocation(lane, found);
        }
    }

    /// Programs moved units.
    #[inline(always)]
    pub(in crate::ftl) fn program_moved(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        op: &mut Op,
        units: &mut [UnitRef],
    ) {
        let mut units = units;
        if self.media.locks.are_on() && op.kind == OpKind::Program {
            let left = self.drop_dead(flash, units);
            units = &mut units[..left];
        }
        if self.media.issue_move(flash, lane, op, units) {
            self.place_all(flash, lane, op, units);
            self.media
                .after_program(self.media.tables.layout.block_of_page(op.ppn).0, op.outcome == Outcome::Fail);
        }
    }

    /// Of units that are about to be programmed, those that have died since they were read go no further. How many are
    /// left.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn drop_dead(&mut self, flash: &mut Flash, units: &mut [UnitRef]) -> usize {
        let mut left = 0;
        for at in 0..units.len() {
            let unit = units[at];
            if self.media.tables.map.lookup(crate::units::Lpn(unit.lpn)).0 == unit.source {
                units[left] = unit;
                left += 1;
            } else {
                self.media.unit_arrived(flash, self.media.tables.layout.block_of_unit(Pun(unit.source)));
            }
        }
        left
    }

    /// Moved units are at their new place, or their program failed.
    #[inline(always)]
    pub(in crate::ftl) fn place_all(&mut self, flash: &mut Flash, lane: LaneId, op: &Op, units: &[UnitRef]) {
        for (place, &unit) in (0..).zip(units) {
            self.place_moved(flash, lane, op, place, unit);
        }
        self.media.locks.settle_page(&self.media.tables, &mut self.media.work, op.ppn);
    }

    /// A moved unit is mapped at its new place, if it is still the newest; if its program failed it waits for another.
    #[inline(always)]
    fn place_moved(&mut self, flash: &mut Flash, lane: LaneId, op: &Op, place: u32, unit: UnitRef) {
        let to = Pun(op.ppn.0 * self.media.tables.layout.units_per_page + place);
        let (lpn, from) = (Lpn(unit.lpn), Pun(unit.source));
        let failed = op.outcome == Outcome::Fail;
        if !failed && self.media.tables.map.lookup(lpn) == from {
            self.media.commit(lpn, to, unit.facts(), Death::Moved);
            self.media.work.counts.moved_units[op.cause as usize] += 1;
            self.media.effects.push(Effect::Copy { lpn, from, to });
        } else {
            let Media { locks, tables, work, effects, .. } = &mut self.media;
            if locks.are_on() {
                locks.note_dead_on_arrival(tables, work, to, unit.facts());
            }
            // What the spare area says, though nobody will read it.
            tables.map.note_stray(lpn, to);
            if failed {
                return self.move_again(flash, lane, *op, unit);
            }
            effects.push(Effect::Dead { lpn, from, to });
        }
        let source = self.media.tables.layout.block_of_unit(from);
        if self.media.tables.blocks.arrive(source) {
            self.media.all_arrived(flash, source);
        }
    }

    /// The program of a moved unit failed: it waits for another page. What a copyback moved never was in the
    /// controller, and is read first.
    #[cold]
    fn move_again(&mut self, flash: &mut Flash, lane: LaneId, op: Op, unit: UnitRef) {
        if self.media.locks.are_on() && self.media.tables.map.lookup(Lpn(unit.lpn)) != Pun(unit.source) {
            // Where it was is locked, or will be.
            return self.media.unit_arrived(flash, self.media.tables.layout.block_of_unit(Pun(unit.source)));
        }
        if op.kind == OpKind::Copyback {
            let page = self.media.tables.layout.page_of_unit(Pun(unit.source)).0;
            let mut read = self.media.space.op_of_move(
                &self.media.tables,
                &self.media.work,
                flash,
                (OpKind::Read, op.cause),
                page,
                lane,
            );
            self.media.reclaim.note_read(&self.media.tables, &mut self.media.work, flash, &read);
            if !self.media.issue_move(flash, lane, &mut read, &[unit]) {
                return;
            }
        }
        let unit = self.in_stream_of_move(op.cause, unit);
        self.media.work.gather(&self.page_classes, lane, unit);
    }

    /// A copy of a page was over at once.
    pub(in crate::ftl) fn copied(&mut self, flash: &mut Flash, lane: LaneId, op: &Op, units: &[UnitRef]) {
        self.place_all(flash, lane, op, units);
        self.media
            .after_program(self.media.tables.layout.block_of_page(op.ppn).0, op.outcome == Outcome::Fail);
    }

    /// Copies a page inside the chip, if it is none of the SLC cache, all of it is valid, none of its wordline was
    /// reprogrammed, the next page of its units' stream lies in the same plane and takes such data, and a technique
    /// has it so. `read` is what would read it.
    pub(in crate::ftl) fn copy_back(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        (block, read): (BlockId, &Op),
        units: &mut [UnitRef],
    ) -> bool {
        // Of a wordline that is programmed at once a read gets a part, which is not copied: it is the page.
        let &Op { cause, ppn: source, at: from, .. } = read;
        let Media { tables, work, space, locks, .. } = &mut self.media;
        if !may_be_copied((tables, locks), &mut work.counts, (block, source), units.len()) {
            return false;
        }
        let (streams, clock) = (space.allocator.streams(), tables.clock);
        let separation = &mut self.separation;
        let mut of = |unit: &UnitRef| separation.peek_move(streams, clock, cause, unit);
        let stream = of(&units[0]);
        let goes_together = units[1..].iter().all(|unit| of(unit) == stream);
        let next = space.allocator.peek(lane, stream, &tables.blocks);
        let goes = |to: Ppn| {
            let at = tables.layout.locate(to);
            let classes = &self.page_classes;
            let class = classes.sorts().then(|| classes.class_of_page(tables, to));
            let suits = |unit: &UnitRef| class.is_none_or(|class| classes.peek(Lpn(unit.lpn)) == class);
            ((from.die, from.plane) == (at.die, at.plane) && units.iter().all(suits)).then_some(at)
        };
        let Some(to) = next.filter(|_| goes_together).and_then(goes) else {
            work.counts.copies_refused_by_place += 1;
            return false;
        };
        let Some(asked) = self.judge_copy(flash, (source, from), to) else { return false };
        let Some(found) =
            self.media.space.move_target(&mut self.media.tables, self.media.work.reserve, lane, stream)
        else {
            self.media.work.counts.copies_refused_by_place += 1;
            return false;
        };
        for unit in units.iter_mut() {
            *unit = self.in_stream_of_move(cause, *unit);
            if self.page_classes.sorts() {
                self.media.work.counts.heat_lowers += u64::from(self.page_classes.of_move(Lpn(unit.lpn)).1);
            }
        }
        let mut op = self.media.space.op_of_move(
            &self.media.tables,
            &self.media.work,
            flash,
            (OpKind::Copyback, cause),
            found.page,
            lane,
        );
        self.media.tables.bind(found.block, &mut op);
        self.media.erase_if_opened(flash, found);
        self.media.tables.blocks.leave(block, units.len() as u32);
        self.media.work.counts.copies += 1;
        self.media.techniques.copied(asked, found.page);
        if self.media.issue_copy(flash, lane, &mut op, from, units) {
            self.copied(flash, lane, &op, units);
        }
        self.media.write_parity(flash, found, &op, flash.is_instant());
        self.media.after_allocation(lane, found);
        true
    }

    /// Whether a page is copied to that place: for which technique, and what that is told of it.
    fn judge_copy(
        &mut self,
        flash: &Flash,
        (source, from): (Ppn, PageAddress),
        to: PageAddress,
    ) -> Option<(Which, u8)> {
        // What is read of a first page for its errors has none but its own.
        if to.page == 0 && self.media.techniques.reads_first_pages().is_some() {
            self.media.work.counts.copies_refused_by_place += 1;
            return None;
        }
        let worn = [from, to].map(|at| self.worn(flash, at.block));
        self.media.techniques.copy(&Hop { source, from, worn }, &flash.chip)
    }

    /// What is known of a physical block's wear, as far as anybody asks.
    fn worn(&self, flash: &Flash, physical: u32) -> Worn {
        let cycles = flash.chip.cycles(physical);
        match self.media.techniques.copies_by_wear() {
            true => self.media.techniques.worn(physical, cycles),
            false => Worn { cycles, ..Worn::default() },
        }
    }
}

#[cfg(test)]
mod tests;
