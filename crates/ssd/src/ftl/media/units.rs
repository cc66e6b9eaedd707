//! Operations are issued, and what becomes of units: one is mapped at a new place, is lost, or its replica takes its
//! place.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::ftl::Media;
use crate::ftl::stream::STREAMS_AT_MOST;
use crate::ftl::tables::facts::Death;
use crate::ftl::work::candidates::Candidate;
use crate::ftl::write::open::Allocated;
use crate::nand::{Outcome, PageAddress};
use crate::observe::Effect;
use crate::signals::Facts;
use crate::units::{BlockId, LaneId, Lpn, OpId, Ppn, Pun};

impl Media {
    /// Issues an operation on a page.
    #[inline(always)]
    pub(in crate::ftl) fn issue(&mut self, flash: &mut Flash, op: Op, units: &[UnitRef]) -> OpId {
        let id = flash.pool.add(op, units);
        self.outbox.push(id);
        if self.locks.bound.is_on() {
            self.locks.bound.begin_op(&self.tables.layout, flash.pool.get(id));
        }
        id
    }

    /// Issues a read, program or copy of units for the moves of a lane. Returns whether it is done already: then the
    /// operation says how it ended.
    #[inline(always)]
    pub(in crate::ftl) fn issue_move(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        op: &mut Op,
        units: &[UnitRef],
    ) -> bool {
        if flash.is_instant() {
            if op.kind != OpKind::Read {
                self.apply_before(flash, op);
            }
            self.parts.do_at_once(&self.tables.layout, flash, op);
            self.effects.tell_at_once(&self.tables.layout, op, units);
            if op.kind == OpKind::Read {
                self.after_read(flash, op);
            }
            return true;
        }
        self.begin_move(flash, lane, *op, units);
        false
    }

    /// Issues it where time passes.
    #[inline(never)]
    pub(in crate::ftl) fn begin_move(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        mut op: Op,
        units: &[UnitRef],
    ) -> OpId {
        op.bytes = match op.cause {
            Cause::Parity => self.tables.layout.units_per_page,
            _ => units.len() as u32,
        } * self.tables.layout.unit_bytes;
        if self.locks.are_on() && op.kind != OpKind::Read {
            self.locks.copying.begin(op.ppn, units);
        }
        let work = self.work.lane_mut(lane);
        *if op.kind == OpKind::Read { &mut work.reads } else { &mut work.programs } += 1;
        self.issue_whole(flash, op, units)
    }

    /// Issues an operation on all of a page; of several the one that carries its units.
    #[inline(always)]
    pub(in crate::ftl) fn issue_whole(&mut self, flash: &mut Flash, op: Op, units: &[UnitRef]) -> OpId {
        if self.parts.take(&self.tables.layout, op.kind) {
            return self.issue_parts(flash, op, units);
        }
        self.issue(flash, op, units)
    }

    /// Of a program, the part that carries the units is issued last: those that end together do so in that order. Which
    /// part of a read ends last nobody knows, so each carries them.
    #[cold]
    #[inline(never)]
    fn issue_parts(&mut self, flash: &mut Flash, op: Op, units: &[UnitRef]) -> OpId {
        let (width, bytes) = (self.tables.layout.width, self.tables.layout.part_bytes());
        self.parts.begin(op.ppn, width);
        let mut id = OpId::NONE;
        for part in 0..width {
            let at = self.tables.layout.locate_part(op.ppn, part);
            let bytes = op.bytes.saturating_sub(part * bytes).min(bytes);
            let carries = op.kind.reads() || part + 1 == width;
            let deep = self.tables.layout.deep > 1;
            let page_type = if deep { self.tables.order.page_type(at.page) } else { op.page_type };
            let of_part = Op { at, bytes, page_type, ..op };
            id = self.issue(flash, of_part, if carries { units } else { &[] });
        }
        id
    }

    /// Programs the parity behind a page that was taken, whose program this is, and which was issued or done: `at_once`
    /// if it was done.
    #[inline(always)]
    pub(in crate::ftl) fn write_parity(
        &mut self,
        flash: &mut Flash,
        found: Allocated,
        of: &Op,
        at_once: bool,
    ) {
        if found.parity > 0 {
            self.write_parity_behind(flash, found, *of, at_once);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_parity_behind(&mut self, flash: &mut Flash, found: Allocated, of: Op, at_once: bool) {
        for page in (found.page.0 + 1..=found.page.0 + found.parity).map(Ppn) {
            let op = self.tables.op(OpKind::Program, Cause::Parity, page);
            let Op { due, critical, mode, .. } = of;
            let mut op = Op { tag: found.lane.0, due, critical, mode, ..op };
            self.work.counts.parity_units += u64::from(self.tables.layout.units_per_page);
            if !at_once {
                self.begin_move(flash, found.lane, op, &[]);
                continue;
            }
            flash.do_at_once(&mut op);
            self.effects.tell_at_once(&self.tables.layout, &op, &[]);
            self.after_program(found.block, op.outcome == Outcome::Fail);
        }
    }

    /// In a block that the host fills, too, its pages go before one that moves, where no time passes.
    #[inline(always)]
    pub(super) fn apply_before(&mut self, flash: &mut Flash, op: &Op) {
        if !self.outbox.is_empty() {
            let filled_by = self.tables.blocks.stream(self.tables.layout.block_of_page(op.ppn).0);
            if self.space.allocator.streams().is_shared(filled_by) {
                self.apply_outbox(flash);
            }
        }
    }

    /// Whether operations were issued that have not gone to the chips, or are done and nobody was told.
    pub(crate) fn is_carrying(&self, flash: &Flash) -> bool {
        !self.outbox.is_empty() || !flash.done.is_empty()
    }

    /// What was issued is applied to the chips, where no time passes.
    pub(crate) fn apply_outbox(&mut self, flash: &mut Flash) {
        self.outbox.iter().for_each(|&id| flash.apply(id));
        self.outbox.clear();
        self.effects.tell_steps(&self.tables.layout, flash);
    }

    /// Issues a copy of a page. Returns whether it is done already: then the operation says how it ended.
    pub(in crate::ftl) fn issue_copy(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        op: &mut Op,
        from: PageAddress,
        units: &[UnitRef],
    ) -> bool {
        if flash.is_instant() {
            self.apply_before(flash, op);
            flash.copy_at_once(op, from);
            self.effects.tell_at_once(&self.tables.layout, op, units);
            return true;
        }
        let id = self.begin_move(flash, lane, *op, units);
        flash.note_source(id, from);
        false
    }

    /// A page was read, in one attempt or several, or it could not be.
    #[inline(always)]
    pub fn after_read(&mut self, flash: &Flash, op: &Op) {
        self.reclaim.note_retries(&self.tables, &mut self.work, flash, op, op.attempts);
        if op.outcome == Outcome::Fail {
            self.note_unreadable(flash, *op);
        }
    }

    /// A page could not be corrected: how much it had seen, and that it is so.
    #[cold]
    pub fn note_unreadable(&mut self, flash: &Flash, op: Op) {
        let layout = &self.tables.layout;
        let page = op.at.page % layout.deep * layout.units_per_read;
        let first = Pun(op.ppn.0 * layout.units_per_page + page);
        self.effects.push(Effect::Unreadable { first, units: layout.units_per_read });
        let seen_q12 = flash.chip.disturb_q12(op.at.block, op.at.page).unwrap_or(0);
        self.work.counts.disturbed_q12_max = self.work.counts.disturbed_q12_max.max(seen_q12);
    }

    /// Points a logical unit at where it now is.
    #[inline(always)]
    pub(in crate::ftl) fn commit(&mut self, lpn: Lpn, to: Pun, facts: Facts, by: Death) {
        self.tables.facts.set(to, facts);
        self.work.counts.stream_units[facts.stream() as usize % STREAMS_AT_MOST] += 1;
        let old = self.tables.map.assign(lpn, to);
        if old.is_some() {
            self.invalidate(old, by);
        }
        self.tables.blocks.gain(self.tables.layout.block_of_unit(to));
    }

    /// A unit of flash that counted does so no more: every one dies here.
    #[inline(always)]
    pub(in crate::ftl) fn invalidate(&mut self, unit: Pun, by: Death) {
        self.tables.blocks.lose(self.tables.layout.block_of_unit(unit), self.tables.clock);
        if self.locks.are_on() {
            self.locks.note_end(&self.tables, &mut self.work, unit, by);
        }
    }

    /// The replica of a logical unit, if it has one, does not count any more.
    #[inline(always)]
    pub(in crate::ftl) fn forget_replica(&mut self, lpn: Lpn) {
        let dead = self.tables.replicas.forget(lpn);
        if self.locks.are_on()
            && let Some(unit) = dead
        {
            self.locks.note_death(&self.tables, &mut self.work, unit, Death::Ended);
        }
    }

    /// A block is to be erased or retired: its replicas do not count any more.
    pub(in crate::ftl) fn drop_replicas(&mut self, block: BlockId) {
        let Media { tables, locks, work, .. } = self;
        tables.drop_replicas(block, |tables, unit| {
            if locks.are_on() {
                locks.note_death(tables, work, unit, Death::Ended);
            }
        });
    }

    /// The data of a unit of flash cannot be corrected. If it stands for a logical unit, that one's replica takes its
    /// place; without one it has no data any more until it is written or trimmed: the host's reads of it end as
    /// `Status::Uncorrectable`, this one (`Ftl::end_read` says so to the host's layer) and all to come. Returns whether
    /// that is so.
    pub fn lose(&mut self, lpn: Lpn, from: Pun) -> bool {
        if self.tables.map.lookup(lpn) != from || self.adopt(lpn) {
            return false;
        }
        self.tables.map.lose(lpn);
        self.invalidate(from, Death::Ended);
        self.work.counts.lost_units += 1;
        self.effects.push(Effect::Lose { lpn });
        true
    }

    /// The replica of a logical unit, if it has one, becomes its page: the mapping points there, the original is dead.
    pub(in crate::ftl) fn adopt(&mut self, lpn: Lpn) -> bool {
        let to = self.tables.replicas.get(lpn);
        if !to.is_some() {
            return false;
        }
        self.tables.replicas.forget(lpn);
        let from = self.tables.map.assign(lpn, to);
        self.invalidate(from, Death::Moved);
        self.tables.blocks.adopt(self.tables.layout.block_of_unit(to));
        self.work.counts.replicas_adopted += 1;
        self.effects.push(Effect::Adopt { lpn, from, to });
        true
    }

    /// All replicas in one member of a block become pages.
    pub(in crate::ftl) fn adopt_all(&mut self, candidate: Candidate) {
        for unit in self.tables.replica_units(candidate.block) {
            let lpn = self.tables.map.stored(unit);
            let at = self.tables.layout.block_of_page(self.tables.layout.page_of_unit(unit).0).1;
            if at % self.tables.layout.span == candidate.member
                && lpn.is_some()
                && self.tables.replicas.get(lpn) == unit
            {
                self.adopt(lpn);
            }
        }
    }

    /// The data of a unit of flash that stands for a logical unit, or may have, cannot be corrected: a replica is given
    /// up, an original is replaced by its replica. Returns whether the logical unit has no data left.
    pub(in crate::ftl) fn read_failed(&mut self, lpn: Lpn, at: Pun) -> bool {
        if at.is_some() && self.tables.replicas.get(lpn) == at {
            self.forget_replica(lpn);
            self.work.counts.replicas_failed += 1;
            return false;
        }
        self.lose(lpn, at)
    }
}
